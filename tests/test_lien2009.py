"""Reproducing Lien and Ding 2009: every value judged by its rule, ns-2 beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import Reproduced, assert_figures_are_whole, needs_ns2
from skywave import emodel
from skywave.papers.cells import Cell, Limit
from skywave.papers.lien2009 import (
    beyond,
    canonical,
    cells,
    claims,
    further,
    measures,
    oracle,
    seeds,
    sentences,
    setting,
    tried,
)
from skywave.papers.reasons import Cause
from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skywave.papers.stored import Table


@pytest.fixture(scope="module")
def lien2009(reproduced: Callable[[str], Reproduced]) -> Reproduced:
    return reproduced("lien2009")


def test_all_cells_of_both_tables_are_there(lien2009: Reproduced) -> None:
    ids = lien2009.cells
    for tcp in setting.FLAVOURS:
        for period in cells.PERIODS[1:]:
            assert f"table3/{tcp.lower()}/{period}" in ids
        for period in cells.PERIODS:
            assert f"table4/delay/{tcp.lower()}/{period}" in ids
            assert f"table4/loss/{tcp.lower()}/{period}" in ids
    for cell in ids.values():
        assert cell["rule"]
        assert (cell["why"] is None) == (cell["verdict"] == "match")


def test_the_published_loss_is_the_complement_of_the_ratio() -> None:
    for tcp, ratios in cells.RATIO.items():
        for ratio, loss in zip(ratios, cells.LOSS[tcp][1:], strict=True):
            assert abs(100 - ratio - loss) < 1.25


def test_the_idle_delay_is_that_of_a_quarter_megabit(lien2009: Reproduced) -> None:
    for tcp in setting.FLAVOURS:
        cell = lien2009.cells[f"table4/delay/{tcp.lower()}/0-10"]
        assert cell["ours"] == pytest.approx(73, abs=1)
        assert cell["ours"] == pytest.approx(cell["ns2"], rel=0.01)


MISSED = ("delay of voice over UDP", "loss rate of voice over UDP")
"""The quantities beside the first Vegas flow that are not those in ns-2."""


def test_all_quantities_but_two_are_those_in_ns2(lien2009: Reproduced) -> None:
    """Within 10 %, or ns-2's within our 95 % interval; of so many rows few may need the latter."""
    rows = lien2009.document["comparison"]
    assert len(rows) == 74
    missed = {
        (row["quantity"], row["conditions"]["TCP"], row["conditions"]["period"])
        for row in rows
        if row["verdict"] != "match"
    }
    assert missed == {(quantity, "Vegas", "10-20 s") for quantity in MISSED}
    assert sum(abs(row["difference_percent"]) <= 10 for row in rows) >= 70


def test_other_seeds_do_not_miss_ns2(lien2009: Reproduced) -> None:
    """As the report says of the two rows."""
    others = range(max(setting.SEEDS) + 1, 201)
    assert f"over seeds {min(others)} to {max(others)}" in lien2009.page
    call = setting.Conditions("Vegas", "udp")
    runs = run_many([setting.scenario(call, seed) for seed in others])
    ours = {call: [measures.from_results(call, results) for results in runs]}
    compared = {
        row.quantity: row
        for row in cells.ns2_comparisons(ours, oracle.periods())
        if row.conditions["period"] == "10-20 s"
    }
    for quantity in MISSED:
        assert compared[quantity].verdict == "match", compared[quantity]


def test_calls_beside_one_vegas_are_of_two_kinds(lien2009: Reproduced) -> None:
    kinds = lien2009.sections["beside_vegas"]
    assert kinds["long_ms"] - kinds["short_ms"] > 50, "which is far"
    assert 0 < kinds["long_runs"] < len(setting.SEEDS)


