"""Renders the pages of papers, and links them to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave.papers.cells import by_reason
from skywave.papers.measures import mean
from skywave.report import pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skywave.papers.citation import Citation

REPORT = "paper.html.j2"
"""The template of a paper's report, in its package's directory ``templates``."""
_OWN = "skywave.papers"


def render(template: str, *, package: str = _OWN, **values: Any) -> str:
    """Render a template of a package. It can extend and import the templates that papers share."""
    return pages.render(
        template, (package, _OWN), {"by_reason": by_reason, "mean": _mean}, **values
    )


def _mean(rows: Sequence[object], name: str) -> float | None:
    """Return the mean of an attribute over rows; None if it is None in the first."""
    return None if getattr(rows[0], name) is None else mean(rows, name)


def link(report: Path, previous: Citation | None, following: Citation | None) -> None:
    """Link a paper's report to the front page above it, and to its neighbours' reports."""
    template = pages.templates(_OWN).get_template("neighbours.html.j2")
    links = template.render(previous=previous, following=following)
    text = report.read_text(encoding="utf-8").replace(pages.NEIGHBOURS, links)
    report.write_text(text, encoding="utf-8")
