"""What a paper is: a package that says all that Skywave asks of one, as a :class:`Paper`.

A paper is found by an entry point of the group ``skywave.papers``, whose name is its key and whose
value is its :class:`Paper`. Nothing else knows of it: the command, the front page, ``make golden``,
``make searches`` and the matrix read what stands here. ``docs/papers.md`` shows a whole one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from skywave.papers import LEAST_SEEDS
from skywave.papers.reproduction import Reproduction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.cells import Cell, Comparison
    from skywave.papers.figures import Drawn
    from skywave.papers.lent import Control, Network
    from skywave.papers.reproduction import Citation, Ns2Source, Parameter
    from skywave.papers.speed import Timed
    from skywave.papers.stages import Progress
    from skywave.papers.stored import Table
    from skywave.results import Results
    from skywave.scenario import Scenario

PROTOCOL = 1
"""The version of all this. It grows when papers that were right no longer are."""

Measured = TypeVar("Measured")
"""What a paper measures of its runs: a type of its own."""


@dataclass(frozen=True)
class Options:
    """How a paper's experiments are to be run.

    ``live_ns2`` is whether ns-2 may be run too, where it is installed. ``seeds`` is over how many
    averages are, of a paper that leaves that open; other papers have no use for it. ``progress`` is
    told of every step (:func:`skywave.papers.stages.stage`).
    """

    live_ns2: bool
    seeds: int
    progress: Progress | None


@dataclass(frozen=True)
class Seeds:
    """Over how many seeds a paper's averages are, where that can be chosen.

    ``own`` is the number of its report by itself. ``brief`` is that of all papers in one go, where
    the own number would take too long.
    """

    own: int
    brief: int

    def __post_init__(self) -> None:
        """Hold both to what is an average, and the brief number to be no larger."""
        if not LEAST_SEEDS <= self.brief <= self.own:
            raise ValueError(
                f"brief seeds are {self.brief}: they must be {LEAST_SEEDS} or more, and at most "
                f"the own {self.own}"
            )


@dataclass(frozen=True, kw_only=True)
class Ran(Generic[Measured]):
    """What came of running a paper's experiments.

    ``measured`` is what cells, figures and tables are made of. ``scenarios`` and ``results`` are
    written beside the report, under the names that they have here: of many runs that differ in
    their seed one is enough, since every series is kept in memory until then.
    """

    measured: Measured
    scenarios: Mapping[str, Scenario]
    results: Mapping[str, Results]
    ns2: Ns2Source


def _nothing(_: object) -> tuple[Any, ...]:
    return ()


def _no_sections(_: object) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Paper(Generic[Measured]):
    """A published experiment that can be reproduced.

    Attributes:
        protocol: the ``PROTOCOL`` that the package was written for, as a number.
        package: the package's name, ``__name__``. ``templates/paper.html.j2`` in it is the report;
            it extends ``report.html.j2``.
        citation: what is published, and under which key it is found here.
        parameters: the settings: one set for the whole paper, with the source of each.
        run: runs its experiments, and says what was measured.
        cells: the published values beside ours, each with its rule.
        figures: what the report shows, drawn from what was measured.
        comparisons: quantities beside ns-2's.
        readings: what each reading of what the paper leaves open gives; ``readings`` in the
            template.
        sections: whatever else the template needs, by the names that it has there.
        seeds: over how many its averages are; None where they are part of its experiments.
        stored: tables of what takes minutes to run (``make searches``).
        golden: runs outside programs and stores their answers anew (``make golden``); None where
            none is asked.
        timed: runs of which it is measured how long they take (``skywave bench --standard``).
        network: what it lends to the matrix as a column; None where it has no network for others.
        controls: what it proposes: the rows that it lends to the matrix.

    """

    protocol: int
    package: str
    citation: Citation
    parameters: Sequence[Parameter]
    run: Callable[[Options], Ran[Measured]]
    cells: Callable[[Measured], Sequence[Cell]]
    figures: Callable[[Measured], Sequence[Drawn]]
    comparisons: Callable[[Measured], Sequence[Comparison]] = _nothing
    readings: Callable[[Measured], object] = _nothing
    sections: Callable[[Measured], Mapping[str, Any]] = _no_sections
    seeds: Seeds | None = None
    stored: Sequence[Table[Any, Any]] = ()
    golden: Callable[[], None] | None = None
    timed: Sequence[Timed] = ()
    network: Network | None = None
    controls: Sequence[Control] = ()

    @property
    def key(self) -> str:
        """What it is called in commands."""
        return self.citation.key

    def brief_seeds(self, asked: int | None) -> int | None:
        """Return over how many seeds its averages are where all papers are reproduced.

        None where that is not open, whatever is asked.
        """
        return None if self.seeds is None else asked or self.seeds.brief

    def reproduce(
        self,
        *,
        live_ns2: bool = True,
        seeds: int | None = None,
        progress: Progress | None = None,
    ) -> Reproduction:
        """Run the experiments and judge the published values.

        Args:
            live_ns2: run ns-2 too where it is installed; else its stored answers are used.
            seeds: over how many its averages are; if not given, its own number.
            progress: told of every step.

        Raises:
            ValueError: where its seeds cannot be chosen, or are too few for an average.

        """
        if seeds is not None and self.seeds is None:
            raise ValueError(f"{self.key} has the seeds of its experiments: leave --seeds out")
        if seeds is not None and seeds < LEAST_SEEDS:
            raise ValueError(f"{seeds} seeds are no average: give at least {LEAST_SEEDS}")
        own = None if self.seeds is None else self.seeds.own
        over = own if seeds is None else seeds
        ran = self.run(Options(live_ns2, over or 1, progress))
        measured = ran.measured
        return Reproduction(
            paper=self.citation,
            cells=self.cells(measured),
            comparisons=self.comparisons(measured),
            parameters=self.parameters,
            ns2=ran.ns2,
            figures=self.figures(measured),
            scenarios=ran.scenarios,
            results=ran.results,
            package=self.package,
            sections={"readings": self.readings(measured), **self.sections(measured)},
            seeds=over,
            own_seeds=own,
        )
