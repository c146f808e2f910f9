"""Li and Yousefi'zadeh 2009: the parking lot, the dumbbell and lossy transfers of MPCP."""

from __future__ import annotations

import html
import itertools
import math
from collections import Counter
from dataclasses import astuple, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from skywave import Probes, Results, Scenario, run, run_many
from skywave.papers.cells import Cause
from skywave.papers.measures import Measure
from skywave.scenario import DropTail, Tcp
from skywave.scenario.quantities import Duration
from skywave.stats import average
from skywave_papers import vcp_scripts
from skywave_papers.li2009 import experiments, judge, measures, setting, single, stored, today
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import DPCP, DPCP_TCP, FLOWS, READINGS, SCHEMES, TPCP, VCP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Reproduced
    from skywave.report.tables import Table


@pytest.fixture(scope="module")
def li2009(reproduced: Callable[[str], Reproduced]) -> Reproduced:
    return reproduced("li2009")


def test_a_value_of_one_reading_is_met_under_the_other(li2009: Reproduced) -> None:
    """Where the cause of a mismatch says so."""
    found = [one for one in li2009.cells.values() if one["cause"] == Cause.TWO_READINGS.value]
    ids = [one["id"] for one in found]
    assert ids == ["fig2b", "fig4/knee", "fig4/steeper", "fig4/faster"]
    for name in ids:
        assert name in li2009.sections["would_match"]


def test_each_published_value_is_judged_once(li2009: Reproduced) -> None:
    """By the reading that the paper's words support: 30 and 10 senders, and TCP."""
    judged = li2009.document["cells"]
    values = [
        (cell["id"][:4], cell["what"], cell["conditions"].get("period (s)"), cell["published"])
        for cell in judged
    ]
    assert len(set(values)) == len(values)
    places = Counter(place for place, *_ in values)
    assert places == {"fig2": 6, "fig3": 3, "fig4": 4, "fig5": 5}
    for cell in judged:
        if cell["id"].startswith("fig2"):
            assert cell["conditions"]["reading"] == FLOWS.label
        if cell["id"].startswith("fig4") and cell["id"] != "fig4/gap":
            assert cell["conditions"]["protocol"] == DPCP_TCP.label


def test_the_other_reading_is_beside_the_judged_one_and_not_counted(li2009: Reproduced) -> None:
    others = li2009.sections["unjudged"]
    assert set(others) == {
        name for name in li2009.cells if name.startswith(("fig2", "fig4")) and name != "fig4/gap"
    }
    for name, other in others.items():
        assert other.value != li2009.cells[name]["ours"]
    page = " ".join(html.unescape(li2009.page).split())
    sentence = f"The paper has {len(li2009.cells)} published values, not "
    assert f"{sentence}{len(li2009.cells) + len(others)}: {len(others)} of them" in page
    matches = sum(cell["verdict"] == "match" for cell in li2009.cells.values())
    assert f"<b>{matches}</b> of {len(li2009.cells)} published values match" in page
    would_match = len(set(others) & set(li2009.sections["would_match"]))
    assert page.count(">would match<") == would_match
    assert page.count(">would not match<") == len(others) - would_match


def test_what_the_ledger_says_of_the_runs_is_what_runs(li2009: Reproduced) -> None:
    seeds = {"seeds": setting.LOT_SEEDS, "runs": setting.DUMBBELL_SEEDS}
    for test in (*LEDGER.values.values(), *(one for one, _ in LEDGER.claims.values())):
        for name, of in seeds.items():
            assert test.conditions.get(name, len(of)) == len(of), test.id
        networks = test.conditions.get("networks")
        if networks is not None:
            assert LEDGER.published(test.id) == len(stored.GROUPS[str(networks)])
    (before, after), whole = measures.PERIODS, (measures.WARM_S, setting.LOT_S)
    for name, *periods in (
        ("fig2a", whole),
        ("fig2b", before, after),
        ("fig2c-before", before),
        ("fig2d-after", after),
    ):
        said = ", ".join(f"{start:g}-{end:g}" for start, end in periods)
        assert li2009.cells[name]["conditions"]["period (s)"] == said
    assert LEDGER.published("fig4/faster") == len(setting.LOSS_PERCENT)
    assert f"{judge.EFFECT:g} times" in li2009.cells["fig4/knee"]["what"]
    why = li2009.cells["fig4/knee"]["why"]
    assert f"lowest loss rate on, {setting.LOSS_PERCENT[1]} %" in why
    assert f"{len(setting.LOSS_SEEDS)} seeds do not distinguish" in why
    assert f"Welch's t-test, {100 * judge.APART:.0f} %" in why
    said = " ".join(one.value for one in LEDGER.parameters)
    for number in (
        f"parking lots {setting.LOT_SEEDS[0]} to {setting.LOT_SEEDS[-1]}",
        f"dumbbells {setting.DUMBBELL_SEEDS[0]} to {setting.DUMBBELL_SEEDS[-1]}",
        f"transfers {setting.LOSS_SEEDS[0]} to {setting.LOSS_SEEDS[-1]}",
        f"starts at {setting.JOINS_S} s of {setting.LOT_S} s",
        f"{setting.FILE_B // 1000} kB",
        f"{vcp_scripts.WIRE_B} B on the wire: {vcp_scripts.DATA_B} B of data over TCP",
        f"{setting.DCCP_DATA_B} B over DCCP",
        f"t_rho {setting.T_RHO_MS} ms",
    ):
        assert number in said


