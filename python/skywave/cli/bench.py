"""``skywave bench``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from skywave.bench import Row, Work, measure, measure_standard
from skywave.cli.console import JsonOption, out, print_json, progress_bar, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from skywave.papers.protocol import Paper
    from skywave.papers.speed import Speed

MOST = 1_000_000
_NEEDED = "--flows, --rate, --buffer and --duration"


def bench(
    flows: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MOST, help="Long-lived TCP NewReno flows."),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="R", help='Rate of the bottleneck, e.g. "45 Mbps".')
    ] = None,
    buffer: Annotated[
        int | None,
        typer.Option(
            metavar="P",
            min=2,
            max=MOST,
            help="Bottleneck buffer in packets, including the one in transmission.",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="S", help='Simulated time, e.g. "120 s".')
    ] = None,
    access: Annotated[
        str, typer.Option(metavar="R", help='Rate of the access links, e.g. "100 Mbps".')
    ] = "100 Mbps",
    beside_ns2: Annotated[
        bool, typer.Option("--ns2", help="Also run ns-2 with the same flows and print the ratios.")
    ] = False,
    standard: Annotated[
        bool,
        typer.Option(
            "--standard",
            help="Run the three standard sets of flows, and the runs that papers name for this. "
            "Compare with ns-2 if it is installed.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the simulator on one core, with TCP flows over a drop-tail dumbbell.

    Give --flows, --rate, --buffer and --duration, or --standard.

    CPU seconds (user and system) and peak memory are those of a whole process, including start-up.
    Starting Python takes about 0.03 s, so the CPU time of the simulation alone is shown too.
    """
    given = (flows, rate, buffer, duration)
    timed: list[tuple[Paper[Any], list[Speed]]] = []
    with progress_bar() as show:
        if standard:
            if any(value is not None for value in given):
                raise typer.BadParameter(f"--standard excludes other options: leave out {_NEEDED}")
            rows = measure_standard(lambda done, total: show("bench", done / total))
            timed = _measure_papers(show)
        else:
            if flows is None or rate is None or buffer is None or duration is None:
                raise typer.BadParameter(f"give {_NEEDED}, or --standard")
            show("bench", 0.0)
            work = Work(flows=flows, rate=rate, buffer=buffer, duration=duration, access=access)
            rows = [measure(work, beside_ns2=beside_ns2)]
    if as_json:
        speeds = {paper.key: one for paper, one in timed}
        print_json({**speeds, "rows": rows} if standard else rows[0])
    else:
        out().print(_table(rows))
        for paper, one in timed:
            out().print(_speed_table(paper, one))


def _measure_papers(
    show: Callable[[str, float], None],
) -> list[tuple[Paper[Any], list[Speed]]]:
    """Measure the runs that papers time."""
    # Loading the code that draws papers takes a second.
    from skywave.papers import installed, speed  # noqa: PLC0415

    def measured(paper: Paper[Any]) -> list[Speed]:
        return speed.measure(paper.timed, lambda done, total: show(paper.key, done / total))

    usable, broken = installed.every()
    warn(map(str, broken.values()))
    return [(paper, measured(paper)) for paper in usable if paper.timed]


def _table(rows: list[Row]) -> Table:
    names = [
        "work",
        "CPU (s)",
        "CPU of the simulation alone (s)",
        "bottleneck arrivals (packets)",
        "bottleneck drops (packets)",
        "packets x hops (1/s)",
        "events (1/s)",
        "peak memory (MB)",
    ]
    lines = [_lines(row) for row in rows]
    table = Table(title="Dumbbell of TCP NewReno flows, one core", title_justify="left")
    table.add_column("")
    for index in range(len(rows)):
        table.add_column(f"row {index + 1}", justify="right")
    if any(row["ns2"] for row in rows):
        names += [
            "ns-2 CPU (s)",
            "ns-2 bottleneck arrivals (packets)",
            "ns-2 bottleneck drops (packets)",
            "ns-2 peak memory (MB)",
            "CPU of ns-2 / ours, whole processes",
            "CPU of ns-2 / our simulation alone",
            "the same, lowest and highest round",
            "memory of ns-2 / ours",
            "arrivals, difference from ns-2 (%)",
        ]
    for position, name in enumerate(names):
        table.add_row(name, *(line[position] for line in lines))
    return table


def _speed_table(paper: Paper[Any], speeds: list[Speed]) -> Table:
    citation = paper.citation
    title = f"{citation.authors}, {citation.year}: one core"
    table = Table(title=escape(title), title_justify="left")
    table.add_column("")
    for one in speeds:
        table.add_column(one["scheme"], justify="right")

    def row(name: str, key: str, digits: int) -> None:
        values: list[float | None] = [one[key] for one in speeds]  # type: ignore[literal-required]
        table.add_row(name, *("-" if value is None else f"{value:.{digits}f}" for value in values))

    row("CPU (s)", "process_cpu_s", 3)
    row("CPU of the simulation alone (s)", "cpu_s", 3)
    row("ns-2 CPU (s)", "ns2_process_cpu_s", 3)
    row("CPU of ns-2 / ours, whole processes", "cpu_ns2_over_skywave", 1)
    row("CPU of ns-2 / our simulation alone", "cpu_ns2_over_simulation", 1)
    return table


def _lines(row: Row) -> list[str]:
    work, counts, theirs, ratios = row["work"], row["counts"], row["ns2"], row["ratios"]
    lines = [
        f"{work['flows']} flows, {work['rate']}, {work['buffer']} packets, {work['duration']}",
        f"{row['process_cpu_s']:.3f}",
        f"{counts['cpu_s']:.3f}",
        f"{counts['bottleneck_arrivals']:,}",
        f"{counts['bottleneck_drops']:,}",
        f"{counts['packet_hops_per_s']:,.0f}",
        f"{counts['events_per_s']:,.0f}",
        f"{row['peak_memory_bytes'] / 1e6:.1f}",
    ]
    if theirs is not None and ratios is not None:
        lines += [
            f"{theirs['process_cpu_s']:.3f}",
            f"{theirs['bottleneck_arrivals']:,}",
            f"{theirs['bottleneck_drops']:,}",
            f"{theirs['peak_memory_bytes'] / 1e6:.1f}",
            f"{ratios['cpu_ns2_over_skywave']:.1f}",
            f"{ratios['cpu_ns2_over_simulation']:.1f}",
            f"{row['rounds'][0]:.1f} to {row['rounds'][-1]:.1f}",
            f"{ratios['memory_ns2_over_skywave']:.2f}",
            f"{ratios['arrivals_difference_percent']:+.3f}",
        ]
    return lines
