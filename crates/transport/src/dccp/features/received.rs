//! Handles the peer's Change and Confirm options (RFC 4340 sections 6.6.2 and 6.6.4 to 6.6.8).

use skywave_wire::dccp::{DccpOption, FeatureNumber, FeatureSide, OptionBytes, ResetCode, SeqNo};

use super::preferences::{in_order_of, preferences};
use super::table::{Rule, reconcile};
use super::{CONFIRMS_MAX, Feature, Features, Location, NegotiationState};
use crate::dccp::{Ccid, Config, Role};

/// The packet and position of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The packet's sequence number, already validated.
    pub(crate) seq: SeqNo,
    /// Its acknowledgement number.
    pub(crate) ack: Option<SeqNo>,
    /// Whether a Mandatory option precedes it.
    pub(crate) mandatory: bool,
}

/// A Change or Confirm option.
#[derive(Clone, Copy, Debug)]
struct Received<'a> {
    context: Context,
    /// L or R, from the peer's point of view.
    side: FeatureSide,
    feature: FeatureNumber,
    value: &'a [u8],
}

impl Received<'_> {
    /// Returns the feature's location: what is local to the peer is remote here.
    const fn location(&self) -> Location {
        match self.side {
            FeatureSide::Local => Location::Peer,
            FeatureSide::Remote => Location::Here,
        }
    }

    /// Returns the side of the Confirm that answers a Change.
    const fn confirm_side(&self) -> FeatureSide {
        match self.side {
            FeatureSide::Local => FeatureSide::Remote,
            FeatureSide::Remote => FeatureSide::Local,
        }
    }
}

/// A feature whose value has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    /// The feature.
    pub(crate) feature: Feature,
    /// Its location.
    pub(crate) location: Location,
}

/// Why the connection must be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Reset Code 5.
    OptionError,
    /// Reset Code 6.
    MandatoryError,
}

impl Refusal {
    /// Returns the Reset Code to use.
    pub(crate) const fn reset_code(self) -> ResetCode {
        match self {
            Self::OptionError => ResetCode::OPTION_ERROR,
            Self::MandatoryError => ResetCode::MANDATORY_ERROR,
        }
    }
}

impl Features {
    /// Processes a Change or Confirm; ignores other options.
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
            _ => self.on_confirm(config, role, &received),
        }
    }

    /// Processes a Change as section 6.6.2 says, "first" to "third".
    fn on_change(
        &mut self,
        config: &Config,
        role: Role,
        option: &Received<'_>,
    ) -> Result<Option<Changed>, Refusal> {
        let Context { seq, mandatory, .. } = option.context;
        if self.confirms.len() >= CONFIRMS_MAX && self.waiting_answer(option).is_none() {
            return if mandatory {
                Err(Refusal::MandatoryError)
            } else {
                Ok(None)
            };
        }
        // Unknown features (section 6.6.7). Rule 1 of section 6.6.4, on reordering, applies to them
        // too.
        let known = Feature::from_number(option.feature)
            .filter(|&feature| self.is_in_force(config, feature, option.location()));
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
                let mut ours = match known {
                    Some(known) => self.negotiations[known].value.clone(),
                    None => preferences(config, feature, location, Ccid(self.here.ccid)),
                };
                if feature == Feature::Ccid {
                    if location == Location::Here && self.keeps_ccid {
                        ours = feature.write(self.here.ccid.into());
                    } else if role == Role::Server && config.follow_client_ccids {
                        ours = in_order_of(option.value, &ours);
                    }
                }
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
            // The peer's Change answers ours (section 6.6.6), unless our value must prevail.
            let negotiation = &self.negotiations[known];
            let wanted = negotiation.value.contains(&(value as u8));
            if !negotiation.mandatory || wanted {
                self.negotiations.swap_remove(known);
            }
        }
        Ok(self.assign(feature, location, value))
    }

    /// Processes a Confirm as section 6.6.2 says, "fourth".
    fn on_confirm(
        &mut self,
        config: &Config,
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
            // The peer refused the Change (section 6.6.7). Some CCIDs require the peer's Ack
            // Vectors.
            let is_vector = (feature, location) == (Feature::SendAckVector, Location::Peer);
            let needs_vectors = config.ccids.row(Ccid(self.here.ccid)).features.ack_vector;
            let needed = feature.is_required() || (is_vector && needs_vectors);
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
                    // A Confirm of the current value answers a retransmission of our previous
                    // Change, and was overtaken by this negotiation: ignore it.
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

    /// Answers an invalid or unknown Change: with an empty Confirm, or with a Reset if it was
    /// Mandatory.
    fn refuse(&mut self, option: &Received<'_>) -> Result<Option<Changed>, Refusal> {
        if option.context.mandatory {
            return Err(Refusal::MandatoryError);
        }
        self.confirm(option, OptionBytes::new());
        Ok(None)
    }

    /// Queues the answer to a Change, replacing any unsent answer to an earlier one.
    fn confirm(&mut self, change: &Received<'_>, value: OptionBytes) {
        if let Some(earlier) = self.waiting_answer(change) {
            self.confirms.remove(earlier);
        }
        self.confirms.push(DccpOption::Confirm {
            side: change.confirm_side(),
            feature: change.feature,
            value,
        });
    }

    /// Finds the answer to an earlier Change of the same feature among [`Features::confirms`].
    fn waiting_answer(&self, change: &Received<'_>) -> Option<usize> {
        let answer_side = change.confirm_side();
        self.confirms.iter().position(|waiting| {
            matches!(waiting, DccpOption::Confirm { side, feature, .. }
                if *side == answer_side && *feature == change.feature)
        })
    }

    fn is_reordered(&self, seq: SeqNo) -> bool {
        self.fgsr.is_some_and(|fgsr| !seq.is_after(fgsr))
    }
}