def test_readings_are_labelled_by_their_choices() -> None:
    for reading in LEDGER.reading:
        assert replace(setting.DEFAULT, **reading.changes).label == reading.label


def test_a_reading_repeats_where_it_is_quick() -> None:
    """The dumbbells of the reading with VCP's codes in all three rules."""
    choices = setting.Choices(
        after_decrease="ignores-overload", on_loss="halves", average="samples"
    )
    row = experiments.TABLE.row(reading=choices.label)
    courses = {
        scheme: [
            measures.course(run(setting.dumbbell(scheme, choices=choices, seed=seed)).links)
            for seed in setting.DUMBBELL_SEEDS
        ]
        for scheme in SCHEMES
    }
    again = {
        test
        for test, one in judge.figures_3_and_5(courses).items()
        if LEDGER.expected(test).is_met_by(Measure.of(one).value)
    }
    assert again == {name for name in row.met if name.startswith(("fig3", "fig5"))}


def test_verdicts_on_the_parking_lot_are_of_means_over_seeds(li2009: Reproduced) -> None:
    cells = {
        FLOWS: {name: (one["ours"], one["conditions"]) for name, one in li2009.cells.items()},
        setting.AGGREGATES: {
            name: (one.value, one.conditions) for name, one in li2009.sections["unjudged"].items()
        },
    }
    for reading in READINGS:
        lots = stored.lots(DPCP, reading)
        assert [lot.seed for lot in lots] == list(setting.LOT_SEEDS) == list(range(1, 9))
        for period, value in (("before", 50), ("after", 25)):
            ours, conditions = cells[reading][f"fig2c-{period}"]
            shares = [getattr(lot, f"l0_long_{period}") for lot in lots]
            assert ours == pytest.approx(np.mean(shares))
            assert conditions["mean"] == average(shares).text
            matching = sum(abs(share - value) <= 10 for share in shares)
            assert conditions["seeds that match"] == f"{matching} of 8"


def test_values_of_the_law_are_those_published() -> None:
    """Before: 30 / L = 30 / (4 - L), so 2 Mbps. One sender each: 1 / L = 3 / (4 - L), so 1."""
    assert measures.law_percent(FLOWS, joined=False) == pytest.approx((50, 100))
    assert measures.law_percent(setting.AGGREGATES, joined=False) == pytest.approx((25, 50))
    # After, with one sender each, 5 L^2 - 16 L + 8 = 0.
    one_each = measures.law_percent(setting.AGGREGATES, joined=True)
    assert one_each[1] == pytest.approx(100 * (16 - math.sqrt(96)) / 10 / 2)
    thirty = measures.law_percent(FLOWS, joined=True)[0] / 100 * 4
    assert 30 / thirty == pytest.approx(3 * 10 / (4 - thirty) + 10 / (2 - thirty))
    # Many senders of Long: L2 without Local limits them.
    many = replace(FLOWS, long=1000, local=1)
    assert measures.law_percent(many, joined=False) == pytest.approx((50, 100))


