"""Li and Yousefi'zadeh 2009: the parking lot, the dumbbell and lossy transfers of MPCP."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import Reproduced, assert_figures_are_whole
from skywave import Probes, run
from skywave.papers.cells import Limit, WithinUnits
from skywave.papers.li2009 import cells, dumbbell, loads, lossy, parking, published, setting
from skywave.papers.li2009 import variants as varied
from skywave.papers.li2009.setting import (
    AGGREGATES,
    CARRIERS,
    DEFAULT,
    DPCP,
    DPCP_DCCP,
    DPCP_TCP,
    FLOWS,
    READINGS,
    SCHEMES,
    TPCP,
    VCP,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def li2009(reproduced: Callable[[str], Reproduced]) -> Reproduced:
    return reproduced("li2009")


def test_every_published_number_is_judged(li2009: Reproduced) -> None:
    found = li2009.cells
    assert len(found) == len(li2009.document["cells"])
    expected = {
        "fig2a": 15,
        "fig2b": 0,
        "fig2c-before": 50,
        "fig2c-after": 25,
        "fig2d-before": 100,
        "fig2d-after": 50,
    }
    for reading in READINGS:
        for name, value in expected.items():
            assert found[f"{name}/{reading.name}"]["published"] == value
    assert found["fig3/vcp-transition"]["published"] == 20
    assert found["fig3/dpcp-transition"]["published"] == 4
    assert found["fig4/tcp-knee"]["published"] == found["fig4/dccp-knee"]["published"] == 30
    assert found["fig5/dpcp-queue"]["published"] == found["fig5/tpcp-queue"]["published"] == 3


def test_what_matches_and_what_does_not(li2009: Reproduced) -> None:
    """A change of behaviour shows here, and a mismatch keeps its reason."""
    matching = {name for name, cell in li2009.cells.items() if cell["verdict"] == "match"}
    assert matching == {
        "fig2a/flows",
        "fig2b/aggregates",
        # By the seed: test_reasons_say_what_was_stored.
        "fig2c-after/flows",
        "fig3/vcp-transition",
        "fig4/tcp-gap",
        "fig4/dccp-steeper",
        "fig4/dccp-faster",
        "fig5/dpcp-queue",
        "fig5/tpcp-queue",
        "fig5/higher",
    }
    for name, cell in li2009.cells.items():
        if name not in matching:
            assert len(cell["why"]) > 40, name
            assert cell["why"] != "not explained yet"


def test_ns2_has_no_part_in_it(li2009: Reproduced) -> None:
    assert li2009.document["comparison"] == []
    page = li2009.page
    assert "Beside ns-2" not in page
    assert "has neither VCP nor MPCP" in page


def test_the_report_is_whole(li2009: Reproduced) -> None:
    page = html.unescape(li2009.page)
    for parameter in setting.PARAMETERS:
        assert parameter.name in page
    for reading in READINGS:
        assert reading.label in page
    names = ("figure2", "figure2-aggregates", "figure3", "figure4", "figure5", "interval")
    for name in names:
        assert (li2009.directory / "figures" / f"{name}.png").is_file()
    assert (li2009.directory / "series" / "lot-dpcp-flows-link_flows.csv").is_file()
    assert (li2009.directory / "scenarios" / "loss30-dpcp-dccp.json").is_file()
    assert_figures_are_whole(li2009.directory)


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
        document = setting.lot(scheme, AGGREGATES).normalised()
        document.pop("name")
        for link in document["links"]:
            assert link["queue"]["vcp"].pop("chain") == scheme.packets
            link["queue"]["vcp"].pop("flows", None)
        for flow in document["flows"]:
            rules = flow["transport"]["tcp"]["vcp"]
            assert rules.pop("chain", 1) == scheme.packets
            assert not rules.pop("limits", False)
            assert rules.pop("acts", "at-once") == "at-once"
            assert rules["interval"] == "200 ms"
        documents.append(document)
    assert all(document == documents[0] for document in documents)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_shares_of_a_short_parking_lot(scheme: setting.Scheme, reading: setting.Reading) -> None:
    """A hundredth of the run: what is carried is shared out, and no more than a link's rate is."""
    results = run(setting.lot(scheme, reading, scale=0.01))
    for link in setting.SHOWN_LINKS:
        series = parking.series(results, link)
        assert series.time_s == pytest.approx(np.arange(1, 301) / 10)
        assert series.long_bps.shape == (300, reading.long)
        assert series.local_bps.shape[1] == reading.local
        for period in ((2.0, 10.0), (12.0, 30.0)):
            split = series.split(period)
            assert 0 <= split.long_percent <= 100
            assert 0 < split.utilisation_percent <= 100.1
            ratio = split.local_over_long
            assert ratio is not None
            assert ratio == pytest.approx(100 / split.long_percent - 1)
            for index, count in (
                (split.jain_of_aggregates, 2),
                (split.jain_of_flows, reading.long + reading.local),
            ):
                assert 1 / count - 1e-9 <= index <= 1 + 1e-9
    joined = parking.series(results, "L2").local_bps.sum(axis=1)
    assert not joined[:100].any(), "Local of L2 starts at 10 s here"
    assert joined[150:].any()


