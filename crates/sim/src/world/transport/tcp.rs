//! TCP endpoints as a scenario describes them.

use std::sync::Arc;

use skywave_congestion::{AimdConfig, Clocking, ControlContext, Ect, RtoConfig};
use skywave_registry::ParameterError;
use skywave_scenario::{Backend, EcnFeedback, Registry, TcpProfile, TcpRecovery, TcpSpec};
use skywave_transport::tcp::{
    self, LimitedTransmit, Ports, ReceiveWindow, Receiver, RecoveryAlgorithm, Sender,
    TcpControlKind,
};
use skywave_units::{Bytes, Duration};

use super::{rto_config, whole};

/// ns-2 draws the position in a tick at which each connection starts at random. Half a tick is as
/// good as any draw, and makes runs reproducible.
const NS2_TICK_PHASE: Duration = Duration::from_millis(5);

/// The window of a profile without autotuning, in segments, where a scenario gives none.
const NS2_WINDOW: u32 = 1000;

/// The initial window of RFC 6928 section 2, in segments.
const RFC6928_WINDOW: f64 = 10.0;

/// Linux's `TCP_DELACK_MIN`.
const LINUX_DELAYED_ACK: Duration = Duration::from_millis(40);

/// Linux's `TCP_MAX_QUICKACKS`.
const LINUX_QUICK_ACKS: u16 = 16;

/// The SACK blocks of ns-2's Sack1 sink (`maxSackBlocks_`).
const NS2_SACK_BLOCKS: u8 = 3;

/// The TCP of a flow. Its connections share their configurations.
#[derive(Debug)]
pub(crate) struct TcpPlan {
    spec: TcpSpec,
    pub(super) control: Arc<dyn TcpControlKind>,
    sender: Arc<tcp::SenderConfig>,
    receiver: Arc<tcp::ReceiverConfig>,
}

impl TcpPlan {
    pub(super) fn new<B: Backend>(
        spec: &TcpSpec,
        registry: &Registry<B>,
    ) -> Result<Self, ParameterError> {
        let mut plan = Self {
            spec: spec.clone(),
            control: spec.control(registry)?.member,
            sender: Arc::default(),
            receiver: Arc::default(),
        };
        plan.sender = Arc::new(plan.sender_config());
        plan.receiver = Arc::new(plan.receiver_config());
        Ok(plan)
    }

    /// Creates the sending end of a connection, with random numbers from `seed`.
    pub(crate) fn sender(&self, ports: Ports, seed: u64) -> Sender {
        let control = self.control.build(&self.context());
        Sender::new(Arc::clone(&self.sender), control, ports, seed)
    }

    /// Creates the receiving end of a connection, with random numbers from `seed`.
    pub(crate) fn receiver(&self, ports: Ports, seed: u64) -> Receiver {
        let receiver = Receiver::new(Arc::clone(&self.receiver), ports, seed);
        match self.control.receiver() {
            Some(extension) => receiver.with_extension(extension),
            None => receiver,
        }
    }

    /// Returns the context in which the control is created.
    fn context(&self) -> ControlContext {
        let spec = &self.spec;
        let segment = spec.segment.get() as u32;
        let profile = match spec.profile {
            TcpProfile::Rfc => AimdConfig::rfc5681(segment),
            TcpProfile::Linux => AimdConfig {
                initial_cwnd: RFC6928_WINDOW,
                ..AimdConfig::rfc5681(segment)
            },
            TcpProfile::Ns2 => AimdConfig::ns2_tcp(self.ns2_window()),
        };
        ControlContext {
            packet_size: segment,
            initial_cwnd: spec.initial_cwnd.map_or(profile.initial_cwnd, f64::from),
            initial_ssthresh: spec
                .initial_ssthresh
                .map_or(profile.initial_ssthresh, f64::from),
            ns2: spec.profile == TcpProfile::Ns2,
            linux: spec.profile == TcpProfile::Linux,
        }
    }

