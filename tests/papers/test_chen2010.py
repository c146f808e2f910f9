"""Chen, Yang and Hong 2010: equations 1 to 9, the schemes with RED, and what was searched."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import brentq

from conftest import Reproduced, needs_ns2
from skywave import run
from skywave.papers import ns2
from skywave.scenario import Dccp
from skywave.scenario.quantities import Duration
from skywave_papers.chen2010 import further, judge, oracle, searches, setting, sweep
from skywave_papers.chen2010.analysis import Model, solve_delayed, stability_map
from skywave_papers.chen2010.measures import Run, sum_of_windows
from skywave_papers.chen2010.setting import LEDGER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

MODEL = Model()


def test_equations_1_and_2() -> None:
    """Half a packet's time for zeta = 2, none for 1; R' is R_p + R_q + (zeta + 1) s / 2C."""
    packet_s = 8192 / 45e6
    assert MODEL.ack_delay_s == pytest.approx(packet_s / 2)
    assert replace(MODEL, ack_ratio=1).ack_delay_s == 0
    assert replace(MODEL, ack_ratio=5).ack_delay_s == pytest.approx(2 * packet_s)
    assert MODEL.control_rtt_s == pytest.approx(0.08 + 1.5 * packet_s)


def test_equations_3_to_5() -> None:
    """At full load only alpha is added; the load is what windows send over gamma C."""
    one = replace(MODEL, flows=1)
    assert one.sum_growth(10, 1.0) * one.control_rtt_s == pytest.approx(1)
    assert MODEL.sum_growth(2000, 0.5) * MODEL.control_rtt_s == pytest.approx(500 + 200)
    assert MODEL.load(MODEL.pipe_packets) == pytest.approx(1)
    rate_bps = 100 * 8192 / MODEL.control_rtt_s
    assert MODEL.load(100) == pytest.approx(rate_bps / (0.98 * 45e6))


def test_equations_7_and_8_are_where_equation_6_rests() -> None:
    rest = MODEL.sum_at_rest
    assert MODEL.sum_growth_delayed(rest, rest) == pytest.approx(0, abs=1e-9)
    found = brentq(lambda w: MODEL.sum_growth_delayed(w, w), 1, 1e5)
    assert found == pytest.approx(rest)
    assert MODEL.window_at_rest * 200 == pytest.approx(rest)
    assert MODEL.load(rest) == pytest.approx(1 + 200 * 4 / MODEL.pipe_packets)


def test_the_slip_of_equation_9() -> None:
    """220.8 kbps comes of adding 49.9 packets/s to bits/s; in bits 200 flows would need 2.8 C."""
    assert MODEL.rate_at_rest_as_printed / 1e3 == pytest.approx(
        LEDGER.published("equation9"), abs=0.05
    )
    last_term = MODEL.alpha / (MODEL.h * MODEL.rtt_s)
    assert last_term == pytest.approx(49.9, abs=0.05)
    difference = MODEL.rate_at_rest_bps - MODEL.rate_at_rest_as_printed
    assert difference == pytest.approx(last_term * (8192 - 1))
    assert 200 * MODEL.rate_at_rest_bps / 45e6 == pytest.approx(2.8, abs=0.01)
    # What is put right agrees with equation 8: w / R.
    assert MODEL.rate_at_rest_bps == pytest.approx(MODEL.window_at_rest * 8192 / MODEL.rtt_s)


def test_a_delayed_equation_with_a_known_solution() -> None:
    """x' = -x(t - 1) from 1: polynomials of degree 1, 2 and 3 in turn."""
    at = 2.5
    found = solve_delayed(lambda _, late: -late, 1.0, 1.0, np.array([0.0, 0.25, 1.0, 1.5, at, 3.0]))
    third = 1 - at + (at - 1) ** 2 / 2 - (at - 2) ** 3 / 6
    assert found[:5] == pytest.approx([1, 0.75, 0, -0.5 + 0.5**2 / 2, third], abs=1e-8)


