"""Measures response functions: ``python -m validation.response`` stores ``response.csv``.

One packet in 1/p is lost, as the derivations assume, on a path that is never congested otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import typer

from skywave import DropTail, Ftp, Link, Probes, Scenario, Tcp, cli, run
from skywave.scenario import Cubic, PacketLoss
from validation import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

HERE = Path(__file__).parent
STORED = HERE / "response.csv"
RTT_S = 0.1
RATES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
"""p: packets lost, as a fraction."""
PACKETS = 4_000_000
MOST_CYCLES = 1000
"""How many packets are sent, or lost if that is less. The first half is not measured, because CUBIC
takes hundreds of losses to reach its equilibrium."""
SEGMENT_BYTES = 1000
HEADERS_BYTES = 40
BBR_LINK_MBPS = 20
BBR_DURATION_S = 120
CUBIC_C, CUBIC_BETA = 0.4, 0.7


def reno(p: float) -> float:
    """Return the mean window, in packets, of a sawtooth between W/2 and W that has 1/p packets.

    The square-root law: the mean is 3/4 W, and 3/8 W^2 are 1/p.
    """
    return math.sqrt(3 / (2 * p))


def reno_in_rounds(p: float) -> float:
    """Return the same, but counted in whole rounds, with the round of the recovery.

    Rounds of W/2, W/2 + 1, .., W packets, 3/8 W^2 + 3/4 W in all, and one with half of W while the
    loss is repaired.
    """
    largest = (math.sqrt(1.25**2 + 1.5 / p) - 1.25) / 0.75
    rounds = largest / 2 + 2
    return 1 / p / rounds


def cubic(p: float) -> float:
    """Return CUBIC's mean window, in packets: RFC 9438, equation 5 and its Reno-friendly region."""
    factor = CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))
    of_cubic: float = factor**0.25 * (RTT_S / p) ** 0.75
    return max(of_cubic, reno(p))


def bdp(p: float) -> float:
    """Return the BDP of BBR's link in packets, whatever is lost."""
    del p
    return BBR_LINK_MBPS * 1e6 * RTT_S / 8 / (SEGMENT_BYTES + HEADERS_BYTES)


@dataclass(frozen=True)
class Response:
    """A control and the equation that describes it."""

    equation: Callable[[float], float]
    control: str
    parameters: Cubic | None = None

    def scenario(self, p: float) -> Scenario:
        """Return a run of one flow that loses every packet whose number is a multiple of 1/p."""
        period, expected = round(1 / p), self.equation(p)
        cycles = min(PACKETS // period, MOST_CYCLES)
        is_bbr = self.control == "bbr"
        # BBR answers to the link, so it needs time rather than losses.
        duration_s = BBR_DURATION_S if is_bbr else math.ceil(cycles * period / expected * RTT_S)
        last = 2 * round(duration_s / RTT_S * expected)
        described = Scenario(
            name=f"response-{self.control}-{p:g}",
            duration=f"{duration_s} s",
            nodes=["s", "d"],
            links=[
                Link(
                    from_="s",
                    to="d",
                    rate=f"{BBR_LINK_MBPS} Mbps" if is_bbr else "10 Gbps",
                    delay=f"{1e3 * RTT_S / 2:g} ms",
                    queue=DropTail(packets=1000),
                    loss=PacketLoss(packets=tuple(range(period, last, period))),
                )
            ],
            probes=Probes(tables=("controls",)) if is_bbr else Probes(),
        )
        tcp = Tcp(
            control=self.control,
            recovery="rack",
            segment=f"{SEGMENT_BYTES} B",
            initial_ssthresh=None if is_bbr else round(expected),
            cubic=self.parameters,
        )
        described.add_flow("flow", "s", "d", tcp, Ftp())
        return described

    def measured(self, p: float) -> float:
        """Return the mean of the second half of a run, in packets.

        It is of what is delivered per round-trip time; for BBR, of the BDP that it has measured,
        BBR.max_bw times BBR.min_rtt.
        """
        results = run(self.scenario(p))
        if self.control == "bbr":
            of_bbr = results.tables["controls"]
            bandwidth_bps, rtt_s = (_half(of_bbr, name) for name in ("max_bw_bps", "min_rtt_s"))
        else:
            goodput_bps = results.flows["goodput_bps"].to_numpy()
            bandwidth_bps, rtt_s = goodput_bps[len(goodput_bps) // 2 :].mean(), RTT_S
        return float(bandwidth_bps * rtt_s / 8 / SEGMENT_BYTES)


def _half(of_control: pa.Table, name: str) -> float:
    """Return the mean of the second half of an inner value."""
    values = of_control.filter(pc.equal(of_control["name"], name))["value"].to_numpy()
    return float(values[len(values) // 2 :].mean())


RESPONSES = {
    "reno": Response(reno, "reno"),
    "reno, in whole rounds": Response(reno_in_rounds, "reno"),
    "cubic": Response(cubic, "cubic"),
    "cubic, without fast convergence": Response(cubic, "cubic", Cubic(fast_convergence=False)),
    "bbr": Response(bdp, "bbr"),
}

app = typer.Typer(pretty_exceptions_enable=False)


def rows() -> Iterator[dict[str, str]]:
    """Yield a row for each response function and p."""
    for name, response in RESPONSES.items():
        for p in RATES:
            yield {
                "response": name,
                "p": f"{p:g}",
                "equation": f"{response.equation(p):.4g}",
                "measured": f"{response.measured(p):.4g}",
            }


def stored() -> list[dict[str, str]]:
    """Return the stored rows."""
    return tables.read(STORED)


def difference(row: dict[str, str]) -> float:
    """Return by how much the measured value of a row exceeds the equation, as a fraction of it."""
    return float(row["measured"]) / float(row["equation"]) - 1


def table() -> str:
    """Return the README's table."""
    lines = []
    for p in RATES:
        found = [row for row in stored() if row["p"] == f"{p:g}"]
        lines.append(
            [
                f"{p:g}",
                *(
                    f"{row['measured']} / {row['equation']}, {100 * difference(row):+.1f} %"
                    for row in found
                ),
            ]
        )
    return tables.markdown(["p", *RESPONSES], lines)


@app.command()
def main() -> None:
    """Measure all response functions, store response.csv, and print the table of the README."""
    found = []
    for row in rows():
        found.append(row)
        typer.echo(f"{row['response']} at p = {row['p']}: {row['measured']} packets", err=True)
    tables.write(STORED, found)
    typer.echo(table())


if __name__ == "__main__":
    cli.run(app)