def test_reasons_say_whether_ns2_misses_the_value_too(lien2009: Reproduced) -> None:
    seen = set()
    for cell in lien2009.cells.values():
        if cell["why"] not in (cells.PHASE, cells.NOT_REBUILT):
            continue
        seen.add(cell["why"])
        found = re.search(r"\(sd (\S+) \S+\) or (\S+) ", cell["rule"])
        assert found is not None, cell["rule"]
        deviation, least = map(float, found.groups())
        limit = max(2 * deviation, least)
        ns2_agrees = abs(cell["published"] - cell["ns2"]) <= limit
        assert ns2_agrees == (cell["why"] == cells.NOT_REBUILT), cell
        assert (cell["cause"] == Cause.SHARED.value) == (cell["why"] == cells.PHASE)
    assert cells.PHASE in seen
    shared = [one for one in lien2009.cells.values() if one["why"] == cells.PHASE]
    assert lien2009.page.count("Reason: as above") > len(shared) / 2
    assert lien2009.cells["text/udp-delay"]["ns2"] > 300


def test_the_choice_of_seeds_moves_the_count(lien2009: Reproduced) -> None:
    *blocks, every = lien2009.sections["by_seeds"]
    assert [block.count.matches for block in blocks] == [54, 64, 60, 62]
    assert (every.count.first, every.count.last) == (min(setting.SEEDS), max(setting.SEEDS))
    matches = sum(cell["verdict"] == "match" for cell in lien2009.cells.values())
    assert every.count.matches == every.by_all_deviations == matches == 64
    others = [count.matches for count in seeds.TABLE.read()]
    assert max(others) - min(others) > 5
    assert matches == max(others), "at the upper end, as the report says"


def test_stored_counts_are_what_the_runs_give() -> None:
    stored = seeds.TABLE.read()
    assert [range(one.first, one.last + 1) for one in stored] == list(seeds.OTHERS)
    for block, before in list(zip(seeds.OTHERS, stored, strict=True))[::4]:
        assert seeds.count(block) == before


def test_udp_is_as_in_ns2(lien2009: Reproduced) -> None:
    """Ratio and delay over all periods beside TCP."""
    rows = [
        row
        for row in lien2009.document["comparison"]
        if "UDP" in row["quantity"]
        and "loss" not in row["quantity"]
        and row["conditions"]["period"] == "10-60 s"
    ]
    assert len(rows) == 2 * len(setting.FLAVOURS)
    for row in rows:
        assert abs(row["difference_percent"]) < 5, row


def comparison(lien2009: Reproduced, quantity: str, period: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        row
        for row in lien2009.document["comparison"]
        if row["quantity"] == quantity and row["conditions"]["period"] == period
    ]
    (row,) = rows
    return row


def test_the_rate_of_a_long_call_is_that_in_ns2(lien2009: Reproduced) -> None:
    """While most loss intervals are unseen, which ns-2 counts as zero, and when all are seen."""
    ratio = "throughput ratio of voice over DCCP"
    for period in ("10-60 s, one TCP", "100-200 s, one TCP"):
        row = comparison(lien2009, ratio, period)
        assert abs(row["difference_percent"]) < 10, row


def test_dccp_gives_way_to_tcp(lien2009: Reproduced) -> None:
    """What the paper found: beside five flows of any TCP most of the call is gone."""
    ids = lien2009.cells
    for tcp in setting.FLAVOURS:
        assert ids[f"table3/{tcp.lower()}/50-60"]["ours"] < 50
    for loser in ("reno", "newreno", "sack", "tahoe"):
        beside_vegas = ids["table3/vegas/10-20"]["ours"]
        assert ids[f"table3/{loser}/10-20"]["ours"] < beside_vegas


def test_every_setting_that_ns2_has_ran_here() -> None:
    names = {conditions.name for conditions in setting.ALL_CONDITIONS}
    assert set(oracle.periods()) <= names
    assert len(names) == len(setting.ALL_CONDITIONS)


@needs_ns2
def test_the_stored_single_runs_are_what_ns2_says(tmp_path: Path) -> None:
    """Not the means over forty seeds, which take ns-2 minutes."""
    oracle.write_seconds(tmp_path / "seconds.csv")
    assert (tmp_path / "seconds.csv").read_text() == (oracle.STORED / "seconds.csv").read_text()


@pytest.fixture(scope="module")
def found(lien2009: Reproduced) -> dict[beyond.Case, beyond.Outcome]:
    return {
        beyond.Case(row["queue"], tcp, row["call"]): outcome
        for row in lien2009.sections["beyond"]["rows"]
        for tcp, outcome in zip(setting.TCPS, row["outcomes"], strict=True)
    }


