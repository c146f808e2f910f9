"""What reproducing a paper gives: judged values, figures, series and a report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import jinja2

from skywave._files import replacing
from skywave.papers import environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skywave.papers.cells import Cell, Comparison
    from skywave.papers.figures import Drawn
    from skywave.results import Results
    from skywave.scenario import Scenario


@dataclass(frozen=True)
class Parameter:
    """A parameter of a paper's one set, and who chose it."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced."""

    key: str
    title: str
    authors: str
    year: int


@dataclass(frozen=True)
class Ns2Source:
    """Where ns-2's values come from: run beside ours, or stored."""

    kind: Literal["live", "stored"]
    remark: str


@dataclass(frozen=True)
class Reproduction:
    """A paper's published values, judged, and all that the judgement rests on.

    ``sections`` is what the paper's own template needs beside the rest.
    """

    paper: Paper
    cells: Sequence[Cell]
    comparisons: Sequence[Comparison]
    parameters: Sequence[Parameter]
    ns2: Ns2Source
    figures: Sequence[Drawn]
    scenarios: Mapping[str, Scenario]
    results: Mapping[str, Results]
    sections: Mapping[str, Any]

    @property
    def matches(self) -> int:
        """How many published values match."""
        return sum(cell.verdict == "match" for cell in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "paper": self.paper.key,
            "title": self.paper.title,
            "skywave": version("skywave"),
            "ns2_source": self.ns2.kind,
            "ns2_remark": self.ns2.remark,
            "parameters": [vars(parameter) for parameter in self.parameters],
            "cells": [cell.to_dict() for cell in self.cells],
            "comparison": [comparison.to_dict() for comparison in self.comparisons],
        }

    def html(self) -> str:
        """Return the report, one self-contained page."""
        templates = jinja2.Environment(
            loader=jinja2.PackageLoader("skywave.papers"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        templates.filters["number"] = _number
        return templates.get_template(f"{self.paper.key}.html.j2").render(
            reproduction=self,
            figures={figure.name: figure for figure in self.figures},
            environment=environment.describe(),
            **self.sections,
        )

    def write(self, directory: Path) -> None:
        """Write the report, its figures, every series and every scenario into a directory.

        Raises:
            OSError: where the directory cannot be written; what was there before stays.

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
            (partial / "report.html").write_text(self.html(), encoding="utf-8")
            text = json.dumps(self.to_dict(), indent=2) + "\n"
            (partial / "report.json").write_text(text, encoding="utf-8")


def _number(value: float | None, digits: int = 4) -> str:
    """Print a value with so many significant digits, or a dash where there is none."""
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.{digits}g}"
