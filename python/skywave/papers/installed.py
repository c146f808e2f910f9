"""Finds installed papers, by entry points of the group ``skywave.papers``.

Their keys are known without importing any of them; a paper is imported when it is requested. An
unusable paper raises an error of its own and does not affect the others.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points, version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from skywave import _core
from skywave._errors import ScenarioError
from skywave.papers.errors import BrokenPaperError, LedgerError, PaperError, UnknownPaperError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from skywave.papers.protocol import Paper

GROUP = "skywave.papers"
_FIX_IT = "fix or uninstall it"
_KEY = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""A key names directories and anchors."""


def all_keys() -> list[str]:
    """Return the sorted keys of all installed papers, without importing them."""
    return sorted(entry_points(group=GROUP).names)


def paper(key: str) -> Paper[Any]:
    """Return a paper, importing its package.

    Raises:
        UnknownPaperError: If there is no such paper.
        BrokenPaperError: If the paper is unusable.
    """
    found = tuple(entry_points(group=GROUP, name=key))
    if not found:
        meant = _core.suggestion(key, all_keys())
        raise UnknownPaperError(f"{key} is not a known paper; {known()}{meant}")
    if len(found) > 1:
        owners = " and by ".join(sorted(map(_distribution, found)))
        raise BrokenPaperError(
            f"{key} is provided by {owners}: uninstall one of them, or change its key"
        )
    return _loaded(found[0])


def every() -> tuple[list[Paper[Any]], dict[str, BrokenPaperError]]:
    """Return all usable papers, and by key why the others are unusable."""
    usable: list[Paper[Any]] = []
    broken: dict[str, BrokenPaperError] = {}
    for key in all_keys():
        try:
            usable.append(paper(key))
        except BrokenPaperError as error:
            broken[key] = error
    return usable, broken


@contextmanager
def faults_named(paper: Paper[Any]) -> Iterator[None]:
    """Raise an error of a paper's code or template as one that says where it is.

    Errors that say so themselves stay as they are: those of ledgers, scenarios and the system.

    Raises:
        BrokenPaperError: If the block raises another error, and the paper's package is on the way.
    """
    try:
        yield
    except (PaperError, LedgerError, ScenarioError, OSError, MemoryError):
        raise
    except Exception as error:
        package = str(files(paper.package))
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename.startswith(package)]
        if not own:
            raise
        file = own[-1].filename.removeprefix(package).lstrip(os.sep)
        raise BrokenPaperError(
            f"{paper.key} of {distribution(paper.key)} fails in {file}, line {own[-1].lineno} "
            f"({type(error).__name__}: {error}): {_FIX_IT}"
        ) from error


def known() -> str:
    """Return the known keys as text for an error message."""
    if found := all_keys():
        return f"known papers: {', '.join(found)}"
    # An installation from before papers had entry points has none.
    return "none is installed: reinstall skywave (in its repository: make setup)"


def distribution(key: str) -> str:
    """Return name and version of the distribution that provides a paper."""
    return " and ".join(sorted(map(_distribution, entry_points(group=GROUP, name=key))))


def _distribution(entry: EntryPoint) -> str:
    # Only entry points created by hand lack a distribution.
    return entry.value if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _loaded(entry: EntryPoint) -> Paper[Any]:
    """Import a paper and check it against the protocol."""
    from skywave.papers.protocol import PROTOCOL, Paper  # noqa: PLC0415  (loads Jinja)
    from skywave.papers.reproduction import REPORT  # noqa: PLC0415

    def broken(why: str, what_to_do: str) -> BrokenPaperError:
        return BrokenPaperError(f"{entry.name} of {_distribution(entry)} {why}: {what_to_do}")

    if not _KEY.fullmatch(entry.name):
        raise broken("cannot name a directory by its key", "use lower-case letters, digits, _ or -")
    try:
        found = entry.load()
    except Exception as error:
        raise broken(f"cannot be imported ({type(error).__name__}: {error})", _FIX_IT) from error
    if not isinstance(found, Paper):
        raise broken(
            f"is not a paper but {type(found).__name__}",
            f"{entry.value} must be a skywave.papers.protocol.Paper",
        )
    if found.protocol != PROTOCOL:
        raise broken(
            f"is written for protocol {found.protocol} of papers",
            f"skywave {version('skywave')} has {PROTOCOL}; install matching versions",
        )
    if found.key != entry.name:
        raise broken(f"has the key {found.key}", "its entry point must have the same name")
    if not _has_template(found.package, REPORT):
        raise broken("has no report", f"{found.package} lacks templates/{REPORT}")
    return found


def _has_template(package: str, name: str) -> bool:
    try:
        return files(package).joinpath("templates", name).is_file()
    except (ImportError, TypeError):
        # Not a package, or missing.
        return False