def test_values_out_of_reach_of_one_sender_each_are_those_of_the_law(li2009: Reproduced) -> None:
    """DPCP does not meet them with one; with 30 and 10 it is near the law, before and after."""
    page = " ".join(html.unescape(li2009.page).split())
    assert "With one sender for each aggregate it is 25 % and 50 % before." in page
    for name in ("fig2c-before", "fig2d-before"):
        assert name not in li2009.sections["would_match"]
    for joined, period in ((False, "before"), (True, "after")):
        ours = li2009.cells[f"fig2c-{period}"]["ours"]
        assert ours == pytest.approx(measures.law_percent(FLOWS, joined=joined)[0], abs=2)


def test_the_finding_has_the_shares_and_times(li2009: Reproduced) -> None:
    finding = li2009.document["finding"]
    found = li2009.cells["fig2c-before"]
    assert f"{found['ours']:.0f} % of a link" in finding
    assert f"the paper expects {found['published']:.0f} % and has 6 %" in finding
    slow, fast = (LEDGER.published(f"fig3/{name}-transition") for name in ("vcp", "dpcp"))
    assert f"(published: {slow / fast:.0f} times)" in finding
    used = li2009.cells["fig3/utilisation"]["conditions"]
    assert used["DPCP (%)"] < used["VCP (%)"]
    assert f"{used['DPCP (%)']:.0f} % of the link" in finding
    assert "ns-2 has neither protocol" in html.unescape(li2009.page)


def test_ns2_has_no_part_in_it(li2009: Reproduced) -> None:
    assert li2009.document["comparison"] == []
    page = li2009.page
    assert "Comparison with ns-2" not in page
    assert "has neither VCP nor MPCP" in page


def test_the_report_shows_both_readings_and_all_figures(li2009: Reproduced) -> None:
    page = html.unescape(li2009.page)
    for reading in READINGS:
        assert reading.label in page
    for name in [
        "finding",
        "figure2",
        "figure2-aggregates",
        "figure3",
        "figure4",
        "figure5",
        "interval",
    ]:
        assert (li2009.directory / "figures" / f"{name}.png").is_file()
    assert (li2009.directory / "series" / "lot-dpcp-flows-link_flows.csv").is_file()
    assert (li2009.directory / "scenarios" / "loss30-dpcp-dccp.json").is_file()


def test_the_parking_lot_is_the_papers() -> None:
    document = setting.lot(DPCP, FLOWS).normalised()
    assert document["duration"] == "3000 s"
    assert [link["rate"] for link in document["links"]] == ["4 Mbps", "4 Mbps", "2 Mbps", "4 Mbps"]
    assert all(link["delay"] == "250 ms" for link in document["links"])
    # A bandwidth-delay product over 500 ms there and back, or two packets for each of 40 flows.
    buffers = [link["queue"]["vcp"]["packets"] for link in document["links"]]
    assert buffers == [240, 240, 120, 240]
    late = [flow["name"] for flow in document["flows"] if flow["start"] == "1000 s"]
    assert late == [f"local2-{number}" for number in range(1, 11)]
    assert sum(flow["name"].startswith("long-") for flow in document["flows"]) == 30
    assert len(document["flows"]) == 30 + 4 * 10


def test_protocols_differ_in_their_chains_alone() -> None:
    """One setting for all verdicts: nothing is chosen per value."""
    documents = []
    for scheme in SCHEMES:
        document = setting.lot(scheme, setting.AGGREGATES).normalised()
        document.pop("name")
        for link in document["links"]:
            assert link["queue"]["vcp"].pop("chain") == scheme.packets
            link["queue"]["vcp"].pop("flows", None)
        for flow in document["flows"]:
            rules = flow["transport"]["tcp"]["vcp"]
            assert rules.pop("chain", 1) == scheme.packets
            assert rules.pop("on_loss") == ("halves" if scheme == VCP else "ignores")
            assert rules["after_decrease"] == "holds"
            assert not rules.pop("limits", False)
            assert rules.pop("acts", "at-once") == "at-once"
            assert rules["interval"] == "200 ms"
        documents.append(document)
    assert all(document == documents[0] for document in documents)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_shares_of_a_short_parking_lot(scheme: setting.Scheme, reading: setting.Reading) -> None:
    """A hundredth of the run: what is carried is shared out, and no more than a link's rate is."""
    links = measures.series(run(setting.lot(scheme, reading, scale=0.01)))
    for series in links.values():
        assert series.time_s == pytest.approx(np.arange(1, 301) / 10)
        assert series.long_bps.shape == (300, reading.long)
        assert series.local_bps.shape[1] == reading.local
        for period in ((2.0, 10.0), (12.0, 30.0)):
            split = series.split(period)
            assert 0 <= split.long_percent <= 100
            assert 0 < split.utilisation_percent <= 100.1
            assert split.local_over_long == pytest.approx(100 / split.long_percent - 1)
            for index, count in (
                (split.jain_of_aggregates, 2),
                (split.jain_of_flows, reading.long + reading.local),
            ):
                assert 1 / count - 1e-9 <= index <= 1 + 1e-9
    joined = links["L2"].local_bps.sum(axis=1)
    assert not joined[:100].any(), "Local of L2 starts at 10 s here"
    assert joined[150:].any()


