"""What templates and reasons say in words is what stored tables, or a run, say in numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from skywave.matrix.networks import NETWORKS, Network
from skywave.papers import li2009
from skywave.papers.chen2010 import sweep
from skywave.papers.chen2010.analysis import Model, critical_h, stability_map
from skywave.papers.li2009 import cells, variants
from skywave.papers.li2009.lossy import Times
from skywave.papers.li2009.setting import DPCP, LOSS_PERCENT, PAPER_NETWORK, VCP
from skywave.papers.sarwar2008 import downloads, live
from skywave.papers.sarwar2008.access import PACKET_ERROR_RATE
from skywave.papers.sarwar2008.published import TABLE_1
from skywave.quantities import seconds
from skywave.scenario import Bernoulli
from skywave.simulate import run_many


def test_the_map_is_of_single_models() -> None:
    flows = np.array([1, 200])
    table = stability_map(np.array([0.05, 0.5]), flows, 0.2)
    for row, count in zip(table, flows, strict=True):
        for found, rtt_s in zip(row, (0.05, 0.5), strict=True):
            model = Model(flows=int(count), propagation_s=rtt_s, queuing_s=0.0)
            assert found == pytest.approx(critical_h(model, model.control_rtt_s + 0.2))
    assert math.isinf(critical_h(Model(), 0.0)), "without a delay nothing is unstable"


def test_sweeps_go_as_the_report_says() -> None:
    found = {(one.sweep, one.x, one.router): one for one in sweep.stored()}
    marking: tuple[sweep.Router, ...] = ("codel", "pie")
    # A share of hardly a packet: VCP's queue is full, and it loses more than TCP with marks.
    for point in (("capacity", 2.0), ("flows", 1000.0)):
        vcp = found[*point, "vcp"]
        assert vcp.queue_share > 0.9
        assert all(vcp.drop_percent > found[*point, router].drop_percent for router in marking)
    # The code's scaling loses packets where the paper's does not yet.
    for point in (("capacity", 10.0), ("flows", 100.0), ("rtt", 200.0)):
        assert found[*point, "vcp-ns2"].drop_percent > 5
        assert found[*point, "vcp"].drop_percent == 0
    used = {key: one.utilisation for key, one in found.items() if key[0] == "rtt"}
    assert used["rtt", 1000.0, "codel"] > used["rtt", 1000.0, "vcp"]
    assert used["rtt", 5000.0, "codel"] < used["rtt", 5000.0, "vcp"]


def test_more_flows_make_dpcps_lead_smaller() -> None:
    """Three to four times as quick as VCP with a flow or two, less with more."""
    stored = variants.stored_dumbbells()
    for network in variants.NETWORKS:
        vcp, dpcp = (
            variants.find_dumbbell(stored, scheme, network).transition_s for scheme in (VCP, DPCP)
        )
        assert (vcp / dpcp > 3) == (network.flows <= li2009.FEW_FLOWS), network
    ten = replace(PAPER_NETWORK, flows=10)
    vcp_queue, dpcp_queue = (
        variants.find_dumbbell(stored, scheme, ten).queue for scheme in (VCP, DPCP)
    )
    assert dpcp_queue < vcp_queue / 5


def test_from_when_on() -> None:
    """The last rate that is otherwise decides, not the first that is so."""
    shares = {0: 0.0, 5: 0.6, 10: 0.4, 15: 0.6, 20: 0.9}
    assert li2009.mostly_vcp_percent(shares) == 15
    assert li2009.mostly_vcp_percent({0: 0.0, 5: None}) is None
    one = {percent: Times(10.0, 1.0, 0, 0.0) for percent in LOSS_PERCENT}
    other = {
        percent: replace(times, mean_s=20.0 if percent in (0, 10) else 11.5)
        for percent, times in one.items()
    }
    assert cells.alike_from_percent(one, other) == 15
    apart = {percent: replace(times, mean_s=20.0) for percent, times in one.items()}
    assert cells.alike_from_percent(one, apart) is None


def test_independent_errors_do_not_give_the_published_live_link() -> None:
    """Why the access is a model: its errors alone, and no one else, give neither column."""
    scenarios = []
    for seed in live.BEYOND_SEEDS:
        scenario = live.scenario(live.STANDARD, seed)
        assert scenario.bottleneck is not None
        scenario.bottleneck = replace(
            scenario.bottleneck, loss=Bernoulli(probability=PACKET_ERROR_RATE), trace=None
        )
        scenarios.append(scenario)
    found = [downloads.totals(results) for results in run_many(scenarios)]
    assert downloads.mean(found, "rate_kbps") < TABLE_1["standard"].rate_kbps / 2
    assert downloads.mean(found, "loss_percent") < TABLE_1["standard"].loss_percent / 4


def rtts_s(network: Network) -> list[float]:
    return [2 * (seconds(network.delay) + 2 * seconds(access)) for access in network.access_delays]


@pytest.mark.parametrize("key", NETWORKS)
def test_conditions_of_a_network_are_its_own(key: str) -> None:
    network = NETWORKS[key]
    rtts_ms = [1e3 * rtt_s for rtt_s in rtts_s(network)]
    rtt = " to ".join(dict.fromkeys(f"{of(rtts_ms):.0f}" for of in (min, max)))
    # The packet in transmission is not in the queues that ns-2 counts it in.
    buffer = network.buffer_packets + (network.buffer_packets == 19)
    for words in (
        f"{network.rate_bps / 1e6:g} Mbps",
        f"RTT {rtt} ms",
        f"of {buffer} packets",
        f"{network.flows} flows",
    ):
        assert words in network.conditions
    if network.web:
        assert f"{network.web} web sources" in network.conditions


def test_what_a_network_holds() -> None:
    """The shares of bandwidth-delay products that conditions and the matrix's text speak of."""

    def pipe(key: str) -> float:
        network = NETWORKS[key]
        return network.rate_bps * rtts_s(network)[0] / 8 / network.packet_b

    assert round(pipe("nor2011") / 20) == 7
    assert round(pipe("lien2009")) == 3
    assert round(pipe("li2009")) == NETWORKS["li2009"].buffer_packets
    lien = NETWORKS["lien2009"]
    assert f"({round(20 * lien.packet_time_us / 1e3)} ms)" in lien.conditions
