//! Feature negotiation (RFC 4340 section 6): pure state, no clock and no packets.
//!
//! - [`table`]: the features, their rules and values;
//! - [`mod@preferences`]: the values the configuration wants;
//! - [`Features`]: the state machine of section 6.6, and outgoing options;
//! - [`mod@received`]: incoming options.

mod preferences;
mod received;
mod table;
#[cfg(test)]
mod tests;

use skywave_wire::dccp::{DccpOption, FeatureSide, OptionBytes, OptionList, SeqNo};

use super::sequence::keep_behind;
use super::{Ccid, Config};
use preferences::{changes_for_ccid, opening_changes, preferences};
pub(crate) use received::{Changed, Context};
use table::Rule;
pub(crate) use table::{Feature, Location, Values};

/// The most bytes of negotiation options per packet; the rest waits for the next packet, so that
/// all options together stay below the limit of 1008 bytes (section 5.1).
const OPTION_BUDGET: usize = 128;

/// The most Confirms that wait for a packet: as many as [`OPTION_BUDGET`] holds, and more than there
/// are features at both endpoints, 22. Further Changes are ignored, as if their packet were lost:
/// the peer repeats a Change until it is confirmed (section 6.6.3). Without a limit, hundreds of
/// Changes in one packet would each be compared with all before.
const CONFIRMS_MAX: usize = OPTION_BUDGET / 4;

/// All features of a connection.
///
/// A feature without a [`Negotiation`] is STABLE.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// The values at this endpoint.
    pub(crate) here: Values,
    /// The values at the peer.
    pub(crate) peer: Values,
    negotiations: Vec<Negotiation>,
    /// Confirms waiting for a packet with an acknowledgement number; those already sent and being
    /// repeated come first.
    confirms: Vec<DccpOption>,
    /// Feature Greatest Sequence Number Received; `None` stands for ISR - 1.
    fgsr: Option<SeqNo>,
    /// Feature Greatest Sequence Number Sent.
    fgss: SeqNo,
    /// The CCIDs whose own features have been requested: that of the data we send, and that of the
    /// peer's data.
    asked_for: [Option<Ccid>; 2],
    /// Whether data has left, after which its CCID stays.
    keeps_ccid: bool,
    /// Whether every packet repeats the Confirms already sent, and how many those are.
    repeats_confirms: bool,
    repeated: u8,
}

/// A feature that is not STABLE, or will not be once its Change is sent.
#[derive(Clone, Debug)]
struct Negotiation {
    feature: Feature,
    location: Location,
    state: NegotiationState,
    mandatory: bool,
    /// Whether to add the Change to the next packet that may carry it.
    due: bool,
    /// The value of the Change: a preference list, or a single value.
    value: OptionBytes,
}

/// The states of section 6.6.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NegotiationState {
    /// STABLE, with a first Change about to be sent.
    Opening,
    /// CHANGING: a Change has been sent.
    Changing,
    /// UNSTABLE: preferences changed while CHANGING and the new Change has not been sent.
    Unstable,
}

impl Features {
    /// Creates the features of a new connection whose first packet is `iss`: all values initial,
    /// with the configuration's requests pending.
    pub(crate) fn new(config: &Config, iss: SeqNo) -> Self {
        let mut features = Self {
            here: Values::default(),
            peer: Values::default(),
            negotiations: Vec::new(),
            confirms: Vec::new(),
            fgsr: None,
            fgss: iss,
            asked_for: [None; 2],
            keeps_ccid: false,
            repeats_confirms: false,
            repeated: 0,
        };
        for (feature, location, value, mandatory) in opening_changes(config) {
            features.open(feature, location, value, mandatory);
        }
        // These include what belongs to the initial CCID only.
        if features.is_stable(Feature::Ccid, Location::Here) {
            features.asked_for[Location::Here as usize] = Some(Ccid::INITIAL);
        }
        features
    }

