"""Sarwar et al. 2008: the published equations, Figure 2, and the downloads over a satellite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from attrs import evolve

from conftest import Reproduced, needs_ns2
from skywave import run_many
from skywave.scenario import Tcp
from skywave.scenario.quantities import Rate
from skywave_papers.sarwar2008 import (
    downloads,
    further,
    judge,
    live,
    measures,
    oracle,
    readings,
    setting,
)
from skywave_papers.sarwar2008.downloads import Course, Totals
from skywave_papers.sarwar2008.ledger import LEDGER, TABLE_1

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def sarwar2008(reproduced: Callable[[str], Reproduced]) -> Reproduced:
    return reproduced("sarwar2008")


@pytest.mark.parametrize("rtt_s", further.RTTS_S)
def test_the_ledger_has_what_the_equations_give(rtt_s: float) -> None:
    """D_min of equations 3 and 4 is (N + 1) / N RTT; X doubles in it, from a packet per second."""
    doublings = math.log2(setting.LINK_BPS / 8 / setting.PACKET_SIZE)
    for reports, delay, rate in ((1, 3, 5), (round(rtt_s / 0.1), 4, 6)):
        least_s = rtt_s * (reports + 1) / reports
        for equation, value in ((delay, least_s), (rate, least_s * doublings)):
            test, _ = LEDGER.claims[f"V-A/equation-{equation}/rtt={rtt_s:g}"]
            assert LEDGER.published(test.id) == pytest.approx(value)
            assert test.conditions == {"RTT (s)": rtt_s, "N": reports}


def test_time_until_the_link_is_full() -> None:
    """1 Mbps in packets of 1000 B over 1 s: 6 s between the curves, not the 14 of figure 2."""
    standard_s, dynamic_s = judge.BY_EQUATIONS_S
    assert setting.PACKET_SIZE * 2 ** (standard_s / 2) == pytest.approx(125_000)
    assert setting.PACKET_SIZE * 2 ** (dynamic_s / 1.1) == pytest.approx(125_000)
    assert standard_s - dynamic_s == pytest.approx(6.27, abs=0.01)


def test_the_ledger_has_what_equation_2_gives() -> None:
    """A report every 100 ms, since far more packets arrive."""
    for place, rtt_s in (("simulation", setting.RTT_S), ("live", 1.2)):
        assert LEDGER.published(f"III/reports/{place}") == pytest.approx(round(rtt_s / 0.1) / rtt_s)


def test_the_limit_of_overhead_is_that_of_tcps_acknowledgements() -> None:
    (results,) = run_many([further.scenarios()["tcp"]])
    percent = further.back_percent(measures.from_results(results))
    for place in ("simulation", "live"):
        assert LEDGER.published(f"I/overhead/{place}") == pytest.approx(percent, rel=1e-9)


def test_the_gain_in_slow_start_is_not_called_impossible(sarwar2008: Reproduced) -> None:
    """Doubling at each RTT would gain it over the slowest run with one report."""
    assert "impossible" not in sarwar2008.page
    ns2, _ = oracle.ORACLE.consult(live=False)
    slowest_s = max(run.exit_s or 0 for name, run in ns2.items() if name.reports == 1)
    # Seven doublings, less a little: 125 packets of 1000 B in 1 s.
    gain_s = slowest_s - np.log2(125)
    assert gain_s > 0.9 * LEDGER.published("fig2/exit"), "so the rule could be met"
    assert f" to {gain_s:.1f} s over those with one report" in sarwar2008.cells["fig2/exit"]["why"]


def test_standard_feedback_is_like_ns2s(sarwar2008: Reproduced) -> None:
    """Slow start lasts as long as in ns-2's DCCP module, the mean rate is that of its TFRC."""
    for row in sarwar2008.document["comparison"]:
        alike = (row["quantity"], row["conditions"]["ns-2 agent"]) in (
            ("slow start", "DCCP"),
            ("mean throughput", "TFRC"),
        )
        assert row["verdict"] == ("match" if alike else "mismatch"), row


def test_table_1_is_judged_by_rules(sarwar2008: Reproduced) -> None:
    """The rate of standard feedback was fitted; of the prediction the direction holds."""
    judged = sarwar2008.cells
    assert judged["text/majority"]["ours"] > 80
    standard, dynamic = (TABLE_1[one] for one in ("standard", "dynamic"))
    gain_kbps = dynamic.rate_kbps - standard.rate_kbps
    assert judged["table1/rate-order"]["published"] == gain_kbps
    assert 100 * gain_kbps / standard.rate_kbps == pytest.approx(42, abs=0.5), "as the texts say"
    loss_percent = standard.loss_percent - dynamic.loss_percent
    assert judged["table1/loss-order"]["published"] == pytest.approx(loss_percent)


