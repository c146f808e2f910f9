//! Compares the simulator with ns-2.35; `validation/ns2/README.md` lists what differs and why.
//!
//! - [`canonical`]: one flow of each TCP, and of CCID 2, after named drops on the [`path`].
//! - [`tfrc`]: CCID 3 on the same path, compared with both of ns-2's TFRCs.
//! - [`chen2010`]: the queue and the drops of 200 flows through RED.

mod canonical;
mod chen2010;
mod path;
mod tfrc;
