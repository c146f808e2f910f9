"""Table I of Sarwar et al."""

from __future__ import annotations

from dataclasses import dataclass

from skywave_papers.sarwar2008.ledger import LEDGER


@dataclass(frozen=True)
class Row:
    """A row of Table I: mean and standard deviation of the downloads' rates, and mean loss."""

    rate_kbps: float
    deviation_kbps: float
    loss_percent: float


def _row(feedback: str) -> Row:
    rate, deviation, loss = (
        LEDGER.published(f"table1/{feedback}/{column}") for column in ("rate", "deviation", "loss")
    )
    return Row(rate, deviation, loss)


TABLE_1 = {feedback: _row(feedback) for feedback in ("standard", "dynamic")}
"""Table I by feedback: 50 downloads over the live satellite link."""