def test_loss_is_lower_once_slow_start_is_over(sarwar2008: Reproduced) -> None:
    """What the report says of the loss: the overshoot hardly changes, what follows does."""
    runs = sarwar2008.sections["measured"].live.ours
    (loss, later), (dynamic_loss, dynamic_later) = (
        [downloads.mean(runs[one], name) for name in ("loss_percent", "later_loss_percent")]
        for one in (live.STANDARD, live.DYNAMIC)
    )
    assert loss - later == pytest.approx(dynamic_loss - dynamic_later, rel=0.1)
    assert dynamic_later < 0.8 * later
    assert later < loss / 2
    assert dynamic_later < dynamic_loss / 2


def test_the_access_is_what_the_search_came_to() -> None:
    """What is taken follows from the stored trials, and a trial repeats to the last bit stored."""
    trials = readings.TRIALS.read()
    assert [trial.access for trial in trials] == list(readings.GRID)
    best = readings.fitting(trials)[0]
    assert best.access == live.FITTED
    assert not any(one.fits for one in trials if one.deviation_kbps < best.deviation_kbps)
    again = readings.attempt(best.access)
    for name in ("rate_kbps", "deviation_kbps", "loss_percent", "dynamic_kbps"):
        assert getattr(again, name) == pytest.approx(getattr(best, name), abs=1e-4)
    for trial in readings.fitting(trials):
        assert trial.gain_percent < LEDGER.published("text/gain") / 2, (
            "none predicts what is published"
        )
    assert not set(readings.SEEDS) & set(live.SEEDS)


def test_the_access_loses_and_is_busy_as_often_as_it_says() -> None:
    model = live.SharedAccess(burst_packets=16, left_kbps=250, quiet_s=30, busy_s=10)
    errors = model.errors
    assert errors.good_to_bad / (errors.good_to_bad + errors.bad_to_good) == pytest.approx(0.0033)
    assert model.load(7, 200) == model.load(7, 200)
    assert model.load(7, 200) != model.load(8, 200)
    duration_s = 400_000.0
    steps = model.load(1, duration_s).steps
    begins = [step.at.seconds for step in steps]
    busy_s = sum(
        end - begin
        for step, begin, end in zip(steps, begins, [*begins[1:], duration_s], strict=True)
        if step.rate == Rate("250 kbps")
    )
    assert busy_s / duration_s == pytest.approx(10 / 40, rel=0.05)


def test_downloads_differ_in_feedback_alone() -> None:
    """A seed's errors and load are the same under each condition."""
    assert len({download.name for download in live.ALL_DOWNLOADS}) == len(live.ALL_DOWNLOADS)
    links_of = [
        live.scenario(download, 5).normalised()["dumbbell"] for download in live.ALL_DOWNLOADS
    ]
    assert all(link == links_of[0] for link in links_of)
    for download in live.ALL_DOWNLOADS:
        (flow,) = live.scenario(download, 5).normalised()["flows"]
        tfrc = flow["transport"]["dccp"]["tfrc"]
        assert tfrc["rules"] == download.rules
        assert ("dynamic" in tfrc["feedback"]) == (download.feedback == "dynamic")


def _steady(rates_kbps: tuple[float, ...]) -> dict[live.Download, list[Totals]]:
    """Return downloads in which nothing varies but the RTT_ref, and a little with the seed.

    Those with standard feedback have 300 kbps; the feedback halves with each longer RTT_ref.
    """
    kinds = {
        live.STANDARD: (300, 1),
        **dict(
            zip(
                live.BY_RTT_REF.values(),
                zip(rates_kbps, (40, 20, 10, 5, 2.5), strict=True),
                strict=True,
            )
        ),
    }
    return {
        download: [Totals(rate + wobble, 1, 0.5, 1200, 10, 1, back) for wobble in (-1, 0, 1)]
        for download, (rate, back) in kinds.items()
    }


def test_judgement_of_rtt_ref() -> None:
    """The least feedback that is as good as the best."""
    compromise = _steady((400, 390, 380, 360, 330))
    assert downloads.best_rtt_refs_ms(compromise) == (25, 25)
    assert downloads.usual_percent(compromise) == pytest.approx((80, 25))
    assert downloads.best_rtt_refs_ms(_steady((400, 400, 400, 360, 330))) == (25, 100)


