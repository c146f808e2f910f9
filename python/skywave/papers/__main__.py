"""Store anew what papers keep: ns-2's answers (``golden``), and what our runs came to (``stored``).

``python -m skywave.papers golden`` is what ``make golden`` runs, ``... stored`` what ``make
searches`` does. Both take papers to be restricted to, and ``stored`` single tables of them
(``PAPER/TABLE``), since some take minutes. A paper that cannot be used is told of and left out; the
status is 2 then.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from skywave.ns2 import Ns2Error
from skywave.papers import installed
from skywave.papers.installed import PaperError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave.papers.protocol import Paper

    Works = dict[str, Callable[[], None]]
    """What is stored anew, and how."""


def golden(paper: Paper[Any]) -> Works:
    """Return what asks outside programs anew."""
    return {} if paper.golden is None else {paper.key: paper.golden}


def stored(paper: Paper[Any]) -> Works:
    """Return what makes each stored table anew."""
    return {f"{paper.key}/{table.name}": table.renew for table in paper.stored}


def main(arguments: Sequence[str] | None = None) -> int:
    """Store anew what is asked for; return the status of the process."""
    parser = argparse.ArgumentParser("python -m skywave.papers", description=__doc__)
    kinds = {"golden": golden, "stored": stored}
    parser.add_argument("kind", choices=kinds, help="what to store anew")
    parser.add_argument("only", nargs="*", metavar="PAPER[/TABLE]", help="all if not given")
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
        sys.stderr.write(f"{what}: storing anew\n")
        works[what]()
    return max((_fail(str(error)) for error in broken.values()), default=0)


def _of(name: str, works: Works) -> list[str]:
    """Return what a paper, or a table of one, has among all that can be stored anew."""
    found = [what for what in works if name in (what, what.partition("/")[0])]
    if not found:
        raise PaperError(f"{name} stores nothing of this kind")
    return found


def _fail(message: str) -> int:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
