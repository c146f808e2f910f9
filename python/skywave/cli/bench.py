"""``skywave bench``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from skywave._core import Duration, Rate
from skywave._progress import Progress, stage
from skywave.bench import competitors
from skywave.bench.competitors import Competitor
from skywave.bench.measurement import BenchError
from skywave.bench.rows import (
    MANY,
    CompetitorRow,
    Row,
    ThreadsRow,
    Work,
    measure,
    measure_standard,
    measure_threads,
)
from skywave.cli.application import command, group
from skywave.cli.console import JsonOption, out, print_json, progress_bar
from skywave.cli.messages import warn

if TYPE_CHECKING:
    from skywave.bench.speed import Speed
    from skywave.papers.protocol import Paper

MOST = 1_000_000
ACCESS = Rate("100 Mbps")
app = group("bench", "Measure the simulator.")

HtsimOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also run htsim with the same flows and print the ratios. FILE is the program "
        "validation/htsim/bench.cpp, built as the README there says. It runs twice: 'full' "
        "has a queue and a pipe on each of six hops, as here and in ns-2; 'light' has the "
        "bottleneck's queue and one pipe each way.",
    ),
]


@command(app)
def dumbbell(
    flows: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=MOST, help="Number of long-lived TCP NewReno flows."),
    ],
    rate: Annotated[Rate, typer.Option(help='Rate of the bottleneck, e.g. "45 Mbps".')],
    buffer: Annotated[
        int,
        typer.Option(
            metavar="PACKETS",
            min=2,
            max=MOST,
            help="Bottleneck buffer in packets, including the packet in transmission.",
        ),
    ],
    duration: Annotated[Duration, typer.Option(help='Simulated time, e.g. "120 s".')],
    access: Annotated[
        Rate, typer.Option(help='Rate of the access links, e.g. "100 Mbps".')
    ] = ACCESS,
    beside_ns2: Annotated[
        bool, typer.Option("--ns2", help="Also run ns-2 with the same flows and print the ratios.")
    ] = False,
    htsim: HtsimOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure TCP flows over a drop-tail dumbbell.

    CPU seconds (user and system) and peak memory are those of a whole process, including start-up.
    Starting Python takes about 0.03 s, so the CPU time of the simulation alone is shown too.

    To compare with other simulators, each row runs five times, alternating with them; times and
    ratios are medians.

    Two shares of total processor time show how quiet the machine was: the time stolen by the host
    for other virtual machines, and the time used by other processes. Short runs give rough shares.
    """
    others = _others(htsim, ns2=beside_ns2)
    work = Work(
        flows=flows, rate=str(rate), buffer=buffer, duration=str(duration), access=str(access)
    )
    with progress_bar() as show:
        row = measure(work, others, show)
    if as_json:
        print_json(row)
    else:
        out().print(_table([row]))


@command(app)
def threads(
    number: Annotated[int, typer.Argument(metavar="NUMBER", min=2, help="Number of threads.")] = 2,
    as_json: JsonOption = False,
) -> None:
    """Measure how much faster several threads simulate 10,000 TCP flows than one.

    Both run five times, alternating; times and speedup are medians. The speedup is low if other
    processes use the processors meanwhile.
    """
    with progress_bar() as show:
        row = measure_threads(replace(MANY, threads=number), show)
    if as_json:
        print_json(row)
    else:
        out().print(_threads_table(row))


@command(app)
def standard(htsim: HtsimOption = None, as_json: JsonOption = False) -> None:
    """Measure the three standard workloads and the runs that the papers nominate.

    Also runs ns-2 if it is installed. `skywave bench dumbbell --help` explains the rows.
    """
    others = _others(htsim, ns2_if_installed=True)
    with progress_bar() as show:
        rows = measure_standard(others, show)
        timed = _measure_papers(show)
    if as_json:
        print_json({**{paper.key: one for paper, one in timed}, "rows": rows})
        return
    out().print(_table(rows))
    for paper, one in timed:
        out().print(_speed_table(paper, one))


def _others(
    htsim: Path | None, *, ns2: bool = False, ns2_if_installed: bool = False
) -> list[Competitor]:
    """Return the simulators to run beside ours."""
    others = [] if htsim is None else competitors.find_htsim(htsim)
    if ns2 or ns2_if_installed:
        try:
            others.insert(0, competitors.find_ns2())
        except BenchError:
            if ns2:
                raise
    return others


