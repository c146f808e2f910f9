//! The parameters of TCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_congestion::{Ect, Wants};
use skywave_registry::{Found, ParameterError};
use skywave_transport::tcp::{RecoveryAlgorithm, TcpControlKind};
use skywave_units::{Bytes, Duration};

use crate::check::{check, check_datagram, check_packets, check_ssthresh, check_timer};
use crate::named::at;
use crate::{Backend, Registry};
use crate::{Named, ScenarioError};

/// Parameters of TCP. The meaning of absent parameters depends on `profile`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Tcp")]
#[serde(default)]
pub struct TcpSpec {
    /// The rules that apply where the RFCs leave a choice, or where ns-2 or Linux departs from them.
    pub profile: TcpProfile,
    /// The congestion control, by name. Every control works with every recovery. Its parameters, if
    /// any, are in a table of that name next to this field.
    pub control: String,
    /// Parameters of the control.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Named,
    /// Whether to use ECN. Controls that ask for ECN, or use its bits in their own way, ignore this.
    pub ecn: bool,
    /// How the receiver reports marks, if ECN is used. Absent: `accurate` for controls that count
    /// marks, such as `prague`; with profile `linux`, `dctcp` for those whose data carries ECT(0);
    /// `rfc3168` for all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_feedback: Option<EcnFeedback>,
    /// How lost segments are detected and retransmitted. Absent: `rack` for profile `linux`;
    /// otherwise `rack` for `bbr`, `c4` and `prague`, `sack` for `cubic`, `vegas` for `vegas`, and
    /// `newreno` for most other controls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<TcpRecovery>,
    /// Whether SACKs outlive a retransmission timeout, so that only missing segments are sent again
    /// (RFC 6675 section 5.1); `false` forgets them (RFC 2018 section 5). Used only by recovery
    /// `sack` of profile `rfc`.
    pub keep_sacks: bool,
    /// Whether an unnecessary retransmission timeout is detected and its response undone: F-RTO (RFC
    /// 5682 section 3). Needs recovery `rack`. Absent: yes for profile `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_rto: Option<bool>,
    /// Whether cwnd may grow although the application does not use it up, up to what the largest
    /// FlightSize since the last reduction justifies: twice as much in slow start, a segment more
    /// otherwise (draft-ietf-ccwg-ratelimited-increase, August 2026). Without it cwnd does not grow
    /// then (RFC 9438 section 5.8). Absent: yes for profile `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limited_increase: Option<bool>,
    /// Whether to validate cwnd as in RFC 7661, for applications that pause. While less than half of
    /// cwnd is used, cwnd does not grow; a pause of an RTO does not reset it (as RFC 5681 section 4.1
    /// does), but every five minutes halve it; packets are paced; and a loss leaves half of what was
    /// used. Not for profile `ns2`, nor for controls that model the path, such as `bbr` and `c4`.
    pub cwnd_validation: bool,
    /// Whether segments have timestamps (RFC 7323 section 3), which take 12 B more. They time
    /// retransmissions too, let the receiver size its window by round trips, and protect against old
    /// duplicates. Not for profile `ns2`. Absent: yes for profile `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// The data bytes of a full segment (SMSS).
    pub segment: Bytes,
    /// The initial cwnd. Absent: RFC 3390's 2 to 4 segments, depending on `segment`, for profile
    /// `rfc`; 10 for `linux` (RFC 6928); 2 for `ns2`.
    #[schemars(extend("x-unit" = "segments"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// The initial ssthresh. Absent: unbounded; `receive_window` for profile `ns2`.
    #[schemars(extend("x-unit" = "segments"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// A fixed receive window, at most 1 GiB (RFC 7323 section 2.3). Absent: autotuned, by dynamic
    /// right-sizing (Fisk and Feng 2001) as in Linux: at first 64 KiB, then at least twice what a
    /// round trip delivers, and never less than before; 1000 for profile `ns2`, whose windows are
    /// fixed.
    #[schemars(extend("x-unit" = "segments"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<u32>,
    /// The largest autotuned receive window, at most 1 GiB. Absent: 32 MiB, as Linux's
    /// `tcp_rmem[2]` since version 6.16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_receive_window: Option<Bytes>,
    /// How long the receiver delays the acknowledgement of a single segment to wait for a second
    /// one. Limited to 500 ms (RFC 5681 section 4.2). Absent: every segment is acknowledged at
    /// once; for profile `linux`, 40 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Whether to use limited transmit (RFC 3042; ns-2's `singledup_` for profile `ns2`).
    pub limited_transmit: bool,
    /// Maximum random delay before sending data the window permits (ns-2's `overhead_`). Afterwards
    /// everything the window permits leaves in one burst.
    pub send_jitter: Duration,
    /// The granularity of the retransmission timer. Absent: no ticks; 10 ms for profile `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// The offset of the start of the run within a tick. Used only by profile `ns2`. Absent: 5 ms,
    /// half a tick of ns-2, which draws it at random for each connection (`boot_time_`); 0 s for
    /// `vegas`, for which ns-2 does not draw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_phase: Option<Duration>,
    /// The RTO before the first round-trip time sample. Absent: 1 s (RFC 6298); 3 s for profile
    /// `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// The minimum RTO. Absent: 1 s for profile `rfc` (RFC 6298); 200 ms for `linux` and `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
}