def test_equation_6_without_a_delay_is_an_exponential() -> None:
    """Then R' w' = h (w* - w)."""
    rest, times_s = MODEL.sum_at_rest, np.array([0.1, 0.5, 2.0])
    expected = rest + (100 - rest) * np.exp(-MODEL.h * times_s / MODEL.control_rtt_s)
    assert MODEL.solve(100.0, times_s, delay_s=0.0) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("flows", "delays"), [(10, 1), (1, 1), (100, 2), (1, 3)])
@pytest.mark.parametrize("share", [0.9, 1.1])
def test_equation_6_settles_below_the_critical_h(flows: int, delays: int, share: float) -> None:
    """Small departures shrink below it and grow above it."""
    model = Model(flows=flows)
    delay_s = delays * model.control_rtt_s
    model = replace(model, h=share * model.critical_h(delay_s))
    # The most of windows that are longer than a period.
    times_s = np.linspace(0.5, 20 * delays * 0.125 + 0.5, 2000, endpoint=False)
    found = model.solve(model.sum_at_rest * (1 + 1e-4), times_s, delay_s)
    most = np.abs(found / model.sum_at_rest - 1).reshape(4, 500).max(axis=1)
    assert (np.diff(most) > 0).all() if share > 1 else (np.diff(most) < 0).all()


def test_the_border_of_stability() -> None:
    """pi/2 for x' = -h x(t - 1); more flows, whose alphas damp, make it wider; delay narrows it."""
    alone = Model(flows=1, alpha=1e-9)
    assert alone.critical_h() == pytest.approx(math.pi / 2, rel=1e-3)
    assert alone.critical_h(3 * alone.control_rtt_s) == pytest.approx(math.pi / 6, rel=1e-3)
    assert Model(flows=200).critical_h() > math.pi / 2


def test_the_papers_bound_holds_for_a_load_that_is_a_round_trip_old_only() -> None:
    rtts_s, flows = np.array([0.02, 0.1, 1.0]), np.array([1, 10, 200])
    prompt = stability_map(rtts_s, flows)
    late = stability_map(rtts_s, flows, 0.2)
    assert prompt.shape == (3, 3)
    assert (prompt > 0.5).all()
    assert (late <= prompt).all()
    assert late[0, 0] < 0.25, "one flow over 20 ms: the interval alone is ten round trips"


@pytest.fixture(scope="module")
def chen2010(reproduced: Callable[..., Reproduced]) -> Reproduced:
    """A quarter of the report's seeds: what is looked at here differs by more than they do."""
    return reproduced("chen2010", seeds=5)