    /// Requests the features that the CCIDs in force need from the peer, once each CCID is settled.
    pub(crate) fn ask_for_ccids(&mut self, config: &Config) {
        for location in [Location::Here, Location::Peer] {
            let ccid = Ccid(self.values(location).ccid);
            let asked_for = &mut self.asked_for[location as usize];
            if *asked_for == Some(ccid) || self.find(Feature::Ccid, location).is_some() {
                continue;
            }
            self.asked_for[location as usize] = Some(ccid);
            for (feature, at, mandatory) in changes_for_ccid(config.ccids.row(ccid), location) {
                let value = preferences(config, feature, at, Ccid(self.here.ccid));
                let is_so = Some(self.values(at).get(feature)) == value.first().map(|&v| v.into());
                if !is_so && self.is_stable(feature, at) {
                    self.open(feature, at, value, mandatory);
                }
            }
        }
    }

    /// Returns whether the feature has a meaning under the CCIDs in force.
    fn is_in_force(&self, config: &Config, feature: Feature, location: Location) -> bool {
        feature.ccid_location(location).is_none_or(|ccid| {
            let ccid = Ccid(self.values(ccid).ccid);
            feature.is_of(config.ccids.row(ccid).features)
        })
    }

    /// Resets CCID-specific features to their initial values after the CCID of the data sent from
    /// `location` changed.
    fn restart_ccid_features(&mut self, location: Location) {
        for &feature in Feature::ALL {
            for at in [Location::Here, Location::Peer] {
                if feature.ccid_location(at) != Some(location) {
                    continue;
                }
                self.negotiations
                    .retain(|other| (other.feature, other.location) != (feature, at));
                let values = match at {
                    Location::Here => &mut self.here,
                    Location::Peer => &mut self.peer,
                };
                values.set(feature, 0);
            }
        }
    }

    /// Announces a new value of one of this endpoint's non-negotiable features.
    pub(crate) fn declare(&mut self, feature: Feature, value: u64) {
        debug_assert_eq!(feature.rule(), Rule::NonNegotiable);
        self.open(feature, Location::Here, feature.write(value), false);
    }

    fn open(&mut self, feature: Feature, location: Location, value: OptionBytes, mandatory: bool) {
        if let Some(known) = self.find(feature, location) {
            let negotiation = &mut self.negotiations[known];
            negotiation.value = value;
            negotiation.due = true;
            if negotiation.state == NegotiationState::Changing {
                negotiation.state = NegotiationState::Unstable;
            }
            return;
        }
        let state = NegotiationState::Opening;
        self.negotiations.push(Negotiation {
            feature,
            location,
            state,
            mandatory,
            due: true,
            value,
        });
    }

    /// Returns whether `feature` is STABLE and no Change for it is about to be sent.
    pub(crate) fn is_stable(&self, feature: Feature, location: Location) -> bool {
        self.find(feature, location).is_none()
    }

    /// Returns whether an option waits for a packet.
    pub(crate) fn is_due(&self) -> bool {
        self.confirms.len() > self.repeated.into()
            || self.negotiations.iter().any(|negotiation| negotiation.due)
    }

    /// Returns whether a Change is unanswered.
    pub(crate) const fn is_unanswered(&self) -> bool {
        !self.negotiations.is_empty()
    }

    /// Returns whether a Change is unanswered although the peer has acknowledged `gar`, a packet no
    /// older than the last one with negotiation options.
    pub(crate) fn is_lost(&self, gar: SeqNo) -> bool {
        self.is_unanswered() && !gar.is_before(self.fgss)
    }

    /// Schedules all Changes in CHANGING state for retransmission.
    pub(crate) fn retransmit(&mut self) {
        for negotiation in &mut self.negotiations {
            negotiation.due = true;
        }
    }

