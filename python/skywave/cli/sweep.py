"""``skywave sweep``."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from skywave._core import Duration
from skywave._files import is_full
from skywave._printing import DIGITS, number, with_margin
from skywave._progress import Progress
from skywave.cli.application import command
from skywave.cli.blocks import Column, print_common, print_in_blocks
from skywave.cli.console import JsonOption, out, print_json, progress_bar
from skywave.cli.messages import warn
from skywave.cli.scenario import ScenarioFile, fields, read
from skywave.cli.status import FAILED
from skywave.results.columns import Scale
from skywave.scenario.paths import parse_values

if TYPE_CHECKING:
    from skywave.sweeps.table import Sweep

MOST_POINTS = 50
"""The most combinations of values that are printed."""
MOST_FAILURES = 5
app = typer.Typer()


@command(app, fails="a run failed")
def sweep(
    scenario: ScenarioFile,
    directory: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Output directory. Runs already stored there are skipped."
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUES",
            help="Vary a field over these values, e.g. dumbbell.rate='1 Mbps,5 Mbps' or "
            '"dumbbell.queue={ red = { packets = 50 } } as RED,unlimited"; repeatable (see '
            "docs/sweeps.md).",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of runs per combination, with seeds 1, 2, ... With --until, the initial "
            "number, at least ten.",
        ),
    ] = 1,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column of the printed table, e.g. goodput, delay_mean or goodput[FLOW]; "
            "repeatable. All measures are always stored.",
        ),
    ] = None,
    warm_up: Annotated[
        Duration | None, typer.Option(help="Discard samples taken before this time.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Add seeds, starting from ten or more, until the mean reaches this precision, "
            'e.g. "ci(goodput) < 2 %".',
        ),
    ] = None,
    max_seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=10, help="With --until, maximum number of seeds per combination."
        ),
    ] = 1000,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of a Dask scheduler to run on, e.g. tcp://scheduler:8786. Default: this "
            "machine.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario with every combination of values, and print means over seeds.

    Stores each run as soon as it is done. Run the same command again to resume after Ctrl-C, to add
    runs after a change, or to retry failed runs.
    """
    from skywave.sweeps import measures, runner  # noqa: PLC0415  (slow to import)
    from skywave.sweeps.store import Store  # noqa: PLC0415

    over = {path: parse_values(values) for path, values in fields(settings)}
    first: list[Progress] = []
    store = Store(directory)
    before = store.planned()
    try:
        with progress_bar() as show, warnings.catch_warnings():
            # They are printed below.
            warnings.simplefilter("ignore", runner.RunsFailedWarning)

            def tell(step: Progress) -> None:
                first[:] = first or [step]
                show(step)

            found = runner.sweep(
                read(scenario),
                over,
                out=directory,
                seeds=seeds,
                measures=measure or measures.DEFAULT,
                warm_up_s=0.0 if warm_up is None else warm_up.seconds,
                until=until,
                max_seeds=max_seeds,
                on=on,
                progress=tell,
            )
    except (KeyboardInterrupt, OSError) as error:
        room = "make room and " if isinstance(error, OSError) and is_full(error) else ""
        if planned := store.planned():
            sys.stderr.write(
                f"{sum(map(store.has, planned))} of {len(planned)} runs are done and kept in "
                f"{directory}; "
                f"{room}run the same command again to resume\n"
            )
        raise
    resumed = int(first[0].done)
    if as_json:
        print_json(_document(found, resumed))
    else:
        _print(found, resumed)
    warn(found.warnings())
    if left := len(before - store.planned()):
        warn(
            [f"{left:,} runs of {directory} are no longer part of its sweep; their files are kept"]
        )
    if found.failures:
        raise typer.Exit(FAILED)


