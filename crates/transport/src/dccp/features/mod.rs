//! Feature negotiation (RFC 4340 section 6): pure state, no clock and no packets.
//!
//! - [`table`]: the features, their rules and values.
//! - [`mod@preferences`]: what the configuration wants of each.
//! - [`Features`]: the state machine of section 6.6.

mod preferences;
mod table;
#[cfg(test)]
mod tests;

use skywave_wire::dccp::{
    DccpOption, FeatureNumber, FeatureSide, OptionBytes, OptionList, ResetCode, SeqNo,
};

use super::{Config, Role};
use preferences::{changes_for_ccid, opening_changes, preferences};
pub(crate) use table::{Feature, Location, Values};
use table::{Rule, reconcile};

/// Bytes of negotiation options that one packet carries at most; the rest waits for the next one,
/// so that options of every kind together stay below the limit of 1008 (section 5.1).
const OPTION_BUDGET: usize = 128;

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
    /// Confirms that wait for a packet with an acknowledgement number; first those that have left
    /// and are repeated.
    confirms: Vec<DccpOption>,
    /// Feature Greatest Sequence Number Received; `None` stands for ISR - 1.
    fgsr: Option<SeqNo>,
    /// Feature Greatest Sequence Number Sent.
    fgss: SeqNo,
    /// The CCID that the features of its own have been asked for: of the data sent from here, and
    /// from the peer.
    asked_for: [Option<u8>; 2],
    /// Whether every packet repeats the Confirms that have left, and how many these are.
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
    /// Whether the Change goes onto the next packet that may carry it.
    due: bool,
    /// What the Change says: a preference list, or one value.
    value: OptionBytes,
}

/// Section 6.6.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NegotiationState {
    /// STABLE, with a first Change about to be sent.
    Opening,
    /// CHANGING: a Change has been sent.
    Changing,
    /// UNSTABLE: preferences changed while CHANGING and the new Change has not been sent.
    Unstable,
}

/// Where an option stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Sequence number of the packet, which is valid.
    pub(crate) seq: SeqNo,
    /// Its acknowledgement number.
    pub(crate) ack: Option<SeqNo>,
    /// Whether a Mandatory option stood before it.
    pub(crate) mandatory: bool,
}

/// A Change or Confirm option.
#[derive(Clone, Copy, Debug)]
struct Received<'a> {
    context: Context,
    /// L or R, as the peer has it.
    side: FeatureSide,
    feature: FeatureNumber,
    value: &'a [u8],
}

impl Received<'_> {
    /// The feature's location: what is local to the peer is remote here.
    const fn location(&self) -> Location {
        match self.side {
            FeatureSide::Local => Location::Peer,
            FeatureSide::Remote => Location::Here,
        }
    }
}

/// A feature has a new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Which one.
    pub(crate) feature: Feature,
    /// Where.
    pub(crate) location: Location,
}

/// The connection must be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Reset Code 5.
    OptionError,
    /// Reset Code 6.
    MandatoryError,
}

impl Refusal {
    /// The code to reset with.
    pub(crate) const fn reset_code(self) -> ResetCode {
        match self {
            Self::OptionError => ResetCode::OPTION_ERROR,
            Self::MandatoryError => ResetCode::MANDATORY_ERROR,
        }
    }
}

impl Features {
    /// The features of a new connection, whose first packet will carry `iss`: all values initial,
    /// and the configuration's wishes about to be sent.
    pub(crate) fn new(config: &Config, iss: SeqNo) -> Self {
        let mut features = Self {
            here: Values::default(),
            peer: Values::default(),
            negotiations: Vec::new(),
            confirms: Vec::new(),
            fgsr: None,
            fgss: iss,
            asked_for: [None; 2],
            repeats_confirms: false,
            repeated: 0,
        };
        for (feature, location, value, mandatory) in opening_changes(config) {
            features.open(feature, location, value, mandatory);
        }
        // What goes with CCID 2 alone is among them.
        if features.is_stable(Feature::Ccid, Location::Here) {
            features.asked_for[Location::Here as usize] = Some(2);
        }
        features
    }

    /// Asks for what the CCIDs in force need of the peer, once each of them is settled.
    pub(crate) fn ask_for_ccids(&mut self, config: &Config) {
        for location in [Location::Here, Location::Peer] {
            let ccid = self.values(location).ccid;
            let asked_for = &mut self.asked_for[location as usize];
            if *asked_for == Some(ccid) || self.find(Feature::Ccid, location).is_some() {
                continue;
            }
            self.asked_for[location as usize] = Some(ccid);
            for &(feature, at, mandatory) in changes_for_ccid(ccid, location) {
                let value = preferences(config, feature, at, self.here.ccid);
                let is_so = Some(self.values(at).get(feature)) == value.first().map(|&v| v.into());
                if !is_so && self.is_stable(feature, at) {
                    self.open(feature, at, value, mandatory);
                }
            }
        }
    }