def test_numbers_of_the_ledger_are_those_of_the_model() -> None:
    share_kbps = MODEL.target * MODEL.capacity_bps / MODEL.flows / 1e3
    packets_per_s = MODEL.alpha / (MODEL.h * MODEL.rtt_s)
    of_capacity = MODEL.flows * MODEL.rate_at_rest_bps / MODEL.capacity_bps
    path = MODEL.capacity_bps * MODEL.propagation_s / MODEL.packet_bits
    queue_s = LEDGER.published("fig6d") * MODEL.packet_bits / MODEL.capacity_bps
    least_kbps = 2e-3 * MODEL.packet_bits / (setting.LEAST_RTT_MS / 1e3 + queue_s)
    for reason, *numbers in (
        (
            "units",
            f"{packets_per_s:.1f} packets per s",
            f"{packets_per_s * MODEL.packet_bits / 1e3:.1f} kbps",
            f"{of_capacity:.1f} C.",
            f"C / N = {share_kbps:.1f} kbps",
        ),
        ("least-windows", f"{MODEL.flows} flows have {2 * MODEL.flows}", f"holds {path:.0f}."),
        (
            "long-round-trips",
            f"R_p = {max(further.VARIED['R'][1]):g} s",
            f"an R of {MODEL.increase_outweighs_from_s():.3f} s",
        ),
        ("single-source", f"the link is {share_kbps:.0f} kbps"),
        ("shorter-queue", f"with 60 ms {least_kbps:.0f} kbps", f"{LEDGER.published('fig5d'):g}, "),
        *(
            (f"own-averages-{name}", f"averages, {100 * vcp / red:.0f} %")
            for name, vcp, red in (
                ("tcp", LEDGER.published("fig6c"), LEDGER.published("fig6a")),
                ("dccp", LEDGER.published("fig6d"), LEDGER.published("fig6b")),
            )
        ),
    ):
        for number in numbers:
            assert number in " ".join(LEDGER.reason[reason].text.split())
    by_equation_9 = {
        f"3/equation9/{symbol.lower()}/{place}": (
            further.model_with(symbol, value).rate_at_rest_as_printed / 1e3,
            value,
        )
        for symbol, (_, values) in further.VARIED.items()
        for place, value in enumerate(values, start=1)
    }
    for claim, (test, _) in LEDGER.claims.items():
        if claim.startswith("3/equation9/"):
            published, value = by_equation_9[claim]
            assert LEDGER.published(claim) == published
            assert value in test.conditions.values()


def test_parameters_are_those_of_the_scenarios() -> None:
    given = {one.name: one.value for one in LEDGER.parameters}
    assert given["Buffer"] == f"{setting.UNPUBLISHED.buffer} packets"
    assert given["Web sources"].startswith(f"{setting.UNPUBLISHED.web_sources},")
    assert given["TCP"].startswith(f"{setting.UNPUBLISHED.flavour},")
    assert given["Seeds"] == f"{min(setting.SEEDS)} to {max(setting.SEEDS)}"
    assert given["Packets"].startswith(f"{setting.PACKET_B} B,")
    assert given["Duration"] == f"{setting.DURATION_S} s"
    seeds = [test.conditions.get("seeds") for test, _ in LEDGER.claims.values()]
    assert {*seeds} == {None, len(further.SEEDS)}


def test_peaks_of_vcp_are_nearly_that_of_tcp_red(chen2010: Reproduced) -> None:
    """As the reason has it: what is published is 15 points less."""
    tcp = chen2010.cells["fig7-peaka"]
    for panel in "cd":
        vcp = chen2010.cells[f"fig7-peak{panel}"]
        assert vcp["ours"] == pytest.approx(tcp["ours"], rel=0.15)
        assert "by about as much as those of TCP/RED" in vcp["why"]


def test_red_is_like_ns2s(chen2010: Reproduced) -> None:
    rows = chen2010.document["comparison"]
    assert len(rows) == 2 * 5
    for row in rows:
        assert row["verdict"] == "match", row


def test_schemes_differ_in_transport_and_queue_alone() -> None:
    documents = []
    for scheme in setting.SCHEMES:
        document = setting.scenario(scheme, 1).normalised()
        assert len(document["flows"]) == 200 + setting.UNPUBLISHED.web_sources
        document.pop("name")
        document["dumbbell"].pop("queue")
        for flow in document["flows"][:200]:
            assert flow["transport"].keys() == {scheme.transport}
        for flow in document["flows"][200:]:
            tcp = flow["transport"]["tcp"]
            assert ("vcp" in tcp) == (scheme.router == "vcp"), "they share no queue with others"
        for flow in document["flows"]:
            flow.pop("transport")
        documents.append(document)
    assert all(document == documents[0] for document in documents)
    delays = documents[0]["dumbbell"]["access_delays"]
    assert delays[0] == "10 ms"
    assert delays[-1] == "50 ms"


