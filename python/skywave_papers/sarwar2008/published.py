"""Table I and the statements of sections V-C and VI of Sarwar et al."""

from __future__ import annotations

from dataclasses import dataclass

from skywave.papers.digits import Printed


@dataclass(frozen=True)
class Row:
    """A row of Table I: mean and standard deviation of the downloads' rates, and mean loss."""

    rate_kbps: float
    deviation_kbps: float
    loss_percent: float


TABLE_1 = {"standard": Row(372.0, 35.6, 2.9), "dynamic": Row(529.0, 44.1, 1.9)}
"""Table I by feedback: 50 downloads over the live satellite link."""
PRINTED = (
    Printed("Table I", "mean rate (kbps)", ("372", "529"), whole=1),
    Printed("Table I", "packet loss (%)", ("2.9", "1.9"), whole=100),
)
GAIN_PERCENT = 33.0
"""The gain in rate given in the text. Table I gives 42 %."""
LIVE_EXIT_GAIN_S = 3.0
"""How much earlier the first loss events occur in Figure 5: "close to" this."""

EXIT_GAIN_S, RECOVERY_GAIN_S = 14.0, 20.0
"""How much earlier slow start ends and throughput recovers in Figure 2 (section V-C)."""
