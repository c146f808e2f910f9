//! This crate's controls, by name.

use crate::{
    AimdParameters, BbrParameters, C4Parameters, Controls, CubicParameters, DctcpParameters,
    HtcpParameters, HyblaParameters, IllinoisParameters, PragueParameters, RenoParameters,
    VegasParameters, WestwoodParameters, no_controls, register_control,
};

/// Returns the controls of this crate.
pub fn built_in_controls() -> Controls {
    let mut controls = no_controls();
    let set = &mut controls;
    register_control::<RenoParameters>(set, "reno", "Reno congestion control (RFC 5681).");
    register_control::<AimdParameters>(set, "aimd", "AIMD(a, b): Reno with another a and b.");
    register_control::<CubicParameters>(set, "cubic", "CUBIC (RFC 9438).");
    register_control::<BbrParameters>(set, "bbr", "BBRv3 (draft-ietf-ccwg-bbr).");
    register_control::<C4Parameters>(
        set,
        "c4",
        "C4, by a nominal rate and a nominal max RTT (draft-huitema-ccwg-c4-spec).",
    );
    register_control::<DctcpParameters>(set, "dctcp", "Data Center TCP (RFC 8257).");
    register_control::<HtcpParameters>(set, "htcp", "H-TCP (draft-leith-tcp-htcp).");
    register_control::<HyblaParameters>(set, "hybla", "TCP Hybla (Caini and Firrincieli 2004).");
    register_control::<IllinoisParameters>(
        set,
        "illinois",
        "TCP-Illinois (Liu, Başar and Srikant 2006).",
    );
    register_control::<PragueParameters>(
        set,
        "prague",
        "Prague, a scalable control for L4S (draft-briscoe-iccrg-prague-congestion-control).",
    );
    register_control::<VegasParameters>(
        set,
        "vegas",
        "TCP Vegas, delay-based (Brakmo and Peterson 1995).",
    );
    register_control::<WestwoodParameters>(
        set,
        "westwood",
        "TCP Westwood+ (Grieco and Mascolo 2004).",
    );
    controls
}
