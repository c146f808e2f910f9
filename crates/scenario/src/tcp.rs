//! TCP's parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::{Found, ParameterError};
use skywave_transport::tcp::TcpControlKind;
use skywave_units::{Bytes, Duration};

use crate::check::{check, check_datagram, check_packets, check_ssthresh, check_timer};
use crate::named::at;
use crate::{Backend, Registry};
use crate::{Named, Profile, ScenarioError};

/// TCP's parameters. What is absent is taken from the profile.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Tcp")]
#[serde(default)]
pub struct TcpSpec {
    /// Whose rules.
    pub profile: Profile,
    /// The congestion control, by its name in the registry: it runs with every recovery. Its
    /// parameters stand beside it under that name.
    pub control: String,
    /// Parameters of the control.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: Named,
    /// ECN (RFC 3168). A control that uses the same bits in its own way does so whatever stands here.
    pub ecn: bool,
    /// How lost segments are found and sent again. Absent: the one that goes with the control, for most
    /// NewReno.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<TcpRecovery>,
    /// Data bytes of a full segment (SMSS).
    pub segment: Bytes,
    /// Initial window, in segments.
    #[schemars(extend("x-unit" = "segments"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<u32>,
    /// Initial slow-start threshold, in segments. Both profiles: unbounded.
    #[schemars(extend("x-unit" = "segments"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<u32>,
    /// The receiver's window, in segments.
    #[schemars(extend("x-unit" = "segments"))]
    pub receive_window: u32,
    /// Delayed acknowledgements: how long the receiver waits for a second segment. Every segment
    /// is acknowledged at once where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// By up to so much, drawn at random, the sender comes late to what its window lets go, which
    /// then leaves in one burst: ns-2's `overhead_`.
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

/// TCP's loss recoveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
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
            control: "reno".to_owned(),
            parameters: Named::none(),
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
    /// The control, with its parameters.
    pub fn control<B: Backend>(
        &self,
        registry: &Registry<B>,
    ) -> Result<Found<dyn TcpControlKind>, ParameterError> {
        registry.tcp_control(&self.control, &self.parameters.table(&self.control))
    }

    /// Puts the control's parameters with all defaults in the place of those that were given.
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
        self.parameters.check(Some(name), field, explain)?;
        let found = self.control(registry).map_err(|error| {
            at(
                error,
                &format!("{field}.control"),
                &format!("{field}.{name}"),
            )
        })?;
        self.parameters.complete(name, found.parameters);
        Ok(())
    }

    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
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
        check_timer(self.initial_rto, &format!("{field}.initial_rto"))?;
        check_timer(self.min_rto, &format!("{field}.min_rto"))
    }
}
