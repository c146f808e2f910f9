"""``skywave plot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from skywave.cli.console import JsonOption, out, print_json
from skywave.quantities import Duration

if TYPE_CHECKING:
    from collections.abc import Sequence


def plot(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="What run --out or sweep --out has written."),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            help="Of a run: series (over time, the default), cdf or box. Of a sweep: line, heat, "
            "cdf or box."
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="What to show, e.g. goodput, delay_mean or mos; repeatable in a time series.",
        ),
    ] = None,
    x: Annotated[
        str | None, typer.Option(metavar="DIMENSION", help="The dimension of the x axis.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            "--y",
            metavar="DIMENSION",
            help="The dimension of lines, groups, or rows of a heat map. All others have panels.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIMENSION=VALUE",
            help="Only runs of a sweep with this value, e.g. control=cubic; repeatable.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="VALUE=TEXT",
            help="Another text for a value of a sweep, or for the axis of a dimension, e.g. "
            '"tcp control=cubic=CUBIC"; repeatable.',
        ),
    ] = None,
    flows: Annotated[
        list[str] | None,
        typer.Option("--flow", metavar="FLOW", help="Only this flow; repeatable."),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="LINK",
            help='This link, e.g. "r1->r2"; repeatable. Default: the longest queues.',
        ),
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help='Start, e.g. "10 s".')
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="TIME", help='End, e.g. "1 min".')] = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="A .pdf, .svg or .png file; repeatable. Default: DIR/plot.pdf.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a figure of a run or a sweep, as wide as a column of a paper.

    A run is drawn over time: goodput, cwnd, queue and delay. A sweep is drawn by its dimensions:
    means over seeds with 95 % confidence intervals, by up to ten lines in up to six panels.
    """
    from skywave import plots  # noqa: PLC0415  (loads matplotlib)
    from skywave.plots.files import format_of  # noqa: PLC0415

    chosen = files or [directory / "plot.pdf"]
    for file in chosen:
        format_of(file)
    figure = plots.of_directory(
        directory,
        kind,
        tuple(measures or ()),
        x=x,
        by=by,
        where=_values(where or ()),
        labels=_labels(labels or ()),
        flows=flows,
        links=links,
        from_s=None if from_ is None else Duration(from_).seconds,
        to_s=None if to is None else Duration(to).seconds,
    )
    written = [str(file) for file in plots.write(figure, chosen)]
    if as_json:
        print_json({"files": written})
        return
    for name in written:
        out().print(f"Figure: {escape(name)}", soft_wrap=True, highlight=False)


def _values(given: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not (name and separator):
            raise typer.BadParameter(f'"{text}" is not DIMENSION=VALUE, such as control=cubic')
        if name in values:
            raise typer.BadParameter(f"{name} is given twice: give it one value")
        values[name] = value
    return values


def _labels(given: Sequence[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for text in given:
        # A value may have a "=" of its own: tcp control=cubic.
        value, separator, label = text.rpartition("=")
        if not (value and separator and label):
            raise typer.BadParameter(f'"{text}" is not VALUE=TEXT, such as cubic=CUBIC')
        labels[value] = label
    return labels
