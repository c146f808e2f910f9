//! This crate's sources, by name.

use crate::{CbrSpec, FtpSpec, OnOffSpec, PoissonSpec, ReplaySpec, Sources, VoiceSpec, WebSpec};

/// Registers this crate's sources, with the function that users call to register theirs.
#[rustfmt::skip]
pub fn register_built_in_sources(sources: &mut Sources) {
    sources.register("ftp", "A bulk transfer: always has data to send, until `size` bytes are sent if it is given.", FtpSpec::kind);
    sources.register("cbr", "Datagrams of one size at a constant rate.", CbrSpec::kind);
    sources.register("poisson", "Datagrams of one size at random times, independent of each other.", PoissonSpec::kind);
    sources.register("on-off", "Bursts of constant rate, separated by pauses, of random lengths.", OnOffSpec::kind);
    sources.register_with_files("replay", "Datagrams at the times and with the sizes of a trace.", ReplaySpec::load, ReplaySpec::kind);
    sources.register("voice", "A voice call.", VoiceSpec::kind);
    sources.register("web", "Web traffic: files separated by think times.", WebSpec::kind);
}
