"""Names of columns in tables of results: their units, and the labels of axes.

A name ends in its unit (``goodput_bps``, ``delay_mean_s``), and a column of one flow or link in its
name too: ``goodput_bps[file]``.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from skywave._known import listed
from skywave.scenario.quantities import Bytes, Duration, Rate

UNITS = ("bps", "bytes", "packets", "s")
"""What the name of a column with a unit ends in."""


@dataclass(frozen=True)
class Column:
    """The name of a column, taken apart."""

    quantity: str
    """What it holds, such as ``goodput``."""
    unit: str
    """One of ``UNITS``, or nothing: a count, a fraction or an index."""
    of: str
    """The flow or link in brackets, or nothing."""

    @classmethod
    def of_name(cls, name: str) -> Self:
        """Take a name apart."""
        stem, bracket, of = name.partition("[")
        quantity, _, unit = stem.rpartition("_")
        if not quantity or unit not in UNITS:
            quantity, unit = stem, ""
        return cls(quantity, unit, of.removesuffix("]") if bracket else "")

    @property
    def short(self) -> str:
        """The name without its unit."""
        return f"{self.quantity}[{self.of}]" if self.of else self.quantity


def find(given: str, names: Collection[str]) -> str:
    """Return the one of ``names`` that is meant: a name, with or without its unit.

    Raises:
        ValueError: If it is none of them, or could be several; the message lists them.
    """
    if given in names:
        return given
    meant = [name for name in names if Column.of_name(name).short == given]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise ValueError(f"{given} may be {' or '.join(meant)}: give its unit too")
    raise ValueError(f"{given} is not a known measure: use one of {listed(given, names)}")


def in_units(quantity: str) -> tuple[float, str]:
    """Return a quantity such as ``100 kbps`` in the unit that columns have, and that unit.

    Raises:
        ValueError: If the text is not a quantity with a unit.
    """
    number, _, unit = quantity.partition(" ")
    if unit == "packets":
        return float(number), unit
    for kind, name, column in (
        (Rate, "bps", "bps"),
        (Duration, "seconds", "s"),
        (Bytes, "count", "bytes"),
    ):
        with suppress(ValueError):
            return float(getattr(kind(quantity), name)), column
    raise ValueError(
        f"{quantity} is not a quantity with a unit, such as 100 kbps, 5 ms, 2 kB or 10 packets"
    )


@dataclass(frozen=True)
class Scale:
    """The unit in which an axis shows a column, and how many of the column's units that is."""

    label: str
    factor: float

    @classmethod
    def of(cls, name: str, largest: float) -> Self:
        """Return the scale for values up to ``largest`` in the column's unit."""
        column = Column.of_name(name)
        scales = _PREFIXED.get(column.unit, ((1.0, column.unit),))
        factor, unit = next((one for one in scales if largest >= one[0]), scales[-1])
        what = column.quantity.replace("_", " ")
        what = _WORDS.get(what, what)
        what += f" of {column.of}" if column.of else ""
        return cls(f"{what} ({unit})" if unit else what, factor)


_PREFIXED = {
    "bps": ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
}
_WORDS = {
    "delay mean": "mean delay",
    "queue mean": "mean queue",
    "queue max": "largest queue",
    "srtt mean": "mean SRTT",
    "cwnd mean": "mean cwnd",
    "delay min": "least delay",
    "delay max": "largest delay",
    "srtt": "SRTT",
    "loss": "loss rate",
    "jain": "Jain's index",
    "mos": "MOS",
}
