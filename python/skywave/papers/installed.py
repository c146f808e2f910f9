"""Which papers are installed: entry points of the group ``skywave.papers``.

Their keys are known without importing any of them; a paper is imported when it is asked for. One
that cannot be had is an error of its own, and no other paper's.
"""

from __future__ import annotations

import re
from importlib.metadata import entry_points, version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from skywave.papers.protocol import Paper

GROUP = "skywave.papers"
_KEY = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Directories and anchors are named by it."""


class PaperError(Exception):
    """A paper cannot be had; the text is one line that says what to do."""


class UnknownPaperError(PaperError):
    """No installed distribution has a paper of this key."""


class BrokenPaperError(PaperError):
    """A distribution says that it has a paper, and it cannot be used."""


def all_keys() -> list[str]:
    """Return the keys of all papers that are installed, sorted; none of them is imported."""
    return sorted(entry_points(group=GROUP).names)


def paper(key: str) -> Paper[Any]:
    """Return a paper, which imports its package.

    Raises:
        UnknownPaperError: where there is no such paper.
        BrokenPaperError: where there is, and it cannot be used.

    """
    found = tuple(entry_points(group=GROUP, name=key))
    if not found:
        raise UnknownPaperError(f"{key} is not a known paper; {known()}")
    if len(found) > 1:
        owners = " and by ".join(sorted(map(_distribution, found)))
        raise BrokenPaperError(
            f"{key} is given by {owners}: uninstall one of them, or have it choose another key"
        )
    return _loaded(found[0])


def every() -> tuple[list[Paper[Any]], dict[str, BrokenPaperError]]:
    """Return all papers that can be used, by key, and why the others cannot."""
    usable: list[Paper[Any]] = []
    broken: dict[str, BrokenPaperError] = {}
    for key in all_keys():
        try:
            usable.append(paper(key))
        except BrokenPaperError as error:
            broken[key] = error
    return usable, broken


def known() -> str:
    """Say which papers there are, for an error that has not found one."""
    found = all_keys()
    if not found:
        # An old installation has no entry points: the package was there before them.
        return "none is installed: install skywave anew (in its repository: make setup)"
    return f"known are {', '.join(found)}"


def distribution(key: str) -> str:
    """Return the name and version of what brings a paper."""
    return " and ".join(sorted(map(_distribution, entry_points(group=GROUP, name=key))))


def _distribution(entry: EntryPoint) -> str:
    # It is missing of entry points that are made by hand only.
    return entry.value if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _loaded(entry: EntryPoint) -> Paper[Any]:
    """Import a paper and hold it to the protocol."""
    from skywave.papers.pages import REPORT  # noqa: PLC0415  (brings Jinja)
    from skywave.papers.protocol import PROTOCOL, Paper  # noqa: PLC0415

    def broken(why: str, what_to_do: str) -> BrokenPaperError:
        return BrokenPaperError(f"{entry.name} of {_distribution(entry)} {why}: {what_to_do}")

    theirs = "mend or uninstall it"
    if not _KEY.fullmatch(entry.name):
        raise broken("cannot name a directory by its key", "it needs small letters, digits, _ or -")
    try:
        found = entry.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise broken(f"cannot be imported ({reason})", theirs) from error
    if not isinstance(found, Paper):
        raise broken(
            f"is no paper, but {type(found).__name__}",
            f"{entry.value} must be a skywave.papers.protocol.Paper",
        )
    if found.protocol != PROTOCOL:
        raise broken(
            f"is written for protocol {found.protocol} of papers",
            f"skywave {version('skywave')} has {PROTOCOL}; install versions that go together",
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
        # It is no package, or not there.
        return False