def test_max_min_shares() -> None:
    """What the paper calls ideal is that of one sender for each aggregate."""
    ideal = {
        reading: [measures.ideal_percent(reading, joined=joined) for joined in (False, True)]
        for reading in READINGS
    }
    assert ideal[setting.AGGREGATES] == [
        {
            link: LEDGER.published(f"fig2{panel}-{period}")
            for link, panel in (("L0", "c"), ("L2", "d"))
        }
        for period in ("before", "after")
    ]
    assert ideal[FLOWS] == [{"L0": 50, "L2": 100}, {"L0": 37.5, "L2": 75}]


def test_the_transition_ends_with_nine_tenths_of_the_steady_utilisation() -> None:
    """Nothing for 10 s, half of the link from then on: ten samples of half are a second."""
    samples = round(setting.DUMBBELL_S / setting.QUEUE_SAMPLE_S)
    columns = {
        "time_s": np.arange(1, samples + 1) * setting.QUEUE_SAMPLE_S,
        "throughput_bps": [0.0] * 100 + [2e6] * (samples - 100),
        "queue_packets": [0, 4] * (samples // 2),
    }
    half = measures.course(pa.table(columns)).outcome
    assert half.utilisation == pytest.approx(50)
    assert half.transition_s == pytest.approx(10.9)
    assert math.isnan(half.full_s)
    assert half.queue == pytest.approx(2)
    assert half.queue_deviation == pytest.approx(2)
    assert half.queue_change == pytest.approx(4)


def test_dpcp_is_quicker_than_vcp() -> None:
    """Figure 3, in one run each."""
    vcp, dpcp = (
        measures.course(run(setting.dumbbell(scheme)).links).outcome for scheme in (VCP, DPCP)
    )
    assert dpcp.transition_s < vcp.transition_s / 2


@pytest.mark.parametrize("carrier", setting.CARRIERS, ids=lambda carrier: carrier.name)
def test_a_transfer_ends_when_all_has_arrived(carrier: setting.Carrier) -> None:
    results = run(setting.transfer(carrier, 5, 1))
    end_s = measures.done_s(results)
    arrived = results.flows["delivered_bytes"].to_numpy()
    times = results.flows["time_s"].to_numpy()
    assert arrived[times <= end_s].sum() >= setting.FILE_B
    assert arrived[times < end_s].sum() < setting.FILE_B
    if carrier.transport == "tcp":
        assert arrived.sum() == setting.FILE_B


@pytest.mark.parametrize("carrier", setting.CARRIERS, ids=lambda carrier: carrier.name)
def test_data_are_as_large_over_either_transport(carrier: setting.Carrier) -> None:
    scenario = setting.transfer(carrier, 0, 1, packets=True)
    scenario.duration = Duration("5 s")
    sizes = run(scenario).tables["packets"].to_pandas()["bytes"]
    # In the handshake of DCCP some carry an acknowledgement too.
    assert sizes[sizes > vcp_scripts.DATA_B].mode()[0] == vcp_scripts.WIRE_B


def test_a_transfer_that_is_not_done_counts_as_its_run() -> None:
    scenario = setting.transfer(DPCP_TCP, 0, 1)
    done = run(scenario)
    scenario.duration = Duration("2 s")
    undone = run(scenario)
    several = measures.transfer_times([undone, done])
    assert several.undone == 1
    assert several.seconds == [2, measures.done_s(done)]
    assert several.mean_s.value == np.mean(several.seconds)
    assert measures.transfer_times([undone, undone]).mean_s.margin == 0


def test_the_fall_back_to_vcp_is_seen_in_headers(li2009: Reproduced) -> None:
    """None of the segments without loss; from 30 % on most of them."""
    transfers = li2009.sections["measured"].ours.transfers[DPCP_TCP]
    shares = {percent: found.vcp_share for percent, found in transfers.items()}
    assert list(shares) == list(setting.LOSS_PERCENT)
    assert shares[0].value + shares[0].margin < 0.01
    assert all(shares[percent].value > 0.5 for percent in (30, 35, 40, 45))


@pytest.mark.parametrize(
    ("places", "share"), [("first second", 0), ("first", 1), ("first first first second", 0.5)]
)
def test_every_segment_in_vcps_mode_says_that_it_is_the_first(places: str, share: float) -> None:
    """Of data that are sent, that is: what arrives and acknowledgements do not count."""
    numbers = [(2, 1) if place == "first" else (1, 2) for place in places.split()]
    rows = [
        {"event": event, "kind": kind, "seq": seq, "ack": ack}
        for event, kind in (("send", "TCP data"), ("deliver", "TCP data"), ("send", "TCP ACK"))
        for seq, ack in (numbers if (event, kind) == ("send", "TCP data") else [(2, 1)])
    ]
    assert measures.vcp_share(pa.Table.from_pylist(rows)) == share
    assert math.isnan(measures.vcp_share(pa.Table.from_pylist(rows[len(numbers) :])))


def test_the_knee_is_the_last_loss_rate_without_an_effect() -> None:
    flat = dict.fromkeys(setting.LOSS_PERCENT, 10.0)
    assert judge.knee_percent(flat) == setting.LOSS_PERCENT[-1]
    bent = {percent: 10.0 if percent <= 30 else 40.0 for percent in flat}
    assert judge.knee_percent(bent) == 30
    assert judge.knee_percent({**bent, 5: 16.0}) == 0


def test_loads_are_of_routers_intervals() -> None:
    """A link that is always full and drops nothing has the load 1 / gamma without its queue."""
    scenario = setting.dumbbell(VCP, replace(setting.PAPER_NETWORK, flows=5))
    scenario.probes = Probes(interval="200 ms", links=(setting.BOTTLENECK,))
    links = run(scenario).links
    found = measures.load(links)[250:]
    queue = links["queue_bytes"].to_numpy()[250:]
    without = found - 0.5 * queue / (0.98 * 4e6 / 8 * 0.2)
    assert without.mean() == pytest.approx(1 / 0.98, rel=0.01)


def test_what_the_routers_measure(li2009: Reproduced) -> None:
    """Long has to yield to three links; a few of its windows are large, most are a few packets."""
    found = li2009.sections["measured"].loads[DPCP, FLOWS]
    assert found.any_overload_percent > 1.5 * found.overload_percent
    assert found.long_median_cwnd < 2
    assert found.long_cwnd > 3 * found.long_median_cwnd


def assert_alike(again: object, before: object) -> None:
    for name, value in vars(before).items():
        if is_dataclass(value):
            assert_alike(getattr(again, name), value)
        elif isinstance(value, str):
            assert getattr(again, name) == value
        else:
            assert getattr(again, name) == pytest.approx(value, rel=1e-4, nan_ok=True), name


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (stored.SWEEP, [stored.SWEEP.given[1], ("target range", setting.PAPER_NETWORK, DPCP)]),
        (stored.SHORT, stored.SHORT.given[:1]),
        (stored.DUMBBELLS, stored.DUMBBELLS.given[::8]),
        (stored.LOTS, ()),
        (today.LOTS, today.LOTS.given[:1]),
    ],
    ids=["sweep", "short", "dumbbells", "lots", "today"],
)
def test_stored_rows_are_what_they_give(table: Table[Any, Any], keys: Sequence[object]) -> None:
    """Those of parking lots take long; the report runs some of them."""
    rows = table.read()
    assert len(rows) == len(table.given)
    for key in keys:
        assert_alike(table.make(key), rows[table.given.index(key)])


