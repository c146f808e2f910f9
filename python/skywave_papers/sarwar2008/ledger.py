"""The paper's ledger, ``paper.toml``, and its Table I."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skywave.papers.ledger import Ledger

LEDGER = Ledger.read(Path(__file__).with_name("paper.toml"))


@dataclass(frozen=True)
class Row:
    """A row of Table I: mean and standard deviation of the downloads' rates, and mean loss."""

    rate_kbps: float
    deviation_kbps: float
    loss_percent: float


TABLE_1 = {
    feedback: Row(
        *(LEDGER.published(f"table1/{feedback}/{one}") for one in ("rate", "deviation", "loss"))
    )
    for feedback in ("standard", "dynamic")
}
"""Table I by feedback: 50 downloads over the live satellite link."""
