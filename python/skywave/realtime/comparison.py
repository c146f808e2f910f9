"""Compares a scenario in simulated time with the same in real time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skywave import _simulate, stats
from skywave._printing import number
from skywave.realtime import running
from skywave.results.columns import Scale
from skywave.results.samples import Samples
from skywave.scenario import KernelDccp, KernelQueue, KernelTcp, Scenario
from skywave.stats import Estimate, average, unchanged_by_seeds

if TYPE_CHECKING:
    from skywave._progress import Progress
    from skywave.realtime.running import RealTimeRun
    from skywave.results import Results

HYSTART = (
    "Linux's receivers acknowledge every segment while their window grows, so its CUBIC may leave "
    "slow start (HyStart) a round earlier than ours, which a simulation runs in its place"
)
PROFILE = (
    "a simulation runs our TCP in the place of the kernel's, with profile linux; docs/controls.md "
    "lists what differs"
)
TICKS = (
    "Linux's CCID 3 and PIE wait for ticks of the kernel's timer, on virtual time every 10 ms: "
    "CCID 3 sends bursts, and PIE updates less often"
)
QUEUE = "a simulation runs our queue in the place of the kernel's, which is another implementation"
LATE = (
    "in real time, packets leave late, by as much as is said of each run; a queue that is just "
    "full then drops this packet or the next"
)
MOST_FLOWS = 20
"""The most flows that have rows of their own."""


@dataclass(frozen=True)
class Row:
    """A quantity in simulated and in real time: means over runs."""

    what: str
    """What it is of: a flow or a link."""
    measure: str
    """Its name, which ends in its unit."""
    simulated: Estimate
    real_time: Estimate
    difference: Estimate | None
    """The real-time mean minus the simulated one, with Welch's interval; None for one run each."""

    @classmethod
    def of(
        cls, what: str, measure: str, simulated: Sequence[float], real_time: Sequence[float]
    ) -> Self:
        """Return the row of the values of runs."""
        difference = None
        if len(real_time) > 1:
            difference = stats.compare(real_time, simulated, test="welch").difference
        return cls(what, measure, average(simulated), average(real_time), difference)

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes 0. By chance, 5 % of equal rows do.

        Runs that do not vary have no such interval. They differ if the ratio shown is not 1.
        """
        if self.difference is None:
            return False
        if self.simulated.margin == 0 and self.real_time.margin == 0:
            if self.ratio is None:
                return self.real_time.value != 0
            return number(self.ratio, 3) != "1"
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def ratio(self) -> float | None:
        """The mean in real time as a multiple of the simulated mean; None if that is zero."""
        return self.real_time.value / self.simulated.value if self.simulated.value else None

    def cells(self) -> dict[str, str]:
        """Return it as text: what, measure, means with margins, ratio, and whether they differ."""
        scale = Scale.of(self.measure, max(abs(self.simulated.value), abs(self.real_time.value)))

        def text(mean: float, margin: float) -> str:
            shown = number(mean / scale.factor, 3)
            # Runs that do not vary have no interval: it would claim a precision not measured.
            has_margin = margin > 0
            return f"{shown} ± {number(margin / scale.factor, 2)}" if has_margin else shown

        return {
            "what": self.what,
            "measure": scale.label,
            "simulated": text(self.simulated.value, self.simulated.margin),
            "real_time": text(self.real_time.value, self.real_time.margin),
            "ratio": "" if self.ratio is None else number(self.ratio, 3),
            "differs": "differs" if self.differs else "",
        }


@dataclass(frozen=True)
class ClockComparison:
    """Runs of a scenario in simulated and in real time: as many of each, with the same seeds.

    Where it says real time, the runs may be on virtual time.
    """

    scenario: Scenario
    planned: int
    """How many runs on each clock there should be. There are fewer after Ctrl-C."""
    simulated: Sequence[Results]
    real_time: Sequence[RealTimeRun]

    @property
    def is_interrupted(self) -> bool:
        """Whether there are fewer runs than planned. Each of them is complete."""
        return len(self.real_time) < self.planned

    @property
    def clock(self) -> str:
        """The clock beside the simulator's: "real time" or "virtual time"."""
        return self.real_time[0].accuracy.clock

    def rows(self) -> list[Row]:
        """Return every measured quantity of flows and busy links on both clocks."""
        one = [dict(measures(results)) for results in self.simulated]
        other = [dict(measures(run.results)) for run in self.real_time]
        keys = [key for key in one[0] if all(key in run for run in (*one, *other))]
        return [
            Row.of(*key, [run[key] for run in one], [run[key] for run in other]) for key in keys
        ]

    def causes(self) -> list[str]:
        """Return the known causes of differences in such a scenario; nothing if no row differs."""
        if not any(row.differs for row in self.rows()):
            return []
        kernels = [
            flow.transport.control
            for flow in self.scenario.flows
            if isinstance(flow.transport, KernelTcp)
        ]
        all_queues = [link.queue for link in self.scenario.links]
        if self.scenario.dumbbell is not None:
            all_queues.append(self.scenario.dumbbell.queue)
        queues = [queue for queue in all_queues if isinstance(queue, KernelQueue)]
        known = {
            HYSTART: "cubic" in kernels,
            PROFILE: bool(kernels),
            TICKS: any(
                isinstance(flow.transport, KernelDccp) and flow.transport.ccid == 3
                for flow in self.scenario.flows
            )
            or any(queue.qdisc.startswith("pie") for queue in queues),
            QUEUE: bool(queues),
            LATE: True,
        }
        return [cause for cause, holds in known.items() if holds]

    def warnings(self) -> list[str]:
        """Return warnings about the rows, one sentence each."""
        simulated = [list(dict(measures(results)).values()) for results in self.simulated]
        unchanged = unchanged_by_seeds(simulated)
        said = [] if unchanged is None else [f"in the simulation, {unchanged}"]
        other = self.real_time[0]
        first = {"in the simulation": self.simulated[0], other.accuracy.on_clock: other.results}
        said += [
            f"{clock}, {sentence}"
            for clock, results in first.items()
            for sentence in results.limits()
        ]
        return [*map(str, self.scenario.inspect().warnings), *said]

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "name": self.scenario.name,
            "runs": len(self.real_time),
            "planned": self.planned,
            "rows": [
                {
                    "what": row.what,
                    "measure": row.measure,
                    "simulated": row.simulated.value,
                    "simulated_margin": row.simulated.margin,
                    "real_time": row.real_time.value,
                    "real_time_margin": row.real_time.margin,
                    "differs": None if row.difference is None else row.differs,
                }
                for row in self.rows()
            ],
            "causes": self.causes(),
            "warnings": self.warnings(),
            "accuracy": [run.accuracy.document() for run in self.real_time],
        }


