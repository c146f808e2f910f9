"""Tables 3 and 4 of Lien and Ding, and the packet counts that their digits give away."""

from __future__ import annotations

from skywave.papers.digits import Printed

_TABLE_3 = {
    "Tahoe": "25.12 25.23 25.47 21.61 16.59",
    "Reno": "29.67 32.01 23.01 16.94 20.21",
    "NewReno": "29.79 25.82 20.68 21.26 15.89",
    "SACK": "21.73 17.64 17.76 15.77 16.12",
    "Vegas": "72.78 52.45 33.18 19.63 12.62",
}
_TABLE_4 = {
    "Tahoe": "74.86 74.86 75.32 78.09 83.85",
    "Reno": "70.13 68.40 77.97 82.81 79.82",
    "NewReno": "70.01 74.97 79.58 78.32 84.54",
    "SACK": "78.43 82.35 82.70 83.97 84.08",
    "Vegas": "26.64 48.79 67.36 80.85 87.89",
}

DELAY_MS = {
    "Tahoe": (73, 395, 415, 424, 470, 548),
    "Reno": (73, 319, 343, 438, 498, 497),
    "NewReno": (73, 322, 441, 468, 477, 545),
    "SACK": (73, 443, 490, 513, 536, 554),
    "Vegas": (73, 194, 321, 412, 543, 627),
}
"""Table 4: delay in ms, from 0-10 s to 50-60 s."""


def _printed(place: str, what: str, table: dict[str, str]) -> Printed:
    values = tuple(text for row in table.values() for text in row.split())
    return Printed(place, what, values, whole=100)


RATIOS = _printed("Table 3", "throughput ratio (%)", _TABLE_3)
LOSSES = _printed("Table 4", "loss rate from 10 s on (%)", _TABLE_4)
DELAYS = Printed(
    "Table 4", "delay (ms)", tuple(str(ms) for row in DELAY_MS.values() for ms in row), whole=1
)
PRINTED = (RATIOS, LOSSES, DELAYS)

RATIO = {tcp: tuple(map(float, row.split())) for tcp, row in _TABLE_3.items()}
"""Table 3: throughput ratio of DCCP in %, from 10-20 s to 50-60 s."""
LOSS = {tcp: (0.0, *map(float, row.split())) for tcp, row in _TABLE_4.items()}
"""Table 4: loss rate in %, from 0-10 s to 50-60 s."""

SENT = 867
"""The packets that the call sends from 0 to 10 s: the one denominator of Table 4's losses."""
RECEIVED = 856
"""The packets that arrive in that time: the one denominator of Table 3's ratios."""


def arrived(tcp: str) -> tuple[int, ...]:
    """Return the packets that arrive in each period from 10 s on, decoded from Table 3."""
    return _row(RATIOS.numerators(RECEIVED), tcp)


def kept(tcp: str) -> tuple[int, ...]:
    """Return ``SENT`` less the lost packets of each period from 10 s on, decoded from Table 4."""
    return tuple(SENT - lost for lost in _row(LOSSES.numerators(SENT), tcp))


def _row(numbers: list[int], tcp: str) -> tuple[int, ...]:
    periods = len(numbers) // len(_TABLE_3)
    begin = list(_TABLE_3).index(tcp) * periods
    return tuple(numbers[begin : begin + periods])
