"""``skywave compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from rich.markup import escape
from rich.table import Table

from skywave.cli.console import JsonOption, choose, out, print_json, warn
from skywave.columns import Scale
from skywave.printing import number

if TYPE_CHECKING:
    from skywave.stats.comparison import Test

LEVEL = 0.05
"""Differences are called significant if their p-value, corrected, is below this."""


def compare(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What sweep --out has written.")],
    by: Annotated[
        str, typer.Option(metavar="DIMENSION", help="The dimension whose values are compared.")
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What to compare, e.g. goodput. Default: the sweep's first."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Compare each value with this one. Default: all pairs."),
    ] = None,
    test: Annotated[
        str,
        typer.Option(help="paired-t, wilcoxon, welch or mann-whitney: see docs/statistics.md."),
    ] = "paired-t",
    as_json: JsonOption = False,
) -> None:
    """Compare the points of a sweep: differences, and which are significant.

    Runs are paired by seed. The p-values are corrected for the number of comparisons (Holm).
    """
    from skywave.stats import comparison  # noqa: PLC0415  (slow to import)
    from skywave.sweeps.table import load  # noqa: PLC0415

    tests = get_args(comparison.Test)
    chosen = cast("Test", choose(test, tests, "test"))
    found = load(directory, None if measure is None else [measure])
    [name, *_] = found.measures
    rows = found.compare(name, by, baseline=baseline, test=chosen).to_pylist()
    if as_json:
        print_json({"measure": name, "test": test, "comparisons": rows})
        return
    others = [each for each in found.dimensions if by not in {each, found.short_name(each)}]
    largest = max((abs(row["difference"]) for row in rows), default=0.0)
    scale = Scale.of(name, largest)
    table = Table(title=f"Differences of {escape(scale.label)}, by {test}", title_justify="left")
    for column in (*map(found.short_name, others), f"difference of {found.short_name(by)}"):
        table.add_column(escape(column))
    for column in ("mean", "95 % interval", "p (Holm)", "effect size", "runs", "significant"):
        table.add_column(column, justify="right")
    for row in rows:
        where = (found.label(each, row[each]) for each in others)
        table.add_row(*(escape(text) for text in (*where, *_shown(row, scale.factor))))
    out().print(table)
    warn(found.warnings())


def _shown(row: dict[str, Any], factor: float) -> list[str]:
    low, high, difference = (row[name] / factor for name in ("low", "high", "difference"))
    return [
        f"{row['one']} - {row['other']}",
        number(difference, 3),
        f"{number(low, 3)} to {number(high, 3)}",
        f"{row['adjusted_p']:.2g}",
        f"{row['effect_name']} {number(row['effect'], 2)}",
        str(row["runs_of_one"]),
        "yes" if row["adjusted_p"] < LEVEL else "no",
    ]
