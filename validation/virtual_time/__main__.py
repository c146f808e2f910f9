"""``python -m validation.virtual_time``: run Linux on virtual time, and store tables."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skywave import cli
from skywave._files import replacing_file
from skywave.cli.console import choose, progress_bar
from skywave.realtime.virtual import kernel
from skywave.stats import average
from validation.virtual_time import ccids, controls, examples, queues
from validation.virtual_time.runs import SEEDS, Measured, Row, measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def main(
    tables: Annotated[
        list[str] | None, typer.Argument(help="ccids, controls, examples, queues")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many runs each row has.")] = SEEDS,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Simulate, and keep what is stored of Linux.")
    ] = False,
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")] = HERE,
) -> None:
    """Run the rows of tables on virtual time and in the simulator, and store the tables."""
    kinds = {"ccids": ccids, "controls": controls, "examples": examples, "queues": queues}
    chosen = [choose(name, list(kinds), "table") for name in tables or kinds]
    for name in chosen:
        if simulated:
            _check_stored(out_dir / f"{name}.csv", kinds[name].cases())
        else:
            kernel.find(dccp=name == "ccids")
    for name in chosen:
        kind = kinds[name]
        with progress_bar() as show:
            done = measured(
                kind.cases(), kind.find, seeds=seeds, in_guests=not simulated, progress=show
            )
        store(done, kind.MEASURES, path := out_dir / f"{name}.csv")
        typer.echo(f"wrote {path}")


def store(done: Sequence[Measured], measures: Mapping[str, str], path: Path) -> None:
    """Store the means of measures over runs, with their margins, as CSV."""
    kept = _of_linux(path)
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["row", "of", "clock", *measures.values(), "late, 99th percentile (us)"])
        for one in done:
            if one.guest:
                guest = [_text([run[key] for run in one.guest]) for key in measures]
                rows.writerow([*one.name, "virtual time", *guest, f"{1e6 * one.late_s:.1f}"])
            else:
                rows.writerow(kept[one.name])
            if one.simulated:
                simulated = [_text([run[key] for run in one.simulated]) for key in measures]
                rows.writerow([*one.name, "simulated", *simulated, ""])


def _check_stored(path: Path, rows: Sequence[Row]) -> None:
    """Raise an error if a table lacks rows of Linux."""
    stored = _of_linux(path)
    for row in rows:
        if row.name not in stored:
            message = f"{path} has nothing of Linux for {', '.join(row.name)}: leave this out"
            raise typer.BadParameter(message, param_hint="--simulated")


def _of_linux(path: Path) -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the rows of Linux in a stored table."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        rows = csv.reader(file)
        return {(row[0], row[1]): row for row in rows if row[2:3] == ["virtual time"]}


def _text(values: Sequence[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return ""
    if len(known) == 1:
        return f"{known[0]:.6g}"
    mean = average(known)
    return f"{mean.value:.6g} ± {mean.margin:.2g}"


if __name__ == "__main__":
    cli.run(app)