def test_max_min_shares() -> None:
    """What the paper calls ideal is that of one sender for each aggregate."""
    ideal = {
        reading.name: [
            parking.ideal(reading.long, reading.local, link, joined=joined)
            for link in ("L0", "L2")
            for joined in (False, True)
        ]
        for reading in READINGS
    }
    assert ideal["aggregates"] == [*published.DPCP_L0_PERCENT, *published.DPCP_L2_PERCENT]
    assert ideal["flows"] == [50, 37.5, 100, 75]


def course(bps: list[float], queue: list[float]) -> dumbbell.Course:
    time_s = np.arange(1.0, len(bps) + 1) * setting.QUEUE_SAMPLE_S
    return dumbbell.Course(time_s.astype(np.float64), np.array(bps), np.array(queue), 4e6)


def test_the_transition_ends_with_nine_tenths_of_the_steady_utilisation() -> None:
    """Nothing for 10 s, half of the link from then on: ten samples of half are a second."""
    samples = round(setting.DUMBBELL_S / setting.QUEUE_SAMPLE_S)
    half = course([0.0] * 100 + [2e6] * (samples - 100), [0.0, 4.0] * (samples // 2))
    assert half.steady_utilisation_percent == pytest.approx(50)
    assert half.transition_s == pytest.approx(10.9)
    assert half.full_s is None
    assert half.queue_mean == pytest.approx(2)
    assert half.queue_deviation == pytest.approx(2)
    assert half.queue_change == pytest.approx(4)


def test_dpcp_is_quicker_than_vcp() -> None:
    """Figure 3, in one run each."""
    vcp, dpcp = (dumbbell.course(run(setting.dumbbell(scheme))) for scheme in (VCP, DPCP))
    assert vcp.transition_s is not None
    assert dpcp.transition_s is not None
    assert dpcp.transition_s < vcp.transition_s / 2


@pytest.mark.parametrize("carrier", CARRIERS, ids=lambda carrier: carrier.name)
def test_a_transfer_ends_when_all_has_arrived(carrier: setting.Carrier) -> None:
    results = run(setting.transfer(carrier, 5, 1))
    found = lossy.transfer(results, carrier, 5)
    assert found.is_done
    arrived = results.flows["delivered_bytes"].to_numpy()
    times = results.flows["time_s"].to_numpy()
    assert arrived[times <= found.seconds].sum() >= setting.FILE_B
    assert arrived[times < found.seconds].sum() < setting.FILE_B
    if carrier.transport == "tcp":
        assert arrived.sum() == setting.FILE_B


@pytest.mark.parametrize("carrier", CARRIERS, ids=lambda carrier: carrier.name)
def test_data_are_as_large_over_either_transport(carrier: setting.Carrier) -> None:
    scenario = setting.transfer(carrier, 0, 1, packets=True)
    scenario.duration = "5 s"
    sizes = run(scenario).tables["packets"].to_pandas()["bytes"]
    # In the handshake of DCCP some carry an acknowledgement too.
    assert sizes[sizes > setting.DATA_B].mode()[0] == setting.WIRE_B


def test_a_transfer_that_is_not_done_counts_as_its_limit() -> None:
    scenario = setting.transfer(DPCP_TCP, 45, 1)
    scenario.duration = "5 s"
    found = lossy.transfer(run(scenario), DPCP_TCP, 45)
    assert not found.is_done
    assert found.seconds == setting.limit_s(DPCP_TCP, 45)
    several = lossy.times([found, replace(found, seconds=0.0, is_done=True)])
    assert several.undone == 1
    assert several.mean_s == found.seconds / 2
    assert lossy.times([found, found]).margin_s == 0


def test_the_fall_back_to_vcp_is_seen_in_headers() -> None:
    """None of the segments without loss, a good part of them with 35 %."""
    calm, lossy_share = (
        lossy.vcp_share(run(setting.transfer(DPCP_TCP, percent, 1, packets=True)))
        for percent in (0, 35)
    )
    assert calm == pytest.approx(0, abs=0.01)
    assert lossy_share is not None
    assert lossy_share > 0.2


def times(seconds: dict[int, float]) -> dict[int, lossy.Times]:
    return {percent: lossy.Times(value, 0, 0, 0) for percent, value in seconds.items()}


def test_the_knee_is_the_last_loss_rate_without_an_effect() -> None:
    flat = dict.fromkeys(setting.LOSS_PERCENT, 10.0)
    assert cells.knee_percent(times(flat)) == setting.LOSS_PERCENT[-1]
    bent = {percent: 10.0 if percent <= 30 else 40.0 for percent in flat}
    assert cells.knee_percent(times(bent)) == 30
    assert cells.knee_percent(times({**bent, 5: 16.0})) == 0


@pytest.mark.parametrize(
    ("rule", "value", "ours", "holds"),
    [
        (WithinUnits(10, "percentage points"), 50, 40, True),
        (WithinUnits(10, "percentage points"), 0, 10.5, False),
        (Limit("<="), 4, 4, True),
        (Limit("<"), 4, 4, False),
        (Limit("<"), 4, 3.9, True),
        (Limit("<="), 4, 4.1, False),
        (Limit(">"), 0, 0, False),
        (Limit(">"), 0, 0.1, True),
    ],
)
def test_a_rule_holds_where_it_says(
    rule: WithinUnits | Limit, value: float, ours: float, holds: bool
) -> None:
    assert rule.holds(value, ours) is holds
    assert rule.text


def test_loads_are_of_routers_intervals() -> None:
    """A link that is always full and drops nothing has the load 1 / gamma without its queue."""
    scenario = setting.dumbbell(VCP, replace(setting.PAPER_NETWORK, flows=5))
    scenario.probes = Probes(interval="200 ms", links=(setting.BOTTLENECK,))
    links = run(scenario).links
    found = loads.load(links, 4e6, 0.2)[250:]
    queue = links["queue_bytes"].to_numpy()[250:]
    without = found - 0.5 * queue / (0.98 * 4e6 / 8 * 0.2)
    assert without.mean() == pytest.approx(1 / 0.98, rel=0.01)


def test_why_long_gets_little(li2009: Reproduced) -> None:
    """As the reason has it: a few of its windows are large, most are a packet or two."""
    found = li2009.sections["loads"][DPCP, FLOWS]
    assert found.any_overload_percent > 1.5 * found.overload_percent
    assert found.long_median_cwnd < 2
    assert found.long_cwnd > 3 * found.long_median_cwnd


def test_stored_dumbbells_are_what_they_give() -> None:
    stored = varied.stored_dumbbells()
    assert len(stored) == len(varied.DUMBBELLS)
    for key in varied.DUMBBELLS[::8]:
        again, before = varied.run_dumbbell(key), stored[varied.DUMBBELLS.index(key)]
        assert (again.scheme, again.choices) == (before.scheme, before.choices)
        for name in ("transition_s", "full_s", "utilisation", "queue", "queue_change"):
            value = getattr(before, name)
            assert getattr(again, name) == pytest.approx(value, rel=1e-4, nan_ok=True)


def test_stored_parking_lots_are_what_they_give(li2009: Reproduced) -> None:
    """Those with the default choices, which the report runs as well."""
    stored = varied.stored_lots()
    assert len(stored) == len(varied.LOTS)
    rows = li2009.sections["lot_rows"]
    assert len(rows) == 2 * len(READINGS) * len(setting.SHOWN_LINKS)
    for row in rows:
        lot = varied.find(stored, row["scheme"], row["reading"])
        before, after = row["splits"]
        if row["link"] == "L0":
            expected = (lot.l0_long_before, lot.l0_long_after, lot.l0_utilisation_after)
            first = before.long_percent
        else:
            expected = (lot.l2_long_of_link_before, lot.l2_long_after, lot.l2_utilisation_after)
            first = before.long_of_link_percent
        found = (first, after.long_percent, after.utilisation_percent)
        assert found == pytest.approx(expected, rel=1e-4), row


def test_reasons_say_what_was_stored() -> None:
    lots, dumbbells = varied.stored_lots(), varied.stored_dumbbells()
    late = varied.find(lots, DPCP, FLOWS, varied.SLOW)
    said = f"throughout {late.l0_long_before:.1f} and {late.l0_long_after:.1f} %."
    assert said in cells.starved_reason(FLOWS, lots)
    # No choice gives one sender for each aggregate what is published, before and after.
    before, after = published.DPCP_L0_PERCENT
    for lot in lots:
        if (lot.scheme, lot.reading) == (DPCP.name, AGGREGATES.name):
            found = (lot.l0_long_before, lot.l0_long_after)
            assert not all(map(cells.NEAR.holds, (before, after), found))
    # VCP's limits keep Long down; waiting for whole chains is as published after, not before.
    default, limits, waits = (
        varied.find(lots, DPCP, FLOWS, choices)
        for choices in (DEFAULT, varied.LIMITS, varied.WAITS)
    )
    assert limits.l0_long_before < default.l0_long_before
    assert limits.l0_long_after < default.l0_long_after - 10
    assert cells.NEAR.holds(after, waits.l0_long_after)
    assert cells.NEAR.holds(published.DPCP_L2_PERCENT[1], waits.l2_long_after)
    assert not cells.NEAR.holds(before, waits.l0_long_before)
    # What Long has after is a matter of the seed, what it has before is not.
    others = [varied.find(lots, DPCP, FLOWS, seed=seed) for seed in varied.OTHER_SEEDS]
    assert {cells.NEAR.holds(after, other.l0_long_after) for other in others} == {False, True}
    assert not any(cells.NEAR.holds(before, other.l0_long_before) for other in others)
    vcp = varied.find(lots, VCP, FLOWS, varied.SLOW)
    assert vcp.l0_long_before == pytest.approx(50, abs=5)

    def row(scheme: setting.Scheme, **network: float) -> varied.Bottleneck:
        wanted = {"mbps": 4.0, "rtt_ms": 500.0, "flows": 1.0, **network}
        return next(
            row
            for row in dumbbells
            if row.scheme == scheme.name
            and row.choices == DEFAULT.label
            and all(getattr(row, name) == value for name, value in wanted.items())
        )

    for network in ({"rtt_ms": 200.0}, {"flows": 10.0}):
        assert row(DPCP, **network).transition_s <= 4
    for name in ("queue_deviation", "queue_change"):
        dpcp, tpcp = ([getattr(row(s, flows=n), name) for n in (2.0, 10.0)] for s in (DPCP, TPCP))
        assert tpcp[0] < dpcp[0]
        assert tpcp[1] > dpcp[1]
    for network in ({}, {"mbps": 2.0}, {"mbps": 10.0}, {"rtt_ms": 200.0}, {"rtt_ms": 1000.0}):
        assert 3 < row(VCP, **network).transition_s / row(DPCP, **network).transition_s < 4
    # In proportion to its mean TPCP's queue deviates less.
    assert row(TPCP).queue_deviation / row(TPCP).queue < row(DPCP).queue_deviation / row(DPCP).queue
    # More of the link than VCP, where t_rho is a round-trip time.
    slow = next(r for r in dumbbells if (r.scheme, r.choices) == (DPCP.name, varied.SLOW.label))
    assert slow.utilisation > row(VCP).utilisation
    assert slow.queue < row(VCP).queue / 8


def test_over_dccp_the_chain_is_in_the_ccid() -> None:
    document = setting.transfer(DPCP_DCCP, 0, 1).normalised()
    assert document["flows"][0]["transport"]["dccp"]["ccid"] == 249