    /// Whether the feature means anything under the CCIDs in force.
    fn is_in_force(&self, feature: Feature, location: Location) -> bool {
        feature
            .ccid_location(location)
            .is_none_or(|ccid| self.values(ccid).is_tfrc())
    }

    /// Another CCID is in force for the data sent from `location`: features of its own begin with
    /// their initial values.
    fn restart_ccid_features(&mut self, location: Location) {
        for feature in Feature::OF_CCIDS {
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

    /// Declares a new value of a non-negotiable feature of this endpoint.
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

    /// Whether `feature` is STABLE and no Change for it is about to be sent.
    pub(crate) fn is_stable(&self, feature: Feature, location: Location) -> bool {
        self.find(feature, location).is_none()
    }

    /// Whether some option waits for a packet.
    pub(crate) fn is_due(&self) -> bool {
        self.confirms.len() > self.repeated.into()
            || self.negotiations.iter().any(|negotiation| negotiation.due)
    }

    /// Whether a Change has not been answered.
    pub(crate) const fn is_unanswered(&self) -> bool {
        !self.negotiations.is_empty()
    }

    /// No answer came in time: all Changes in CHANGING state shall be sent again.
    pub(crate) fn retransmit(&mut self) {
        for negotiation in &mut self.negotiations {
            negotiation.due = true;
        }
    }

    /// Whether Confirms stand on every packet from now on, and not on the next one only.
    pub(crate) fn repeat_confirms(&mut self, repeat: bool) {
        self.repeats_confirms = repeat;
        if !repeat {
            self.confirms.drain(..usize::from(self.repeated));
            self.repeated = 0;
        }
    }

    /// Whether Confirms that have left go onto the next packet again.
    pub(crate) const fn is_repeating(&self) -> bool {
        self.repeated > 0
    }

    /// Adds what is due to a packet that will be sent as `seq`. `has_ack`: whether the packet has
    /// an acknowledgement number, without which no Confirm may be sent (section 6.6.1).
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

    /// All options of packet `seq`, of which some were negotiation options, have been taken in.
    pub(crate) fn packet_processed(&mut self, seq: SeqNo) {
        self.fgsr = Some(self.fgsr.map_or(seq, |fgsr| fgsr.max(seq)));
    }

    /// A Change or Confirm came; other options do not matter here.
    ///
    /// # Errors
    ///
    /// The connection must be reset.
    pub(crate) fn on_option(
        &mut self,
        config: &Config,
        role: Role,
        context: Context,
        option: &DccpOption,
    ) -> Result<Option<Changed>, Refusal> {
        let (DccpOption::Change {
            side,
            feature,
            value,
        }
        | DccpOption::Confirm {
            side,
            feature,
            value,
        }) = option
        else {
            return Ok(None);
        };
        let received = Received {
            context,
            side: *side,
            feature: *feature,
            value,
        };
        match option {
            DccpOption::Change { .. } => self.on_change(config, role, &received),
            _ => self.on_confirm(role, &received),
        }
    }

    /// Section 6.6.2, "first" to "third".
    fn on_change(
        &mut self,
        config: &Config,
        role: Role,
        option: &Received<'_>,
    ) -> Result<Option<Changed>, Refusal> {
        let Context { seq, mandatory, .. } = option.context;
        // Unknown features (section 6.6.7); reordering counts for them, too (rule 1 of 6.6.4).
        let known = Feature::from_number(option.feature)
            .filter(|&feature| self.is_in_force(feature, option.location()));
        let Some(feature) = known else {
            if self.is_reordered(seq) && !mandatory {
                return Ok(None);
            }
            return self.refuse(option);
        };
        let location = option.location();
        let known = self.find(feature, location);
        let unstable =
            known.is_some_and(|known| self.negotiations[known].state == NegotiationState::Unstable);
        if unstable || self.is_reordered(seq) {
            return Ok(None);
        }
        let (value, list) = match (feature.rule(), location) {
            (Rule::NonNegotiable, Location::Peer) => match feature.read(option.value) {
                Some(value) => (value, OptionBytes::new()),
                None => return self.refuse(option),
            },
            // Change R is never valid for a non-negotiable feature (section 6.3.2).
            (Rule::NonNegotiable, Location::Here) => return self.refuse(option),
            (Rule::ServerPriority, _) if option.value.is_empty() => return self.refuse(option),
            (Rule::ServerPriority, _) => {
                let ours = match known {
                    Some(known) => self.negotiations[known].value.clone(),
                    None => preferences(config, feature, location, self.here.ccid),
                };
                let agreed = match role {
                    Role::Server => reconcile(&ours, option.value),
                    Role::Client => reconcile(option.value, &ours),
                };
                match agreed {
                    Some(value) => (value.into(), ours),
                    None if mandatory => return Err(Refusal::MandatoryError),
                    None => (self.values(location).get(feature), ours),
                }
            }
        };
        let mut bytes = feature.write(value);
        bytes.extend_from_slice(&list);
        self.confirm(option, bytes);
        if let Some(known) = known {
            // The peer's Change answers ours (section 6.6.6), unless ours must prevail.
            let negotiation = &self.negotiations[known];
            let wanted = negotiation.value.contains(&(value as u8));
            if !negotiation.mandatory || wanted {
                self.negotiations.swap_remove(known);
            }
        }
        Ok(self.assign(feature, location, value))
    }

    /// Section 6.6.2, "fourth".
    fn on_confirm(
        &mut self,
        role: Role,
        option: &Received<'_>,
    ) -> Result<Option<Changed>, Refusal> {
        let Context { seq, ack, .. } = option.context;
        let Some(feature) = Feature::from_number(option.feature) else {
            return Ok(None);
        };
        let location = option.location();
        let answers_latest = ack.is_some_and(|ack| !ack.is_before(self.fgss));
        if !answers_latest || self.is_reordered(seq) {
            return Ok(None);
        }
        let Some(known) = self.find(feature, location) else {
            return Ok(None);
        };
        let negotiation = &self.negotiations[known];
        if negotiation.state != NegotiationState::Changing {
            return Ok(None);
        }
        let Some((&selected, theirs)) = option.value.split_first() else {
            // Refused (section 6.6.7). CCID 2 depends on the peer's Ack Vectors.
            let is_vector = (feature, location) == (Feature::SendAckVector, Location::Peer);
            let needed = feature.is_required() || (is_vector && self.here.ccid == 2);
            self.negotiations.swap_remove(known);
            return if needed {
                Err(Refusal::OptionError)
            } else {
                Ok(None)
            };
        };
        let value = match feature.rule() {
            Rule::NonNegotiable => {
                let value = feature.read(option.value);
                if option.value != negotiation.value.as_slice() {
                    // A Confirm of the value in force answers a repetition of the Change before
                    // this one, which has overtaken it: not part of this negotiation.
                    return if value == Some(self.values(location).get(feature)) {
                        Ok(None)
                    } else {
                        Err(Refusal::OptionError)
                    };
                }
                value.ok_or(Refusal::OptionError)?
            }
            Rule::ServerPriority => {
                let ours = negotiation.value.as_slice();
                let current = self.values(location).get(feature);
                let valid = if theirs.is_empty() {
                    ours.contains(&selected) || u64::from(selected) == current
                } else {
                    let agreed = match role {
                        Role::Server => reconcile(ours, theirs),
                        Role::Client => reconcile(theirs, ours),
                    };
                    u64::from(selected) == agreed.map_or(current, u64::from)
                };
                if !valid {
                    return Err(Refusal::OptionError);
                }
                selected.into()
            }
        };
        self.negotiations.swap_remove(known);
        Ok(self.assign(feature, location, value))
    }

    /// The values at `location`.
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

    /// Answers a Change that is invalid or not understood: an empty Confirm, or a Reset where it was
    /// Mandatory.
    fn refuse(&mut self, option: &Received<'_>) -> Result<Option<Changed>, Refusal> {
        if option.context.mandatory {
            return Err(Refusal::MandatoryError);
        }
        self.confirm(option, OptionBytes::new());
        Ok(None)
    }

    /// Queues the answer to a Change; an answer to an earlier one that has not left is obsolete.
    fn confirm(&mut self, change: &Received<'_>, value: OptionBytes) {
        let confirm_side = match change.side {
            FeatureSide::Local => FeatureSide::Remote,
            FeatureSide::Remote => FeatureSide::Local,
        };
        self.confirms.retain(|waiting| {
            !matches!(waiting, DccpOption::Confirm { side, feature, .. }
                if *side == confirm_side && *feature == change.feature)
        });
        self.confirms.push(DccpOption::Confirm {
            side: confirm_side,
            feature: change.feature,
            value,
        });
    }

    fn is_reordered(&self, seq: SeqNo) -> bool {
        self.fgsr.is_some_and(|fgsr| !seq.is_after(fgsr))
    }

    fn find(&self, feature: Feature, location: Location) -> Option<usize> {
        self.negotiations.iter().position(|negotiation| {
            negotiation.feature == feature && negotiation.location == location
        })
    }
}