def test_only_flow_queueing_saves_calls_beside_tcp(
    found: dict[beyond.Case, beyond.Outcome],
) -> None:
    """R of each combination beside the first TCP flow, as the report's text says."""
    assert len(found) == len(beyond.QUEUES) * len(beyond.CALLS) * len(setting.TCPS)
    for case, outcome in found.items():
        assert outcome.rating.size == setting.STREAMS
        if case.queue == "FQ-CoDel":
            assert outcome.usable >= 1, case
        else:
            assert outcome.usable == 0, case


def test_what_the_text_says_of_single_flows(found: dict[beyond.Case, beyond.Outcome]) -> None:
    """Behind long queues Vegas leaves calls most; behind CoDel UDP and CCID 4 are best."""
    nearest = beyond.nearest_behind_long_queues(found)
    assert nearest.case.tcp == "Vegas"
    assert nearest.rating < emodel.USABLE_R
    others = [
        outcome.rating[0]
        for case, outcome in found.items()
        if case.queue in beyond.LONG_QUEUES and case.tcp != "Vegas"
    ]
    assert max(others) < nearest.rating
    for tcp in setting.TCPS:
        if tcp == "Vegas":
            continue
        rated = {
            call: found[beyond.Case("CoDel", tcp, call)].rating.mean() for call in beyond.CALLS
        }
        best = sorted(rated, key=lambda call: -rated[call])[:3]
        assert set(best) == {"UDP", "CCID 4", "CCID 4, adaptive"}, tcp
        assert rated[best[0]] < emodel.USABLE_R / 2


def test_deviations_are_estimates_from_samples(lien2009: Reproduced) -> None:
    """Two runs that differ by 2 have one of the square root of 2, as a population 1."""
    run = measures.Run(*(np.array([value]) for value in (1.0, 1, 1, 1, 1, 1, 1, 1)))
    spread = measures.over_runs([run, replace(run, delay_ms=np.array([3.0]))], "delay_ms")
    assert (spread.mean[0], spread.sd[0]) == (2, pytest.approx(2**0.5))
    runs = len(setting.SEEDS)
    assert f"uncertain by {runs**-0.5:.2f} of the standard deviation" in lien2009.page


def test_ccid4_keeps_more_of_the_call_than_ccid3(
    found: dict[beyond.Case, beyond.Outcome],
) -> None:
    for tcp in setting.FLAVOURS:
        ccid3, ccid4, udp = (
            found[beyond.Case("CoDel", tcp, call)] for call in ("CCID 3", "CCID 4", "UDP")
        )
        assert ccid4.rating.mean() > ccid3.rating.mean() + 5
        difference = abs(ccid4.cost_percent - udp.cost_percent)
        assert difference < max(3, ccid4.cost_sd + udp.cost_sd)


def test_every_tcp_sends_again_what_was_lost() -> None:
    plan = canonical.plan()
    for (tcp, count), results in zip(plan, run_many(plan.values()), strict=True):
        lost = canonical.segments(results, results.drops["seq"].to_numpy())
        assert len(lost) == count, tcp
        _, number, is_new = canonical.sent(results)
        assert set(lost.tolist()) <= set(number[~is_new].tolist()), tcp


def test_the_report_shows_all_figures(lien2009: Reproduced) -> None:
    drawn = [
        "finding",
        *(f"figure{number}" for number in range(2, 7)),
        "beyond",
        "history",
        "canonical",
    ]
    for name in drawn:
        assert f"figures/{name}.png" in lien2009.page
        assert (lien2009.directory / "figures" / f"{name}.png").is_file()
    assert_figures_are_whole(lien2009.directory)
    for reading in ("1460 B", "1.5 Mbps", "10 Mbps"):
        assert reading in lien2009.page


def test_sentences_are_tested_or_answered() -> None:
    quotes = [sentence.quote for sentence in sentences.SENTENCES]
    assert len(quotes) == len(set(quotes))
    for sentence in sentences.SENTENCES:
        assert sentence.tests or sentence.answer, sentence.quote