/// The rules that apply where the RFCs leave a choice, or where ns-2 or Linux departs from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpProfile {
    /// The RFCs' recommendations.
    #[default]
    Rfc,
    /// ns-2.35, as shipped. validation/ns2/README.md lists the differences.
    Ns2,
    /// Linux, as far as texts describe it. docs/controls.md compares it with the kernel.
    Linux,
}

/// How a TCP receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnFeedback {
    /// An echo from a mark until the sender answers it (RFC 3168 section 6.1.3).
    Rfc3168,
    /// An echo in the acknowledgements of marked segments only (RFC 8257 section 3.2). Not for
    /// profile `ns2`.
    Dctcp,
    /// Accurate ECN: counters of marked segments and bytes (draft-ietf-tcpm-accurate-ecn-34, which
    /// became RFC 9768). Not for profile `ns2`.
    Accurate,
}

impl EcnFeedback {
    /// Returns the feedback that a control with these requests gets if none is chosen.
    pub fn of(wants: Wants, profile: TcpProfile) -> Self {
        let counts = wants.accurate_ecn || wants.ecn == Some(Ect::One);
        match (counts, wants.ecn, profile) {
            (false, ..) => Self::Rfc3168,
            (true, Some(Ect::Zero), TcpProfile::Linux) => Self::Dctcp,
            (true, ..) => Self::Accurate,
        }
    }
}

/// How TCP recovers from losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpRecovery {
    /// Fast retransmit, followed by slow start from the lost segment.
    Tahoe,
    /// Fast recovery until new data is acknowledged (RFC 5681).
    Reno,
    /// Fast recovery until all data outstanding at its start is acknowledged (RFC 6582).
    #[serde(rename = "newreno")]
    NewReno,
    /// Selective acknowledgements: RFC 6675 for profile `rfc`, Sack1 for `ns2`.
    Sack,
    /// RACK-TLP (RFC 8985) with PRR (RFC 6937), as in Linux: losses are found by the sending times of
    /// segments, even those of retransmissions, and a probe finds losses at the end of a flight. The
    /// receiver reports duplicates (RFC 2883). Not for profile `ns2`.
    Rack,
    /// Fast retransmit based on a fine-grained timeout, as in ns-2's Vegas.
    Vegas,
}

impl Default for TcpSpec {
    fn default() -> Self {
        Self {
            profile: TcpProfile::Rfc,
            control: "reno".to_owned(),
            parameters: Named::none(),
            ecn: false,
            ecn_feedback: None,
            recovery: None,
            keep_sacks: true,
            forward_rto: None,
            rate_limited_increase: None,
            cwnd_validation: false,
            timestamps: None,
            segment: Bytes::new(1000),
            initial_cwnd: None,
            initial_ssthresh: None,
            receive_window: None,
            max_receive_window: None,
            delayed_ack: None,
            limited_transmit: true,
            send_jitter: Duration::ZERO,
            tick: None,
            tick_phase: None,
            initial_rto: None,
            min_rto: None,
        }
    }
}

impl TcpSpec {
    /// Returns the control with its parameters.
    pub fn control<B: Backend>(
        &self,
        registry: &Registry<B>,
    ) -> Result<Found<dyn TcpControlKind>, ParameterError> {
        registry.tcp_control(&self.control, &self.parameters.table(&self.control))
    }

    /// Replaces the given parameters of the control with the complete set, including defaults.
    pub(crate) fn complete<B: Backend>(
        &mut self,
        registry: &Registry<B>,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let name = &self.control;
        let explain = |other: &str| {
            registry.has_tcp_control(other).then(|| {
                format!("these are parameters of `{other}`: give control = \"{other}\" too")
            })
        };
        let checked = self.parameters.check::<Self>(Some(name), explain);
        checked.map_err(|error| error.within(field))?;
        let found = self.control(registry).map_err(|error| {
            at(
                error,
                &format!("{field}.control"),
                &format!("{field}.{name}"),
            )
        })?;
        self.check_feedback(found.member.wants(), found.member.owns_ecn(), field)?;
        self.check_forward_rto(found.member.recovery(), field)?;
        let may_validate = !(self.cwnd_validation && found.member.wants().models_path);
        check(may_validate, &format!("{field}.cwnd_validation"), || {
            format!("`{name}` derives cwnd from its model of the path: leave this out")
        })?;
        self.parameters.complete(name, found.parameters);
        Ok(())
    }