def test_a_longer_window_gains_nothing_in_slow_start(sarwar2008: Reproduced) -> None:
    """As the report says of X_recv over a whole round-trip time."""
    ours = sarwar2008.sections["measured"].ours
    standard_s, dynamic_s = (ours[one].exit_s for one in setting.BY_READING["as set"])
    (longer,) = setting.BY_READING["X_recv over a whole RTT"]
    assert dynamic_s < standard_s <= ours[longer].exit_s


def test_the_report_is_labelled_as_an_emulation(sarwar2008: Reproduced) -> None:
    assert "nothing on this page was measured over a satellite" in sarwar2008.page
    for name in (
        "finding",
        "figure2",
        "figure3",
        "figure4",
        "figure5",
        "figure6",
        "growth",
        "rtt-ref",
    ):
        assert (sarwar2008.directory / "figures" / f"{name}.png").is_file()


def test_only_what_is_named_varies() -> None:
    """The runs differ in feedback and in the one reading that their name gives."""
    names = [conditions.name for conditions in setting.ALL_CONDITIONS]
    assert len(set(names)) == len(names)
    for conditions, scenario in setting.scenarios(setting.ALL_CONDITIONS).items():
        document = scenario.normalised()
        assert document["duration"] == "200 s"
        tfrc = document["flows"][0]["transport"]["dccp"]["tfrc"]
        assert tfrc["rules"] == conditions.rules
        assert ("dynamic" in tfrc["feedback"]) == (conditions.feedback == "dynamic")


def test_doubling_by_threes_would_give_what_is_published() -> None:
    """Seven doublings from one packet per round-trip time, two round-trip times apart."""
    assert LEDGER.published("fig2/exit") == judge.BY_THREES_GAIN_S


def test_errors_are_the_only_losses_of_their_runs() -> None:
    """As many in both runs, the first once X has reached the link's rate, and apart."""
    conditions = [
        setting.Conditions(feedback, errors=number)
        for feedback in ("standard", "dynamic")
        for number in (1, 3)
    ]
    planned = setting.scenarios(conditions)
    for one, results in zip(conditions, run_many(planned.values()), strict=True):
        series = measures.from_results(results)
        assert series.drops.sum() == one.errors
        rates = results.rates
        fast = rates["allowed_rate_bps"].to_numpy() >= setting.LINK_BPS
        reached_s = float(rates["time_s"].to_numpy()[fast][0])
        lost_s = results.drops["time_s"].to_numpy()
        assert reached_s <= lost_s[0] < reached_s + 0.1
        rtt_s = rates["rtt_s"].to_numpy(zero_copy_only=False)[fast][0]
        assert rtt_s == pytest.approx(setting.RTT_S, rel=0.02), "alike, since no queue has formed"
        assert all(np.diff(lost_s) > 1.5 * setting.RTT_S)
    with pytest.raises(ValueError, match="first error"):
        setting.scenario(conditions[0])


def test_feedback_about_a_rate_is_the_first_report_that_has_it() -> None:
    time_s = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    allowed = np.array([10.0, 20.0, 20.0, 40.0, 40.0])
    received = np.array([5.0, 10.0, 19.5, 20.0, 39.0])
    delays = further.feedback_delays(time_s, allowed, received, np.array([1, 3]))
    assert delays == [1.0, 1.0]
    assert further.feedback_delays(time_s, allowed, received / 2, np.array([3])) == []


def test_growth_within_a_round_trip_time() -> None:
    """Two doublings are one too many if they are less than a round-trip time apart."""
    rate = np.array([1.0, 2.0, 4.0, 4.0])
    rtt_s = np.ones(4)
    assert further.most_growth(np.array([0.0, 1.0, 2.0, 2.5]), rate, rtt_s) == 2
    assert further.most_growth(np.array([0.0, 1.0, 1.5, 2.5]), rate, rtt_s) == 4


def test_equation_1() -> None:
    """At p = 1 %, 1 s and 1000 B: RFC 3448 gives about 11 packets per second."""
    (rate,) = further.equation_1(np.array([0.01]), np.array([1.0]))
    assert rate / 8000 == pytest.approx(1 / (0.0816497 + 4 * 3 * 0.0612372 * 0.01 * 1.0032))


