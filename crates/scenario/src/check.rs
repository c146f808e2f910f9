//! Checks shared by all parts of a scenario.

use std::collections::BTreeSet;

use skywave_registry::suggestion;
use skywave_transport::dccp::mechanism::Mechanism;
use skywave_units::{Duration, Rate};

use crate::ScenarioError;

/// The most packets that may wait in a sender or leave at once. All of them are in memory at the
/// same time.
const MOST_PACKETS: u32 = 1_000_000;

pub(crate) fn check(
    holds: bool,
    field: &str,
    message: impl FnOnce() -> String,
) -> Result<(), ScenarioError> {
    if holds {
        Ok(())
    } else {
        Err(ScenarioError::new(field, message()))
    }
}

pub(crate) fn check_rate(rate: Rate, field: &str) -> Result<(), ScenarioError> {
    check(rate > Rate::from_bps(0), field, || {
        "0 bps: give a rate above zero".to_owned()
    })
}

pub(crate) fn check_share(share: Option<f64>, field: &str) -> Result<(), ScenarioError> {
    let share = share.unwrap_or(1.0);
    check(share > 0.0 && share <= 1.0, field, || {
        format!("{share}: give a share above 0 and up to 1, or leave it out")
    })
}

pub(crate) fn check_datagram(bytes: u64, field: &str) -> Result<(), ScenarioError> {
    Ok(skywave_traffic::check_datagram(bytes, field)?)
}

/// Checks a number of packets that exist at the same time.
pub(crate) fn check_packets(packets: Option<u32>, field: &str) -> Result<(), ScenarioError> {
    let packets = packets.unwrap_or(1);
    check((1..=MOST_PACKETS).contains(&packets), field, || {
        format!("{packets} packets: give a number from 1 to {MOST_PACKETS}")
    })
}

/// Checks a threshold, which has no upper bound.
pub(crate) fn check_ssthresh(packets: Option<u32>, field: &str) -> Result<(), ScenarioError> {
    check(packets != Some(0), field, || {
        "0 packets: use 1 or more".to_owned()
    })
}

pub(crate) fn check_max_ack_ratio(most: Option<u16>, field: &str) -> Result<(), ScenarioError> {
    check(most.is_none_or(|most| most >= 2), field, || {
        "below 2, which is always allowed (RFC 4341 section 6.1.2): use 2 or more".to_owned()
    })
}

/// Checks that packets may be ECN-capable if the CCID writes its own codes, or its control asks for
/// ECN.
pub(crate) fn check_ecn(
    ecn: bool,
    mechanism: &dyn Mechanism,
    field: &str,
) -> Result<(), ScenarioError> {
    let row = mechanism.row();
    let needs_ecn = row.data_ecn.is_some() || mechanism.wants().ecn.is_some();
    check(ecn || !needs_ecn, field, || {
        let ccid = row.ccid;
        format!("CCID {ccid} needs the ECN field, for its codes or its control: leave ecn on")
    })
}

pub(crate) fn check_timer(timer: Option<Duration>, field: &str) -> Result<(), ScenarioError> {
    check(timer != Some(Duration::ZERO), field, || {
        "0 s: give a time above zero".to_owned()
    })
}

/// Checks that a name can be displayed: it is not empty and has no control or formatting
/// characters.
pub(crate) fn check_name(name: &str, field: &str) -> Result<(), ScenarioError> {
    check(!name.is_empty(), field, || {
        "the name is empty: give one".to_owned()
    })?;
    // U+200B to U+200F, U+202A to U+202E and U+2060 to U+206F are invisible or change the direction
    // of the text that follows.
    let hidden = |c: &char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    };
    match name.chars().find(hidden) {
        None => Ok(()),
        Some(c) => {
            let message = format!(
                "the name has the invisible character U+{:04X}: remove it",
                c as u32
            );
            Err(ScenarioError::new(field, message))
        }
    }
}

/// The longest delay of a link. No host would wait that long for a reply.
const LONGEST_DELAY: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn check_delay(delay: Duration, field: &str) -> Result<(), ScenarioError> {
    check(delay <= LONGEST_DELAY, field, || {
        format!("{delay} is too long: give at most {LONGEST_DELAY}")
    })
}

/// Returns the message that there is no node or link with this name.
pub(crate) fn no_such(kind: &str, given: &str, known: &BTreeSet<String>) -> String {
    let meant = suggestion(given, known.iter().map(String::as_str));
    format!(
        "there is no {kind} \"{given}\"; {kind}s are {}{meant}",
        list(known)
    )
}

/// Lists the first few names.
fn list(names: &BTreeSet<String>) -> String {
    const SHOWN: usize = 8;
    let mut text = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

pub(crate) fn check_ends(
    from: &str,
    to: &str,
    field: &str,
    nodes: &BTreeSet<String>,
) -> Result<(), ScenarioError> {
    for (key, node) in [("from", from), ("to", to)] {
        check(nodes.contains(node), &format!("{field}.{key}"), || {
            no_such("node", node, nodes)
        })?;
    }
    check(from != to, &format!("{field}.to"), || {
        format!("both ends are \"{to}\": name two different nodes")
    })
}
