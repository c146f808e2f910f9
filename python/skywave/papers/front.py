"""Reproduces all papers, with a front page for their reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from skywave._files import replacing
from skywave.papers import installed
from skywave.papers.cells import Score
from skywave.papers.errors import UnknownPaperError
from skywave.papers.pages import OWN, render
from skywave.papers.reproduction import Reproduction
from skywave.papers.workers import Work, reproduce_each
from skywave.report import pages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from skywave._progress import Progress


@dataclass(frozen=True)
class Front:
    """The reproductions of all papers; ``broken`` says by key why others are unusable."""

    papers: Sequence[Reproduction]
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def score(self) -> Score:
        """The numbers of all papers."""
        return sum((paper.score for paper in self.papers), Score())

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``--json`` prints."""
        score = self.score
        return {
            "skywave": version("skywave"),
            "values": score.values,
            "matches": score.matches,
            "claims": score.claims,
            "claims_met": score.claims_met,
            "compared_with_ns2": score.compared,
            "close_to_ns2": score.close,
            "papers": [paper.to_dict() for paper in self.papers],
            "broken": dict(self.broken),
        }

    def html(self) -> str:
        """Return the front page as self-contained HTML."""
        return render("front.html.j2", front=self)


def reproduce_all(
    directory: Path,
    *,
    keys: Sequence[str] | None = None,
    live_ns2: bool = True,
    seeds: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Reproduce every paper into its own directory, and write a front page.

    Args:
        directory: Receives ``report.html``, ``report.json``, and a directory for each paper.
        keys: Keys of the papers. Default: all that are installed. Unusable ones are skipped, and
            the front page says why.
        live_ns2: Whether to run ns-2 if it is installed. Otherwise its stored results are used.
        seeds: The number of seeds for averages of papers that let you choose it. Default: the
            paper's smaller number for this purpose (``Paper.seeds.brief``).
        progress: Called at every step. A stage begins with the paper's key.

    Raises:
        UnknownPaperError: If there are no papers.
        OSError: If the directory cannot be written, or a paper's process ends early. The
            directory's previous contents stay.

    """
    chosen = installed.all_keys() if keys is None else keys
    if not chosen:
        raise UnknownPaperError(installed.known())
    with replacing(directory) as partial:
        works = [Work(key, partial / key, live_ns2, seeds) for key in chosen]
        came_to = reproduce_each(works, progress)
        judged = {key: one for key in chosen if isinstance(one := came_to[key], Reproduction)}
        broken = {key: str(came_to[key]) for key in chosen if key not in judged}
        front = Front(list(judged.values()), broken)
        links = pages.templates(OWN).get_template("neighbours.html.j2")
        citations = [reproduction.paper for reproduction in front.papers]
        around = zip([None, *citations], citations, [*citations[1:], None], strict=False)
        for previous, citation, following in around:
            report = partial / citation.key / "report.html"
            text = report.read_text(encoding="utf-8")
            linked = links.render(previous=previous, following=following)
            report.write_text(text.replace(pages.NEIGHBOURS, linked), encoding="utf-8")
        pages.write(partial, "report", front.html(), front.to_dict())
    return front