    /// Returns the recovery selected, or the control's own, in the variant of the profile.
    fn recovery(&self) -> RecoveryAlgorithm {
        let is_ns2 = self.spec.profile == TcpProfile::Ns2;
        let ns2_vegas = RecoveryAlgorithm::Ns2Vegas {
            table: self.ns2_window(),
        };
        match (self.spec.recovery, self.control.recovery()) {
            (None, _) if self.spec.profile == TcpProfile::Linux => RecoveryAlgorithm::Rack,
            (None, None) | (Some(TcpRecovery::NewReno), _) => RecoveryAlgorithm::NewReno,
            (None, Some(RecoveryAlgorithm::Vegas)) | (Some(TcpRecovery::Vegas), _) if is_ns2 => {
                ns2_vegas
            }
            (None, Some(RecoveryAlgorithm::Sack)) | (Some(TcpRecovery::Sack), _) if is_ns2 => {
                RecoveryAlgorithm::Sack1
            }
            (None, Some(recovery)) => recovery,
            (Some(TcpRecovery::Vegas), _) => RecoveryAlgorithm::Vegas,
            (Some(TcpRecovery::Tahoe), _) => RecoveryAlgorithm::Tahoe,
            (Some(TcpRecovery::Reno), _) => RecoveryAlgorithm::Reno {
                once_per_window: is_ns2,
            },
            (Some(TcpRecovery::Sack), _) => RecoveryAlgorithm::Sack,
            (Some(TcpRecovery::Rack), _) => RecoveryAlgorithm::Rack,
        }
    }

    /// Sets absent parameters to the values that follow from the profile and the control. If still
    /// absent, ssthresh is unbounded, and the timer has no ticks.
    pub(super) fn complete(&self, spec: &mut TcpSpec) {
        let (context, rto) = (self.context(), self.sender.rto);
        spec.recovery = match self.recovery() {
            RecoveryAlgorithm::Tahoe => Some(TcpRecovery::Tahoe),
            RecoveryAlgorithm::Reno { .. } => Some(TcpRecovery::Reno),
            RecoveryAlgorithm::NewReno => Some(TcpRecovery::NewReno),
            RecoveryAlgorithm::Sack | RecoveryAlgorithm::Sack1 => Some(TcpRecovery::Sack),
            RecoveryAlgorithm::Rack => Some(TcpRecovery::Rack),
            RecoveryAlgorithm::Vegas | RecoveryAlgorithm::Ns2Vegas { .. } => {
                Some(TcpRecovery::Vegas)
            }
            _ => spec.recovery,
        };
        spec.ecn_feedback = match self.sender.ecn {
            tcp::EcnUse::Off => None,
            tcp::EcnUse::Rfc3168 => Some(EcnFeedback::Rfc3168),
            tcp::EcnUse::Dctcp => Some(EcnFeedback::Dctcp),
            tcp::EcnUse::Accurate(_) => Some(EcnFeedback::Accurate),
        };
        let is_rack = self.sender.recovery == RecoveryAlgorithm::Rack;
        spec.forward_rto = is_rack.then_some(self.sender.forward_rto);
        spec.rate_limited_increase = Some(self.sender.rate_limited_increase);
        spec.timestamps = Some(self.sender.timestamps);
        spec.initial_cwnd = whole(context.initial_cwnd);
        spec.initial_ssthresh = whole(context.initial_ssthresh);
        match self.receive_window() {
            ReceiveWindow::Autotuned { max } => {
                spec.max_receive_window = Some(Bytes::new(u64::from(max)));
            }
            ReceiveWindow::Fixed(_) => spec.receive_window = Some(self.ns2_window()),
        }
        spec.delayed_ack = self.delayed_ack();
        spec.initial_rto = Some(rto.initial);
        spec.min_rto = Some(rto.min);
        if let Clocking::Ticks(tick) = rto.clocking {
            spec.tick = Some(tick);
            spec.tick_phase = Some(rto.tick_phase);
        }
    }

    fn delayed_ack(&self) -> Option<Duration> {
        let linux = (self.spec.profile == TcpProfile::Linux).then_some(LINUX_DELAYED_ACK);
        self.spec.delayed_ack.or(linux)
    }

    fn ecn(&self) -> tcp::EcnUse {
        let (spec, wants) = (&self.spec, self.control.wants());
        let is_wanted = spec.ecn || wants.ecn.is_some();
        if !is_wanted || self.control.owns_ecn() {
            return tcp::EcnUse::Off;
        }
        let feedback = spec.ecn_feedback;
        match feedback.unwrap_or_else(|| EcnFeedback::of(wants, spec.profile)) {
            EcnFeedback::Rfc3168 => tcp::EcnUse::Rfc3168,
            EcnFeedback::Dctcp => tcp::EcnUse::Dctcp,
            EcnFeedback::Accurate => tcp::EcnUse::Accurate(wants.ecn.unwrap_or(Ect::Zero)),
        }
    }

