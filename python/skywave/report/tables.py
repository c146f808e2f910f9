"""Tables that take minutes to compute, stored as CSV beside the modules that compute them."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from skywave._files import replacing_file
from skywave._progress import Progress, lines

Row = TypeVar("Row")
Given = TypeVar("Given")

DIGITS = 7
"""Significant digits of floats: four decimals for queues of hundreds of packets, and for times."""
_hints = cache(get_type_hints)


@dataclass(frozen=True)
class Table(Generic[Given, Row]):
    """A table in a file, with a row of type ``kind`` for each element of ``given``.

    ``make`` computes a row. ``kind`` is a dataclass.
    """

    path: Path
    kind: type[Row]
    given: Sequence[Given]
    make: Callable[[Given], Row]

    @property
    def name(self) -> str:
        """The name of the file without its suffix."""
        return self.path.stem

    def read(self) -> list[Row]:
        """Return the stored rows, in the order of ``given``."""
        return read(self.path, self.kind)

    def rows(self, **values: object) -> list[Row]:
        """Return the stored rows whose fields have these values."""
        return [
            row
            for row in self.read()
            if all(getattr(row, name) == value for name, value in values.items())
        ]

    def row(self, **values: object) -> Row:
        """Return the one stored row whose fields have these values.

        Raises:
            ValueError: If there is no such row, or more than one.
        """
        found = self.rows(**values)
        if len(found) != 1:
            raise ValueError(f"{self.path.name} has {len(found)} rows with {values}, not one")
        return found[0]

    def renew(self) -> None:
        """Compute and store all rows, reporting progress on stderr.

        The stored table stays until all rows are computed.
        """
        write(self.path, self.kind, map(self.make, self.given), total=len(self.given))


def read(path: Path, kind: type[Row]) -> list[Row]:
    """Return the rows of a file as instances of the dataclass ``kind``.

    A field whose type is a dataclass has one column per field of that type. Empty text is None.
    """
    with path.open(encoding="utf-8", newline="") as file:
        return [_built(kind, row) for row in csv.DictReader(file)]


def write(path: Path, kind: type[Row], rows: Iterable[Row], *, total: int) -> None:
    """Write rows as they are computed, ``total`` in the end, reporting progress on stderr.

    The file's previous contents stay until all rows are written.
    """
    tell = _overwritten if sys.stderr.isatty() else lines()
    columns = list(_columns(kind))
    names = [column.rpartition(".")[2] for column in columns]
    if len(set(names)) < len(names):
        raise ValueError(f"columns of {kind.__name__} have the same name: {', '.join(columns)}")
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for number, row in enumerate(rows, start=1):
            values = (attrgetter(column)(row) for column in columns)
            writer.writerow(
                f"{value:.{DIGITS}g}" if isinstance(value, float) else value for value in values
            )
            tell(Progress(path.name, number, total))


def _overwritten(step: Progress) -> None:
    """Write a step in the place of the one before it."""
    end = "\n" if step.done == step.total else ""
    sys.stderr.write(f"\r{step.stage}: {step.done:g} of {step.total:g}{end}")


def _columns(kind: Any) -> Iterator[str]:
    """Yield the path to each value of a row."""
    for name, hint in _hints(kind).items():
        inner = _columns(hint) if is_dataclass(hint) else ()
        yield from [f"{name}.{column}" for column in inner] or [name]


def _built(kind: Any, row: Mapping[str, str]) -> Any:
    return kind(
        **{
            name: _built(hint, row) if is_dataclass(hint) else _value(row[name], hint)
            for name, hint in _hints(kind).items()
        }
    )


def _value(text: str, hint: Any) -> Any:
    options = get_args(hint) or (hint,)
    if NoneType in options and not text:
        return None
    number = next((option for option in options if option in (int, float)), None)
    return text if number is None else number(text)
