"""``skywave compare``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from rich.markup import escape

from skywave._known import listed
from skywave._printing import number
from skywave.cli.application import command
from skywave.cli.blocks import Column, print_common, print_in_blocks
from skywave.cli.console import JsonOption, choose, out, print_json
from skywave.cli.messages import warn
from skywave.cli.plot import texts_of
from skywave.results.columns import Scale

if TYPE_CHECKING:
    from skywave.stats.comparison import Test
    from skywave.sweeps.table import Sweep

app = typer.Typer()


@command(app)
def compare(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Output directory of `skywave sweep`.")
    ],
    by: Annotated[
        str, typer.Option(metavar="DIMENSION", help="Dimension whose values to compare.")
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure to compare, e.g. goodput. Default: the first measure of the sweep.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="Baseline to compare every other value with. Default: compare all pairs.",
        ),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            metavar="TEST",
            help="Significance test: paired-t, wilcoxon, welch or mann-whitney (see "
            "docs/statistics.md).",
        ),
    ] = "paired-t",
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="VALUE=TEXT",
            help='Relabel a value, e.g. "tcp control=cubic=CUBIC"; repeatable.',
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the points of a sweep: differences, and which are significant.

    Runs are paired by seed. P-values are corrected for multiple comparisons (Holm). Differences
    that do not vary, as in a scenario without randomness, are not tested.
    """
    from skywave.stats import CONFIDENCE, comparison  # noqa: PLC0415  (slow to import)
    from skywave.sweeps.table import Sweep  # noqa: PLC0415

    tests = get_args(comparison.Test)
    chosen = cast("Test", choose(test, tests, "test"))
    found = Sweep.load(directory, None if measure is None else [measure])
    [name, *_] = found.measures
    text_of = _texts(found, texts_of(labels or ()))
    rows = found.compare(name, by, baseline=baseline, test=chosen).to_pylist()
    for row in rows:
        if math.isnan(row["p"]):
            row["significant"] = None
    if as_json:
        print_json({"measure": name, "test": test, "comparisons": rows})
        return
    others = [each for each in found.dimensions if by not in {each, found.short_name(each)}]
    largest = max((abs(row["difference"]) for row in rows), default=0.0)
    scale = Scale.of(name, largest)
    console = out()
    console.print(f"[italic]Differences of {escape(scale.label)}, by {test}[/]", highlight=False)
    keys = print_common(
        console,
        [
            Column(found.short_name(each), [text_of(each, row[each]) for row in rows], "left")
            for each in others
        ],
    )
    pairs = [f"{text_of(by, row['one'])} - {text_of(by, row['other'])}" for row in rows]
    keys.append(Column(f"difference of {found.short_name(by)}", pairs, "left"))
    print_in_blocks(console, keys, _columns(rows, scale.factor))
    untested = [row for row in rows if row["significant"] is None]
    if not all(math.isnan(row["difference"]) for row in untested):
        console.print(
            "Without a p-value: the differences do not vary, so there is nothing to test."
        )
    if number_tested := len(rows) - len(untested):
        console.print(
            f"Significant: p below {1 - CONFIDENCE:g}. The p-values are corrected for the number "
            f"of comparisons ({number_tested}), the intervals are not.",
            highlight=False,
        )
    warn(found.warnings())


def _texts(sweep: Sweep, given: Mapping[str, str]) -> Callable[[str, object], str]:
    """Return what gives the text of a value in a table: that of figures, or the user's own."""
    values = [
        (name, value)
        for name in sweep.dimensions
        for value in sweep.table[name].unique().to_pylist()
    ]
    shown = {sweep.label(*each) for each in values}
    for value in given:
        if value not in {str(each) for _, each in values} | shown:
            known = listed(value, sorted(shown))
            raise ValueError(f"{value} is no value of the sweep: use one of {known}")

    def text(dimension: str, value: object) -> str:
        label = sweep.label(dimension, value)
        return given.get(str(value), given.get(label, label))

    return text


def _columns(rows: list[dict[str, Any]], factor: float) -> list[Column]:
    digits = 3
    return [
        Column("mean", [number(row["difference"] / factor, digits) for row in rows]),
        Column(
            "95\N{NO-BREAK SPACE}% interval",
            _shown(
                rows,
                lambda row: " to ".join(
                    number(row[end] / factor, digits) for end in ("low", "high")
                ),
            ),
        ),
        Column("p (Holm)", _shown(rows, lambda row: f"{row['adjusted_p']:.2g}")),
        Column(
            "effect size",
            _shown(rows, lambda row: f"{row['effect_name']} {number(row['effect'], 2)}"),
        ),
        Column("runs", [str(row["runs_of_one"]) for row in rows]),
        Column("significant", _shown(rows, lambda row: "yes" if row["significant"] else "no")),
    ]


def _shown(rows: list[dict[str, Any]], text: Callable[[dict[str, Any]], str]) -> list[str]:
    """Return the texts of rows, and a dash for those in which nothing was tested."""
    return ["-" if row["significant"] is None else text(row) for row in rows]
