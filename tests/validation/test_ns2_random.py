"""Random runs compared with ns-2: the comparison itself, and what it finds."""

from __future__ import annotations

import json
import re
import signal
import sys
from dataclasses import replace
from itertools import count
from unittest import mock

import pytest
from scipy.stats import binom

from conftest import needs_ns2
from skywave import PacketLoss, Progress
from skywave.papers import ns2
from validation.ns2 import random
from validation.ns2.case import DROPPED, MOST_DROPS, WINDOWS, Case, Kind, draw, parameters
from validation.ns2.compare import Class, Difference, classify, difference, tolerance_s
from validation.ns2.runs import Packet, Trace, scenario
from validation.ns2.search import Found, Outcome, judge, search
from validation.ns2.shrink import shrink, size

RENO = Case(kind=Kind.RENO)


def trace(*numbers: int, later_s: float = 0.0) -> Trace:
    """A packet each tenth of a second."""
    return Trace([Packet(0.1 * index + later_s, number) for index, number in enumerate(numbers)])


# Drawing


@pytest.mark.parametrize("kind", Kind)
def test_drawing_depends_on_the_seed_alone(kind: Kind) -> None:
    cases = [draw(kind, 3, index) for index in range(40)]
    assert cases[::-1] == [draw(kind, 3, index) for index in reversed(range(40))]
    assert cases != [draw(kind, 4, index) for index in range(40)]
    for case in cases:
        assert case.kind is kind
        assert case.window in WINDOWS
        assert list(case.drops) == sorted(set(case.drops))
        assert set(case.drops) <= set(DROPPED)
    assert {len(case.drops) for case in cases} == set(range(MOST_DROPS + 1))


@pytest.mark.parametrize("kind", Kind)
def test_a_case_is_a_line(kind: Kind) -> None:
    """It is the same case again, but for what its type of flow does not have."""
    for index in range(20):
        case = draw(kind, 5, index)
        again = Case.parse(str(case))
        assert str(again) == str(case)
        assert again.drops == case.drops
        for name in parameters(kind):
            assert getattr(again, name) == getattr(case, name)


