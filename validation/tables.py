"""Tables that validation stores as CSV and shows in its pages."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from skywave._files import replacing_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Store rows, which all have the columns of the first one; replace what was stored."""
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> list[dict[str, str]]:
    """Return the stored rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of a page, without an end of line."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
