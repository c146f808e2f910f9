"""The paper's ledger, ``paper.toml``, and by TCP its Tables 3 and 4, decoded too."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skywave.papers.ledger import Ledger
from skywave_papers.lien2009.setting import FLAVOURS, SENT

LEDGER = Ledger.read(Path(__file__).with_name("paper.toml"))
RATIOS, LOSSES, DELAYS = LEDGER.printed


def _by_tcp(numbers: np.ndarray) -> dict[str, tuple[float, ...]]:
    rows = np.reshape(numbers, (len(FLAVOURS), -1)).tolist()
    return dict(zip(FLAVOURS, map(tuple, rows), strict=True))


RATIO = _by_tcp(np.array(RATIOS.values, float))
"""Table 3: throughput ratio of DCCP in %, from 10-20 s to 50-60 s."""
LOSS = {tcp: (0.0, *row) for tcp, row in _by_tcp(np.array(LOSSES.values, float)).items()}
"""Table 4: loss rate in %, from 0-10 s to 50-60 s."""
DELAY_MS = _by_tcp(np.array(DELAYS.values, int))
"""Table 4: delay in ms, from 0-10 s to 50-60 s."""
RECEIVED = 856
"""The packets that arrive from 0 to 10 s: the one denominator of Table 3's ratios."""
ARRIVED = _by_tcp(np.array(RATIOS.numerators(RECEIVED)))
"""The packets that arrive in each period from 10 s on, decoded from Table 3."""
KEPT = _by_tcp(SENT - np.array(LOSSES.numerators(SENT)))
"""``SENT`` less the lost packets of each period from 10 s on, decoded from Table 4."""
