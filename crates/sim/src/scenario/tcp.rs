//! TCP's parameters.

use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Duration};

use super::check::{check, check_datagram, check_packets, check_ssthresh, check_timer};
use super::{Profile, ScenarioError, VcpSpec};

/// TCP's parameters. What is absent is taken from the profile.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpSpec {
    /// Whose rules.
    pub profile: Profile,
    /// How large the window is.
    pub control: TcpControl,
    /// Parameters of VCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcp: Option<VcpSpec>,
    /// ECN (RFC 3168). VCP uses the same bits in its own way, whatever stands here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// How lost segments are found and sent again. Absent: that of Vegas for Vegas, else NewReno.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<TcpRecovery>,
    /// Data bytes of a full segment (SMSS).
    pub segment: Bytes,
    /// Initial window, in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// Initial slow-start threshold, in segments. Both profiles: unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// The receiver's window, in segments.
    pub receive_window: u32,
    /// Delayed acknowledgements: how long the receiver waits for a second segment. Every segment
    /// is acknowledged at once where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// By up to so much, drawn at random, the sender comes late to what its window lets go, which
    /// then leaves in one burst: ns-2's `overhead_`.
    #[serde(skip_serializing_if = "super::is_zero")]
    pub send_jitter: Duration,
    /// Granularity of the retransmission timer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// How far into a tick the run begins, where there are ticks. ns-2 draws it at random for each
    /// connection (`boot_time_`); profile `ns2` takes half a tick of ns-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_phase: Option<Duration>,
    /// Retransmission timeout before the first round-trip time sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// Smallest retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
}

/// TCP's window algorithms. Each runs with every recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpControl {
    /// Additive increase, multiplicative decrease: RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Brakmo and Peterson 1995, with ns-2's arithmetic.
    Vegas,
    /// Obeys the load factor that VCP's routers write (Xia et al. 2005); in chains of several
    /// packets, MPCP (Li and Yousefi'zadeh 2009).
    Vcp,
}

/// TCP's loss recoveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpRecovery {
    /// Fast retransmit, and slow start from the lost segment on.
    Tahoe,
    /// Fast recovery until new data are acknowledged: RFC 5681.
    Reno,
    /// Fast recovery until all that was outstanding is acknowledged: RFC 6582.
    #[serde(rename = "newreno")]
    NewReno,
    /// Selective acknowledgements: RFC 6675, or ns-2's Sack1.
    Sack,
    /// Fast retransmit by a finely measured timeout: ns-2's Vegas.
    Vegas,
}

impl Default for TcpSpec {
    fn default() -> Self {
        Self {
            profile: Profile::Rfc,
            control: TcpControl::Reno,
            vcp: None,
            ecn: false,
            recovery: None,
            segment: Bytes::new(1000),
            initial_cwnd: None,
            initial_ssthresh: None,
            receive_window: 1000,
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
    /// The recovery, with the default for the window algorithm.
    pub fn recovery(&self) -> TcpRecovery {
        self.recovery.unwrap_or(match self.control {
            TcpControl::Vegas => TcpRecovery::Vegas,
            TcpControl::Reno | TcpControl::Cubic | TcpControl::Vcp => TcpRecovery::NewReno,
        })
    }

    /// How many packets tell it a load factor, where it obeys one.
    pub(crate) fn chain(&self) -> Option<u8> {
        let given = self.vcp.as_ref().and_then(|vcp| vcp.chain);
        (self.control == TcpControl::Vcp).then(|| given.unwrap_or(1))
    }

    pub(super) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_datagram(self.segment.get(), &format!("{field}.segment"))?;
        check_packets(self.initial_cwnd, &format!("{field}.initial_cwnd"))?;
        check_ssthresh(self.initial_ssthresh, &format!("{field}.initial_ssthresh"))?;
        // RFC 7323 section 2.3: a window of at most 2^30 bytes.
        let window = u64::from(self.receive_window) * self.segment.get();
        check(
            (1..=1 << 30).contains(&window),
            &format!("{field}.receive_window"),
            || {
                format!(
                    "{} segments are {window} B: between 1 B and 1 GiB",
                    self.receive_window
                )
            },
        )?;
        if let Some(vcp) = &self.vcp {
            let field = format!("{field}.vcp");
            check(self.control == TcpControl::Vcp, &field, || {
                "these are parameters of VCP: give control = \"vcp\" too".to_owned()
            })?;
            vcp.validate(&field)?;
        }
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}
