"""Values published for each scheme in sections 4.1 to 4.3 of Chen, Yang and Hong."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """The values of one scheme. The rate is that of a source with 60 ms; None if not published."""

    queue_packets: float
    peak_percent: float
    drop_percent: float | None = None
    quiet_from_s: float | None = None
    """The time from which on no packet is dropped."""
    rate_kbps: float | None = None


PUBLISHED = {
    "tcp-red": Row(queue_packets=180, peak_percent=70, drop_percent=7),
    "dccp-red": Row(queue_packets=125, peak_percent=50, drop_percent=3),
    "tcp-vcp": Row(queue_packets=105, peak_percent=55, quiet_from_s=30),
    "dccp-vcp": Row(queue_packets=80, peak_percent=55, quiet_from_s=10, rate_kbps=220),
}
RATE_BY_EQUATION_9_KBPS = 220.8
"""As printed in section 4."""
