"""The dimensions of a sweep as axes, with labels that are as short as possible."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from skywave.plots.texts import plain
from skywave.results.columns import Column, Scale, in_units
from skywave.scenario.labels import Parts, without_common

if TYPE_CHECKING:
    import pyarrow as pa

ACRONYMS = {"tcp": "TCP", "udp": "UDP", "dccp": "DCCP", "ccid": "CCID", "ecn": "ECN", "rtt": "RTT"}
COUNTS = ("packets", "bytes")
"""Fields that are named after their unit, and mean nothing without what they are fields of."""
LOGARITHMIC = 50
"""From this ratio of largest to smallest value on, an axis is logarithmic."""
MOST_LISTED = 12
"""The most values of a dimension that a message lists."""
ENTRY = re.compile(r"(?:flows|links)\[(?P<entry>[^\]]+)\]")


def axis_name(dimension: str, path: str) -> str:
    """Return the label of a dimension's axis, by the path of its field.

    ``queue (packets)`` for ``packets``, ``start of voice`` for ``flows[voice].start``.
    """
    *above, last = dimension.split(".")
    entry = ENTRY.fullmatch(above[0]) if above else None
    of = f" of {entry['entry']}" if entry and entry["entry"] != "*" else ""
    if last in COUNTS:
        # The part before it says which discipline, and the one before that what it is one of.
        parts = [re.sub(r"\[.*\]", "", part) for part in path.split(".")]
        owner = above[-1] if above and not entry else parts[max(0, len(parts) - 3)]
        if owner != last:
            return f"{owner.replace('_', ' ')}{of} ({last})"
    if of:
        return f"{last.replace('_', ' ')}{of}"
    return dimension.replace("_", " ")


def short_labels(labels: Iterable[str]) -> dict[str, str]:
    """Return for each label of a dimension as much of it as tells it from the others.

    ``cubic`` and ``CCID 3`` for ``tcp control=cubic`` and ``dccp ccid=3``. A field that not all
    labels have is never left out, so that no name says less than is true. The kind is left out if
    one of the fields is of no other kind. Labels without kind and fields stay as they are.
    """
    differing = without_common(labels)
    parts = {label: Parts.of(label) for label in differing.values()}
    kinds: dict[str, set[str]] = {}
    for found in filter(None, parts.values()):
        for name in found.names:
            kinds.setdefault(name, set()).add(found.kind)
    short = {label: _short(parts[rest], rest, kinds) for label, rest in differing.items()}
    is_clear = len(set(short.values())) == len(short)
    return short if is_clear else {label: label for label in differing}


def _short(parts: Parts | None, label: str, kinds: Mapping[str, Collection[str]]) -> str:
    """Return a label as text; ``kinds`` has those in which there is a field of some name."""
    if parts is None or not parts.fields:
        return ACRONYMS.get(label, label)
    is_needed = all(len(kinds[name]) > 1 for name in parts.names)
    kind = ACRONYMS.get(parts.kind, parts.kind) if is_needed else ""
    return f"{kind} {', '.join(map(_field, parts.fields))}".strip()


def _field(part: str) -> str:
    """Return a field as text: a word speaks for itself, and a number does not.

    Nor does a word that belongs to a part of a part: ``feedback dynamic``.
    """
    path, _, value = part.partition("=")
    *above, name = path.split(".")
    if above or re.match(r"[a-z]", value) is None or value in {"true", "false"}:
        words = [ACRONYMS.get(word, word) for word in name.split("_")]
        return f"{' '.join(words)} {value}".strip()
    return value


def texts_of_values(
    table: pa.Table, dimensions: Iterable[str], labels: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return the texts of values by dimension: those of ``labels``, or what tells them apart.

    Raises:
        ValueError: If ``labels`` has one for what is neither a dimension nor a value.
    """
    given = {name: list(dict.fromkeys(map(str, table[name].to_pylist()))) for name in dimensions}
    there = [*given, *(value for values in given.values() for value in values)]
    for label in labels:
        if label not in there:
            shown = ", ".join(there[:MOST_LISTED]) + (", .." if len(there) > MOST_LISTED else "")
            raise ValueError(f"{label} is no dimension or value: use one of {shown or 'none'}")
    return {
        name: {value: labels.get(value, plain(text)) for value, text in short_labels(all_).items()}
        for name, all_ in given.items()
    }


@dataclass(frozen=True)
class Axis:
    """A dimension as an axis: numbers and quantities to scale, other values in a row."""

    label: str
    values: list[Any]
    positions: dict[Any, float]
    is_numeric: bool
    texts: Mapping[str, str]
    """The texts of values."""

    @classmethod
    def of(
        cls, name: str, given: Iterable[Any], texts: Mapping[str, str], what: str, label: str | None
    ) -> Self:
        """Return the axis of a dimension: ``what``, with its unit, or as the ``label`` says."""
        values = list(dict.fromkeys(given))
        found = _sizes(name, values, what)
        if found is None:
            positions = {value: float(index) for index, value in enumerate(values)}
            return cls(label or what, values, positions, False, texts)
        sizes, column = found
        values.sort(key=sizes.__getitem__)
        scale = Scale(what, 1.0)
        if Column.of_name(column).unit:
            scale = Scale.of(column, max(map(abs, sizes.values())))
        positions = {value: sizes[value] / scale.factor for value in values}
        return cls(label or scale.label, values, positions, True, texts)

    @property
    def is_logarithmic(self) -> bool:
        """Whether it is a logarithmic axis, unless another is asked for."""
        smallest, largest = min(self.positions.values()), max(self.positions.values())
        return self.is_numeric and smallest > 0 and largest / smallest >= LOGARITHMIC

    @property
    def ticks(self) -> list[str]:
        """The texts of ticks."""
        return [self.tick(value) for value in self.values]

    def tick(self, value: Any) -> str:
        """Return the text of the tick of a value."""
        return f"{self.positions[value]:g}" if self.is_numeric else self.texts[str(value)]

    def named(self, value: Any) -> str:
        """Return a value with its dimension: ``queue 50 packets``, ``rate 10 Mbps``."""
        text = self.texts[str(value)]
        what, parenthesis, unit = self.label.rpartition(" (")
        if not (self.is_numeric and parenthesis):
            return f"{self.label} {text}"
        # A text of the user's or a quantity has its unit.
        if isinstance(value, str) or text != str(value):
            return f"{what} {text}"
        return f"{what} {self.tick(value)} {unit.removesuffix(')')}"


def _sizes(name: str, values: list[Any], what: str) -> tuple[dict[Any, float], str] | None:
    """Return the sizes of numbers or quantities, and the name of a column of them; else None."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return {value: float(value) for value in values}, name
    try:
        found = {value: in_units(str(value)) for value in values}
    except ValueError:
        return None
    unit, *others = {unit for _, unit in found.values()}
    column = f"{what.removesuffix(f' ({unit})')}_{unit}"
    return None if others else ({value: size for value, (size, _) in found.items()}, column)
