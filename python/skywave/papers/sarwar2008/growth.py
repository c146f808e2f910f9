"""The published account of slow start: equations 2 to 6 of Sarwar et al., as functions.

Times and round-trip times are in seconds, sizes in bytes, rates in bytes per second. What these say
of a path is to be drawn beside what a simulation of it does.
"""

from __future__ import annotations

import math

RTT_REF_S = 0.1
"""RTT_ref: a path of this round-trip time has one report in it (section IV)."""


def reports_per_rtt(
    rtt_s: float, receive_rate: float, packet_size: float, rtt_ref_s: float = RTT_REF_S
) -> float:
    """Return N_Fb of equation 2: how many reports a round-trip time has.

    Half-way cases round up, which the paper leaves open. As printed: it may be below 1, where less
    than a packet arrives in a round-trip time.
    """
    wanted = max(math.floor(rtt_s / rtt_ref_s + 0.5), 1)
    return min(wanted, rtt_s * receive_rate / packet_size)


def least_delay_s(rtt_s: float, reports: float = 1.0, receiver_delay_s: float = 0.0) -> float:
    """Return D_min: the least time from sending at a new rate to the feedback on it.

    Equation 3 with the observation interval O = RTT / N, which is equation 4: (N + 1) / N RTT, and
    ``receiver_delay_s`` (t_delay) from the last packet to the report. One report per round-trip
    time is the standard: 2 RTT.
    """
    return rtt_s * (reports + 1) / reports + receiver_delay_s


def standard_rate(time_s: float, rtt_s: float, packet_size: float) -> float:
    """Return X of equation 5: from one packet per second, doubled every two round-trip times."""
    return float(packet_size * 2 ** (time_s / (2 * rtt_s)))


def dynamic_rate(time_s: float, rtt_s: float, packet_size: float, reports: float) -> float:
    """Return X of equation 6: doubled every (N + 1) / N round-trip times.

    With one report per round-trip time it is equation 5.
    """
    return float(packet_size * 2 ** (time_s * reports / ((reports + 1) * rtt_s)))


def time_to_rate_s(rate: float, rtt_s: float, packet_size: float, reports: float = 1.0) -> float:
    """Return when equation 6 (equation 5 for one report) reaches a rate."""
    return math.log2(rate / packet_size) * rtt_s * (reports + 1) / reports