def compare(
    scenario: Scenario,
    *,
    runs: int = 1,
    progress: Callable[[Progress], None] | None = None,
    dccp_over_udp: bool = False,
    spin: bool = False,
    virtual_time: bool = False,
) -> ClockComparison:
    """Run a scenario on two clocks, ``runs`` times each, with its seed and the next.

    Ctrl-C ends it early and returns the runs that completed on both clocks; raises
    ``KeyboardInterrupt`` if there is none.

    Args:
        scenario: The scenario.
        runs: How many runs on each clock.
        progress: As for :func:`skywave.run` and :func:`~skywave.realtime.run`; the stage
            names the run too.
        dccp_over_udp: As for :func:`~skywave.realtime.run`.
        spin: As for :func:`~skywave.realtime.run`.
        virtual_time: As for :func:`~skywave.realtime.run`, instead of real time.

    Raises:
        ValueError: If ``runs`` is not positive.
        Exception: As :func:`~skywave.realtime.run`.
    """
    if runs < 1:
        raise ValueError(f"{runs} runs: give at least 1")
    seeds = range(scenario.seed, scenario.seed + runs)
    simulated: list[Results] = []
    real_time: list[RealTimeRun] = []
    for index, seed in enumerate(seeds, start=1):
        seeded = scenario.replace(seed=seed)

        def show(step: Progress, index: int = index) -> None:
            if progress is not None:
                progress(replace(step, stage=f"run {index} of {runs}, {step.stage}"))

        try:
            # What can only run in real time is found before that has passed.
            results = _simulate.run(seeded, progress=show)
            run = running.run(
                seeded,
                progress=show,
                dccp_over_udp=dccp_over_udp,
                spin=spin,
                virtual_time=virtual_time,
            )
        except KeyboardInterrupt:
            if not real_time:
                raise
            break
        if run.is_whole:
            simulated.append(results)
            real_time.append(run)
        if run.is_interrupted:
            if not real_time:
                raise KeyboardInterrupt
            break
    return ClockComparison(scenario, runs, simulated, real_time)


def measures(results: Results) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the compared values of a run: flow or link, measure, and value."""
    totals = results.totals
    samples = Samples(results.flows)
    by_flow, shares = samples.groups("flow"), samples.shares()
    means = {}
    if "delay_mean_s" in results.flows.column_names:
        means["delay_mean_s"] = by_flow.means(samples["delay_mean_s"], shares)
    if "cwnd_packets" in results.flows.column_names:
        means["cwnd_packets"] = by_flow.means(samples.state("cwnd_packets", "flow"), shares)
    for flow in totals["flows"][:MOST_FLOWS]:
        name = flow["name"]
        yield (name, "goodput_bps"), flow["goodput_bps"]
        yield (name, "sent_packets"), flow["packets_sent"]
        if flow["transport"] in {"tcp", "kernel-tcp"}:
            yield (name, "resent_packets"), flow["retransmissions"]
        for measure, of_flows in means.items():
            value = of_flows.get(name, 0.0)
            if value and not np.isnan(value):
                yield (name, measure), value
    yield from _of_links(results, totals["duration_s"])


def _of_links(results: Results, duration_s: float) -> Iterator[tuple[tuple[str, str], float]]:
    samples = Samples(results.links)
    queues: Mapping[str, float] = samples.groups("link").means(
        samples["queue_packets"], samples.shares()
    )
    for link in results.totals["links"]:
        # A link with a queue is what a scenario is about.
        if link["queue_max_packets"] < 2:
            continue
        name = link["name"]
        yield (name, "throughput_bps"), 8 * link["delivered_bytes"] / duration_s
        yield (name, "queue_mean_packets"), queues[name]
        yield (name, "lost_packets"), link["drops"]
        if link["marks"]:
            yield (name, "marked_packets"), link["marks"]
