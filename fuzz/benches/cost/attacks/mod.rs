//! Attacks that fuzzing may not find: what was slow once, and what looks as if it might be.

mod capture;
mod connection;
mod listener;
mod options;

use skywave_wire::dccp::{DccpOption, FeatureNumber, FeatureSide, OptionBytes, OptionList};

/// An attack: its name, and what it does.
pub(crate) type Attack = (&'static str, fn());

/// Packets of an attack: so many that the handshake before them does not count.
const PACKETS: usize = 200;
/// Bytes of options that fit an Ack, whose header has 24 (RFC 4340 section 5.1).
const ROOM: usize = 1_020 - 24;

/// The attacks, each with the target whose code it runs.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Attack)> {
    let targets: [(_, &[Attack]); 4] = [
        ("dccp_connection", connection::ALL),
        ("dccp_listener", listener::ALL),
        ("dccp_options", options::ALL),
        ("capture", capture::ALL),
    ];
    let of = |(target, attacks): (_, &'static [Attack])| attacks.iter().map(move |&a| (target, a));
    targets.into_iter().flat_map(of)
}

/// As many of these options as fit a packet.
fn full_of(option: &DccpOption) -> OptionList {
    vec![option.clone(); ROOM / option.encoded_len()].into()
}

/// Asks to change a feature. Three bytes at least.
fn change(feature: FeatureNumber, value: &[u8]) -> DccpOption {
    DccpOption::Change {
        side: FeatureSide::Remote,
        feature,
        value: OptionBytes::from_slice(value),
    }
}

/// A feature that nobody knows.
const UNKNOWN: FeatureNumber = FeatureNumber(100);
