"""The runs of ``run.py`` in the simulator, with our Prague.

``python -m validation.prague.simulated`` stores ``simulated.csv``, with those columns of
``prague.csv`` that the simulator has.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
import typer

from skywave import Back, DropTail, DualPi2, Ftp, Link, Probes, Scenario, Tcp, cli, run
from skywave.stats import average
from validation import tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results

HERE = Path(__file__).parent
RATE_MBPS = 20
DURATION_S, FROM_S = 30, 5
DELAYS_MS = (10, 20)
FORWARD = "s->d"
TRANSPORTS = {
    # 1428 B on the wire, as udp_prague's.
    "prague": Tcp(control="prague", segment="1388 B"),
    # 1500 B on the wire, as the kernel's with its timestamps.
    "cubic": Tcp(control="cubic", profile="linux", segment="1448 B"),
}
CASES = {"prague": ("prague",), "prague_cubic": ("prague", "cubic"), "cubic": ("cubic",)}
COLUMNS = {
    "rate_mbps": "rate (Mbps)",
    "marked_share": "share marked",
    "lost": "lost (packets)",
    "queue_mean_ms": "mean wait (ms)",
    "queue_p99_ms": "wait, 99th percentile (ms)",
}

app = typer.Typer(pretty_exceptions_enable=False)


def scenario(delay_ms: int, case: str) -> Scenario:
    """Return a run: the link of ``run.py``, and flows that begin at once."""
    described = Scenario(
        name=f"{case}-{delay_ms}",
        duration=f"{DURATION_S} s",
        nodes=["s", "d"],
        links=[
            Link(
                from_="s",
                to="d",
                rate=f"{RATE_MBPS} Mbps",
                delay=f"{delay_ms} ms",
                queue=DualPi2(bytes="625 kB"),
                back=Back(rate="100 Mbps", queue=DropTail(packets=1000)),
            )
        ],
        probes=Probes(packets=True),
    )
    for name in CASES[case]:
        described.add_flow(name, "s", "d", TRANSPORTS[name], Ftp())
    return described


def measures(results: Results, name: str, delay_ms: int) -> Mapping[str, object]:
    """Return what ``run.py`` measures of a flow, of its packets that leave in the steady state."""
    packets = results.packets.filter(pc.equal(results.packets["flow"], name))
    packets = packets.filter(pc.equal(packets["place"], FORWARD))
    packets = packets.filter(pc.greater_equal(packets["time_s"], FROM_S))
    numbers = packets["packet"].to_numpy().astype(np.int64)
    times_s, sizes = packets["time_s"].to_numpy(), packets["bytes"].to_numpy()
    events = {
        event: pc.equal(packets["event"], event).to_numpy(zero_copy_only=False)
        for event in ("enqueue", "drop", "arrive")
    }
    entered_s = np.full(numbers.max() + 1, np.nan)
    entered_s[numbers[events["enqueue"]]] = times_s[events["enqueue"]]
    arrive = events["arrive"] & ~np.isnan(entered_s[numbers])
    on_link_s = delay_ms / 1e3 + sizes[arrive] * 8e-6 / RATE_MBPS
    waits_ms = 1e3 * (times_s[arrive] - entered_s[numbers[arrive]] - on_link_s)
    marked = int((packets["ecn"].to_numpy()[arrive] == 3).sum())
    return {
        "rate_mbps": f"{sizes[arrive].sum() * 8e-6 / (DURATION_S - FROM_S):.3f}",
        "packets": int(arrive.sum()),
        "marks": marked,
        "marked_share": f"{marked / arrive.sum():.4f}",
        "lost": int(events["drop"].sum()),
        "queue_mean_ms": f"{waits_ms.mean():.3f}",
        "queue_p50_ms": f"{np.percentile(waits_ms, 50):.3f}",
        "queue_p99_ms": f"{np.percentile(waits_ms, 99):.3f}",
    }


def rows() -> list[Mapping[str, object]]:
    """Run all cases, and return the rows of the table."""
    found: list[Mapping[str, object]] = []
    for delay_ms in DELAYS_MS:
        for case, names in CASES.items():
            results = run(scenario(delay_ms, case))
            for name in names:
                row: dict[str, object] = {"delay_ms": delay_ms, "case": case, "flow": name}
                found.append({**row, **measures(results, name, delay_ms)})
    return found


def stored(name: str) -> list[dict[str, str]]:
    """Return a stored table."""
    return tables.read(HERE / f"{name}.csv")


def table() -> str:
    """Return the README's table: ours, the means of the real runs, and the difference."""
    real = stored("prague")
    lines = []
    for row in stored("simulated"):
        key = (row["delay_ms"], row["case"], row["flow"])
        runs = [other for other in real if (other["delay_ms"], other["case"], other["flow"]) == key]
        cells = []
        for column in COLUMNS:
            mine = float(row[column])
            mean = average([float(other[column]) for other in runs])
            margin = f" ± {mean.margin:.2g}" if mean.margin > 0.01 * mean.value else ""
            difference = f", {100 * (mine / mean.value - 1):+.0f} %" if mean.value else ""
            cells.append(f"{mine:.4g} / {mean.value:.4g}{margin}{difference}")
        lines.append([key[0], key[1].replace("_", " and "), key[2], *cells])
    return tables.markdown(["each way (ms)", "flows", "flow", *COLUMNS.values()], lines)


@app.command()
def main() -> None:
    """Simulate all cases, store simulated.csv, and print the table of the README."""
    tables.write(HERE / "simulated.csv", rows())
    typer.echo(table())


if __name__ == "__main__":
    cli.run(app)