@pytest.fixture(scope="module")
def flows() -> dict[str, Results]:
    scenarios = single.scenarios()
    return dict(zip(scenarios, run_many(scenarios.values()), strict=True))


def test_rows_of_parking_lots_are_of_the_given_ones() -> None:
    assert [(row.reading, row.seed) for row in stored.SHORT.read()] == [
        (reading.name, seed) for reading, seed in stored.SHORT.given
    ]
    assert [(row.scheme, row.reading, row.choices, row.seed) for row in stored.LOTS.read()] == [
        (scheme.name, reading.name, choices.label, seed)
        for scheme, reading, choices, seed in stored.LOTS.given
    ]


def test_levels_are_of_chains_that_headers_show(flows: dict[str, Results]) -> None:
    """Without losses, every other segment has seq > ack, and the first has."""
    for scheme in SCHEMES:
        assert not any(flows[scheme.name].links["drops"].to_pylist())
    packets = flows["dpcp"].tables["packets"].to_pandas()
    data = packets[(packets.event == "receive") & (packets.kind == "TCP data")]
    first = (data["seq"] > data["ack"]).to_list()
    assert first[::2] == [True] * len(first[::2])
    assert first[1::2] == [False] * len(first[1::2])
    assert single.levels_of(flows["dpcp"], DPCP) == set(itertools.product((1, 2, 3), repeat=2)) - {
        (3, 3)
    }
    assert len(single.levels_of(flows["ten"], DPCP)) == 9


