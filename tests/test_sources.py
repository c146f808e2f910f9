"""Random and recorded traffic, as Python and files describe it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from skywave import (
    Exponential,
    OnOff,
    Pareto,
    Poisson,
    Probes,
    Replay,
    Scenario,
    ScenarioError,
    Udp,
    dumbbell,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

    from skywave.scenario import Source

DOCUMENT = """
    name = "replay"
    duration = "1 s"
    probes = {{ packets = true }}

    [dumbbell]
    pairs = 1
    rate = "10 Mbps"
    delay = "1 ms"
    access_rate = "100 Mbps"
    access_delays = ["1 ms"]

    [[flows]]
    name = "f"
    from = "s1"
    to = "d1"
    start = "100 ms"
    transport = {{ udp = {{}} }}
    source = {{ replay = {{ {trace} }} }}
"""

HEADERS_B = 28
"""IP's and UDP's."""


def with_source(source: Source) -> Scenario:
    scenario = dumbbell(
        "sources",
        duration="100 s",
        rate="100 Mbps",
        delay="1 ms",
        probes=Probes(packets=True),
    )
    scenario.add_flow("f", "s1", "d1", Udp(), source)
    return scenario


def sent(scenario: Scenario) -> list[tuple[float, int]]:
    """Return the time and the size of each datagram."""
    packets = run(scenario).tables["packets"].to_pylist()
    return [(row["time_s"], row["bytes"] - HEADERS_B) for row in packets if row["event"] == "send"]


@pytest.mark.parametrize(
    "source",
    [
        Poisson(rate="1 Mbps", datagram="1000 B"),
        OnOff(
            rate="2 Mbps",
            datagram="1000 B",
            on=Exponential(mean="100 ms"),
            off=Pareto(mean="100 ms", shape=3.0),
        ),
    ],
)
def test_a_random_source_reads_as_it_was_written_and_has_its_mean_rate(source: Source) -> None:
    scenario = with_source(source)
    again = Scenario.from_text(scenario.to_json(), "json")
    assert again.flows[0].source == source
    # The standard error of the Poisson source's is 0.9 %, that of the other's 2.6 %:
    # sqrt((1 + 1/3) 0.1^4 / 0.2^3 / 100 s), of a half.
    assert len(sent(again)) == pytest.approx(12_500, rel=0.1)


def test_a_trace_stands_beside_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(DOCUMENT.format(trace='file = "camera.csv"'))
    with pytest.raises(
        ScenarioError, match=r"flows\[0\]\.source\.replay\.file: camera\.csv cannot be read"
    ):
        Scenario.from_file(path)
    (tmp_path / "camera.csv").write_text("time_s,bytes\n0,160\n0.02,1400\n0.02,1\n")
    scenario = Scenario.from_file(path)
    listed = Replay(times=("0 s", "20 ms", "20 ms"), sizes=("160 B", "1400 B", "1 B"))
    assert scenario.flows[0].source == listed
    assert sent(scenario) == [(0.1, 160), (0.12, 1400), (0.12, 1)]
    with pytest.raises(ScenarioError, match="the file has not been read"):
        Scenario.from_text(path.read_text(), "toml")


def test_a_trace_of_ns2_stands_beside_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(DOCUMENT.format(trace='ns2 = "camera.bin", repeat = true'))
    (tmp_path / "camera.bin").write_bytes(struct.pack(">4I", 200_000, 100, 100_000, 50))
    assert sent(Scenario.from_file(path)) == [
        (0.3, 100),
        (0.4, 50),
        (0.6, 100),
        (0.7, 50),
        (0.9, 100),
        (1.0, 50),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,160\n", r"file: camera\.csv, line 1: the first line is time_s,bytes"),
        ("time_s,bytes\n0.5,1\n0.1,1\n", r"file: camera\.csv, line 3: 100 ms is before 500 ms"),
        ("time_s,bytes\n0,70000\n", r"file: camera\.csv, line 2: 70000 B do not fit a packet"),
    ],
)
def test_a_wrong_trace_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "scenario.toml").write_text(DOCUMENT.format(trace='file = "camera.csv"'))
    (tmp_path / "camera.csv").write_text(text)
    with pytest.raises(ScenarioError, match=rf"flows\[0\]\.source\.replay\.{message}"):
        Scenario.from_file(tmp_path / "scenario.toml")


def test_a_trace_by_its_name_alone_is_not_read() -> None:
    for replay in (Replay(file="camera.csv"), Replay(ns2="camera.bin")):
        with pytest.raises(ScenarioError, match="the file has not been read"):
            with_source(replay).normalised()
