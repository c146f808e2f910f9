"""Li and Yousefi'zadeh 2009: the parking lot, the dumbbell and lossy transfers of MPCP."""

from __future__ import annotations

import html
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from conftest import Reproduced, assert_figures_are_whole
from skywave import Probes, run
from skywave.papers import vcp_scripts
from skywave.papers.cells import Limit, WithinUnits
from skywave.papers.li2009 import (
    cells,
    dumbbell,
    experiments,
    loads,
    lossy,
    parking,
    published,
    rules,
    setting,
    tried,
)
from skywave.papers.li2009 import variants as varied
from skywave.papers.li2009.setting import (
    AGGREGATES,
    CARRIERS,
    DPCP,
    DPCP_DCCP,
    DPCP_TCP,
    FLOWS,
    READINGS,
    SCHEMES,
    VCP,
)
from skywave.quantities import Duration
from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


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
        "fig2b/aggregates",
        # By the seed: see test_prose.
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


def test_readings_are_those_declared_and_the_first_is_that_of_the_verdicts(
    li2009: Reproduced,
) -> None:
    rows = tried.TABLE.read()
    assert [row.choices for row in rows] == [choices.label for choices in tried.CHOICES]
    assert set(tried.RULES) == {rule for row in rows[1:] for rule in row.choices.split(", ")}, (
        "each rule has its sentence"
    )
    first = rows[0]
    assert tried.CHOICES[0] == setting.DEFAULT
    matching = {name for name, cell in li2009.cells.items() if cell["verdict"] == "match"}
    assert first.fewest <= len(matching) <= first.most
    assert _beyond_figure_2(first.cells.split()) == _beyond_figure_2(matching)
    for row in rows:
        assert row.matches == len(row.cells.split())
        assert row.choices in html.unescape(li2009.page)


def _beyond_figure_2(names: Iterable[str]) -> set[str]:
    """Return the values whose runs have one seed, or all of them, in both tables."""
    return {name for name in names if not name.startswith("fig2")}


def test_a_reading_repeats_where_it_is_quick() -> None:
    """The dumbbells of the reading with all three rules."""
    [(choices, row)] = [
        (choices, row)
        for choices, row in zip(tried.CHOICES, tried.TABLE.read(), strict=True)
        if choices
        == replace(setting.DEFAULT, after_decrease="holds", on_loss="ignores", average="means")
    ]
    runs = experiments.dumbbells(choices)
    courses = experiments.courses(dict(zip(runs, run_many(runs.values()), strict=True)))
    ours = cells.Ours(lots={}, dumbbells=courses, transfers={})
    judged = [*cells.figure_3(ours, varied.DUMBBELLS.read()), *cells.figure_5(ours)]
    again = {cell.id for cell in judged if cell.verdict == "match"}
    assert again == {name for name in row.cells.split() if name.startswith(("fig3", "fig5"))}


def test_verdicts_on_the_parking_lot_tell_of_other_seeds(li2009: Reproduced) -> None:
    """Stored; the first of the seeds is that of the verdict."""
    assert varied.LOT_SEEDS[0] == setting.LOT_SEED
    for reading in READINGS:
        for period, matching in zip(
            ("before", "after"),
            rules.matching_seeds(varied.LOTS.read(), reading),
            strict=True,
        ):
            cell = li2009.cells[f"fig2c-{period}/{reading.name}"]
            assert cell["conditions"]["seeds that match"] == f"{matching} of 4"
            if matching in (0, 4):
                assert (cell["verdict"] == "match") == (matching == 4)


def test_ns2_has_no_part_in_it(li2009: Reproduced) -> None:
    assert li2009.document["comparison"] == []
    page = li2009.page
    assert "Comparison with ns-2" not in page
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
    scenario.duration = Duration("5 s")
    sizes = run(scenario).tables["packets"].to_pandas()["bytes"]
    # In the handshake of DCCP some carry an acknowledgement too.
    assert sizes[sizes > vcp_scripts.DATA_B].mode()[0] == vcp_scripts.WIRE_B


def test_a_transfer_that_is_not_done_counts_as_its_limit() -> None:
    scenario = setting.transfer(DPCP_TCP, 45, 1)
    scenario.duration = Duration("5 s")
    found = lossy.transfer(run(scenario), DPCP_TCP, 45)
    assert not found.is_done
    assert found.seconds == setting.limit_s(DPCP_TCP, 45)
    several = lossy.times([found, replace(found, seconds=0.0, is_done=True)])
    assert several.undone == 1
    assert several.mean_s == found.seconds / 2
    assert lossy.times([found, found]).margin_s == 0


def test_the_fall_back_to_vcp_is_seen_in_headers(li2009: Reproduced) -> None:
    """None of the segments without loss; from 30 % on most of them."""
    shares = {row["percent"]: row["vcp_share"] for row in li2009.sections["transfers"]}
    assert list(shares) == list(setting.LOSS_PERCENT)
    assert shares[0].mean + shares[0].margin < 0.01
    assert all(shares[percent].mean > 0.5 for percent in (30, 35, 40, 45))


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
    assert lossy.vcp_share(pa.Table.from_pylist(rows)) == share
    assert math.isnan(lossy.vcp_share(pa.Table.from_pylist(rows[len(numbers) :])))


def times(seconds: dict[int, float]) -> dict[int, lossy.TransferTimes]:
    return {percent: lossy.TransferTimes([value], 0, 0) for percent, value in seconds.items()}


def test_the_knee_is_the_last_loss_rate_without_an_effect() -> None:
    flat = dict.fromkeys(setting.LOSS_PERCENT, 10.0)
    assert rules.knee_percent(times(flat)) == setting.LOSS_PERCENT[-1]
    bent = {percent: 10.0 if percent <= 30 else 40.0 for percent in flat}
    assert rules.knee_percent(times(bent)) == 30
    assert rules.knee_percent(times({**bent, 5: 16.0})) == 0


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
    stored = varied.DUMBBELLS.read()
    assert len(stored) == len(varied.DUMBBELL_KEYS)
    for key in varied.DUMBBELL_KEYS[::8]:
        again, before = varied.run_dumbbell(key), stored[varied.DUMBBELL_KEYS.index(key)]
        assert (again.scheme, again.choices) == (before.scheme, before.choices)
        for name in ("transition_s", "full_s", "utilisation", "queue", "queue_change"):
            value = getattr(before, name)
            assert getattr(again, name) == pytest.approx(value, rel=1e-4, nan_ok=True)


def test_stored_parking_lots_are_what_they_give(li2009: Reproduced) -> None:
    """Those with the default choices, which the report runs as well."""
    stored = varied.LOTS.read()
    assert len(stored) == len(varied.LOT_KEYS)
    rows = li2009.sections["readings"]
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


def test_over_dccp_the_chain_is_in_the_ccid() -> None:
    document = setting.transfer(DPCP_DCCP, 0, 1).normalised()
    assert document["flows"][0]["transport"]["dccp"]["ccid"] == 249