def test_losses_make_a_sender_fall_back_and_resume(flows: dict[str, Results]) -> None:
    """Otherwise that it has resumed would say nothing."""
    assert measures.vcp_share(flows["losses"].packets) > 0.01
    assert single.measure(flows)["3.4/resumes"] == 0


def test_a_first_response_takes_at_least_a_round_trip(flows: dict[str, Results]) -> None:
    found = single.measure(flows)
    for test in single.RESPONSES:
        assert 1 <= found[test] < 1.1


NEAR = replace(setting.PAPER_NETWORK, rtt_ms=200)
FIVE, TEN = (replace(setting.PAPER_NETWORK, flows=flows) for flows in (5, 10))


def test_the_report_says_of_parking_lots_what_was_stored() -> None:
    """VCP's limits keep Long down, as the wait for t_rho does after; 500 ms make VCP even."""
    for reading in READINGS:
        for name in ("l0_long_before", "l0_long_after"):
            usual = getattr(stored.lot(DPCP, reading), name)
            assert getattr(stored.lot(DPCP, reading, stored.LIMITS), name) < usual - 9
        early = stored.lot(DPCP, reading, stored.AT_ONCE)
        assert early.l0_long_after < stored.lot(DPCP, reading).l0_long_after - 10
    assert stored.lot(VCP, FLOWS, stored.SLOW).l0_long_before == pytest.approx(50, abs=5)
    slow = stored.lot(DPCP, FLOWS, stored.SLOW)
    max_min = measures.ideal_percent(FLOWS, joined=True)
    assert slow.l0_long_after > max_min["L0"]
    assert slow.l2_long_after > max_min["L2"]
    # With one sender of VCP each no variant has the published split.
    rows = stored.LOTS.rows(scheme=VCP.name, reading=setting.AGGREGATES.name)
    highest = max(row.l0_local_over_long for row in rows)
    assert highest < LEDGER.published("fig2a")
    assert not LEDGER.expected("fig2a").is_met_by(highest)


def test_two_matches_on_the_parking_lot_say_less_than_they_seem_to() -> None:
    """VCP's 15 to 1 mixes two ratios; one sender of DPCP hardly notices that L2's Local starts."""
    published = LEDGER.published("fig2a")
    before, after = stored.long_percent(VCP, FLOWS)[0]
    assert 100 / before - 1 < published / 1.5
    assert 100 / after - 1 > published * 2
    before, after = stored.long_percent(DPCP, setting.AGGREGATES)[0]
    assert after > before - 3


def test_the_text_on_lossy_transfers_says_what_was_measured(li2009: Reproduced) -> None:
    """Over TCP, timeouts and times grow with VCP as with DPCP; DPCP falls back long before 35 %."""
    measured = li2009.sections["measured"]
    transfers = measured.ours.transfers
    for carrier in setting.CARRIERS:
        found = transfers[carrier].values()
        if carrier.transport == "tcp":
            for values in (
                [times.timeouts for times in found],
                [times.mean_s.value for times in found],
            ):
                assert values == sorted(values)
    assert transfers[DPCP_TCP][15].vcp_share.value > 0.5
    dccp = transfers[setting.DPCP_DCCP]
    assert dccp[45].timeouts > 0
    assert not any(dccp[percent].timeouts for percent in dccp if percent <= 40)
    assert dccp[45].mean_s.margin > dccp[45].mean_s.value / 3