def test_what_a_line_leaves_out_has_its_default() -> None:
    assert Case.parse("reno") == RENO
    assert Case.parse("reno drops=9,7,9").drops == (7, 9)
    assert Case.parse("reno drops=none").drops == ()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "type of flow"),
        ("cubic", "'cubic' is not a type of flow: use tahoe"),
        ("reno ssthresh=3", "'ssthresh' is no parameter of reno: use window, iw"),
        ("reno window", "''"),
        ("reno window=-1", "'-1' is not a number from 1 on"),
        ("reno window=61", "window=61 is above 60"),
        ("reno queue=1", "queue=1"),
        ("reno drops=0", "'0' is not"),
        ("reno drops=3,", "'' is not"),
    ],
)
def test_what_is_no_case(line: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        Case.parse(line)


@pytest.mark.parametrize("kind", Kind)
def test_drops_count_what_the_link_counts(kind: Kind) -> None:
    """The handshake arrives first: a SYN, or a Request and an Ack. ns-2 counts data alone."""
    link = scenario(Case(kind=kind, drops=(14,))).links[1]
    assert isinstance(link.loss, PacketLoss)
    handshake = 2 if kind in {Kind.CCID2, Kind.TFRC} else 1
    assert link.loss.to_dict() == {"packets": [14 + handshake]}


# Comparing


def test_equal_runs_do_not_differ() -> None:
    assert difference(RENO, trace(0, 1, 2), trace(0, 1, 2)) is None
    assert difference(RENO, trace(0, 1, later_s=1e-6), trace(0, 1)) is None


@pytest.mark.parametrize(("later_s", "what"), [(3e-6, "later"), (-3e-6, "earlier")])
def test_a_shifted_time_is_found(later_s: float, what: str) -> None:
    ours = trace(0, 1, 2, 3)
    ours.sent[2] = replace(ours.sent[2], time_s=ours.sent[2].time_s + later_s)
    theirs = trace(0, 1, 2, 3)
    found = difference(RENO, ours, theirs)
    assert found == Difference(what, 2, ours.sent[2], theirs.sent[2])


@pytest.mark.parametrize(
    ("ours", "theirs", "what", "index"),
    [
        ((0, 1, 3), (0, 1, 2, 3), "missing", 2),
        ((0, 1, 2, 3), (0, 1, 3), "extra", 2),
        ((0, 2, 1, 3), (0, 1, 4, 3), "extra", 1),
        ((0, 9, 2, 3), (0, 1, 2, 3), "another", 1),
        ((0, 1), (0, 1, 2), "missing", 2),
        ((0, 1, 2), (0, 1), "extra", 2),
    ],
)
def test_other_packets_are_found(
    ours: tuple[int, ...], theirs: tuple[int, ...], what: str, index: int
) -> None:
    found = difference(RENO, trace(*ours), trace(*theirs))
    assert found is not None
    assert (found.what, found.index) == (what, index)


def test_swapped_packets_are_found() -> None:
    found = difference(RENO, trace(0, 2, 1, 3), trace(0, 1, 2, 3))
    assert found is not None
    assert found.index == 1


def test_the_end_cuts_no_packet_in_two() -> None:
    """A packet at the very end may be after it in the other run; what follows is not compared."""
    at_end, before, after = Packet(7.999999, 1), Packet(7.9, 1), Packet(8.00005, 1)
    assert difference(RENO, Trace([at_end]), Trace([])) is None
    assert difference(RENO, Trace([]), Trace([after])) is None
    assert difference(RENO, Trace([before]), Trace([])) is not None


def test_packets_of_other_lengths_take_other_times() -> None:
    """40 bytes at 400 kbps are 0.8 ms."""
    assert tolerance_s(replace(RENO, kind=Kind.SACK1, kbps=400)) == pytest.approx(0.8e-3)
    assert tolerance_s(RENO) == 2e-6


def test_of_tfrc_the_first_packets_are_compared() -> None:
    tfrc = Case(kind=Kind.TFRC)
    assert difference(tfrc, trace(1, 2, 3, 4, 5), trace(1, 2, 3, 4)) is None
    assert difference(tfrc, trace(1, 2, 3, 4), trace(1, 2, 3)) is not None


@pytest.mark.parametrize(
    ("time_s", "phase"),
    [
        (1.0, "before a loss"),
        (1.5, "in recovery"),
        (2.5, "after a loss"),
        (3.5, "after a timeout"),
        (4.5, "after a loss"),
    ],
)
def test_phases(time_s: float, phase: str) -> None:
    theirs = Trace(
        [],
        dropped=[Packet(1.2, 5)],
        arrived=[Packet(1.1, 4), Packet(2.0, 5)],
        cwnd=[(0.0, 1.0), (0.5, 8.0), (3.0, 1.0), (3.2, 2.0), (4.0, 4.0)],
        ssthresh=[(0.0, 20.0), (1.4, 4.0)],
    )
    at = Packet(time_s, 7)
    assert classify(RENO, Difference("extra", 0, None, at), theirs).phase == phase


# Shrinking and searching


def test_shrinking_finds_the_smallest_case() -> None:
    """On a comparison that fails with drop 20, at least two drops, and a window from 20 on."""

    def fails(case: Case) -> bool:
        return 20 in case.drops and len(case.drops) >= 2 and case.window >= 20

    large = Case(kind=Kind.RENO, window=60, iw=4, kbps=1610, ms=250, drops=(10, 20, 30, 40))
    smallest = Case(kind=Kind.RENO, window=20, iw=1, kbps=410, ms=50, queue=10, drops=(20, 40))
    assert fails(large)
    assert shrink(large, fails) == smallest
    assert shrink(smallest, fails) == smallest


def test_what_fails_only_as_it_is_stays() -> None:
    case = draw(Kind.RENO, 1, 0)
    assert shrink(case, lambda _case: False) == case


def fake_judge(case: Case) -> Outcome:
    """Reno differs after any drop, NewReno after two."""
    what = {Kind.RENO: "extra", Kind.NEWRENO: "missing"}.get(case.kind)
    if what is None or len(case.drops) < (1 if case.kind is Kind.RENO else 2):
        return Outcome(case)
    found = Difference(what, 3, Packet(1.0, 2), Packet(2.0, 3))
    return Outcome(case, found, Class(case.kind, what, "in recovery"))


def test_a_search_counts_and_shrinks() -> None:
    cases = [draw(kind, 1, index) for kind in Kind for index in range(10)]
    told: list[Progress] = []
    found = search(cases, fake_judge, told.append)
    for kind in Kind:
        drawn = [case for case in cases if case.kind is kind]
        assert found.of(kind) == (10, sum(fake_judge(case).exact for case in drawn))
    assert [(kind.kind, len(outcome.case.drops)) for kind, outcome in found.smallest.items()] == [
        (Kind.RENO, 1),
        (Kind.NEWRENO, 2),
    ]
    assert all(outcome.case.window == min(WINDOWS) for outcome in found.smallest.values())
    assert sum(found.count(kind) for kind in found.smallest) == sum(
        not outcome.exact for outcome in found.outcomes
    )
    assert told[len(cases) - 1] == Progress("drawn", len(cases), len(cases))
    assert (told[-1].stage, told[-1].fraction) == ("shrunk", 1.0)


@pytest.mark.parametrize("interrupted", [5, 25])
def test_an_interrupted_search_keeps_what_it_found(interrupted: int) -> None:
    """Among what was drawn, or while it shrinks."""
    numbers = count(1)

    def judge(case: Case) -> Outcome:
        if next(numbers) == interrupted:
            signal.raise_signal(signal.SIGINT)
        return fake_judge(case)

    cases = [draw(Kind.RENO, 1, index) for index in range(20)]
    found = search(cases, judge)
    assert found.interrupted
    assert 1 <= len(found.outcomes) <= 20
    assert (len(found.outcomes) == 20) >= (interrupted > 20)
    drawn = min((case for case in cases if case.drops), key=size)
    if interrupted > 20:
        assert [outcome.case for outcome in found.smallest.values()] == [drawn]


def test_an_interrupted_command_prints_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [fake_judge(draw(Kind.RENO, 1, index)) for index in range(7)]
    with mock.patch.object(random, "search", return_value=Found(outcomes, interrupted=True)):
        status, text, errors = run(capsys, "--type", "reno")
    assert (status, errors) == (130, "interrupted\n")
    assert re.search(r"reno\W+7\W", text)


def test_a_search_fails_as_a_comparison_does() -> None:
    def judge(_case: Case) -> Outcome:
        raise ns2.Ns2Error("ns ended with 1: no such thing")

    with pytest.raises(ns2.Ns2Error, match="no such thing"):
        search([RENO, RENO], judge)


# What ns-2 says

SEED = 3
DRAWS = 20

MEASURED = {
    Kind.TAHOE: 1991,
    Kind.RENO: 1997,
    Kind.NEWRENO: 1993,
    Kind.SACK1: 1984,
    Kind.VEGAS: 1976,
    Kind.CCID2: 1989,
    Kind.TFRC: 2000,
}
"""The numbers of exact runs among 2000 draws of each type with seed 3."""

MEASURED_DRAWS = 2000

EXACT = (
    "reno window=40 iw=4 kbps=400 ms=250 queue=50 drops=46",
    "reno window=20 iw=4 kbps=1600 ms=250 queue=10 drops=28",
    "newreno window=40 iw=4 kbps=400 ms=250 queue=50 drops=46",
    "newreno window=6 iw=1 kbps=410 ms=50 queue=10 drops=11",
    "newreno window=12 iw=2 kbps=800 ms=50 queue=50 drops=31,42,64",
    "newreno window=28 iw=1 kbps=410 ms=100 queue=10 drops=35",
    "sack1 window=6 iw=1 kbps=410 ms=50 queue=10 drops=28,41",
    "sack1 window=40 iw=1 kbps=1610 ms=100 queue=10 drops=66",
    "vegas window=28 iw=1 kbps=790 ms=100 queue=10 drops=35,39,46",
    # A round finds exactly half a packet in the queue.
    "vegas window=6 iw=1 kbps=1610 ms=50 queue=10 drops=46,55",
    "ccid2 ssthresh=100 kbps=400 ms=50 queue=50 drops=10,25,26,33,41",
    "ccid2 ssthresh=10 kbps=410 ms=50 queue=10 drops=17,23,51,65",
    "ccid2 ssthresh=10 kbps=410 ms=250 queue=10 drops=24,37,55,56",
    "ccid2 ssthresh=10 kbps=410 ms=100 queue=10 drops=14,26,37",
)
"""A case for each rule of ns-2 that no stored trace needs."""


@pytest.fixture(scope="session")
def found() -> Found:
    return search([draw(kind, SEED, index) for kind in Kind for index in range(DRAWS)], judge)


@needs_ns2
@pytest.mark.parametrize("kind", Kind)
def test_as_many_random_runs_as_measured_are_exact(kind: Kind, found: Found) -> None:
    """Fewer would have a probability below 2.5 % with the measured share."""
    draws, exact = found.of(kind)
    assert draws == DRAWS
    assert exact >= binom.ppf(0.025, DRAWS, MEASURED[kind] / MEASURED_DRAWS)


@needs_ns2
def test_random_runs_that_differ_have_a_small_case(found: Found) -> None:
    for kind, outcome in found.smallest.items():
        again = judge(Case.parse(str(outcome.case)))
        assert (again.kind, again.difference) == (kind, outcome.difference)


@needs_ns2
@pytest.mark.parametrize("line", EXACT)
def test_rules_of_ns2_that_no_stored_trace_needs(line: str) -> None:
    assert judge(Case.parse(line)).difference is None


# The command line


def run(
    capsys: pytest.CaptureFixture[str], *arguments: str, program: str | None = "/usr/bin/ns"
) -> tuple[int | str | None, str, str]:
    """Run the command with the fake comparison: status, stdout and stderr."""
    with (
        mock.patch.object(sys, "argv", ["random", *arguments]),
        mock.patch.object(random, "judge", fake_judge),
        mock.patch("shutil.which", return_value=program),
        pytest.raises(SystemExit) as exit_,
    ):
        random.main()
    return exit_.value.code, *capsys.readouterr()


def test_the_command_prints_cases_to_repeat(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, errors = run(capsys, "--draws", "20", "--seed", "1", "--type", "reno")
    assert (status, errors) == (0, "")
    line = next(line for line in text.splitlines() if "--case" in line)
    assert "reno: a packet too many in recovery" in text
    assert "packet 3: number 2 at 1.000000 s; ns-2 number 3 at 2.000000 s" in text
    again = line.split("'")[1]
    status, text, errors = run(capsys, "--case", again)
    assert (status, errors) == (0, "")
    assert text.startswith("reno: a packet too many in recovery")
    assert run(capsys, "--case", "reno")[1] == "reno: exact\n"


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, text, _ = run(capsys, "--draws", "20", "--type", "newreno", "--json")
    assert status == 0
    document = json.loads(text)
    [one] = document["types"]
    assert one["type"] == "newreno"
    assert one["draws"] == 20
    assert one["share"] == one["exact"] / 20
    [other] = document["differences"]
    assert other["draws"] == 20 - one["exact"]
    assert (other["what"], other["phase"], other["packet"]) == ("missing", "in recovery", 3)
    assert other["ns2"] == {"time_s": 2.0, "number": 3}
    assert not document["interrupted"]
    assert json.loads(run(capsys, "--case", "reno", "--json")[1])["exact"]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--draws", "0"], 2, "--draws"),
        (["--type", "cubic"], 2, "cubic is not a known type of flow"),
        (["--case", "reno window=0"], 2, "'0' is not a number from 1 on"),
        (["--case", "reno"], 1, "ns-2 is not installed"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = None if status == 1 else "/usr/bin/ns"
    ended, text, errors = run(capsys, *arguments, program=program)
    assert (ended, text) == (status, "")
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert says in errors
