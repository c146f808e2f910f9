//! TCP endpoints as a scenario describes them.

use skywave_congestion::{
    Aimd, AimdConfig, Cubic, CubicConfig, Mpcp, RtoConfig, Vegas, VegasConfig, VegasRules, Window,
};
use skywave_transport::tcp::{self, LimitedTransmit};
use skywave_units::Duration;

use super::rto_config;
use crate::scenario::{Profile, TcpControl, TcpRecovery, TcpSpec};

/// ns-2 draws at random where in a tick each connection begins; half a tick is as good a draw as
/// any, and keeps runs alike.
const NS2_TICK_PHASE: Duration = Duration::from_millis(5);

/// ns-2's Sack1 sink (`maxSackBlocks_`).
const NS2_SACK_BLOCKS: u8 = 3;

fn recovery(spec: &TcpSpec) -> tcp::RecoveryAlgorithm {
    use tcp::RecoveryAlgorithm;
    let is_ns2 = spec.profile == Profile::Ns2;
    match spec.recovery() {
        TcpRecovery::Tahoe => RecoveryAlgorithm::Tahoe,
        TcpRecovery::Reno => RecoveryAlgorithm::Reno {
            once_per_window: is_ns2,
        },
        TcpRecovery::NewReno => RecoveryAlgorithm::NewReno,
        TcpRecovery::Sack if is_ns2 => RecoveryAlgorithm::Sack1,
        TcpRecovery::Sack => RecoveryAlgorithm::Sack,
        TcpRecovery::Vegas if is_ns2 => RecoveryAlgorithm::Ns2Vegas {
            table: spec.receive_window,
        },
        TcpRecovery::Vegas => RecoveryAlgorithm::Vegas,
    }
}

pub(super) fn sender_config(spec: &TcpSpec) -> tcp::SenderConfig {
    let base = match spec.profile {
        Profile::Rfc => tcp::SenderConfig::rfc(recovery(spec)),
        Profile::Ns2 => {
            let base = tcp::SenderConfig::ns2(recovery(spec));
            let rto = RtoConfig {
                tick_phase: spec.tick_phase.unwrap_or(NS2_TICK_PHASE),
                ..base.rto
            };
            tcp::SenderConfig { rto, ..base }
        }
    };
    tcp::SenderConfig {
        segment_size: spec.segment.get() as u16,
        syn_options: has_syn_options(spec),
        limited_transmit: match (spec.limited_transmit, spec.profile) {
            (false, _) => LimitedTransmit::Off,
            (true, Profile::Rfc) => LimitedTransmit::NewData,
            (true, Profile::Ns2) => LimitedTransmit::Any,
        },
        send_jitter: spec.send_jitter,
        ecn: ecn(spec),
        rto: rto_config(base.rto, spec.tick, spec.initial_rto, spec.min_rto),
        ..base
    }
}

fn ecn(spec: &TcpSpec) -> tcp::EcnUse {
    match spec.chain() {
        Some(chain) => tcp::EcnUse::LoadFactor { chain },
        None if spec.ecn => tcp::EcnUse::Rfc3168,
        None => tcp::EcnUse::Off,
    }
}

/// ns-2's SYN is a bare header, and its windows have no limit; here a window of 64 KiB or more
/// needs the window scale option, and the SYN grows by it.
fn has_syn_options(spec: &TcpSpec) -> bool {
    spec.profile == Profile::Rfc || window_bytes(spec) > u32::from(u16::MAX)
}

fn window_bytes(spec: &TcpSpec) -> u32 {
    spec.receive_window * spec.segment.get() as u32
}

pub(super) fn window(spec: &TcpSpec) -> Window {
    let segment = spec.segment.get() as u32;
    let aimd = match spec.profile {
        Profile::Rfc => AimdConfig::rfc5681(segment),
        Profile::Ns2 => AimdConfig::ns2_tcp(spec.receive_window),
    };
    let initial_cwnd = spec.initial_cwnd.map_or(aimd.initial_cwnd, f64::from);
    let initial_ssthresh = spec
        .initial_ssthresh
        .map_or(aimd.initial_ssthresh, f64::from);
    match spec.control {
        TcpControl::Reno => Aimd::new(AimdConfig {
            initial_cwnd,
            initial_ssthresh,
            ..aimd
        })
        .into(),
        TcpControl::Cubic => Cubic::new(CubicConfig {
            initial_cwnd,
            initial_ssthresh,
            ..CubicConfig::rfc9438(segment)
        })
        .into(),
        TcpControl::Vcp => {
            let vcp = spec.vcp.clone().unwrap_or_default();
            Mpcp::new(vcp.config(initial_cwnd)).into()
        }
        TcpControl::Vegas => Vegas::new(VegasConfig {
            initial_ssthresh,
            rules: match spec.profile {
                Profile::Rfc => VegasRules::Published,
                Profile::Ns2 => VegasRules::Ns2,
            },
            ..VegasConfig::new(initial_cwnd)
        })
        .into(),
    }
}

pub(super) fn receiver_config(spec: &TcpSpec) -> tcp::ReceiverConfig {
    tcp::ReceiverConfig {
        max_segment_size: spec.segment.get() as u16,
        window: window_bytes(spec),
        syn_options: has_syn_options(spec),
        sack_blocks: match (recovery(spec).uses_sack(), spec.profile) {
            (false, _) => 0,
            (true, Profile::Rfc) => tcp::ReceiverConfig::default().sack_blocks,
            (true, Profile::Ns2) => NS2_SACK_BLOCKS,
        },
        delayed_ack: spec.delayed_ack,
        ecn: ecn(spec),
    }
}
