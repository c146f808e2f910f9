"""The result of reproducing a paper: judged values, figures, series and a report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from skywave._files import replacing
from skywave.papers.cells import Cell, Comparison, Score, by_reason
from skywave.papers.digits import Denominator
from skywave.papers.entries import Citation, Finding, Parameter, Reading, Sentence, begins
from skywave.papers.measures import mean
from skywave.papers.ns2 import Ns2Source
from skywave.report import pages
from skywave.report.figures import RenderedFigure
from skywave.results import Results
from skywave.scenario import Scenario

TEMPLATES = "skywave.papers"
REPORT = "paper.html.j2"
"""The template of a paper's report, in its package's directory ``templates``."""


def render(template: str, *, package: str = TEMPLATES, **values: Any) -> str:
    """Render a template of a package. It can extend and import the templates that papers share."""
    packages = (package, TEMPLATES)
    return pages.render(template, packages, {"by_reason": by_reason, "mean": _mean}, **values)


def _mean(rows: Sequence[object], name: str) -> float | None:
    """Return the mean of an attribute over rows; None if it is None in the first."""
    return None if getattr(rows[0], name) is None else mean(rows, name)


@dataclass(frozen=True)
class Reproduction:
    """The verdicts on a paper's published values and further claims, and what they are based on.

    ``cells`` are the values of the paper's tables and figures. ``claims`` are its other testable
    sentences, which are counted separately; ``sentences`` are all that it says, with the ids of
    their tests. ``digits`` are the denominators of its tables, ``readings`` those of what the paper
    leaves open, as the ledger has them.

    If the number of seeds can be chosen, ``seeds`` is the number that was run, and ``own_seeds``
    that of the paper's own report. ``live_ns2`` says whether ns-2 was to be run where it is
    installed. ``package`` contains the template of the report; ``sections`` has its additional
    values.
    """

    paper: Citation
    cells: Sequence[Cell]
    ns2: Ns2Source
    _: KW_ONLY
    comparisons: Sequence[Comparison] = ()
    parameters: Sequence[Parameter] = ()
    seeds: int | None = None
    own_seeds: int | None = None
    live_ns2: bool = True
    claims: Sequence[Cell] = ()
    sentences: Sequence[Sentence] = ()
    digits: Sequence[Denominator] = ()
    finding: Finding | None = None
    readings: Sequence[Reading] = ()
    figures: Sequence[RenderedFigure] = ()
    scenarios: Mapping[str, Scenario] = field(default_factory=dict)
    results: Mapping[str, Results] = field(default_factory=dict)
    package: str = ""
    sections: Mapping[str, Any] = field(default_factory=dict)

    @property
    def score(self) -> Score:
        """How many values match, claims hold and comparisons agree."""
        return Score.of(self.cells, self.claims, self.comparisons)

    @property
    def command(self) -> str:
        """The command that repeats it."""
        seeds = f" --seeds {self.seeds}" if self.seeds != self.own_seeds else ""
        stored = "" if self.live_ns2 else " --stored-ns2"
        return f"skywave reproduce {self.paper.key}{seeds}{stored}"

    @property
    def seeds_remark(self) -> str | None:
        """A sentence on the number of seeds, and how to run all; None if it cannot be chosen."""
        if self.seeds is None:
            return None
        text = f"Averages are over {self.seeds} seeds"
        if self.own_seeds is not None and self.seeds < self.own_seeds:
            text += f"; skywave reproduce {self.paper.key} runs all {self.own_seeds}"
        return f"{text}."

    @property
    def reasons(self) -> dict[str, list[Cell]]:
        """Why values and claims do not match: each reason once, with those that have it."""
        return by_reason((*self.cells, *self.claims))

    @property
    def thumbnail(self) -> RenderedFigure | None:
        """The finding's figure."""
        return None if self.finding is None else self._drawn.get(self.finding.figure)

    @property
    def _drawn(self) -> dict[str, RenderedFigure]:
        return {figure.name: figure for figure in self.figures}

    def tests_of(self, begin: str) -> list[Cell]:
        """Return the values and claims whose id is ``begin``, or ``begin/..``."""
        return [cell for cell in (*self.cells, *self.claims) if begins(cell.id, begin)]

    def first(self, begin: str) -> Cell | None:
        """Return the first value or claim whose id is ``begin``, or ``begin/..``."""
        return next(iter(self.tests_of(begin)), None)

    def held(self, sentence: Sentence) -> str:
        """Return how many tests of a sentence match, of how many; an empty text without any."""
        tests = {cell.id: cell for begin in sentence.tested_by for cell in self.tests_of(begin)}
        matches = sum(cell.verdict == "match" for cell in tests.values())
        return f"{matches} of {len(tests)}" if tests else ""

    def parts(self, text: str) -> list[tuple[str, Cell | None]]:
        """Return the parts of a text, each with the value or claim if it is an id.

        The beginning of several ids is one as well, but not a section's number alone.
        """
        parts = re.split(r"([\w.=-]+(?:/[\w.=-]*\w)+)", text)
        return [(part, self.first(part) if "/" in part else None) for part in parts if part]

    def brief(self) -> Reproduction:
        """Return it without series, scenarios and figures, except for the finding's."""
        shown = [self.thumbnail] if self.thumbnail else []
        return replace(self, figures=shown, scenarios={}, results={}, sections={})

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``--json`` prints."""
        return {
            "paper": self.paper.key,
            **{name: getattr(self.paper, name) for name in ("title", "venue", "doi", "url")},
            "skywave": version("skywave"),
            "ns2_source": self.ns2.kind,
            "ns2_remark": self.ns2.remark,
            "seeds": self.seeds,
            "parameters": [parameter._asdict() for parameter in self.parameters],
            "finding": None if self.finding is None else self.finding.sentence,
            "cells": [cell.to_dict() for cell in self.cells],
            "claims": [claim.to_dict() for claim in self.claims],
            "comparison": [comparison.to_dict() for comparison in self.comparisons],
            "digits": [one.to_dict() for one in self.digits],
        }

    def html(self) -> str:
        """Return the report as a self-contained page."""
        package, drawn = self.package, self._drawn
        return render(REPORT, package=package, reproduction=self, figures=drawn, **self.sections)

    def write(self, directory: Path) -> None:
        """Write the report, figures, series and scenarios into a directory.

        Raises:
            OSError: If the directory cannot be written. Its previous contents stay.
        """
        with replacing(directory) as partial:
            for name in ("figures", "series", "scenarios"):
                (partial / name).mkdir()
            for figure in self.figures:
                figure.write(partial / "figures")
            for name, results in self.results.items():
                results.write_tables(partial / "series", prefix=f"{name}-")
            for name, scenario in self.scenarios.items():
                path = partial / "scenarios" / f"{name}.json"
                path.write_text(scenario.to_json() + "\n", encoding="utf-8")
            pages.write(partial, "report", self.html(), self.to_dict())