    fn sender_config(&self) -> tcp::SenderConfig {
        let (spec, recovery) = (&self.spec, self.recovery());
        let base = match spec.profile {
            TcpProfile::Rfc => tcp::SenderConfig::rfc(recovery),
            TcpProfile::Linux => tcp::SenderConfig::linux(recovery),
            TcpProfile::Ns2 => {
                let base = tcp::SenderConfig::ns2(recovery);
                let rto = RtoConfig {
                    tick_phase: spec.tick_phase.unwrap_or(match recovery {
                        // It draws no phase: its ticks begin at time 0.
                        RecoveryAlgorithm::Ns2Vegas { .. } => Duration::ZERO,
                        _ => NS2_TICK_PHASE,
                    }),
                    ..base.rto
                };
                tcp::SenderConfig { rto, ..base }
            }
        };
        tcp::SenderConfig {
            segment_size: spec.segment.get() as u16,
            keep_sacks: spec.keep_sacks,
            forward_rto: spec.forward_rto.unwrap_or(base.forward_rto),
            rate_limited_increase: (spec.rate_limited_increase)
                .unwrap_or(base.rate_limited_increase),
            cwnd_validation: spec.cwnd_validation,
            timestamps: spec.timestamps.unwrap_or(base.timestamps),
            syn_options: self.has_syn_options(),
            window: self.receive_window(),
            limited_transmit: match (spec.limited_transmit, spec.profile) {
                (false, _) => LimitedTransmit::Off,
                (true, TcpProfile::Rfc | TcpProfile::Linux) => LimitedTransmit::NewData,
                (true, TcpProfile::Ns2) => LimitedTransmit::Any,
            },
            send_jitter: spec.send_jitter,
            ecn: self.ecn(),
            pacing: self.control.wants().pacing,
            rto: rto_config(base.rto, spec.tick, spec.initial_rto, spec.min_rto),
            ..base
        }
    }

    fn receiver_config(&self) -> tcp::ReceiverConfig {
        let spec = &self.spec;
        tcp::ReceiverConfig {
            max_segment_size: spec.segment.get() as u16,
            window: self.receive_window(),
            syn_options: self.has_syn_options(),
            timestamps: self.sender.timestamps,
            sack_blocks: match (self.recovery().uses_sack(), spec.profile) {
                (false, _) => 0,
                (true, TcpProfile::Rfc | TcpProfile::Linux) => {
                    tcp::ReceiverConfig::default().sack_blocks
                }
                (true, TcpProfile::Ns2) => NS2_SACK_BLOCKS,
            },
            dsack: self.recovery() == RecoveryAlgorithm::Rack,
            delayed_ack: self.delayed_ack(),
            quick_acks: match spec.profile {
                TcpProfile::Linux => LINUX_QUICK_ACKS,
                TcpProfile::Rfc | TcpProfile::Ns2 => 0,
            },
            ecn: self.ecn(),
        }
    }

    /// Returns whether the SYN has options. ns-2's has none, and its windows have no limit. Here a
    /// window of 64 KiB or more needs the window scale option, which enlarges the SYN.
    fn has_syn_options(&self) -> bool {
        self.spec.profile != TcpProfile::Ns2 || self.receive_window().max() > u32::from(u16::MAX)
    }

    fn receive_window(&self) -> ReceiveWindow {
        let spec = &self.spec;
        match (spec.receive_window, spec.profile) {
            (None, TcpProfile::Rfc | TcpProfile::Linux) => match spec.max_receive_window {
                Some(max) => ReceiveWindow::Autotuned {
                    max: max.get() as u32,
                },
                None => ReceiveWindow::default(),
            },
            _ => ReceiveWindow::Fixed(self.ns2_window() * spec.segment.get() as u32),
        }
    }

    /// Returns the receiver's window in segments, from which ns-2's TCP derives other limits too.
    fn ns2_window(&self) -> u32 {
        self.spec.receive_window.unwrap_or(NS2_WINDOW)
    }
}
