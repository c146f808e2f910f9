"""Regenerate what papers store: results of ns-2 (``golden``) and of our own runs (``stored``).

``make golden`` runs ``python -m skywave.papers golden``, and ``make searches`` runs ``... stored``.
Name papers to limit the work to them, or for ``stored`` single tables (``PAPER/TABLE``), since some
take minutes. An unusable paper is reported and skipped; the exit status is then 2.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from skywave.papers import installed
from skywave.papers.errors import PaperError
from skywave.papers.ns2 import Ns2Error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave.papers.protocol import Paper

    Works = dict[str, Callable[[], None]]
    """Functions that regenerate stored data, by name."""


def golden(paper: Paper[Any]) -> Works:
    """Return the function that runs a paper's external programs, if it has any."""
    return {} if paper.golden is None else {paper.key: paper.golden}


def stored(paper: Paper[Any]) -> Works:
    """Return the functions that regenerate a paper's stored tables."""
    return {f"{paper.key}/{table.name}": table.renew for table in paper.stored}


def main(arguments: Sequence[str] | None = None) -> int:
    """Regenerate the results that ``arguments`` name; return the exit status."""
    parser = argparse.ArgumentParser("python -m skywave.papers", description=__doc__)
    kinds = {"golden": golden, "stored": stored}
    parser.add_argument("kind", choices=kinds, help="what to regenerate")
    parser.add_argument("only", nargs="*", metavar="PAPER[/TABLE]", help="default: all")
    given = parser.parse_args(arguments)
    try:
        return _renew(kinds[given.kind], given.only)
    except (PaperError, Ns2Error) as error:
        return _fail(str(error))


def _renew(kind: Callable[[Paper[Any]], Works], only: Sequence[str]) -> int:
    named = [installed.paper(name.partition("/")[0]) for name in only]
    papers, broken = (named, {}) if only else installed.every()
    works = {what: renew for paper in papers for what, renew in kind(paper).items()}
    chosen = [what for name in only for what in _of(name, works)] if only else list(works)
    for what in chosen:
        sys.stderr.write(f"{what}: regenerating\n")
        works[what]()
    return max((_fail(str(error)) for error in broken.values()), default=0)


def _of(name: str, works: Works) -> list[str]:
    """Return the names in ``works`` that belong to a paper, or that are the given table."""
    found = [what for what in works if name in (what, what.partition("/")[0])]
    if not found:
        raise PaperError(f"{name} stores nothing of this kind")
    return found


def _fail(message: str) -> int:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
