"""Whether a soak shows what it should: rules with bounds, each of which can fail."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import theilslopes

from validation.soak.plan import HALF_OPEN_S, TIMEWAIT_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from validation.soak.plan import Plan
    from validation.soak.samples import Sample

MB = 1e6
HOUR_S = 3600.0

SLOPE_MB_PER_HOUR = 4.0
"""The most by which memory may grow in an hour.

It is anonymous memory that is judged, which is all that a program allocates. Resident memory has
the pages of libraries as well, half of it, which come once they are first used and cannot leak.
"""
SLOPE_KB_PER_1000 = 50.0
"""The most by which it may grow with 1,000 connections: 50 bytes for each."""
LEAST_JUDGED_S = 600.0
"""How long memory must be watched after the warm-up for a slope to mean anything."""
MORE_DESCRIPTORS = 4
"""By how many the descriptors at the end may exceed the median after the warm-up."""
LIVENESS_SLACK_S = 60.0
"""What a busy machine, and a server that reads slowly, may add to the time limits of liveness."""
LEAST_CONNECTED = 0.98
"""The least share of attempts to connect that must succeed, those apart that were cancelled."""


class Outcome(StrEnum):
    """What became of a rule."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "not judged"


@dataclass(frozen=True)
class Judgement:
    """A rule, and what a soak shows."""

    rule: str
    value: float
    bound: float
    unit: str
    outcome: Outcome
    reason: str = ""
    """Why it is not judged."""


@dataclass(frozen=True)
class Evidence:
    """What a soak has left."""

    plan: Plan
    samples: Mapping[str, Sequence[Sample]]
    """Of each judged process, in order of time."""
    quiet_s: float
    """When the client was told to open no more connections."""
    is_whole: bool
    """Whether the quiet time at the end was not cut short."""
    totals: Mapping[str, int]
    """The account's."""
    slowest_end_s: float
    """How long after the death of a client the server's last connection with it ended."""


def judge(evidence: Evidence) -> list[Judgement]:
    """Return all judgements."""
    judgements = []
    for name, samples in evidence.samples.items():
        judgements += [*_memory(evidence, name, samples), *_rest(evidence, name, samples)]
    return [*judgements, *_account(evidence)]


def passes(judgements: Sequence[Judgement]) -> bool:
    """Return whether no rule is broken."""
    return bool(judgements) and all(each.outcome is not Outcome.FAILED for each in judgements)


def _at_most(rule: str, value: float, bound: float, unit: str, skipped: str = "") -> Judgement:
    outcome = Outcome.PASSED if value <= bound else Outcome.FAILED
    return Judgement(rule, value, bound, unit, Outcome.SKIPPED if skipped else outcome, skipped)


def _judged(evidence: Evidence, samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples between the warm-up and the quiet time."""
    begin_s = evidence.plan.warm_up_s
    return [each for each in samples if begin_s <= each.time_s <= evidence.quiet_s]


def _memory(evidence: Evidence, name: str, samples: Sequence[Sample]) -> Iterator[Judgement]:
    judged = _judged(evidence, samples)
    watched_s = judged[-1].time_s - judged[0].time_s if judged else 0.0
    skipped = "" if watched_s >= LEAST_JUDGED_S else f"watched for {watched_s:.0f} s"
    memory = [each.anonymous_bytes / MB for each in judged]
    for rule, bound, unit, x in (
        ("by time", SLOPE_MB_PER_HOUR, "MB/h", [each.time_s / HOUR_S for each in judged]),
        (
            "by connections",
            SLOPE_KB_PER_1000,
            "kB per 1,000",
            [each.opened / 1e6 for each in judged],
        ),
    ):
        slope = _slope(x, memory) if len(judged) > 1 else np.nan
        yield _at_most(f"{name}: growth of memory {rule}", slope, bound, unit, skipped)


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the Theil-Sen estimate: the median of the slopes between all pairs."""
    return float(theilslopes(y, x).slope)


def _rest(evidence: Evidence, name: str, samples: Sequence[Sample]) -> Iterator[Judgement]:
    """Yield what is left at the end."""
    judged, last = _judged(evidence, samples), samples[-1]
    before = float(np.median([each.descriptors for each in judged])) if judged else np.nan
    cut = "" if evidence.is_whole else "interrupted"
    yield _at_most(
        f"{name}: descriptors at the end", last.descriptors, before + MORE_DESCRIPTORS, "", cut
    )
    established = last.connections - last.half_open
    yield _at_most(f"{name}: connections at the end", established, 0, "", cut)
    yield _at_most(f"{name}: connections in use at the end", last.tasks, 0, "", cut)
    for words, left, rest_s in (
        ("handshakes", last.half_open, HALF_OPEN_S),
        ("queued bytes", last.queued_bytes, HALF_OPEN_S),  # a Request may carry data
        ("resting ports", last.time_waits, TIMEWAIT_S),
    ):
        too_short = "" if evidence.plan.tail_s > rest_s else f"they last for {rest_s:.0f} s"
        yield _at_most(f"{name}: {words} at the end", left, 0, "", cut or too_short)


def _account(evidence: Evidence) -> Iterator[Judgement]:
    plan, totals = evidence.plan, evidence.totals
    yield _at_most("faults in the account", totals.get("faults", 0), 0, "")
    bound_s = plan.keepalive_s + plan.silence_s + LIVENESS_SLACK_S
    killed = totals.get("killed", 0)
    yield _at_most(
        "end of connections with a killed client",
        evidence.slowest_end_s,
        bound_s,
        "s",
        "" if killed else "none was killed",
    )
    failed = sum(count for name, count in totals.items() if name.startswith("connects failed"))
    tried = totals.get("compared", 0) + failed
    yield _at_most("share of connects that failed", failed / max(1, tried), 1 - LEAST_CONNECTED, "")
    # An outcome of nothing would always be good.
    for name in ("compared", "acknowledged", "read"):
        yield _at_least(f"{name} in the account", totals.get(name, 0), 1)


def _at_least(rule: str, value: float, bound: float) -> Judgement:
    outcome = Outcome.PASSED if value >= bound else Outcome.FAILED
    return Judgement(rule, value, bound, "at least", outcome)
