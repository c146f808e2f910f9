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

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from skywave.papers.reproduction import Judgement


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
    progress: Callable[[str, str, int, int], None] | None = None,
) -> Front:
    """Reproduce every paper into a directory of its own, beside a front page.

    Args:
        directory: gets ``report.html`` and ``report.json``, and a directory for each paper.
        keys: of the papers.
        live_ns2: run ns-2 too where it is installed; else its stored answers are used.
        progress: told the paper, its stage, how many steps are done and how many there are.

    Raises:
        OSError: where the directory cannot be written; what was there before stays.

    """
    with replacing(directory) as partial:
        judged = []
        for key in keys:

            def step(stage: str, done: int, total: int, key: str = key) -> None:
                if progress is not None:
                    progress(key, stage, done, total)

            reproduction = papers.reproduce(key, live_ns2=live_ns2, progress=step)
            reproduction.write(partial / key)
            # Its series, which take up to a gigabyte, are written and no longer needed.
            judged.append(reproduction.judgement)
        front = Front(judged)
        (partial / "report.html").write_text(front.html(), encoding="utf-8")
        text = json.dumps(front.to_dict(), indent=2) + "\n"
        (partial / "report.json").write_text(text, encoding="utf-8")
    return front
