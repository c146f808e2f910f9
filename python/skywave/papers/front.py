"""All papers in one go, and the front page of their reports."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from skywave._files import replacing
from skywave.papers import environment, installed
from skywave.papers.installed import UnknownPaperError
from skywave.papers.pages import render
from skywave.papers.reproduction import Judgement
from skywave.papers.workers import Work, reproduce_each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Front:
    """What all papers came to; ``broken`` is why others cannot be used, by their key."""

    papers: Sequence[Judgement]
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> int:
        """How many values are published."""
        return sum(len(paper.cells) for paper in self.papers)

    @property
    def matches(self) -> int:
        """How many of them match."""
        return sum(paper.matches for paper in self.papers)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "skywave": version("skywave"),
            "values": self.values,
            "matches": self.matches,
            "papers": [paper.to_dict() for paper in self.papers],
            "broken": dict(self.broken),
        }

    def html(self) -> str:
        """Return the front page."""
        return render("front.html.j2", front=self, environment=environment.describe())


def reproduce_all(
    directory: Path,
    *,
    keys: Sequence[str] | None = None,
    live_ns2: bool = True,
    seeds: int | None = None,
    progress: Callable[[str, str, int, int], None] | None = None,
) -> Front:
    """Reproduce every paper into a directory of its own, beside a front page.

    Args:
        directory: gets ``report.html`` and ``report.json``, and a directory for each paper.
        keys: of the papers; all that are installed if not given. One that cannot be used is left
            out, and the front page says why.
        live_ns2: run ns-2 too where it is installed; else its stored answers are used.
        seeds: over how many the averages are of papers that leave it open; else as few as each
            has for this (``Paper.seeds.brief``).
        progress: told the paper, its stage, how many steps are done and how many there are.

    Raises:
        UnknownPaperError: where there are no papers.
        OSError: where the directory cannot be written, or a paper's process ends too soon; what
            was there before stays.

    """
    chosen = installed.all_keys() if keys is None else keys
    if not chosen:
        raise UnknownPaperError(installed.known())
    with replacing(directory) as partial:
        works = [Work(key, partial / key, live_ns2, seeds) for key in chosen]
        came_to = reproduce_each(works, progress)
        front = Front(
            [one for key in chosen if isinstance(one := came_to[key], Judgement)],
            {key: str(one) for key in chosen if isinstance(one := came_to[key], Exception)},
        )
        (partial / "report.html").write_text(front.html(), encoding="utf-8")
        text = json.dumps(front.to_dict(), indent=2) + "\n"
        (partial / "report.json").write_text(text, encoding="utf-8")
    return front
