"""Mathis et al. 1997: TCP's rate is inversely proportional to the square root of the loss rate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import Bernoulli, Scenario, Tcp, dumbbell
from skywave.papers.ledger import Ledger
from skywave.papers.measures import Measures
from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import Paper, RunOutput
from skywave.papers.stages import run_each, stage
from skywave.report.figures import RenderedFigure, begin, style

if TYPE_CHECKING:
    from skywave.papers.protocol import Options

LEDGER = Ledger.read(Path(__file__).with_name("paper.toml"))
PUBLISHED_C = LEDGER.published("C/p=0.001")

LOSS_RATES = (0.001, 0.003, 0.01, 0.03)
"""Fractions of packets lost at random."""
RTT_S = 0.1
SEGMENT_B = 1000

Rates = dict[float, float]
"""The measurements: goodput in bit/s by loss rate."""


def scenario(loss_rate: float) -> Scenario:
    """Return a scenario with one flow, limited only by random losses."""
    description = dumbbell(
        f"loss{loss_rate:g}",
        duration="300 s",
        rate="20 Mbps",
        delay="48 ms",
        access_delays=("1 ms",),
        queue=1000,
        loss=Bernoulli(probability=loss_rate),
    )
    description.add_flow("tcp", "s1", "d1", Tcp(recovery="sack", segment=f"{SEGMENT_B} B"))
    return description


def run(options: Options) -> RunOutput[Rates]:
    """Run a flow at each loss rate."""
    scenarios = {loss_rate: scenario(loss_rate) for loss_rate in LOSS_RATES}
    results = run_each(scenarios, stage(options.progress, "Skywave"))
    return RunOutput(
        measured={rate: one.totals["flows"][0]["goodput_bps"] for rate, one in results.items()},
        scenarios={f"loss{rate:g}": one for rate, one in scenarios.items()},
        results={f"loss{rate:g}": one for rate, one in results.items()},
        ns2=Ns2Source("stored", "was not asked"),
    )


def predicted_bps(loss_rate: float) -> float:
    """Return the goodput by equation 3: MSS / RTT * C / sqrt(p)."""
    return 8 * SEGMENT_B / RTT_S * PUBLISHED_C / math.sqrt(loss_rate)


def measure(rates: Rates) -> Measures:
    """Measure the constant where timeouts are rare, and where they are not."""
    return Measures(
        {
            f"C/p={loss_rate:g}": PUBLISHED_C * rates[loss_rate] / predicted_bps(loss_rate)
            for loss_rate in (min(LOSS_RATES), max(LOSS_RATES))
        }
    )


def figures(rates: Rates) -> list[RenderedFigure]:
    """Draw the rates beside those of the equation."""
    with style():
        figure = begin()
        axes = figure.subplots()
        axes.loglog(LOSS_RATES, [predicted_bps(rate) / 1e6 for rate in LOSS_RATES], label="eq. 3")
        axes.loglog(LOSS_RATES, [rates[rate] / 1e6 for rate in LOSS_RATES], "o", label="Skywave")
        axes.set_xlabel("Loss rate")
        axes.set_ylabel("Goodput (Mbps)")
        axes.legend()
        return [RenderedFigure.of("rates", "Goodput by loss rate, beside equation 3.", figure)]


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=run,
    measures=measure,
    figures=figures,
)
