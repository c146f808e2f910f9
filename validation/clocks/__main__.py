"""``python -m validation.clocks``: run simulated and between sockets, and store the tables."""

from __future__ import annotations

import csv
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skywave import cli, run
from skywave._files import replacing_file
from skywave.cli.console import choose, progress_bar
from skywave.realtime.privileges import acquire
from skywave.realtime.virtual import kernel
from skywave.stats import average
from validation.clocks import examples, kernel_tcp
from validation.testbed.running import in_order, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.stats import Estimate
    from validation.testbed.experiment import Experiment, ExperimentResult

HERE = Path(__file__).parent
WORKERS = 6
SIMULATED, REAL_TIME, VIRTUAL_TIME = "simulated", "real time", "virtual time"

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def main(
    tables: Annotated[list[str] | None, typer.Argument(help="examples, kernel_tcp")] = None,
    virtual_time: Annotated[
        bool, typer.Option("--virtual-time", help="Run in guests instead of in real time.")
    ] = False,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Only simulate, and keep what is stored of sockets.")
    ] = False,
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")] = HERE,
) -> None:
    """Run the rows of tables between sockets and in the simulator, and store them.

    What a table has of the other clock stays.
    """
    kinds = {"examples": examples, "kernel_tcp": kernel_tcp}
    chosen = [choose(name, list(kinds), "table") for name in tables or kinds]
    if simulated:
        for name in chosen:
            store_simulated(list(kinds[name].experiments()), out_dir / f"{name}.csv")
        return
    clock = VIRTUAL_TIME if virtual_time else REAL_TIME
    linux = _guest() if virtual_time else platform.release().split("-")[0]
    if not virtual_time:
        acquire("validation.clocks")
    workers = (os.cpu_count() or 1) if virtual_time else WORKERS
    for name in chosen:
        label = f"Linux {linux}, {clock}" if name == "kernel_tcp" else clock
        experiments = list(kinds[name].experiments())
        with progress_bar() as show:
            runs = run_all(experiments, workers=workers, virtual_time=virtual_time, progress=show)
            done = in_order(runs, experiments)
        path = out_dir / f"{name}.csv"
        store(done, label, clock, path)
        typer.echo(f"wrote {path}")


def _guest() -> str:
    """Return the version of the guests' kernel."""
    asked = [str(kernel.find()), "--version"]
    return str(subprocess.check_output(asked, text=True)).strip()


def store(done: Sequence[ExperimentResult], label: str, clock: str, path: Path) -> None:
    """Store means over runs with their margins, beside those of the other clock."""
    measures = done[0].experiment.measures
    names = [f"{measure.title} ({measure.unit or '1'})" for measure in measures.values()]
    header = ["section", "label", "clock", *names, "late, 99th percentile (ms)"]
    rows = []
    for one in done:
        name = [one.experiment.section, one.experiment.label]
        late_ms = max(1e3 * pair.p99_s for pair in one.pairs)
        rows.append([*name, SIMULATED, *(_text(one.simulated(key)) for key in measures), ""])
        rows.append(
            [*name, label, *(_text(one.sockets(key)) for key in measures), f"{late_ms:.2g}"]
        )
    names_in_order = [row[:2] for row in rows]
    kept = [
        row for row in _stored(path) if _of(row, REAL_TIME, VIRTUAL_TIME) and not _of(row, clock)
    ]
    rows += [row for row in kept if row[:2] in names_in_order]
    rows.sort(key=lambda row: (names_in_order.index(row[:2]), _of(row, VIRTUAL_TIME)))
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def store_simulated(experiments: Sequence[Experiment], path: Path) -> None:
    """Replace the simulated rows of a stored table, which has all of these experiments."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    for experiment in experiments:
        found = [experiment.find(run(scenario)).values for scenario in experiment.scenarios]
        means = [_text(average([values[key] for values in found])) for key in experiment.measures]
        name = [experiment.section, experiment.label, SIMULATED]
        [place] = [index for index, row in enumerate(rows) if row[:3] == name]
        rows[place] = [*name, *means, ""]
        typer.echo(f"simulated {experiment.section}, {experiment.label}", err=True)
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def _of(row: Sequence[str], *clocks: str) -> bool:
    """Return whether a row is of one of these clocks."""
    return row[2].endswith(clocks)


def _stored(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def _text(average: Estimate) -> str:
    return f"{average.value:.4g} ± {average.margin:.2g}"


if __name__ == "__main__":
    cli.run(app)
