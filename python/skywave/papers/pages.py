"""Renders the pages of papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave.papers.cells import by_reason
from skywave.papers.measures import mean
from skywave.report import pages

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = "skywave.papers"
REPORT = "paper.html.j2"
"""The template of a paper's report, in its package's directory ``templates``."""


def render(template: str, *, package: str = OWN, **values: Any) -> str:
    """Render a template of a package. It can extend and import the templates that papers share."""
    return pages.render(template, (package, OWN), {"by_reason": by_reason, "mean": _mean}, **values)


def _mean(rows: Sequence[object], name: str) -> float | None:
    """Return the mean of an attribute over rows; None if it is None in the first."""
    return None if getattr(rows[0], name) is None else mean(rows, name)