@pytest.mark.parametrize("router", sweep.ROUTERS)
def test_stored_sweeps_are_what_the_points_give(router: str) -> None:
    """A cheap point of each kind; the others take minutes."""
    assert [(row.sweep, row.x, row.router) for row in sweep.TABLE.read()] == [
        (point.sweep, point.x, router) for point, router in sweep.TABLE.given
    ]
    for name, x in (("mbps", 2.0), ("flows", 3), ("bottlenecks", 2)):
        again = sweep.outcome((sweep.point(name, x), router))
        before = sweep.TABLE.row(sweep=name, x=x, router=router)
        for measure in ("utilisation", "queue_ms", "queue_share", "drop_percent", "jain"):
            expected = getattr(before, measure)
            assert getattr(again, measure) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_vcp_needs_no_losses_where_windows_are_large() -> None:
    """The paper's claim beyond its network: from 10 Mbps to 5 Gbps, busy and nearly empty."""
    large = [one for one in sweep.TABLE.rows(sweep="mbps", router="vcp") if one.x >= 10]
    assert len(large) == 6
    for one in large:
        assert one.utilisation > 0.89
        assert one.queue_ms < 0.5
        assert one.drop_percent == 0


def test_sums_of_windows_are_of_the_long_lived_flows() -> None:
    description = setting.scenario(setting.DCCP_RED, 1, probes=setting.ALL_WINDOWS)
    description.duration = Duration("2 s")
    results = run(description)
    time_s, packets = sum_of_windows(results)
    assert time_s == pytest.approx(np.arange(1, 21) / 10)
    rows = results.flows.to_pylist()
    last = [row["cwnd_packets"] for row in rows if row["time_s"] == 2.0 and row["flow"][0] == "s"]
    assert len(last) == 200
    assert packets[-1] == pytest.approx(sum(last))


def test_what_is_not_published_is_what_the_search_came_to() -> None:
    trials = searches.FIT.read()
    assert [trial.unpublished for trial in trials] == searches.GRID
    best = next(one for one in searches.equals(trials) if one.unpublished.flavour == "newreno")
    assert best.unpublished == setting.UNPUBLISHED
    again = searches.attempt(best.unpublished)
    for name in ("queue_packets", "drop_percent", "peak_percent", "dccp_drop_percent"):
        assert getattr(again, name) == pytest.approx(getattr(best, name), abs=1e-4)
    assert not set(searches.FIT_SEEDS) & set(setting.SEEDS)


def test_a_buffer_beyond_red_contradicts_the_published_values() -> None:
    """As the parameters and the report say of RED's upper threshold."""
    trial = searches.FIT.row(unpublished=replace(setting.UNPUBLISHED, buffer=1500))
    (row,) = (one for one in LEDGER.parameters if one.name == "RED, upper threshold")
    assert (
        f"settles at {trial.queue_packets:.0f} and drops {trial.drop_percent:.1f} %" in row.source
    )
    assert not trial.fits


def test_readings_of_ccid_2_are_what_was_run() -> None:
    answers = searches.CCID2.read()
    assert [answer.reading for answer in answers] == searches.CCID2_READINGS
    nearest = min(answers, key=lambda answer: answer.miss)
    # The first has the shortest timeout, and is moved by what moves timeouts.
    for answer in (nearest, answers[0]):
        again = searches.ask(answer.reading)
        assert again.queue_packets == pytest.approx(answer.queue_packets, abs=1e-4)
        assert again.drop_percent == pytest.approx(answer.drop_percent, abs=1e-4)
    # As the reason of the mismatch has it.
    assert not any(answer.fits for answer in answers)
    assert (nearest.reading.growth, nearest.reading.buffer) == ("per-ack", 140)


