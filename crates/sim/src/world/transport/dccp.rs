//! DCCP endpoints as a scenario describes them.

use std::sync::Arc;

use skywave_congestion::{GrowthLaw, tfrc};
use skywave_scenario::{
    DccpSpec, Growth, Profile, ReceiverRttSpec, ReductionsSpec, SmoothingSpec, TfrcRules,
};
use skywave_transport::dccp::ccid::Row;
use skywave_transport::dccp::mechanism::Mechanism;
use skywave_transport::dccp::{self, AckRatioBounds, AckRatioRule, Reductions};
use skywave_units::Duration;

use super::{rto_config, whole};

/// The number of datagrams waiting to be sent. Less than a socket's, because an application that
/// always has data would fill it and measure the delay of its own queue.
const SEND_QUEUE: usize = 64;

/// The number of datagrams waiting to be read. Applications here read immediately.
const RECEIVE_QUEUE: usize = 256;

/// How long a closed connection continues to send.
const LINGER: Duration = Duration::from_secs(60);

/// ns-2's module has no timer in PARTOPEN. This is the shortest value that does not expire in any
/// run here.
const NS2_PARTOPEN_RETRY: Duration = Duration::from_secs(3);

/// ns-2's module does not check the Sequence Window. This one is wide enough never to be
/// renegotiated, which would cost additional acknowledgements.
const NS2_SEQUENCE_WINDOW: u64 = 10_000;

pub(super) fn config(
    spec: &DccpSpec,
    mechanism: &Arc<dyn Mechanism>,
    datagram: u64,
) -> dccp::Config {
    let rfc = dccp::Config {
        send_queue: SEND_QUEUE,
        send_queue_bytes: usize::MAX,
        receive_queue: RECEIVE_QUEUE,
        receive_queue_bytes: usize::MAX,
        linger: LINGER,
        // A simulated peer is never gone, however long its path is cut.
        keepalive: None,
        silence_timeout: None,
        ..dccp::Config::default()
    };
    let base = match spec.profile {
        Profile::Rfc => rfc,
        Profile::Ns2 => dccp::Config {
            ccid2: dccp::Ccid2Config::ns2(),
            allow_short_seqnos: true,
            send_queue: 1000,
            partopen_retry: NS2_PARTOPEN_RETRY,
            repeat_confirms: false,
            features_wait: true,
            sequence_window: NS2_SEQUENCE_WINDOW,
            ..rfc
        },
    };
    let ccid2 = base.ccid2;
    let growth = match spec.growth {
        None => ccid2.growth,
        Some(Growth::Rfc4341) => GrowthLaw::Rfc4341,
        Some(Growth::Ns2TcpLike) => GrowthLaw::Ns2TcpLike,
        Some(Growth::PerAck) => GrowthLaw::PerAck,
    };
    let mut ccids = base.ccids;
    ccids.enter_shared(Arc::clone(mechanism));
    let ccid = vec![mechanism.row().ccid];
    dccp::Config {
        ccids,
        sender_ccids: ccid.clone(),
        receiver_ccids: ccid,
        tfrc: tfrc::Config {
            quick_start: spec.quick_start,
            ..spec
                .tfrc
                .clone()
                .unwrap_or_default()
                .config(tfrc_rules(spec))
        },
        request_rtt_estimate: spec
            .tfrc
            .as_ref()
            .is_some_and(|tfrc| tfrc.receiver_rtt == ReceiverRttSpec::Option),
        ccid2: dccp::Ccid2Config {
            initial_cwnd: spec.initial_cwnd.map(f64::from).or(ccid2.initial_cwnd),
            initial_ssthresh: spec
                .initial_ssthresh
                .map_or(ccid2.initial_ssthresh, f64::from),
            growth,
            rto: rto_config(ccid2.rto, None, spec.initial_rto, spec.min_rto),
            delayed_ack: spec.delayed_ack.unwrap_or(ccid2.delayed_ack),
            ack_ratio: ack_ratio_rule(spec, ccid2.ack_ratio),
            reductions: match spec.reductions {
                None => ccid2.reductions,
                Some(ReductionsSpec::PerWindow) => Reductions::PerWindow,
                Some(ReductionsSpec::PerPacket) => Reductions::PerPacket,
            },
            immediate_acks: spec.immediate_acks.unwrap_or(ccid2.immediate_acks),
            ..ccid2
        },
        allow_short_seqnos: spec.short_seqnos.unwrap_or(base.allow_short_seqnos),
        ecn_incapable: !spec.ecn,
        detect_optimistic_acks: spec.detect_optimistic_acks,
        ack_ratio: spec.ack_ratio,
        mps: datagram as u32,
        send_queue: spec
            .send_queue
            .map_or(base.send_queue, |packets| packets as usize),
        ..base
    }
}