def test_a_course_compares_round_trip_times() -> None:
    """The sender's with that of packets, after slow start; and its changes with those of p."""
    p = np.array([0.0, 0.02, 0.02, 0.01, 0.04])
    rtt_s = np.array([9.0, 1.0, 4.0, 4.0, 8.0])
    delay_s = np.array([0.0, 0.5, 3.3, 3.3, 7.3])
    course = Course(np.arange(5.0), p, p, p, rtt_s, delay_s)
    assert course.rtt_error_s == pytest.approx(0.1)
    # Where p does not rise, R has quadrupled and p halved in two seconds.
    assert course.rtt_above_p == pytest.approx(np.log(2) / 2)


def test_claims_fail_as_their_reasons_say(sarwar2008: Reproduced) -> None:
    failed = {cell["id"]: cell for cell in sarwar2008.document["claims"] if cell["why"]}
    # X starts higher than equation 5 on short paths, and lower on long ones.
    early, late = (failed[f"V-A/equation-5/rtt={rtt_s:g}"] for rtt_s in (0.5, 2))
    assert early["ours"] < early["published"]
    assert late["ours"] > late["published"]


def test_feedback_arrives_when_equations_3_and_4_say(sarwar2008: Reproduced) -> None:
    judged = {cell["id"]: cell for cell in sarwar2008.document["claims"]}
    for rtt_s in further.RTTS_S:
        for equation in (3, 4):
            cell = judged[f"V-A/equation-{equation}/rtt={rtt_s:g}"]
            assert cell["ours"] == pytest.approx(cell["published"], rel=0.01)


def test_tfrc_is_smoother_than_a_tcp_that_forgets_sacks(sarwar2008: Reproduced) -> None:
    """As the reason of II/smoother says."""
    (cell,) = (one for one in sarwar2008.document["claims"] if one["id"] == "II/smoother")
    kept, forgotten = (further.scenarios()["tcp"] for _ in range(2))
    (flow,) = forgotten.flows
    assert isinstance(flow.transport, Tcp)
    forgotten.flows = [evolve(flow, transport=evolve(flow.transport, keep_sacks=False))]
    variations = []
    for results in run_many([kept, forgotten]):
        flows = results.to_pandas()["flows"]
        settled = flows["goodput_bps"][flows["time_s"] > further.SETTLED_S]
        variations.append(settled.std() / settled.mean())
    assert variations[1] > 1.8 * variations[0]
    assert cell["ours"] * variations[0] / variations[1] < cell["published"] < cell["ours"]


def test_tcp_ends_the_slow_start_of_tfrc() -> None:
    """As the reason of I/fair says: at less than a TCP flow's rate, which then has more."""
    (results,) = run_many([further.scenarios()["beside-tcp"]])
    rates, lost = results.rates, results.drops
    of_tfrc = np.array([name == "standard" for name in lost["flow"].to_pylist()])
    first_s = lost["time_s"].to_numpy()[of_tfrc][0]
    before = rates["time_s"].to_numpy() < first_s
    assert rates["loss_event_rate"].to_numpy()[before].max() == 0
    assert rates["allowed_rate_bps"].to_numpy()[before][-1] < setting.LINK_BPS / 2
    tfrc, tcp = results.totals["flows"]
    assert tcp["goodput_bps"] > tfrc["goodput_bps"]


def test_readings_go_as_the_report_says() -> None:
    outcomes = {one.reading: one for one in readings.TABLE.read()}
    first, tells = outcomes["as for the verdicts"], outcomes[readings.TELLS_RTT]
    assert first.standard_loss_percent > tells.standard_loss_percent
    assert first.dynamic_loss_percent < first.standard_loss_percent
    assert tells.dynamic_loss_percent > tells.standard_loss_percent
    assert max(one.gain_percent for one in outcomes.values()) < LEDGER.published("text/gain") / 1.5
    no_less_loss = {label for label, one in outcomes.items() if "table1/loss-order" not in one.met}
    assert no_less_loss == {readings.TELLS_RTT, "rules of RFC 5348"}, "two, as is said of section I"
    for number in (2, 3, 5, 10):
        scanned = outcomes[f"{number} errors at the end of slow start"]
        assert scanned.exit_gain_s == first.exit_gain_s
    as_published = [label for label, one in outcomes.items() if "fig2/exit" in one.met]
    assert as_published == ["doubling every third round-trip time, or each (arithmetic)"]