def test_senders_follow_the_words_they_are_chosen_by() -> None:
    by_words = setting.scenario(setting.DCCP_VCP, 1).normalised()["flows"][0]["transport"]["dccp"]
    assert by_words["reductions"] == "per-packet"
    assert by_words["min_ack_ratio"] == by_words["vcp"]["least_cwnd"] == 2
    assert by_words["vcp"]["start"] == "by-slow-start"
    assert by_words["vcp"]["after_decrease"] == "increases"
    flows = setting.scenario(setting.TCP_VCP, 1).normalised()["flows"]
    tcp, web = (flow["transport"]["tcp"]["vcp"] for flow in (flows[0], flows[-1]))
    assert (tcp["start"], web["start"]) == ("by-slow-start", "by-load-factor")
    assert tcp["after_decrease"] == web["after_decrease"] == "increases"
    by_words = setting.scenario(setting.DCCP_RED, 1).normalised()["flows"][0]["transport"]["dccp"]
    assert by_words["growth"] == "per-ack"
    red = setting.transport_of(setting.DCCP_RED, senders=setting.CODES)
    assert isinstance(red, Dccp)
    assert red.reductions == "per-window", "as in ns-2, for the comparison"


def test_stored_readings_are_what_the_schemes_come_to() -> None:
    stored = judge.READINGS.read()
    by_label = {one.reading: one for one in stored}
    words = by_label["the paper's words"]
    # As the reasons of mismatches have it.
    least = by_label["cwnd and zeta of 1 with VCP"]
    assert "fig5d" in words.met - least.met
    assert {"fig6d"} == least.met - words.met
    fitted = by_label["fitted: the same, with initial windows of 6 packets"]
    assert {"fig7-peakc", "fig7-peakd"} == fitted.met - words.met
    assert not any({"fig6c", "fig7-quietc"} <= one.met for one in stored)
    once = by_label["one reduction for all losses of a window behind RED"]
    assert ({"fig7-peakb"}, {"fig7b"}) == (once.met - words.met, words.met - once.met)
    # As the section on increases and decreases has it.
    assert "fig7-quietc" in words.met
    for label in (
        "without them, web traffic over VCP",
        "without them, additive increase for one R",
    ):
        assert "fig7-quietc" not in by_label[label].met


def schemes_with(*drops: NDArray[np.float64], arrivals: NDArray[np.float64]) -> judge.Runs:
    """Return runs with these samples, the same for each scheme."""
    seconds = np.arange(1.0, arrivals.size + 1).astype(np.float64) * setting.SAMPLE_S
    goodput = np.ones((setting.SUBNETS, setting.HOSTS))
    runs = [Run(seconds, arrivals, arrivals, some, arrivals, goodput, 0.0, 1.0) for some in drops]
    return dict.fromkeys(setting.SCHEMES, runs)


SAMPLES = round(setting.DURATION_S / setting.SAMPLE_S)


def test_time_without_drops_is_a_median() -> None:
    """One late packet in one run of three decides a mean, and no median."""
    last = (np.eye(1, SAMPLES, round(quiet_s / setting.SAMPLE_S) - 1)[0] for quiet_s in (4, 2, 100))
    ours = schemes_with(*last, arrivals=np.ones(SAMPLES))
    median = judge.published(ours)["fig7-quietd"]
    assert median.value == pytest.approx(4)
    assert median.conditions == {"seeds": 3, "median of": "2 to 100 s"}
    mean = judge.published(ours, quiet_over_seeds="mean")["fig7-quietd"]
    assert mean.value == pytest.approx(106 / 3)


