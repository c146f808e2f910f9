"""Tables 3 and 4 of Lien and Ding by TCP, and the packet counts that their digits give away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.setting import FLAVOURS, SENT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    T = TypeVar("T")

RATIOS, LOSSES, DELAYS = LEDGER.printed


def _by_tcp(numbers: Sequence[T]) -> dict[str, tuple[T, ...]]:
    """Return the numbers of a table, which has one row for each TCP."""
    periods = len(numbers) // len(FLAVOURS)
    return {
        tcp: tuple(numbers[index * periods : (index + 1) * periods])
        for index, tcp in enumerate(FLAVOURS)
    }


RATIO = _by_tcp([float(value) for value in RATIOS.values])
"""Table 3: throughput ratio of DCCP in %, from 10-20 s to 50-60 s."""
LOSS = {tcp: (0.0, *row) for tcp, row in _by_tcp([float(one) for one in LOSSES.values]).items()}
"""Table 4: loss rate in %, from 0-10 s to 50-60 s."""
DELAY_MS = _by_tcp([int(value) for value in DELAYS.values])
"""Table 4: delay in ms, from 0-10 s to 50-60 s."""

RECEIVED = 856
"""The packets that arrive from 0 to 10 s: the one denominator of Table 3's ratios."""


def arrived(tcp: str) -> tuple[int, ...]:
    """Return the packets that arrive in each period from 10 s on, decoded from Table 3."""
    return _by_tcp(RATIOS.numerators(RECEIVED))[tcp]


def kept(tcp: str) -> tuple[int, ...]:
    """Return ``SENT`` less the lost packets of each period from 10 s on, decoded from Table 4."""
    return tuple(SENT - lost for lost in _by_tcp(LOSSES.numerators(SENT))[tcp])
