"""Tables of numbers that are split where the terminal is too narrow, and never cut."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen
from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from skywave.cli.console import has_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console


@frozen
class Column:
    """A column of a table as text."""

    header: str
    cells: Sequence[str]
    justify: Literal["left", "right"] = "right"


def print_common(console: Console, keys: Sequence[Column]) -> list[Column]:
    """Print the columns in which all rows are equal as one line, and return the others."""
    varied = [column for column in keys if len(set(column.cells)) > 1]
    common = [
        f"{column.header} {column.cells[0]}"
        for column in keys
        if column.cells and column not in varied
    ]
    if common:
        console.print(f"All with {', '.join(common)}", markup=False, highlight=False)
    return varied


def print_in_blocks(
    console: Console,
    keys: Sequence[Column],
    columns: Sequence[Column],
    most_rows: int | None = None,
    title: str | None = None,
) -> int:
    """Print the first rows of a table, in several blocks if it is too wide; return how many blocks.

    Each block begins with the columns that say what a row is, ``keys``. A block with a single
    other column may still be too wide; the terminal then wraps its lines. In a file or a pipe
    whose width nobody has set, nothing is too wide.
    """
    keys, columns = (
        [evolve(column, cells=column.cells[:most_rows]) for column in each]
        for each in (keys, columns)
    )
    if title is not None:
        console.print(Text(title, style="italic"), soft_wrap=True)
    most = console.width if has_width(console) else math.inf
    blocks: list[list[Column]] = [[]]
    for column in columns:
        longer = [*blocks[-1], column]
        if blocks[-1] and _width(console, [*keys, *longer]) > most:
            blocks.append([column])
        else:
            blocks[-1] = longer
    for place, block in enumerate(blocks):
        if place:
            console.print()
        table = _table([*keys, *block])
        table.width = _width(console, [*keys, *block])
        console.print(table, soft_wrap=True)
    return len(blocks)


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for column in columns:
        # A word in each line keeps columns of numbers narrow.
        is_number = column.justify == "right"
        header = Text(column.header.replace(" ", "\n") if is_number else column.header)
        table.add_column(header, justify=column.justify, no_wrap=True, vertical="bottom")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _width(console: Console, columns: Sequence[Column]) -> int:
    # Of a console without a limit, which would otherwise be the result.
    free = console.options.update(max_width=1_000_000)
    return Measurement.get(console, free, _table(columns)).maximum