/// Sets absent parameters to the values that follow from the profile. If still absent, ssthresh is
/// unbounded, and the segment size is the mean.
pub(super) fn complete(spec: &mut DccpSpec, config: &dccp::Config, row: &Row) {
    spec.send_queue = u32::try_from(config.send_queue).ok();
    spec.short_seqnos = Some(config.allow_short_seqnos);
    if row.features.loss_event_rate {
        let rules = tfrc_rules(spec);
        let tfrc = spec.tfrc.get_or_insert_default();
        tfrc.rules = Some(rules);
        tfrc.oscillation_prevention.get_or_insert(true);
        tfrc.smoothing.get_or_insert(SmoothingSpec::PerReport);
        return;
    }
    let window = &config.ccid2;
    spec.initial_cwnd = whole(window.initial_cwnd(config.mps));
    spec.initial_ssthresh = whole(window.initial_ssthresh);
    spec.growth = match window.growth {
        GrowthLaw::Rfc4341 => Some(Growth::Rfc4341),
        GrowthLaw::Ns2TcpLike => Some(Growth::Ns2TcpLike),
        GrowthLaw::PerAck => Some(Growth::PerAck),
        _ => spec.growth,
    };
    // The other rules belong to profile `ns2` alone.
    if let AckRatioRule::Adaptive(bounds) = window.ack_ratio {
        spec.min_ack_ratio = Some(bounds.minimum);
        spec.max_ack_ratio = Some(bounds.maximum).filter(|&most| most < u16::MAX);
        spec.min_acks_per_window = Some(bounds.acks_per_window);
    }
    spec.reductions = match window.reductions {
        Reductions::PerWindow => Some(ReductionsSpec::PerWindow),
        Reductions::PerPacket => Some(ReductionsSpec::PerPacket),
        _ => spec.reductions,
    };
    spec.immediate_acks = Some(window.immediate_acks);
    spec.delayed_ack = Some(window.delayed_ack);
    spec.initial_rto = Some(window.rto.initial);
    spec.min_rto = Some(window.rto.min);
}

/// Returns the profile's `rule`, with the bounds that `spec` gives. Only the adaptive rule has
/// bounds.
fn ack_ratio_rule(spec: &DccpSpec, rule: AckRatioRule) -> AckRatioRule {
    let (minimum, maximum) = (spec.min_ack_ratio, spec.max_ack_ratio);
    let acks_per_window = spec.min_acks_per_window;
    let is_bounded = minimum.is_some() || maximum.is_some() || acks_per_window.is_some();
    match rule.bounds() {
        Some(bounds) if is_bounded => AckRatioRule::Adaptive(AckRatioBounds {
            minimum: minimum.unwrap_or(bounds.minimum),
            maximum: maximum.unwrap_or(bounds.maximum),
            acks_per_window: acks_per_window.unwrap_or(bounds.acks_per_window),
        }),
        _ => rule,
    }
}

fn tfrc_rules(spec: &DccpSpec) -> TfrcRules {
    let given = spec.tfrc.as_ref().and_then(|tfrc| tfrc.rules);
    given.unwrap_or(match spec.profile {
        Profile::Rfc => TfrcRules::Rfc5348,
        Profile::Ns2 => TfrcRules::Ns2,
    })
}
