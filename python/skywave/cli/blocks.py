"""Tables of numbers that are split where the terminal is too narrow, and never cut."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from skywave.cli.console import has_width

LEAST_KEY = 12
"""Texts that say what a row is are not broken into shorter lines."""
MOST_WORD = 26
"""Longer words are broken, if there is no room for them."""
MINUS, INDENT = " - ", "  "


@dataclass(frozen=True)
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

    Each block begins with the columns that say what a row is, ``keys``. Where these take more than
    half of a line, their texts are in several. A block with a single other column may still be too
    wide; the terminal then wraps its lines. In a file or a pipe whose width nobody has set, nothing
    is too wide.
    """
    keys, columns = (
        [replace(column, cells=column.cells[:most_rows]) for column in each]
        for each in (keys, columns)
    )
    if title is not None:
        console.print(Text(title, style="italic"), soft_wrap=True)
    most = console.width if has_width(console) else math.inf
    if _width(console, [*keys, *columns]) > most:
        keys = _narrowed(console, keys, int(most) // 2)
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


def _narrowed(console: Console, keys: Sequence[Column], most: int) -> list[Column]:
    """Return keys in lines, so that all together are no wider than that, if words allow it."""
    narrowed = list(keys)
    while (excess := _width(console, narrowed) - most) > 0:
        lines = ["\n".join([_header(key), *key.cells]).split("\n") for key in narrowed]
        widths = [max(map(cell_len, each)) for each in lines]
        place = max(range(len(widths)), key=widths.__getitem__)
        key = keys[place]
        words = [len(word) for cell in key.cells for word in cell.split()]
        least = min(MOST_WORD, max(words, default=0)) + len(INDENT)
        width = max(LEAST_KEY, least, widths[place] - excess)
        cells = ["\n".join(_lines(cell, width)) for cell in key.cells]
        header = "\n".join(textwrap.wrap(key.header, width, break_long_words=False))
        changed = replace(key, header=header, cells=cells)
        if changed == narrowed[place] or width >= widths[place]:
            break
        narrowed[place] = changed
    return narrowed


def _lines(text: str, width: int) -> list[str]:
    """Break a text into lines; one begins where a difference has its second part."""
    if len(text) <= width:
        return [text]
    first, *others = text.split(MINUS)
    parts = [first, *(f"{MINUS.lstrip()}{other}" for other in others)]
    return [line for part in parts for line in textwrap.wrap(part, width, subsequent_indent=INDENT)]


def _header(column: Column) -> str:
    # A word in each line keeps columns of numbers narrow.
    is_number = column.justify == "right"
    return column.header.replace(" ", "\n") if is_number else column.header


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    highest = max((_header(column).count("\n") for column in columns), default=0)
    for column in columns:
        header = _header(column)
        above = "\n" * (highest - header.count("\n"))
        table.add_column(Text(above + header), justify=column.justify, no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def _width(console: Console, columns: Sequence[Column]) -> int:
    # Of a console without a limit, which would otherwise be the result.
    free = console.options.update(max_width=1_000_000)
    return Measurement.get(console, free, _table(columns)).maximum
