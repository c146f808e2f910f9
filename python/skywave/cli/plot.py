"""``skywave plot``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from skywave.cli.console import JsonOption, out, print_json
from skywave.results.run import TOTALS, read_tables
from skywave.scenario.quantities import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.figure import Figure

    from skywave.sweeps.table import Sweep

OF_RUNS = ("flows", "links", "from_s", "to_s")
OF_SWEEPS = ("x", "by", "where", "labels")
SIZE = re.compile(r"(?P<width>\d+(\.\d+)?) ?x ?(?P<height>\d+(\.\d+)?) ?(?P<unit>in|cm|mm)")
UNITS_IN = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
SAMPLED = ("flows.parquet", "links.parquet")
"""What a figure of a run is made from."""


def plot(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Output directory of `skywave run` or `skywave sweep`."),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            help="Kind of figure. For a run: series (over time, the default), cdf or box. For a "
            "sweep: line, heat, cdf or box."
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="Measure to plot, e.g. goodput, delay_mean or mos; repeatable in a time series.",
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
            help="Use only runs of a sweep with this value, e.g. control=cubic; repeatable, also "
            "for several values of one dimension.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="VALUE=TEXT",
            help='Relabel a value of a sweep or the axis of a dimension, e.g. "tcp '
            'control=cubic=CUBIC"; repeatable.',
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
        str | None,
        typer.Option("--from", metavar="TIME", help='Start of the time axis, e.g. "10 s".'),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="TIME", help='End of the time axis, e.g. "1 min".')
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(metavar="AXIS", help="Make this axis logarithmic: x or y; repeatable."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help='Width and height, e.g. "7x3 in" or "18x8 cm". Default: as wide as a column.',
        ),
    ] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Output file (.pdf, .svg or .png); repeatable. Default: DIR/plot.pdf.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Plot a run or a sweep as a figure of the width of a paper's column.

    Plots a run over time: goodput, cwnd, queue and delay. Plots a sweep over its dimensions: means
    over seeds with 95 % confidence intervals, as up to ten lines in each of up to six panels.
    """
    from skywave import plots  # noqa: PLC0415  (loads matplotlib)
    from skywave.plots.files import format_of  # noqa: PLC0415

    chosen = files or [directory / "plot.pdf"]
    for file in chosen:
        format_of(file)
    figure = of_directory(
        directory,
        kind,
        tuple(measures or ()),
        x=x,
        by=by,
        where=_values(where or ()),
        labels=texts_of(labels or ()),
        flows=flows,
        links=links,
        from_s=None if from_ is None else Duration(from_).seconds,
        to_s=None if to is None else Duration(to).seconds,
        log=log,
        size_in=None if size is None else _size_in(size),
    )
    written = [str(file) for file in plots.write(figure, chosen)]
    if as_json:
        print_json({"files": written})
        return
    for name in written:
        out().print(f"Figure: {escape(name)}", soft_wrap=True, highlight=False)


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
    """Return the texts of values that ``--label`` gives.

    Raises:
        typer.BadParameter: If one is not of the form VALUE=TEXT.

    """
    labels: dict[str, str] = {}
    for text in given:
        # A value may have a "=" of its own: tcp control=cubic.
        value, separator, label = text.rpartition("=")
        if not (value and separator and label):
            raise typer.BadParameter(f'"{text}" is not VALUE=TEXT, such as cubic=CUBIC')
        labels[value] = label
    return labels


def of_directory(
    directory: str | Path, kind: str | None = None, measures: tuple[str, ...] = (), **options: Any
) -> Figure:
    """Return a figure of a run's or a sweep's directory.

    ``options`` are the other arguments of :func:`skywave.plots.of_run` or
    :func:`skywave.plots.of_sweep`. Those that are None or empty are not given.

    Raises:
        ValueError: As these functions do, or if an option is of the other of the two.
        OSError: If the directory cannot be read.

    """
    from skywave.plots import of_run  # noqa: PLC0415  (loads matplotlib)

    path = Path(directory)
    given = {name: value for name, value in options.items() if value}
    if is_run(path):
        _refuse(given, OF_SWEEPS, "a sweep", "a run")
        return of_run(_tables(path), kind or "series", measure=measures, **given)  # type: ignore[arg-type]
    if len(measures) > 1:
        raise ValueError(f"a figure of a sweep has one measure, not {len(measures)}")
    sweep = _sweep(path, measures)
    _refuse(given, OF_RUNS, "a run", "a sweep")
    return sweep.plot(kind, measure=sweep.measures[0] if measures else None, **given)  # type: ignore[arg-type]


def _sweep(directory: Path, measures: tuple[str, ...]) -> Sweep:
    # Every measure is stored, whichever the sweep has asked for.
    from skywave.sweeps.table import Sweep  # noqa: PLC0415  (loaded when there is a sweep)

    if (directory / "comparison.json").exists():
        raise ValueError(
            f"{directory} has runs on both clocks: give the folder of one, such as "
            f"{directory / 'simulated-1'}"
        )
    if not (directory / "sweep.json").exists():
        raise ValueError(
            f"{directory} has no results: give a folder that skywave run --out or sweep --out has "
            "written"
        )
    return Sweep.load(directory, measures or None)


def is_run(directory: Path) -> bool:
    """Return whether a directory has the results of one run; those of --both have no totals."""
    return any((directory / name).exists() for name in (TOTALS, *SAMPLED))


def _tables(directory: Path) -> dict[str, pa.Table]:
    tables = read_tables(directory)
    if not any(Path(file).stem in tables for file in SAMPLED):
        raise ValueError(
            f"{directory} has a run, but neither of its tables {' and '.join(SAMPLED)}: run it "
            "again with --out"
        )
    return tables


def _refuse(given: Mapping[str, Any], names: tuple[str, ...], of: str, found: str) -> None:
    for name in names:
        if name in given:
            option = name.removesuffix("_s").removesuffix("s")
            raise ValueError(f"--{option} is for {of}, and the directory has {found}")
