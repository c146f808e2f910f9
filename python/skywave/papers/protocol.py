"""The protocol of papers: a package describes its paper to Skywave as a :class:`Paper`.

A paper is found by an entry point of the group ``skywave.papers``: the name is its key, the value
its :class:`Paper`. Nothing else names it. The command line, the front page, ``make golden``,
``make searches`` and the matrix use only what is defined here. ``docs/papers.md`` has a complete
example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from skywave._progress import Progress
from skywave.papers import LEAST_SEEDS
from skywave.papers.cells import Comparison
from skywave.papers.digits import denominator
from skywave.papers.entries import Citation
from skywave.papers.ledger import Ledger
from skywave.papers.lent import Control, Network
from skywave.papers.measures import Measures
from skywave.papers.ns2 import Ns2Source
from skywave.papers.readings import ReadingResult
from skywave.papers.reproduction import Reproduction
from skywave.report.figures import RenderedFigure
from skywave.report.tables import Table
from skywave.results import Results
from skywave.scenario import Scenario

PROTOCOL = 2
"""The version of this protocol. It increases when a change makes correct papers incorrect."""

Measurements = TypeVar("Measurements")
"""The type of a paper's measurements, which the paper chooses."""


@dataclass(frozen=True)
class Options:
    """How to run a paper's experiments.

    ``live_ns2`` says whether ns-2 may be run if it is installed. ``seeds`` is the number of seeds
    for averages; only papers that let users choose it have a use for it. ``progress`` is called at
    every step (:func:`skywave.papers.stages.stage`).
    """

    live_ns2: bool
    seeds: int
    progress: Callable[[Progress], None] | None


@dataclass(frozen=True)
class Seeds:
    """The number of seeds for a paper's averages, for papers that let users choose it.

    ``own`` is the number for the paper's own report, ``brief`` the smaller one for reproducing all
    papers, where ``own`` would take too long.
    """

    own: int
    brief: int

    def __post_init__(self) -> None:
        """Check that both numbers allow an average, and that ``brief`` is not above ``own``."""
        if not LEAST_SEEDS <= self.brief <= self.own:
            raise ValueError(
                f"brief seeds are {self.brief}: they must be at least {LEAST_SEEDS}, and at most "
                f"own seeds, {self.own}"
            )


@dataclass(frozen=True, kw_only=True)
class RunOutput(Generic[Measurements]):
    """The outcome of a paper's experiments.

    ``measured`` is the input of cells, figures and tables. ``scenarios`` and ``results`` are
    written beside the report, under their keys. Of runs that differ only in their seed include just
    one, since all series stay in memory until then.
    """

    measured: Measurements
    scenarios: Mapping[str, Scenario]
    results: Mapping[str, Results]
    ns2: Ns2Source


@dataclass(frozen=True)
class TimedRun:
    """A run whose duration ``skywave bench standard`` measures.

    ``ns2`` returns the command that runs the same in ns-2 and writes its results to a path. None if
    ns-2 cannot run it.
    """

    scheme: str
    scenario: Scenario
    ns2: Callable[[Path], list[str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Paper(Generic[Measurements]):
    """A published experiment that can be reproduced; ``docs/papers.md`` describes each field."""

    protocol: int
    package: str
    ledger: Ledger
    run: Callable[[Options], RunOutput[Measurements]]
    measures: Callable[[Measurements], Measures]
    figures: Callable[[Measurements], Sequence[RenderedFigure]]
    comparisons: Callable[[Measurements], Sequence[Comparison]] = lambda _: ()
    readings: Callable[[Measurements], Sequence[ReadingResult]] = lambda _: ()
    sections: Callable[[Measurements], Mapping[str, Any]] = lambda _: {}
    seeds: Seeds | None = None
    stored: Sequence[Table[Any, Any]] = ()
    golden: Callable[[], None] | None = None
    timed: Sequence[TimedRun] = ()
    network: Network | None = None
    controls: Sequence[Control] = ()

    @property
    def citation(self) -> Citation:
        """The publication."""
        return self.ledger.paper

    @property
    def key(self) -> str:
        """The paper's name in commands."""
        return self.citation.key

    def brief_seeds(self, asked: int | None) -> int | None:
        """Return the number of seeds when all papers are reproduced.

        ``asked`` if given, else ``seeds.brief``; None if users cannot choose the number.
        """
        return None if self.seeds is None else asked or self.seeds.brief

    def reproduce(
        self,
        *,
        live_ns2: bool = True,
        seeds: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Reproduction:
        """Run the experiments and judge the published values (:func:`skywave.papers.reproduce`)."""
        if seeds is not None and self.seeds is None:
            raise ValueError(f"{self.key} has a fixed number of seeds: leave --seeds out")
        if seeds is not None and seeds < LEAST_SEEDS:
            raise ValueError(f"{seeds} seeds give no average: use at least {LEAST_SEEDS}")
        own = None if self.seeds is None else self.seeds.own
        over = own if seeds is None else seeds
        ran = self.run(Options(live_ns2, over or 1, progress))
        measured = ran.measured
        measures = self.measures(measured)
        cells, claims = self.ledger.judge(measures)
        figures = self.figures(measured)
        self.ledger.check_figures(figure.name for figure in figures)
        ledger = self.ledger.filled(measures.words)
        return Reproduction(
            paper=self.citation,
            cells=cells,
            comparisons=self.comparisons(measured),
            parameters=ledger.parameters,
            ns2=ran.ns2,
            figures=figures,
            scenarios=ran.scenarios,
            results=ran.results,
            package=self.package,
            sections={
                "measured": measured,
                "readings": self.readings(measured),
                **self.sections(measured),
            },
            seeds=over,
            own_seeds=own,
            live_ns2=live_ns2,
            claims=claims,
            sentences=ledger.sentences,
            readings=ledger.reading,
            digits=[denominator(printed) for printed in ledger.printed],
            finding=ledger.finding,
        )