def test_arithmetic_of_answers() -> None:
    """How long VCP doubles, how often a gigabyte changes the order, and all of eight packets."""
    assert setting.T_RHO_MS / 1e3 * math.log(2, 1 + 1 / 16) == pytest.approx(2.3, abs=0.05)
    neither = (1 - 1e9 / 2**32) ** 2
    assert neither == pytest.approx(0.6, abs=0.02)
    all_eight = 8 * sum(1 / seen for seen in range(1, 9))
    assert f"after {all_eight:.1f} on average" in LEDGER.reason["binary-logarithm"].text


def test_dpcps_lead_is_smaller_than_published_on_every_dumbbell() -> None:
    slow, fast = (LEDGER.published(f"fig3/{name}-transition") for name in ("vcp", "dpcp"))
    for network in stored.NETWORKS:
        vcp, dpcp = (stored.outcome(scheme, network).transition_s for scheme in (VCP, DPCP))
        assert 2.5 < vcp / dpcp < slow / fast - 1
    assert stored.outcome(DPCP, TEN).queue < stored.outcome(VCP, TEN).queue / 5


def test_reasons_on_the_dumbbell_say_what_was_stored() -> None:
    for network in (NEAR, TEN):
        assert stored.outcome(DPCP, network).transition_s <= 4
    # TPCP's queue is the smoother one with five flows, by both measures.
    for name in ("queue_deviation", "queue_change"):
        tpcp, dpcp = (getattr(stored.outcome(one, FIVE), name) for one in (TPCP, DPCP))
        assert tpcp < dpcp
    # Senders that wait for t_rho use more of the link; VCP's and DPCP's are alike with 200 ms.
    for scheme in (VCP, DPCP):
        early = stored.outcome(scheme, choices=stored.AT_ONCE)
        assert early.utilisation > stored.outcome(scheme).utilisation + 10
    near = [stored.outcome(scheme, NEAR).utilisation for scheme in (VCP, DPCP)]
    assert near[0] == pytest.approx(near[1], abs=1)
    slow = stored.outcome(DPCP, choices=stored.SLOW)
    assert slow.utilisation > stored.outcome(VCP).utilisation


def test_clumps_of_tpcp_are_the_higher_ones() -> None:
    """The queue is empty most of the time, as the reason has it."""
    courses = [measures.course(run(setting.dumbbell(scheme)).links) for scheme in (DPCP, TPCP)]
    dpcp, tpcp = (course.queue_packets[course.time_s > setting.STEADY_FROM_S] for course in courses)
    assert (dpcp == 0).mean() > 0.5
    assert (tpcp == 0).mean() > 0.5
    assert tpcp.max() > dpcp.max()


def test_reasons_on_other_networks_say_what_was_stored() -> None:
    swept = {(row.group, *astuple(row.network), row.scheme): row for row in stored.SWEEP.read()}
    # The first windows of 50 flows fill 5 and 10 Mbps at once.
    for mbps in (5.0, 10.0):
        for scheme in SCHEMES:
            assert swept["as in [18]", mbps, 80, 50, scheme.name].transition_s < 1.2
    for scheme in (VCP, DPCP):
        assert swept["as in [18]", 45.0, 20, 50, scheme.name].transition_s < 2
    # Many flows of VCP on a slow link fill its queue; those of DPCP do not.
    for point in (("as in [18]", 5.0, 80, 50), ("target range", 4.0, 500, 10)):
        assert swept[*point, "vcp"].queue_percent > 50
        assert swept[*point, "vcp"].loss_percent > 1
        assert swept[*point, "dpcp"].queue_percent < 10
        assert swept[*point, "dpcp"].loss_percent == 0
    # TPCP grows faster than DPCP where round-trip times are below t_rho.
    for key, row in swept.items():
        if row.scheme == DPCP.name and row.network.rtt_ms < setting.T_RHO_MS:
            assert swept[*key[:-1], TPCP.name].transition_s <= row.transition_s


def test_stored_parking_lots_are_what_they_give(li2009: Reproduced) -> None:
    """Those with the default choices and the first seed, which the report runs as well."""
    series = li2009.sections["measured"].series
    assert len(series) == 2 * len(READINGS)
    for (scheme, reading), links in series.items():
        key = (scheme, reading, setting.DEFAULT, setting.LOT_SEED)
        assert_alike(stored.lot_outcome(key, links), stored.lot(scheme, reading))


