//! TCP from outside: what the RFCs require of a sender and of a receiver, what ns-2 did, and what
//! must hold whatever the network does.

#[cfg(test)]
mod delivery;
#[cfg(test)]
mod network;
#[cfg(test)]
mod ns2_newreno;
#[cfg(test)]
mod receiver;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod script;
#[cfg(test)]
mod sender;