def test_a_reading_is_judged_by_its_drop_rates() -> None:
    drops, arrivals = (np.tile(pair, SAMPLES // 2) for pair in ((5.0, 0.0), (10.0, 2.0)))
    ours = schemes_with(drops, arrivals=arrivals)
    for drop_rate, tcp, dccp in (
        (None, 500 / 12, 25),
        ("drop_percent", 500 / 12, 500 / 12),
        ("interval_drop_percent", 25, 25),
    ):
        found = judge.published(ours, drop_rate)
        assert (found["fig7a"].value, found["fig7b"].value) == pytest.approx((tcp, dccp))


def test_least_windows_decide_over_equation_9() -> None:
    """As the reason says: full with windows of 2 packets that the path cannot hold."""
    for gamma in (0.8, 0.9, 0.98):
        assert all(row.utilisation > 0.999 for row in further.settled("gamma", gamma))
    assert all(row.utilisation < 0.98 for row in further.settled("N", 100))
    for symbol in ("zeta", "s", "R"):
        _, values = further.VARIED[symbol]
        rates = [further.model_with(symbol, value).rate_at_rest_as_printed for value in values]
        assert max(rates) < 1.01 * min(rates)
    # As the remark says: the index is that of equal least windows.
    jain = np.mean([row.jain for row in further.settled("N", 100)])
    (remark,) = (said.remark for said in LEDGER.sentence if said.says.startswith("By symmetry"))
    assert f"{jain:.2f} with N = 100" in remark


def test_over_the_longest_round_trip_the_queue_never_settles() -> None:
    """Why the rate does not fall there. Over the next shorter one the queue empties."""
    for propagation_s, grows in ((0.24, True), (0.12, False)):
        given = (setting.DCCP_VCP, "per-packet", further.ENDLESS, "R", propagation_s, 1)
        results = run(further.equal(*given))
        queue = results.at_link(setting.BOTTLENECK)["queue_packets"].to_numpy()
        early, late = queue[further.SETTLED_S : further.SETTLED_S + 10], queue[-10:]
        if grows:
            assert late.mean() > 1.2 * early.mean()
        else:
            assert late.min() < 10


def test_web_traffic_that_does_not_use_vcp_makes_the_queue_overflow() -> None:
    """More than without web traffic, in every run; nor is VCP enough if it begins in slow start."""

    def late(change: str, scheme: setting.Scheme) -> list[float]:
        rows = further.CHANGED.rows(change=change, scheme=scheme.name)
        return [row.late_drop_percent for row in rows]

    for scheme in (setting.TCP_VCP, setting.DCCP_VCP):
        for change in (further.WEB_OVER_TCP, further.WEB_IN_SLOW_START):
            assert min(late(change, scheme)) > np.mean(late(further.WITHOUT_WEB, scheme))


def test_from_which_round_trip_time_on_an_increase_outweighs_a_decrease() -> None:
    """Formula and runs agree: 0.137 s for growth per packet, twice that for two packets."""
    limit_s = MODEL.increase_outweighs_from_s()
    window = MODEL.capacity_bps * limit_s / (MODEL.flows * MODEL.packet_bits)
    assert 0.125 * window == pytest.approx((limit_s / setting.T_RHO_S) ** 2)
    assert limit_s == pytest.approx(0.1373, abs=1e-4)
    assert MODEL.increase_outweighs_from_s(2) == pytest.approx(2 * limit_s)
    # As the report says. DCCP's least windows are more than the path of 60 ms.
    rows = further.EQUAL.rows(buffer=further.BALANCE_BUFFER)
    for row in rows:
        if row.growth == "per-packet" and row.value > limit_s:
            assert row.queue_packets > 200, row
        elif (row.scheme, row.growth, row.value) == ("tcp-vcp", "per-ack", 0.22):
            queue_s = row.queue_packets * MODEL.packet_bits / MODEL.capacity_bps
            assert row.value + queue_s > 2 * limit_s
        elif (row.scheme, row.value) != ("dccp-vcp", 0.06):
            assert row.queue_packets < 100, row
            assert row.drops == 0
    assert {row.scheme for row in rows if row.drops > 0} == {"tcp-vcp", "dccp-vcp"}


def test_what_growth_and_ack_ratio_make_of_dccp_over_red() -> None:
    """As the remarks on the paper's explanation say."""
    found = {
        (one.reading.growth, one.reading.ack_ratio, one.reading.least_rto, one.reading.buffer): one
        for one in searches.CCID2.read()
        if (one.reading.profile, one.reading.router) == ("rfc", "drops")
    }
    for (growth, ack_ratio, timeout, buffer), one in found.items():
        if ack_ratio == 1:
            two = found[growth, 2, timeout, buffer]
            assert one.queue_packets == pytest.approx(two.queue_packets, rel=0.01)
            assert one.drop_percent == pytest.approx(two.drop_percent, rel=0.02)
    for timeout in searches.TIMEOUTS:
        for growth in ("rfc4341", "ns2-tcplike"):
            packets, acks = (
                found[one, 2, timeout, setting.UNPUBLISHED.buffer] for one in (growth, "per-ack")
            )
            assert acks.queue_packets == pytest.approx(packets.queue_packets, rel=0.04)
            assert acks.drop_percent == pytest.approx(packets.drop_percent / 2, rel=0.1)


def test_stored_runs_of_claims_are_what_the_scenarios_give() -> None:
    assert [(row.change, row.scheme, row.seed) for row in further.CHANGED.read()] == [
        (change, scheme.name, seed) for change, scheme, seed in further.CHANGED.given
    ]
    assert [(row.scheme, row.growth, row.value, row.seed) for row in further.EQUAL.read()] == [
        (scheme.name, growth, value, seed)
        for scheme, growth, _, _, value, seed in further.EQUAL.given
    ]
    again, stored = further.changed(further.CHANGED.given[-1]), further.CHANGED.read()[-1]
    assert again.of_tcp_percent == pytest.approx(stored.of_tcp_percent, rel=1e-5)
    assert again.late_drop_percent == pytest.approx(stored.late_drop_percent, rel=1e-5)
    lossy = (setting.TCP_VCP, "per-packet", further.BALANCE_BUFFER, "R", 0.18, min(further.SEEDS))
    for given in (further.EQUAL.given[0], lossy):
        equal = further.run_equal(given)
        before = further.EQUAL.read()[further.EQUAL.given.index(given)]
        assert equal.drops == before.drops
        assert equal.rate_kbps == pytest.approx(before.rate_kbps, rel=1e-5)
    assert equal.drops > 0


def test_changes_of_the_network_are_what_they_say() -> None:
    assert "web1" not in {
        flow.name
        for flow in further.changed_scenario(further.WITHOUT_WEB, setting.DCCP_VCP, 1).flows
    }
    two = further.changed_scenario(further.TWO_QUEUES, setting.DCCP_VCP, 1)
    of_class = [flow.class_ for flow in two.flows]
    assert of_class.count(1) == 100
    for flow in two.flows:
        assert isinstance(flow.transport, Dccp) == (flow.class_ == 1), flow.name


def test_the_finding_has_queues_and_late_drops(chen2010: Reproduced) -> None:
    sentence = chen2010.document["finding"]
    queue = chen2010.cells["fig6d"]
    assert f"{queue['ours']:.0f} instead of {chen2010.cells['fig6b']['ours']:.0f}" in sentence
    assert f"(published: {queue['published']:g} and 125)" in sentence
    assert "2.8 times the link" in sentence
    assert "137 ms on, which half of" in sentence
    assert sum(setting.rtt_ms(subnet) > 137 for subnet in range(setting.SUBNETS)) == 5
    (late,) = (cell for cell in chen2010.document["claims"] if cell["id"] == "4.3/almost-none/dccp")
    assert late["verdict"] == "match", "hardly a packet after 10 s, as it says"


@needs_ns2
def test_the_stored_answers_are_what_ns2_says(tmp_path: Path) -> None:
    stored = (oracle.STORED / "averages.csv").read_text().splitlines()
    assert len(stored) == 1 + 2 * len(oracle.SEEDS)
    said = ns2.run(oracle.command(setting.TCP_RED, 1, tmp_path / "tcp.csv")).splitlines()[-1]
    assert stored[1] == f"tcp,1,{said}"
    assert (tmp_path / "tcp.csv").read_text() == (oracle.STORED / "tcp.csv").read_text()
