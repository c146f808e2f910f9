"""Slow start as published: equations 2 to 6 of Sarwar et al.

Times are in seconds, sizes in bytes, rates in bytes per second. The report plots these functions
beside the simulation.
"""

from __future__ import annotations

import math

RTT_REF_S = 0.1
"""RTT_ref: a path with this round-trip time has one report per RTT (section IV)."""


def reports_per_rtt(
    rtt_s: float, receive_rate: float, packet_size: float, rtt_ref_s: float = RTT_REF_S
) -> float:
    """Return N_Fb of equation 2, the number of reports per round-trip time.

    Halves round up, which the paper leaves open. As printed, the result can be below 1 if less than
    a packet arrives per round-trip time.
    """
    wanted = max(math.floor(rtt_s / rtt_ref_s + 0.5), 1)
    return min(wanted, rtt_s * receive_rate / packet_size)


def least_delay_s(rtt_s: float, reports: float = 1.0, receiver_delay_s: float = 0.0) -> float:
    """Return D_min, the shortest time from sending at a new rate to the feedback about it.

    Equation 3 with the observation interval O = RTT / N of equation 4 gives (N + 1) / N RTT.
    ``receiver_delay_s`` (t_delay), from the last packet to the report, is added. With the standard
    single report per round-trip time the result is 2 RTT.
    """
    return rtt_s * (reports + 1) / reports + receiver_delay_s


def standard_rate(time_s: float, rtt_s: float, packet_size: float) -> float:
    """Return X of equation 5: one packet per second, doubled every two round-trip times."""
    return float(packet_size * 2 ** (time_s / (2 * rtt_s)))


def dynamic_rate(time_s: float, rtt_s: float, packet_size: float, reports: float) -> float:
    """Return X of equation 6: one packet per second, doubled every (N + 1) / N round-trip times.

    With one report per round-trip time it equals equation 5.
    """
    return float(packet_size * 2 ** (time_s * reports / ((reports + 1) * rtt_s)))


def time_to_rate_s(rate: float, rtt_s: float, packet_size: float, reports: float = 1.0) -> float:
    """Return when equation 6 (for one report, equation 5) reaches a rate."""
    return math.log2(rate / packet_size) * rtt_s * (reports + 1) / reports


def by_threes_gain_s(rate: float, rtt_s: float, packet_size: float) -> float:
    """Return the gain if standard feedback doubled X every three round-trip times, dynamic each.

    It is that of whole doublings from one packet per round-trip time to at least ``rate``.
    """
    return 2 * rtt_s * math.ceil(math.log2(rate * rtt_s / packet_size))