def test_running_means_weigh_delays_by_packets() -> None:
    """The first period is not part of them, nor is one in which nothing arrived."""
    delay_ms = np.array([73.0, 100.0, 400.0, np.nan, 200.0])
    found = tried.running(delay_ms, np.array([333.0, 30.0, 10.0, 0.0, 40.0]))
    assert found.tolist() == pytest.approx([73, 100, 175, 175, 187.5])
    assert tried.inverted(found[1:3].tolist(), (30, 10)) == pytest.approx(400)


def test_readings_change_what_is_run_or_measured() -> None:
    first, *others = tried.READINGS
    assert first.changes == {}
    assert all(reading.changes or reading.measure is not first.measure for reading in others)
    assert len({reading.label for reading in tried.READINGS}) == len(tried.READINGS)
    run = measures.Run(*(np.array([value]) for value in (300.0, 1, 1, 1, 1, 30, 1, 60)))
    assert run.loss_percent == pytest.approx(10, abs=0.1)
    (overdue,) = (reading for reading in others if "overdue" in reading.label)
    assert overdue.measure(run).loss_percent == pytest.approx(40)


def test_pairs_differ_in_what_their_names_say() -> None:
    vegas, near = (further.pair(name, seed=1) for name in further.PAIRS)
    assert [flow.name for flow in vegas.flows] == [flow.name for flow in near.flows]
    assert [flow.from_ for flow in near.flows] == ["n0", "far"]
    far_s = sum(link.delay.seconds for link in near.links if link.from_ in ("far", "r1", "r2"))
    assert f"at {2e3 * far_s:.0f} ms" in further.NEAR_AND_FAR


def test_every_claim_is_one_of_the_sentences(lien2009: Reproduced) -> None:
    found = lien2009.document["claims"]
    quotes = {sentence.quote: sentence for sentence in sentences.SENTENCES}
    ids = [cell["id"] for cell in found]
    assert len(ids) == len(set(ids))
    for cell in found:
        assert any(cell["id"].startswith(begin) for begin in quotes[cell["quote"]].tests), cell
    for sentence in sentences.SENTENCES:
        for begin in sentence.tests:
            assert any(one.startswith(begin) for one in (*ids, *lien2009.cells)), begin
        held = lien2009.sections["held"][sentence.quote]
        assert bool(held) == bool(sentence.tests), sentence.quote


def test_claims_that_fail_have_reasons(lien2009: Reproduced) -> None:
    failed = {cell["id"]: cell for cell in lien2009.document["claims"] if cell["why"]}
    assert failed
    for cell in failed.values():
        assert cell["verdict"] == "mismatch"
        assert cell["why"] != "not explained yet", cell
    # As the reason says, the paper's own table fails the sentence, and ns-2 this limit.
    assert failed["3.3/higher-loss/reno"]["why"] == claims.NEW_FLOW
    assert min(np.diff(cells.LOSS["Reno"])) < 0
    two = failed["3.2/two-vegas"]
    assert two["ns2"] < two["published"] < cells.RATIO["Vegas"][1] < two["published"] + 3
    assert failed["3.2/one-tcp"]["ns2"] > 33


def test_held_counts_whole_parts_of_ids() -> None:
    def cell(name: str, ours: float) -> Cell:
        return Cell(name, "", {}, "", 1.0, ours, Limit("<"))

    same = sentences.UDP_KEEPS.quote
    judged = [cell("3.2/udp-keeps/sack", 0), cell("3.2/udp-keeps/reno", 2)]
    assert sentences.held(judged)[same] == "1 of 2"
    assert sentences.held([cell("3.2/udp-keepsake", 0)])[same] == ""


def test_latency_matters_as_the_report_says(lien2009: Reproduced) -> None:
    judged = {cell["id"]: cell for cell in lien2009.document["claims"]}
    for tcp in setting.FLAVOURS:
        cell = judged[f"3.1/latency/ratio/{tcp.lower()}"]
        assert (cell["verdict"] == "match") == (tcp == "Vegas"), cell
    near, far = lien2009.sections["by_latency"]
    assert near.ratio_percent < far.ratio_percent / 2
    assert near.queuing_ms > far.queuing_ms
    segment_s = setting.SEGMENT_ON_WIRE_B * 8 / 0.25e6
    on_link = [2 * (delay_s + 2 * 0.01) / segment_s for delay_s in (0.01, 0.2)]
    assert [round(segments) for segments in on_link] == [1, 9], "as the reason says"
    for row in lien2009.sections["varied"]:
        if row.rate != setting.PAPER_RATE:
            assert row.ratio_percent > 80


