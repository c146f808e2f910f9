//! This crate's sources, by name.

use crate::{CbrSpec, FtpSpec, Sources, VoiceSpec, WebSpec};

/// Registers this crate's sources, with the function that users call to register theirs.
#[rustfmt::skip]
pub fn register_built_in_sources(sources: &mut Sources) {
    sources.register("ftp", "A bulk transfer: always has data to send, until `size` bytes are sent if it is given.", FtpSpec::kind);
    sources.register("cbr", "Datagrams of one size at a constant rate.", CbrSpec::kind);
    sources.register("voice", "A voice call.", VoiceSpec::kind);
    sources.register("web", "Web traffic: files separated by think times.", WebSpec::kind);
}