def test_transmission_that_switches_paths_overtakes() -> None:
    """Segments sent over the shorter path arrive before those that were sent over the longer."""
    plan = single.scenarios()["paths"]
    packets = run(plan).tables["packets"].to_pylist()
    arrived = [
        (row["seq"], row["ack"])
        for row in packets
        if (row["event"], row["kind"], row["place"]) == ("receive", "TCP data", "ftp1 receiver")
    ]
    numbers = np.array([next(iter(set(pair) - set(arrived[0])), 0) for pair in arrived[2:]])
    late = numbers < np.maximum.accumulate(numbers)
    assert late.sum() > 50


def test_over_dccp_the_chain_is_in_the_ccid() -> None:
    document = setting.transfer(setting.DPCP_DCCP, 0, 1).normalised()
    assert document["flows"][0]["transport"]["dccp"]["ccid"] == 249


def test_todays_tcp_meets_the_papers_networks_without_its_routers() -> None:
    for control, seed in today.LOTS.given:
        lot, papers = today.lot(control, seed), setting.lot(VCP, FLOWS, seed=seed)
        assert [link.queue for link in lot.links] == [
            DropTail(packets=queue["vcp"]["packets"])
            for queue in (link["queue"] for link in papers.normalised()["links"])
        ]
        assert all(
            isinstance(flow.transport, Tcp) and flow.transport.control == control
            for flow in lot.flows
        )
        assert len(lot.flows) == len(papers.flows)
    for key, scenario in today.plan().items():
        is_plain = isinstance(setting.network_of(scenario).queue, DropTail)
        assert is_plain == (key[0] in today.CONTROLS)
        assert f"-{key[0]}-" in scenario.name
        assert VCP.name not in scenario.name


def with_sack(scenario: Scenario) -> Scenario:
    """Return a transfer whose TCP has the recovery SACK instead of RACK-TLP."""
    (flow,) = scenario.flows
    tcp = flow.transport.replace(recovery="sack", forward_rto=False)
    return scenario.replace(flows=[flow.replace(transport=tcp)])


def test_the_answer_with_todays_tcp_is_what_the_text_says(li2009: Reproduced) -> None:
    measured = li2009.sections["measured"]
    dpcp = measured.ours.dumbbells[DPCP]
    for courses in measured.courses.values():
        one, other = (today.outcome(found, "transition_s") for found in (courses, dpcp))
        assert one.high < other.low, "as fast as DPCP"
        assert today.outcome(courses, "utilisation").value > 90
        assert today.outcome(courses, "queue").low > 4 * today.outcome(dpcp, "queue").high
    queues = [today.outcome(found, "queue").value for found in measured.courses.values()]
    assert queues[0] > 3 * queues[1], "CUBIC's is the long one"
    takes = {name: found[30].mean_s for name, found in measured.transfers.items()}
    of_report = measured.ours.transfers[DPCP_TCP][30].mean_s
    assert max(takes.values(), key=lambda one: one.value).high < of_report.value
    assert takes["bbr"].high < takes["cubic"].low
    knee, beyond = (measured.transfers[today.DPCP_LINUX][percent] for percent in (30, 35))
    assert 10 * knee.median_s < beyond.median_s
    assert knee.median_s < min(measured.transfers["bbr"][30].seconds)
    assert max(knee.seconds) > 180, "can cost minutes"
    assert f"{knee.median_s:.3g} s, and {beyond.median_s:.3g} s at 35 %" in li2009.page
    plan = today.plan()
    without_rack = measures.transfer_times(
        [run(with_sack(plan[today.DPCP_LINUX, 30, seed])) for seed in setting.LOSS_SEEDS]
    )
    assert without_rack.mean_s.low > 10 * knee.median_s
    for control in today.CONTROLS:
        lots = today.LOTS.rows(control=control)
        assert len(lots) == len(setting.LOT_SEEDS)
        for period in ("before", "after"):
            found, vcp, dpcp = (
                today.long_percent(one, period)
                for one in (lots, stored.lots(VCP, FLOWS), stored.lots(DPCP, FLOWS))
            )
            assert vcp.value < found.value
            assert found.value < dpcp.value
            assert found.high < dpcp.low or (control, period) == ("cubic", "before")
            assert f"{found.text} " in li2009.page