    /// Checks that the receiver can report marks as the control needs them.
    fn check_feedback(
        &self,
        wants: Wants,
        owns_ecn: bool,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let name = &self.control;
        let uses_ecn = (self.ecn || wants.ecn.is_some()) && !owns_ecn;
        let of_feedback = format!("{field}.ecn_feedback");
        let is_wanted = self.ecn_feedback.is_none() || uses_ecn;
        check(is_wanted, &of_feedback, || {
            if owns_ecn {
                format!("`{name}` uses the ECN field in its own way: leave this out")
            } else {
                "there are no marks to report without ECN: give ecn = true too".to_owned()
            }
        })?;
        if !uses_ecn {
            return Ok(());
        }
        let feedback = self
            .ecn_feedback
            .unwrap_or_else(|| EcnFeedback::of(wants, self.profile));
        let is_accurate = feedback == EcnFeedback::Accurate;
        check(
            wants.ecn != Some(Ect::One) || is_accurate,
            &of_feedback,
            || {
                format!(
                    "`{name}` sends ECT(1) and responds to the fraction of marked packets, which only \
                 Accurate ECN reports (RFC 9331 section 4.1): give accurate"
                )
            },
        )?;
        let is_ns2 = self.profile == TcpProfile::Ns2;
        check(
            !is_ns2 || feedback == EcnFeedback::Rfc3168,
            &of_feedback,
            || {
                "ns-2's receivers report marks as RFC 3168 says: give another profile, or rfc3168 if \
             the control accepts it"
                .to_owned()
            },
        )
    }

    /// Checks that the recovery has F-RTO if it is asked for. `of_control` is the recovery that the
    /// control chooses.
    fn check_forward_rto(
        &self,
        of_control: Option<RecoveryAlgorithm>,
        field: &str,
    ) -> Result<(), ScenarioError> {
        let has_rack = match self.recovery {
            Some(recovery) => recovery == TcpRecovery::Rack,
            None => {
                self.profile == TcpProfile::Linux || of_control == Some(RecoveryAlgorithm::Rack)
            }
        };
        let is_possible = self.forward_rto != Some(true) || has_rack;
        check(is_possible, &format!("{field}.forward_rto"), || {
            "F-RTO needs the recovery RACK: give recovery = \"rack\" too".to_owned()
        })
    }

    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_datagram(self.segment.get(), &format!("{field}.segment"))?;
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        self.check_windows(field)?;
        let has_recovery =
            self.recovery != Some(TcpRecovery::Rack) || self.profile != TcpProfile::Ns2;
        check(has_recovery, &format!("{field}.recovery"), || {
            "ns-2 has no RACK: give another recovery or profile".to_owned()
        })?;
        let may_validate = !(self.cwnd_validation && self.profile == TcpProfile::Ns2);
        check(may_validate, &format!("{field}.cwnd_validation"), || {
            "ns-2 does not validate cwnd: give another profile".to_owned()
        })?;
        let may_stamp = !(self.timestamps == Some(true) && self.profile == TcpProfile::Ns2);
        check(may_stamp, &format!("{field}.timestamps"), || {
            "ns-2's segments have no timestamps: give another profile".to_owned()
        })?;
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }

    fn check_windows(&self, field: &str) -> Result<(), ScenarioError> {
        // RFC 7323 section 2.3: a window of at most 2^30 bytes.
        let permitted = 1..=1 << 30;
        if let Some(segments) = self.receive_window {
            let window = u64::from(segments) * self.segment.get();
            let field = format!("{field}.receive_window");
            check(permitted.contains(&window), &field, || {
                format!("{segments} segments are {window} B: give a window from 1 B to 1 GiB")
            })?;
        }
        let Some(max) = self.max_receive_window else {
            return Ok(());
        };
        let field = format!("{field}.max_receive_window");
        check(permitted.contains(&max.get()), &field, || {
            format!("{max}: give a window from 1 B to 1 GiB")
        })?;
        let autotunes = self.receive_window.is_none() && self.profile != TcpProfile::Ns2;
        check(autotunes, &field, || {
            "the window is fixed: give either receive_window, or max_receive_window with profile \
             rfc or linux"
                .to_owned()
        })
    }
}
