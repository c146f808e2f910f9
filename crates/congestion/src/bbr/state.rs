//! The states and their gains ("Summary of Control Behavior in the State Machine").

/// BBR.state ("State Machine").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    /// Returns BBR.pacing_gain.
    pub(super) const fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => 2.77,
            Self::Drain => 0.5,
            Self::ProbeBwDown => 0.9,
            Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeRtt => 1.0,
            Self::ProbeBwUp => 1.25,
        }
    }

    /// Returns BBR.cwnd_gain.
    pub(super) const fn cwnd_gain(self) -> f64 {
        match self {
            Self::ProbeBwUp => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// IsInAProbeBWState ("ProbeBW Algorithm Details").
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(
            self,
            Self::ProbeBwDown | Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeBwUp
        )
    }

    /// IsProbingBW ("ProbeBW Algorithm Details").
    pub(super) const fn is_probing_bw(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp)
    }

    /// Returns a number for plots, in the order of a connection's life.
    pub(super) const fn number(self) -> f64 {
        self as u8 as f64
    }
}

/// BBR.ack_phase ("ProbeBW State").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// ACKS_INIT.
    Init,
    /// ACKS_REFILLING.
    Refilling,
    /// ACKS_PROBE_STARTING.
    ProbeStarting,
    /// ACKS_PROBE_FEEDBACK.
    ProbeFeedback,
    /// ACKS_PROBE_STOPPING.
    ProbeStopping,
}
