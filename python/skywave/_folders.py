"""Checks of output directories: results never overwrite anything but earlier results.

A file that only one command writes is the mark of its folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from skywave._errors import SkywaveError
from skywave._files import check_writable, listed_files

MOST_NAMED = 3


class Kind(Enum):
    """The contents of a folder of results; the value is its name in messages."""

    RUN = "the results of a run"
    SWEEP = "a sweep"
    MATRIX = "a matrix"
    REPORT = "the report of a paper"
    FRONT = "the report of all papers"
    TESTBED = "a page of the testbed"


MARKS = {
    "totals.json": Kind.RUN,
    "comparison.json": Kind.RUN,
    "sweep.json": Kind.SWEEP,
    "matrix.json": Kind.MATRIX,
    "report.json": Kind.REPORT,
    "testbed.json": Kind.TESTBED,
}
LISTED = {Kind.RUN, Kind.MATRIX, Kind.TESTBED}
"""Those whose folders list what was written: a mark that is not listed is someone else's file."""


class OtherFolderError(SkywaveError, FileExistsError):
    """A folder is that of something else."""

    def __init__(self, directory: Path, what: str) -> None:
        super().__init__(
            f"{directory} has {what}, and stays as it is: give an empty folder or a new one"
        )


def check_folder(directory: str | Path, kind: Kind) -> bool:
    """Check that results can be written into a directory; return whether they replace older ones.

    Hidden files and empty folders in it are of no account.

    Raises:
        OtherFolderError: If the directory has something other than such results.
        OSError: If it cannot be written or created.
    """
    directory = Path(directory)
    check_writable(directory)
    if not directory.is_dir():
        return False
    listed = listed_files(directory)
    found = {
        _kind(directory / name)
        for name, marked in MARKS.items()
        if (directory / name).is_file() and (marked not in LISTED or name in listed)
    }
    if others := sorted(other.value for other in found - {kind}):
        raise OtherFolderError(directory, " and ".join(others))
    if kind in found:
        return True
    if names := sorted(each.name for each in directory.iterdir() if _counts(each)):
        raise OtherFolderError(directory, f"other files ({_named(names)})")
    return False


def _counts(entry: Path) -> bool:
    is_empty = entry.is_dir() and not any(entry.iterdir())
    return not (is_empty or entry.name.startswith("."))


def _kind(mark: Path) -> Kind:
    """Return the kind that a mark says. The report of all papers lists them."""
    kind = MARKS[mark.name]
    if kind is not Kind.REPORT:
        return kind
    try:
        document = json.loads(mark.read_text(encoding="utf-8"))
    except ValueError:
        return kind
    return Kind.FRONT if isinstance(document, dict) and "papers" in document else kind


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join([*names[:MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])