def test_simulations_go_as_the_report_says(sarwar2008: Reproduced) -> None:
    ours = sarwar2008.sections["measured"].ours
    rates = {
        queue: [ours[one].mean_bps for one in setting.BY_QUEUE[queue]] for queue in setting.QUEUES
    }
    assert rates[20][1] < rates[20][0]
    assert rates[50][0] < rates[50][1] < 1.05 * rates[50][0], "a small gain"


def test_ns2_loses_one_packet_too(sarwar2008: Reproduced) -> None:
    """In its runs with an error nothing else is lost, and the gains are those of the cells."""
    answers, _ = oracle.ORACLE.consult(live=False)
    with_error = [answers[oracle.Run("tfrc", reports, None)] for reports in (1, setting.REPORTS)]
    for series in with_error:
        assert series.drops.sum() == 1
    standard_s, dynamic_s = (series.recovery_s for series in with_error)
    assert standard_s is not None
    assert dynamic_s is not None
    assert sarwar2008.cells["fig2/recovery"]["ns2"] == standard_s - dynamic_s


def test_how_receivers_learn_the_round_trip_time_is_declared() -> None:
    """Window counters on the live link, the sender's own in Figure 2."""
    (download,) = live.scenario(live.STANDARD, 1).normalised()["flows"]
    assert download["transport"]["dccp"]["tfrc"]["receiver_rtt"] == "window-counter"
    (flow,) = setting.scenario(setting.STANDARD, first_error=1).normalised()["flows"]
    assert flow["transport"]["dccp"]["tfrc"]["receiver_rtt"] == "option"
    declared = [one for one in LEDGER.parameters if one.name.startswith("RTT at the receiver")]
    assert len(declared) == 2
    assert all("paper, section IV" in one.source for one in declared)


def test_parameters_and_conditions_are_those_of_the_runs() -> None:
    """What the ledger says in numbers of its own."""
    stated = {parameter.name: parameter.value for parameter in LEDGER.parameters}
    fitted, beyond = live.FITTED, len(live.BEYOND_SEEDS)
    assert stated["Errors of the live link"] == (
        f"{100 * live.PACKET_ERROR_RATE:g} % of packets, "
        f"in bursts of {fitted.burst_packets:g} (mean)"
    )
    assert stated["Load of the live link by others"] == (
        f"leaves {fitted.left_kbps:g} kbps for {fitted.busy_s:g} s, "
        f"then all for {fitted.quiet_s:g} s (exponential means)"
    )
    assert f"{len(live.SEEDS)} seeds" in stated["Downloads"]
    assert f"{beyond} beyond the paper" in stated["Downloads"]
    assert stated["Length of a download"] == f"{live.DURATION_S} s"
    assert stated["Duration"] == f"{setting.DURATION_S} s"
    assert stated["Packets"] == f"{setting.PACKET_SIZE} B of data"
    assert stated["RTT_ref"].endswith(f"N = {setting.REPORTS}")
    assert stated["Errors at the end of slow start"].startswith(f"{setting.STANDARD.errors} in")
    tests = {**LEDGER.values, **{name: test for name, (test, _) in LEDGER.claims.items()}}
    assert tests["table1/dynamic/rate"].conditions["downloads"] == len(live.SEEDS)
    assert tests["text/rtt-accuracy"].conditions["downloads"] == beyond
    assert tests["fig2/exit"].conditions == {"errors": 1, "N": setting.REPORTS}
    assert tests["I/fair"].conditions["queue (packets)"] == further.QUEUE
    assert tests["II/smoother"].conditions["from (s)"] == further.SETTLED_S
    assert tests["II/quick-start"].conditions["share"] == further.SHARE
    assert f"RTT_ref = {min(live.RTT_REFS_MS)} ms" in tests["VI-C/more-reports"].what


def test_the_finding_has_the_published_gains(sarwar2008: Reproduced) -> None:
    sentence, judged = sarwar2008.document["finding"], sarwar2008.cells
    assert f"published: {LEDGER.published('text/gain'):g} % in the text, 42 %" in sentence
    assert f"not {LEDGER.published('fig2/exit'):g} s" in sentence
    assert judged["table1/loss-order"]["ours"] > 0, "they lose less"


@needs_ns2
def test_the_stored_answers_are_what_ns2_says() -> None:
    answers, source = oracle.ORACLE.consult()
    assert source.kind == "live"
    stored, _ = oracle.ORACLE.consult(live=False)
    for one, series in answers.items():
        golden = stored[one]
        for name in ("rate_bps", "throughput_bps", "drops", "reports"):
            assert np.array_equal(getattr(series, name), getattr(golden, name)), (one, name)
