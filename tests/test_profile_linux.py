"""The TCP profile ``linux`` beside the Linux kernel on virtual time."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

import skywave
from skywave import Ftp, ScenarioError, Tcp
from skywave.scenario import Cubic
from validation.virtual_time.controls import MEASURES, SEGMENT, find
from validation.virtual_time.networks import NETWORKS, Network

TABLE = Path(__file__).parents[1] / "validation/virtual_time/controls.csv"
BY_KEY = {network.key: network for network in NETWORKS}
WITHOUT_CHANCE = [network for network in NETWORKS if network.loss is None]


ALONE = [network for network in WITHOUT_CHANCE if network.flows == 1 and not network.draws]


@cache
def of_linux(network: str, control: str, measure: str) -> float:
    """Return what the kernel had."""
    with TABLE.open(encoding="utf-8") as file:
        [row] = [
            row
            for row in csv.DictReader(file)
            if (row["row"], row["of"], row["clock"]) == (network, control, "virtual time")
        ]
    return float(row[measure].split()[0])


@pytest.mark.parametrize("network", WITHOUT_CHANCE, ids=lambda network: network.key)
@pytest.mark.parametrize("control", ["reno", "cubic", "vegas", "illinois"])
def test_goodput_is_within_5_percent_of_the_kernels(network: Network, control: str) -> None:
    tcp = Tcp(control=control, profile="linux", segment=SEGMENT)
    results = skywave.run(network.scenario("linux", 1, tcp, Ftp()))
    linux = of_linux(network.name, control, "goodput of all flows (Mbps)")
    assert find(results)["goodput"] == pytest.approx(linux, rel=0.05)
    first, *others = (flow["timeouts"] for flow in results.totals["flows"])
    assert first == 0
    assert all(timeouts <= 1 for timeouts in others), "a SYN that finds a full queue"


@pytest.mark.parametrize("network", ALONE, ids=lambda network: network.key)
@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_cwnd_and_srtt_are_within_5_percent_of_the_kernels(network: Network, control: str) -> None:
    tcp = Tcp(control=control, profile="linux", segment=SEGMENT)
    found = find(skywave.run(network.scenario("linux", 1, tcp, Ftp())))
    linux = {key: of_linux(network.name, control, MEASURES[key]) for key in ("cwnd", "rtt_mean")}
    assert {key: found[key] for key in linux} == pytest.approx(linux, rel=0.05)


def test_its_defaults_are_those_of_linux() -> None:
    tcp = Tcp(control="cubic", profile="linux")
    scenario = BY_KEY["access"].scenario("linux", 1, tcp, Ftp())
    complete = scenario.inspect().scenario["flows"][0]["transport"]["tcp"]
    names = ("recovery", "initial_cwnd", "min_rto", "delayed_ack", "timestamps")
    assert [complete[name] for name in names] == ["rack", 10, "200 ms", "40 ms", True]


def test_hystart_keeps_the_first_slow_start_out_of_a_deep_buffer() -> None:
    resent = []
    for hystart in (False, True):
        tcp = Tcp(control="cubic", cubic=Cubic(hystart=hystart), segment=SEGMENT)
        results = skywave.run(BY_KEY["bloated"].scenario("hystart", 1, tcp, Ftp()))
        resent.append(results.totals["flows"][0]["retransmissions"])
    assert resent[1] < resent[0] / 10


def test_ns_2_has_no_timestamps() -> None:
    tcp = Tcp(profile="ns2", timestamps=True)
    scenario = BY_KEY["access"].scenario("ns2", 1, tcp, Ftp())
    with pytest.raises(ScenarioError, match=r"tcp\.timestamps: ns-2's segments have no timestamps"):
        skywave.run(scenario)


def test_ns_2_has_no_rack() -> None:
    tcp = Tcp(profile="ns2", recovery="rack")
    scenario = BY_KEY["access"].scenario("ns2", 1, tcp, Ftp())
    with pytest.raises(ScenarioError, match=r"tcp\.recovery: ns-2 has no RACK: give another"):
        skywave.run(scenario)
