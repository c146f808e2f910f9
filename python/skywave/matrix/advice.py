"""Advice on controls, which another package may add to the page of the matrix.

It is the package of an entry point in the group ``skywave.matrix``. The advice is its
``templates/advice.html.j2``, written from a table of the default run, its ``stored.csv``.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.resources import as_file, files

from skywave.matrix.table import Row
from skywave.report.tables import read

GROUP = "skywave.matrix"
STORED = "stored.csv"


def packages() -> tuple[str, ...]:
    """Return the package with advice, if there is one; of several, the first by name."""
    return tuple(sorted(entry.value for entry in entry_points(group=GROUP)))[:1]


def stored() -> list[Row]:
    """Return the table from which the advice was written."""
    rows: list[Row] = []
    for package in packages():
        with as_file(files(package).joinpath(STORED)) as path:
            rows += read(path, Row)
    return rows
