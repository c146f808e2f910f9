"""The page of the testbed: published and simulated values, and those between sockets."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave import _json
from skywave._files import replacing
from skywave._folders import Kind, check_folder
from skywave._printing import number
from skywave.papers import installed
from skywave.papers.reproduction import render
from validation.testbed import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from skywave.report.figures import RenderedFigure
    from skywave.stats import Estimate
    from validation.testbed.experiment import ExperimentResult, Measure

TITLES = {
    "li2009": "Li and Yousefi'zadeh 2009: DPCP on a Linux testbed",
    "sarwar2008": "Sarwar et al. 2008: CCID 3 over a satellite",
    "lien2009": "Lien and Ding 2009: calls beside the kernel's TCP",
    "nor2011": "Nor et al. 2011: initial slow-start thresholds",
    "chen2010": "Chen, Yang and Hong 2010: four schemes",
}


@dataclass(frozen=True)
class Line:
    """A measure of an experiment as text."""

    section: str
    label: str
    measure: str
    published: str
    simulated: str
    sockets: str


def lines(done: ExperimentResult) -> list[Line]:
    """Return an experiment's measures as text."""
    return [_line(done, key, measure) for key, measure in done.experiment.measures.items()]


def _line(done: ExperimentResult, key: str, measure: Measure) -> Line:
    return Line(
        section=done.experiment.section,
        label=done.experiment.label,
        measure=f"{measure.title} ({measure.unit})",
        published=measure.published,
        simulated=_text(done.simulated(key), measure.missing),
        sockets=_text(done.sockets(key), measure.missing),
    )


def _text(average: Estimate, missing: str) -> str:
    if math.isnan(average.value):
        return missing
    if math.isnan(average.margin):
        return number(average.value, 3)
    return average.text


def document(all_done: Sequence[ExperimentResult], wall_s: float) -> dict[str, Any]:
    """Return every number as JSON."""
    return {
        "wall_s": wall_s,
        "clock": all_done[0].pairs[0].clock,
        "experiments": [
            {
                "paper": done.experiment.paper,
                "section": done.experiment.section,
                "label": done.experiment.label,
                "measures": {
                    key: {
                        "title": measure.title,
                        "unit": measure.unit,
                        "published": measure.published,
                        "simulated": [pair.simulated.values[key] for pair in done.pairs],
                        "sockets": [pair.sockets.values[key] for pair in done.pairs],
                    }
                    for key, measure in done.experiment.measures.items()
                },
                "accuracy": [dict(pair.accuracy) for pair in done.pairs],
            }
            for done in all_done
        ],
    }


def _drawn(all_done: Sequence[ExperimentResult]) -> dict[str, list[RenderedFigure]]:
    """Return the figures of each paper."""

    def of(paper: str, section: str) -> list[ExperimentResult]:
        return [
            done
            for done in all_done
            if done.experiment.paper == paper and done.experiment.section == section
        ]

    drawn: dict[str, list[RenderedFigure]] = {}
    if found := of("li2009", "Figures 3 and 5"):
        drawn["li2009"] = [
            figures.courses(
                "li2009-figure3",
                "Figure 3: utilisation of the bottleneck, means of seconds.",
                found,
                "utilisation",
                "utilisation (%)",
            ),
            figures.courses(
                "li2009-figure5",
                "Figure 5: queue at the bottleneck, means of seconds.",
                found,
                "queue",
                "queue (packets)",
            ),
        ]
    if found := of("li2009", "Figure 4"):
        drawn.setdefault("li2009", []).append(
            figures.transfers("li2009-figure4", "Figure 4: time of a transfer by loss rate.", found)
        )
    if found := [done for done in all_done if done.experiment.paper == "nor2011"]:
        drawn["nor2011"] = [
            figures.courses(
                "nor2011-ramps",
                "Throughput of DCCP by initial ssthresh, by seconds.",
                found,
                "rate",
                "throughput (kbps)",
            )
        ]
    if found := [done for done in all_done if done.experiment.paper == "chen2010"]:
        drawn["chen2010"] = [
            figures.courses(
                "chen2010-queues",
                "Queue at the bottleneck, means of seconds.",
                found,
                "queue",
                "queue (packets)",
            )
        ]
    return drawn


def write(all_done: Sequence[ExperimentResult], wall_s: float, directory: Path) -> None:
    """Write ``testbed.html``, its figures, and ``testbed.json`` with every number.

    Raises:
        OSError: If the directory cannot be written, or is that of something else. Its
            contents stay.

    """
    check_folder(directory, Kind.TESTBED)
    with replacing(directory, whole=True) as partial:
        (partial / "figures").mkdir()
        drawn = _drawn(all_done)
        for each in drawn.values():
            for figure in each:
                figure.write(partial / "figures")
        page = render(
            "testbed.html.j2",
            package="validation.testbed",
            titles=TITLES,
            lines=_by_paper(all_done),
            drawn=drawn,
            citations={key: installed.paper(key).citation for key in TITLES},
            worst=_worst(all_done),
            losses=_losses(all_done),
            minutes=round(wall_s / 60, 1),
            runs=sum(len(done.pairs) for done in all_done),
            clock=all_done[0].pairs[0].clock,
        )
        (partial / "testbed.html").write_text(page, encoding="utf-8")
        text = _json.text(document(all_done, wall_s)) + "\n"
        (partial / "testbed.json").write_text(text, encoding="utf-8")


def _by_paper(all_done: Sequence[ExperimentResult]) -> Mapping[str, list[Line]]:
    found: dict[str, list[Line]] = {key: [] for key in TITLES}
    for done in all_done:
        found[done.experiment.paper] += lines(done)
    return {key: each for key, each in found.items() if each}


def _worst(all_done: Sequence[ExperimentResult]) -> tuple[float, float]:
    """Return the median and the largest of the runs' 99th percentiles of lateness, in ms."""
    all_ms = sorted(1e3 * pair.p99_s for done in all_done for pair in done.pairs)
    return (all_ms[len(all_ms) // 2], all_ms[-1]) if all_ms else (0.0, 0.0)


def _losses(all_done: Sequence[ExperimentResult]) -> Counter[str]:
    """Count what the machine did that no network does, over all runs."""
    counted: Counter[str] = Counter()
    for done in all_done:
        for pair in done.pairs:
            for name in ("overflows", "undelivered", "unsent", "malformed"):
                count = pair.accuracy[name]
                counted[name] += count if isinstance(count, int) else 0
    return +counted
