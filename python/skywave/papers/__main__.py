"""Regenerate what papers store: results of ns-2 (``golden``) and of our own runs (``stored``).

``make golden`` runs ``python -m skywave.papers golden``, and ``make searches`` runs ``... stored``.
Name papers to limit the work to them, or for ``stored`` single tables (``PAPER/TABLE``), since some
take minutes. An unusable paper is reported and skipped; the exit status is then 2.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from skywave.papers import installed
from skywave.papers.errors import PaperError
from skywave.papers.ns2 import Ns2Error

if TYPE_CHECKING:
    from skywave.papers.protocol import Paper


def works(kind: str, paper: Paper[Any]) -> dict[str, Callable[[], None]]:
    """Return the functions that regenerate stored data of a paper, by name."""
    if kind == "stored":
        return {f"{paper.key}/{table.name}": table.renew for table in paper.stored}
    return {} if paper.golden is None else {paper.key: paper.golden}


def main(arguments: Sequence[str] | None = None) -> int:
    """Regenerate the results that ``arguments`` name; return the exit status."""
    parser = argparse.ArgumentParser("python -m skywave.papers", description=__doc__)
    parser.add_argument("kind", choices=("golden", "stored"), help="what to regenerate")
    parser.add_argument("only", nargs="*", metavar="PAPER[/TABLE]", help="default: all")
    given = parser.parse_args(arguments)
    try:
        return _renew(given.kind, given.only)
    except (PaperError, Ns2Error) as error:
        return _fail(error)


def _renew(kind: str, only: Sequence[str]) -> int:
    named = [installed.paper(name.partition("/")[0]) for name in only]
    papers, broken = (named, {}) if only else installed.every()
    known = {what: renew for paper in papers for what, renew in works(kind, paper).items()}
    chosen = {name: [one for one in known if name in (one, one.partition("/")[0])] for name in only}
    for name, found in chosen.items():
        if not found:
            raise PaperError(f"{name} has no {kind} results; known: {', '.join(known) or 'none'}")
    for what in [one for found in chosen.values() for one in found] if only else known:
        sys.stderr.write(f"{what}: regenerating\n")
        known[what]()
    return max(map(_fail, broken.values()), default=0)


def _fail(error: Exception) -> int:
    sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