def _measure_papers(show: Callable[[Progress], None]) -> list[tuple[Paper[Any], list[Speed]]]:
    """Measure the runs that papers time."""
    # Loading the code that draws papers takes a second.
    from skywave.bench import speed  # noqa: PLC0415
    from skywave.papers import installed  # noqa: PLC0415

    usable, broken = installed.every()
    warn(map(str, broken.values()))
    timed = [paper for paper in usable if paper.timed]
    return [(paper, speed.measure(paper.timed, stage(show, paper.key))) for paper in timed]


def _table(rows: list[Row]) -> Table:
    table = Table(title="Dumbbell of TCP NewReno flows, one core", title_justify="left")
    table.add_column("")
    for index in range(len(rows)):
        table.add_column(f"row {index + 1}", justify="right")
    # All rows run beside the same simulators.
    beside = zip(*(row["beside"] for row in rows), strict=True)
    for columns in ([_ours(row) for row in rows], *([*map(_theirs, each)] for each in beside)):
        for name in columns[0]:
            table.add_row(name, *(column[name] for column in columns))
        table.add_section()
    return table


def _threads_table(row: ThreadsRow) -> Table:
    work, rounds = row["work"], row["rounds"]
    title = f"{work['flows']:,} flows, {work['rate']}, {work['duration']}"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_row("elapsed on one thread (s)", f"{row['elapsed_one_s']:.3f}")
    table.add_row(f"elapsed on {work['threads']} threads (s)", f"{row['elapsed_s']:.3f}")
    table.add_row("speedup", f"{row['speedup']:.2f}")
    table.add_row("speedup, lowest and highest round", f"{rounds[0]:.2f} to {rounds[-1]:.2f}")
    for name, key in _SHARES.items():
        table.add_row(name, _percent(row[key]))  # type: ignore[literal-required]
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
    for name, key in _SHARES.items():
        table.add_row(name, *(_percent(one[key]) for one in speeds))  # type: ignore[literal-required]
    return table


_SHARES = {
    "other guests of the host (% of processors)": "stolen",
    "other processes (% of processors)": "used_by_others",
}
"""What others took of the time of all processors while a row was measured: labels, keys."""


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _ours(row: Row) -> dict[str, str]:
    """Return a row's values by label."""
    work, counts = row["work"], row["counts"]
    return {
        "work": f"{work['flows']} flows, {work['rate']}, {work['buffer']} packets, "
        f"{work['duration']}",
        "CPU (s)": f"{row['process_cpu_s']:.3f}",
        "CPU of the simulation alone (s)": f"{counts['cpu_s']:.3f}",
        "bottleneck arrivals (packets)": f"{counts['bottleneck_arrivals']:,}",
        "bottleneck drops (packets)": f"{counts['bottleneck_drops']:,}",
        "packets x hops (1/s)": f"{counts['packet_hops_per_s']:,.0f}",
        "events (1/s)": f"{counts['events_per_s']:,.0f}",
        "peak memory (MB)": f"{row['peak_memory_bytes'] / 1e6:.1f}",
        **{name: _percent(row[key]) for name, key in _SHARES.items()},  # type: ignore[literal-required]
    }


_COUNTS = {
    "bottleneck_arrivals": "bottleneck arrivals (packets)",
    "packets_delivered": "packets delivered",
    "bottleneck_drops": "bottleneck drops (packets)",
}
"""Labels of what other simulators count."""


def _theirs(beside: CompetitorRow) -> dict[str, str]:
    """Return another simulator's values by label."""
    name, counts = beside["name"], beside["counts"]
    lines = {f"{name} CPU (s)": f"{beside['process_cpu_s']:.3f}"}
    lines |= {
        f"{name} {label}": f"{counts[key]:,}" for key, label in _COUNTS.items() if key in counts
    }
    lines |= {
        f"{name} peak memory (MB)": f"{beside['peak_memory_bytes'] / 1e6:.1f}",
        f"CPU of {name} / ours, whole processes": f"{beside['cpu_over_skywave']:.1f}",
        f"CPU of {name} / our simulation alone": f"{beside['cpu_over_simulation']:.1f}",
        "the same, lowest and highest round": f"{beside['rounds'][0]:.1f} to "
        f"{beside['rounds'][-1]:.1f}",
        f"memory of {name} / ours": f"{beside['memory_over_skywave']:.2f}",
    }
    if (difference := beside["arrivals_difference_percent"]) is not None:
        lines[f"arrivals, difference from {name} (%)"] = f"{difference:+.3f}"
    return lines