    /// Sets whether every packet from now on carries the Confirms, instead of only the next one.
    pub(crate) fn repeat_confirms(&mut self, repeat: bool) {
        self.repeats_confirms = repeat;
        if !repeat {
            self.confirms.drain(..usize::from(self.repeated));
            self.repeated = 0;
        }
    }

    /// Returns whether Confirms already sent are repeated on the next packet.
    pub(crate) const fn is_repeating(&self) -> bool {
        self.repeated > 0
    }

    /// Adds pending options to a packet that will be sent as `seq`. `has_ack` says whether the
    /// packet has an acknowledgement number, without which it may not carry Confirms (section
    /// 6.6.1).
    pub(crate) fn emit(&mut self, seq: SeqNo, has_ack: bool, options: &mut OptionList) {
        let mut room = OPTION_BUDGET;
        let mut fits = |value: &OptionBytes| {
            let length = value.len() + 4;
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        };
        if has_ack {
            let sent = self
                .confirms
                .iter()
                .position(
                    |confirm| matches!(confirm, DccpOption::Confirm { value, .. } if !fits(value)),
                )
                .unwrap_or(self.confirms.len());
            if self.repeats_confirms {
                options.extend(self.confirms[..sent].iter().cloned());
                self.repeated = self.repeated.max(u8::try_from(sent).unwrap_or(u8::MAX));
            } else {
                options.extend(self.confirms.drain(..sent));
            }
        }
        for negotiation in self
            .negotiations
            .iter_mut()
            .filter(|negotiation| negotiation.due)
        {
            if !fits(&negotiation.value) {
                break;
            }
            if negotiation.state != NegotiationState::Changing {
                negotiation.state = NegotiationState::Changing;
                self.fgss = seq;
            }
            negotiation.due = false;
            if negotiation.mandatory {
                options.push(DccpOption::Mandatory);
            }
            options.push(DccpOption::Change {
                side: match negotiation.location {
                    Location::Here => FeatureSide::Local,
                    Location::Peer => FeatureSide::Remote,
                },
                feature: negotiation.feature.number(),
                value: negotiation.value.clone(),
            });
        }
    }

    /// Reports that data has left: from now on its CCID does not change. Each change
    /// restarts congestion control, so a peer that asked for one after another would get an initial
    /// window each time.
    #[inline(always)]
    pub(crate) const fn keep_ccid(&mut self) {
        self.keeps_ccid = true;
    }

    /// Notes that all options of packet `seq`, which contained negotiation options, have been
    /// processed.
    pub(crate) fn packet_processed(&mut self, seq: SeqNo) {
        self.fgsr = Some(self.fgsr.map_or(seq, |fgsr| fgsr.max(seq)));
    }

    /// Keeps FGSR and FGSS behind GSR and GSS, which may advance by more than half of all numbers
    /// between negotiations (erratum 974 on section 6.6.4). Call it after packets received or sent.
    pub(crate) fn follow(&mut self, gsr: SeqNo, gss: SeqNo) {
        if let Some(fgsr) = &mut self.fgsr {
            *fgsr = keep_behind(*fgsr, gsr);
        }
        self.fgss = keep_behind(self.fgss, gss);
    }

    /// Returns the values at `location`.
    pub(crate) const fn values(&self, location: Location) -> &Values {
        match location {
            Location::Here => &self.here,
            Location::Peer => &self.peer,
        }
    }

    fn assign(&mut self, feature: Feature, location: Location, value: u64) -> Option<Changed> {
        let values = match location {
            Location::Here => &mut self.here,
            Location::Peer => &mut self.peer,
        };
        if values.get(feature) == value {
            return None;
        }
        values.set(feature, value);
        if feature == Feature::Ccid {
            self.restart_ccid_features(location);
        }
        Some(Changed { feature, location })
    }

    fn find(&self, feature: Feature, location: Location) -> Option<usize> {
        self.negotiations.iter().position(|negotiation| {
            negotiation.feature == feature && negotiation.location == location
        })
    }
}
