"""All papers in one go, and the front page of their reports."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from skywave import papers
from skywave._files import replacing
from skywave.papers import environment
from skywave.papers.pages import render
from skywave.papers.workers import Work, reproduce_each

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from skywave.papers.reproduction import Judgement


BRIEF_SEEDS = {"chen2010": 5}
"""Where all papers are reproduced, these averages are over fewer seeds than the paper's report by
itself has: all of them would take as long as everything else together."""


@dataclass(frozen=True)
class Front:
    """What all papers came to."""

    papers: Sequence[Judgement]

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
        }

    def html(self) -> str:
        """Return the front page."""
        return render("front.html.j2", front=self, environment=environment.describe())


def reproduce_all(
    directory: Path,
    *,
    keys: Sequence[str] = tuple(papers.PAPERS),
    live_ns2: bool = True,
    seeds: int | None = None,
    progress: Callable[[str, str, int, int], None] | None = None,
) -> Front:
    """Reproduce every paper into a directory of its own, beside a front page.

    Args:
        directory: gets ``report.html`` and ``report.json``, and a directory for each paper.
        keys: of the papers.
        live_ns2: run ns-2 too where it is installed; else its stored answers are used.
        seeds: over how many the averages are of papers that leave it open; else ``BRIEF_SEEDS``.
        progress: told the paper, its stage, how many steps are done and how many there are.

    Raises:
        OSError: where the directory cannot be written, or a paper's process ends too soon; what
            was there before stays.

    """
    with replacing(directory) as partial:
        chosen = {key: seeds or brief for key, brief in BRIEF_SEEDS.items()}
        works = [Work(key, partial / key, live_ns2, chosen.get(key)) for key in keys]
        judged = reproduce_each(works, progress)
        front = Front([judged[key] for key in keys])
        (partial / "report.html").write_text(front.html(), encoding="utf-8")
        text = json.dumps(front.to_dict(), indent=2) + "\n"
        (partial / "report.json").write_text(text, encoding="utf-8")
    return front