def _document(found: Sweep, resumed: int) -> dict[str, Any]:
    return {
        "out": str(found.directory),
        "engine": found.engine,
        "planned": found.planned,
        "done": found.table.num_rows,
        "resumed": resumed,
        "dimensions": [{"name": name, "path": found.paths[name]} for name in found.dimensions],
        "points": list(_points(found)),
        "runs": found.table.to_pylist(),
        "failures": [asdict(failure) for failure in found.failures],
        "warnings": found.warnings(),
    }


def _points(found: Sweep) -> Iterator[dict[str, Any]]:
    """Yield for each combination its values, and mean and margin of each measure over seeds."""
    from skywave.stats import average  # noqa: PLC0415  (slow to import)

    rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in found.table.to_pylist():
        rows.setdefault(tuple(row[name] for name in found.dimensions), []).append(row)
    for values, runs in rows.items():
        means = {}
        for name in found.measures:
            mean = average([float("nan") if run[name] is None else run[name] for run in runs])
            means[name] = {"mean": mean.value, "margin": mean.margin}
        yield {
            **dict(zip(found.dimensions, values, strict=True)),
            "seeds": len(runs),
            "measures": means,
        }


def _print(found: Sweep, resumed: int) -> None:
    console = out()
    points = list(_points(found))
    seeds = {point["seeds"] for point in points}
    if points:
        console.print(f"[italic]{_title(seeds)}[/]", highlight=False)
        _print_means(console, found, points)
    if len(points) > MOST_POINTS:
        console.print(f"{len(points) - MOST_POINTS:,} more: see --json, or Sweep.load in Python")
    before = f", {resumed:,} of them before" if resumed else ""
    console.print(
        f"{found.table.num_rows:,} of {found.planned:,} runs are done{before}. "
        f"Results: {escape(str(found.directory))}",
        soft_wrap=True,
    )
    if found.failures:
        console.print(
            f"[red]{len(found.failures):,} runs failed[/]; "
            "run the same command again to retry them:"
        )
        for failure in found.failures[:MOST_FAILURES]:
            console.print(f"  {failure.where}: {failure.reason}", markup=False, soft_wrap=True)
        if len(found.failures) > MOST_FAILURES:
            console.print(f"  and {len(found.failures) - MOST_FAILURES:,} more")
        console.print(f"Why: {escape(str(found.directory))}/failed", soft_wrap=True)


def _title(seeds: set[int]) -> str:
    if seeds == {1}:
        return "Values of one seed"
    title = f"Means over {seeds.copy().pop()} seeds" if len(seeds) == 1 else "Means"
    return f"{title}, ± half of their 95 % confidence intervals"


def _print_means(console: Console, found: Sweep, points: list[dict[str, Any]]) -> None:
    """Print a row for each of the first points, below a line of the values that all share."""
    keys = print_common(
        console,
        [
            # Labels have their units.
            Column(found.short_name(name), [found.label(name, point[name]) for point in points])
            for name in found.dimensions
        ],
    )
    counts = [str(point["seeds"]) for point in points]
    if len(set(counts)) > 1:
        keys.append(Column("seeds", counts))
    columns = []
    for name in found.measures:
        means = [point["measures"][name] for point in points]
        known = [abs(each["mean"]) for each in means if not math.isnan(each["mean"])]
        scale = Scale.of(name, max(known, default=0.0))
        columns.append(Column(scale.label, _shown(means, scale.factor)))
    blocks = print_in_blocks(console, keys, columns, most_rows=MOST_POINTS)
    if blocks > 1:
        console.print(
            f"In {blocks} parts, since the table is wider than {console.width} columns: --measure "
            "selects measures, --json prints all."
        )


def _shown(means: list[dict[str, float]], factor: float) -> list[str]:
    """Return means with their margins as text, without these if no mean of a measure varies."""
    varies = any(each["margin"] > 0 for each in means)
    return [
        with_margin(each["mean"] / factor, each["margin"] / factor)
        if varies and not math.isnan(each["margin"])
        else number(each["mean"] / factor, DIGITS)
        for each in means
    ]
