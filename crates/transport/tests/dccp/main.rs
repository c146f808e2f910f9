//! DCCP from outside, among enemies: whatever a path does to packets, whatever a stranger injects
//! and whatever a peer says, what the application sees is true, and connections end.
//!
//! - [`chaos`]: thousands of connections over paths that do everything to packets; [`plan`] draws them.
//! - [`injection`] and [`replay`]: a [`stranger`] who sees nothing, and one who has seen it all.
//! - [`lies`] and [`garbage`]: a peer whose [`victim`] believes its numbers but not its words.
//! - [`network`] and [`path`]: what stands between two ends.

#[cfg(test)]
mod chaos;
#[cfg(test)]
mod garbage;
#[cfg(test)]
mod injection;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod network;
#[cfg(test)]
mod path;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod stranger;
#[cfg(test)]
mod victim;