def test_dccp_takes_more_packets_than_the_first_of_five_flows(lien2009: Reproduced) -> None:
    shares = {row["label"]: row["packets"] for row in lien2009.sections["shares"]}
    for tcp in setting.FLAVOURS:
        (one, five), udp = shares[f"DCCP beside {tcp}"], shares[f"UDP beside {tcp}"]
        assert (one < 100) == (tcp != "Vegas")
        assert five > 100
        assert udp[0] > one
        assert udp[1] > five
    in_bytes = {row["label"]: row["bytes"] for row in lien2009.sections["shares"]}
    assert in_bytes["UDP beside Vegas"][0] < in_bytes["DCCP beside Vegas"][0]


def test_frames_fare_as_the_remarks_say(lien2009: Reproduced) -> None:
    fates = {(row["tcp"], row["label"]): row for row in lien2009.sections["where"]}
    for tcp in setting.FLAVOURS:
        dccp, udp = fates[tcp, "DCCP"], fates[tcp, "UDP"]
        assert dccp["waiting"] > 45
        assert dccp["network"] < 5
        assert dccp["played"] < udp["played"] < 50
    rises = [
        fates[tcp, "DCCP, adaptive"]["played"] - fates[tcp, "DCCP"]["played"]
        for tcp in setting.FLAVOURS
    ]
    assert sum(rise < 5 for rise in rises) >= 3


def test_stored_further_runs_are_what_the_runs_give() -> None:
    some: list[tuple[Table[Any, Any], int]] = [
        (further.VARIED, 0),
        (further.TCP_FIRST, -1),
        (further.RIVALS, 0),
    ]
    for table, chosen in some:
        row = table.make(table.given[chosen])
        before = table.read()[chosen]
        for name, value in vars(row).items():
            expected = pytest.approx(value, rel=1e-6) if isinstance(value, float) else value
            assert getattr(before, name) == expected, (table.name, name)


def test_stored_readings_are_what_the_runs_give(lien2009: Reproduced) -> None:
    first, *others = tried.TABLE.read()
    assert [one.reading for one in (first, *others)] == [one.label for one in tried.READINGS]
    matching = {name for name, cell in lien2009.cells.items() if cell["verdict"] == "match"}
    assert first.met == matching
    assert tried.attempt(tried.READINGS[-1]) == others[-1]


def test_readings_that_meet_more_are_the_two_of_the_text() -> None:
    first, *others = tried.TABLE.read()
    better = {one.reading: one.matches - first.matches for one in others}
    better = {label: gain for label, gain in better.items() if gain > 0}
    reports, running = "the sender reports the round-trip time", tried.READINGS[-1].label
    assert set(better) == {reports, running}
    counts = [count.matches for count in seeds.TABLE.read()]
    assert better[reports] <= max(counts) - min(counts)


def test_running_means_fit_all_delays_but_those_beside_vegas(lien2009: Reproduced) -> None:
    """In both simulators; and the published values cannot be running means."""
    for row in lien2009.sections["distances"]:
        for usual, running in ((row.ours, row.ours_running), (row.ns2, row.ns2_running)):
            assert (running < usual) == (row.tcp != "Vegas"), row
    assert row.inverted_ms > setting.LONGEST_MS == pytest.approx(1030)
    assert lien2009.sections["least_inverted_ratio"] < 0


def test_the_report_begins_with_what_was_found(lien2009: Reproduced) -> None:
    sentence = lien2009.document["finding"]
    lost = lien2009.cells["table4/loss/newreno/10-20"]
    assert f"{lost['ours']:.0f} % of its packets do not arrive" in sentence
    assert f"(published: {lost['published']:.0f} %)" in sentence
    late = re.search(r"(\d+) % of its packets arrive later than the 300 ms", sentence)
    assert late is not None
    assert int(late.group(1)) > 33, "or the call over UDP would not be ruined"
    assert lien2009.page.index("figures/finding.png") < lien2009.page.index("<h2 ")
