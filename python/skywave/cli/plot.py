"""``skywave plot``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from skywave._core import Duration
from skywave.cli.application import command, group
from skywave.cli.console import JsonOption, out, print_json
from skywave.results.run import TOTALS, read_tables

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from skywave.sweeps.table import Sweep

SIZE = re.compile(r"(?P<width>\d+(\.\d+)?) ?x ?(?P<height>\d+(\.\d+)?) ?(?P<unit>in|cm|mm)")
UNITS_IN = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
SAMPLED = ("flows.parquet", "links.parquet")
"""What a figure of a run is made from."""


app = group("plot", "Plot results as a figure of the width of a paper's column.")


@dataclass(frozen=True)
class Figured:
    """Options of every figure."""

    log_axes: Annotated[
        list[str] | None,
        typer.Option(
            "--log-axis", metavar="AXIS", help="Make this axis logarithmic: x or y; repeatable."
        ),
    ] = None
    size: Annotated[
        str | None,
        typer.Option(
            "--figure-size",
            metavar="SIZE",
            help='Width and height, e.g. "7x3 in" or "18x8 cm". Default: as wide as a column.',
        ),
    ] = None
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Output file (.pdf, .svg or .png); repeatable. Default: DIR/plot.pdf.",
        ),
    ] = None
    as_json: JsonOption = False

    def options(self) -> dict[str, Any]:
        """Return the arguments of a figure."""
        from skywave.plots.files import format_of  # noqa: PLC0415  (loads matplotlib)

        for file in self.files or ():
            format_of(file)
        return {
            "log": tuple(self.log_axes or ()),
            "size_in": None if self.size is None else _size_in(self.size),
        }

    def write(self, figure: Figure, directory: Path) -> None:
        """Write a figure, and print the names of its files."""
        from skywave import plots  # noqa: PLC0415  (loads matplotlib)

        files = self.files or [directory / "plot.pdf"]
        written = [str(file) for file in plots.write(figure, files)]
        if self.as_json:
            print_json({"files": written})
            return
        for name in written:
            out().print(f"Figure: {escape(name)}", soft_wrap=True, highlight=False)


@command(app)
def run(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Output directory of `skywave run`.")
    ],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="series (over time), cdf or box.")
    ] = "series",
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="Measure to plot, e.g. goodput or mos; repeatable in a time series.",
        ),
    ] = None,
    flows: Annotated[
        list[str] | None,
        typer.Option("--flow", metavar="FLOW", help="Plot only this flow; repeatable."),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="LINK",
            help='Plot only this link, e.g. "r1->r2"; repeatable. Default: the links with the '
            "longest queues.",
        ),
    ] = None,
    from_: Annotated[
        Duration | None, typer.Option("--from", help='Start of the time axis, e.g. "10 s".')
    ] = None,
    to: Annotated[
        Duration | None, typer.Option("--to", help='End of the time axis, e.g. "1 min".')
    ] = None,
    *,
    figured: Figured,
) -> None:
    """Plot a run over time: goodput, cwnd, queue and delay."""
    from skywave import plots  # noqa: PLC0415  (loads matplotlib)

    options = figured.options()
    figure = plots.of_run(
        _tables(directory),
        kind,  # type: ignore[arg-type]
        measure=measures or (),
        flows=flows or (),
        links=links or (),
        from_s=0.0 if from_ is None else from_.seconds,
        to_s=None if to is None else to.seconds,
        **options,
    )
    figured.write(figure, directory)


@command(app)
def sweep(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Output directory of `skywave sweep`.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="line, heat, cdf or box. Default: heat for two dimensions of numbers, else line.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure to plot, e.g. delay_mean. Default: the first measure of the sweep.",
        ),
    ] = None,
    x: Annotated[
        str | None, typer.Option(metavar="DIMENSION", help="Dimension on the x axis.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="DIMENSION",
            help="Dimension shown as lines, groups, or rows of a heat map. All others become "
            "panels.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIMENSION=VALUE",
            help="Use only runs with this value, e.g. control=cubic; repeatable, also for several "
            "values of one dimension.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="VALUE=TEXT",
            help='Relabel a value or the axis of a dimension, e.g. "tcp control=cubic=CUBIC"; '
            "repeatable.",
        ),
    ] = None,
    *,
    figured: Figured,
) -> None:
    """Plot a sweep over its dimensions.

    Shows means over seeds with 95 % confidence intervals, as up to ten lines in each of up to six
    panels.
    """
    options = figured.options()
    # Every measure is stored, whichever the sweep prints.
    found = _sweep(directory, measure)
    figure = found.plot(
        kind,  # type: ignore[arg-type]
        measure=measure and found.measures[0],
        x=x,
        by=by,
        where=_values(where or ()),
        labels=texts_of(labels or ()),
        **options,
    )
    figured.write(figure, directory)


def _size_in(text: str) -> tuple[float, float]:
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f'"{text}" is not WIDTHxHEIGHT with a unit, such as "7x3 in"')
    unit_in = UNITS_IN[found["unit"]]
    return float(found["width"]) * unit_in, float(found["height"]) * unit_in


def _values(given: Sequence[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not (name and separator):
            raise typer.BadParameter(f'"{text}" is not DIMENSION=VALUE, such as control=cubic')
        values.setdefault(name, []).append(value)
    return values


def texts_of(given: Sequence[str]) -> dict[str, str]:
    """Return the texts of values that ``--label`` gives."""
    labels: dict[str, str] = {}
    for text in given:
        # A value may have a "=" of its own: tcp control=cubic.
        value, separator, label = text.rpartition("=")
        if not (value and separator and label):
            raise typer.BadParameter(f'"{text}" is not VALUE=TEXT, such as cubic=CUBIC')
        labels[value] = label
    return labels


def _sweep(directory: Path, measure: str | None) -> Sweep:
    from skywave.sweeps.table import Sweep  # noqa: PLC0415  (loaded when there is a sweep)

    if is_run(directory):
        raise ValueError(f"{directory} has a run: skywave plot run plots it")
    if not (directory / "sweep.json").exists():
        raise ValueError(f"{directory} has no sweep: give a directory of skywave sweep --out")
    return Sweep.load(directory, measure and [measure])


def is_run(directory: Path) -> bool:
    """Return whether a directory has a run. A comparison of both clocks has no totals."""
    return any((directory / name).exists() for name in (TOTALS, *SAMPLED))


def _tables(directory: Path) -> dict[str, pa.Table]:
    if (directory / "sweep.json").exists():
        raise ValueError(f"{directory} has a sweep: skywave plot sweep plots it")
    if (directory / "comparison.json").exists():
        raise ValueError(
            f"{directory} has runs on both clocks: give the directory of one, such as "
            f"{directory / 'simulated-1'}"
        )
    if not is_run(directory):
        raise ValueError(f"{directory} has no run: give a directory of skywave run --out")
    tables = read_tables(directory)
    if not any(Path(file).stem in tables for file in SAMPLED):
        raise ValueError(
            f"{directory} has a run, but neither of its tables {' and '.join(SAMPLED)}: run it "
            "again with --out"
        )
    return tables
