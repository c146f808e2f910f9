//! DCCP (RFC 4340): a full connection as a sans-IO endpoint.

mod ccid;
