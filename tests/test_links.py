"""Links that lose, vary and differ by direction, as Python describes them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from conftest import run_cli
from skywave import (
    Adapt,
    Back,
    Bernoulli,
    Dccp,
    DropTail,
    Ftp,
    GilbertElliott,
    Link,
    Probes,
    Scenario,
    ScenarioError,
    Step,
    Talkspurts,
    Tcp,
    TraceOpportunities,
    TraceSteps,
    Udp,
    Voice,
    dumbbell,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

STEPS = (Step(at="1 s", rate="500 kbps"), Step(at="2 s", delay="20 ms"))
FILE = "1 s, 500 kbps,\n2 s,, 20 ms\n"


def everything() -> Scenario:
    scenario = Scenario(name="everything", duration="3 s", nodes=["a", "b"])
    scenario.links = [
        Link(
            from_="a",
            to="b",
            rate="1 Mbps",
            delay="50 ms",
            loss=GilbertElliott(good_to_bad=0.01, bad_to_good=0.2, in_bad=0.5),
            trace=TraceSteps(steps=STEPS),
            jitter="2 ms",
            back=Back(
                rate="100 kbps",
                queue=DropTail(packets=5),
                loss=Bernoulli(probability=1e-6, per="bit"),
            ),
        )
    ]
    voice = Voice(
        frame="40 B",
        interval="20 ms",
        frames=2,
        talkspurts=Talkspurts(),
        adapt=Adapt(frames=4, modes=("20 B",)),
    )
    scenario.add_flow("call", "a", "b", Udp(), voice, start_jitter="10 ms")
    return scenario


def test_a_scenario_reads_as_it_was_written() -> None:
    scenario = everything()
    again = Scenario.from_text(scenario.to_json(), "json")
    assert again.normalised() == scenario.normalised()
    assert again.links[0].trace == scenario.links[0].trace
    results = run(again, verify_physics=True)
    assert results.violations == []
    assert results.fingerprint == run(scenario).fingerprint
    assert results.voice.num_rows > 0


def test_a_trace_file_stands_beside_the_scenario(tmp_path: Path) -> None:
    document = """
        name = "trace"
        duration = "3 s"
        [[flows]]
        name = "f"
        from = "s1"
        to = "d1"
        transport = { tcp = {} }
        source = { ftp = {} }
        [dumbbell]
        pairs = 1
        rate = "1 Mbps"
        delay = "10 ms"
        access_rate = "10 Mbps"
        access_delays = ["1 ms"]
        trace = { file = "orbit.csv" }
    """
    (tmp_path / "scenario.toml").write_text(document)
    with pytest.raises(ScenarioError, match=r"dumbbell\.trace\.file: orbit\.csv cannot be read"):
        Scenario.from_file(tmp_path / "scenario.toml")
    (tmp_path / "orbit.csv").write_text(FILE)
    scenario = Scenario.from_file(tmp_path / "scenario.toml")
    assert scenario.dumbbell is not None
    assert scenario.dumbbell.trace == TraceSteps(steps=STEPS)
    with pytest.raises(ScenarioError, match="the file has not been read"):
        Scenario.from_text(document, "toml")
    # One that a setting names stands in the current directory, as a shell completes it.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "orbit.csv").rename(tmp_path / "elsewhere" / "other.csv")
    (tmp_path / "scenario.toml").write_text(document.replace("trace =", "# trace ="))
    for directory, status in [(tmp_path / "elsewhere", 0), (tmp_path, 2)]:
        setting = 'dumbbell.trace={file="other.csv"}'
        done = run_cli("run", tmp_path / "scenario.toml", "--set", setting, cwd=directory)
        assert done.returncode == status, done.stderr
    assert "dumbbell.trace.file: other.csv cannot be read" in done.stderr


MAHIMAHI = """
    name = "mahimahi"
    duration = "10 s"

    [dumbbell]
    pairs = 1
    rate = "12 Mbps"
    delay = "10 ms"
    access_rate = "100 Mbps"
    access_delays = ["1 ms"]
    trace = { mahimahi = "lte.up" }

    [[flows]]
    name = "f"
    from = "s1"
    to = "d1"
    transport = { tcp = {} }
    source = { ftp = {} }
"""


def test_a_trace_of_mahimahi_delivers_a_packet_at_each_of_its_times(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(MAHIMAHI)
    # 41 opportunities in 100 ms.
    times = [*[20] * 10, *range(30, 60), 100]
    (tmp_path / "lte.up").write_text("# an hour on a train\n" + "\n".join(map(str, times)) + "\n")
    scenario = Scenario.from_file(path)
    assert scenario.dumbbell is not None
    assert scenario.dumbbell.trace == TraceOpportunities(opportunities=tuple(times))
    results = run(scenario, verify_physics=True)
    assert results.violations == []
    bottleneck = next(link for link in results.totals["links"] if link["name"] == "r1->r2")
    # Slow start leaves some of the 4,100 opportunities of 1500 B unused.
    assert 0.97 < bottleneck["delivered_bytes"] / (4_100 * 1500) <= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2.5\n", r'mahimahi: lte\.up, line 2: "2\.5" is not a number of milliseconds'),
        (
            "# a comment\n4\n3\n",
            r"mahimahi: lte\.up, line 3: 3 ms is before 4 ms: put the times in order",
        ),
        ("\ufeff1\n-2\n", r'mahimahi: lte\.up, line 2: "-2" is not a number of milliseconds'),
        ("", r"mahimahi: lte\.up: the last time is the length of the trace"),
        ("0\n0\n", r"mahimahi: lte\.up: the last time is the length of the trace"),
    ],
)
def test_a_wrong_trace_of_mahimahi_says_what_is_wrong(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "scenario.toml").write_text(MAHIMAHI)
    (tmp_path / "lte.up").write_text(text)
    with pytest.raises(ScenarioError, match=message):
        Scenario.from_file(tmp_path / "scenario.toml")


RATES = MAHIMAHI.replace('mahimahi = "lte.up"', 'file = "3g.txt"')


def test_a_file_of_seconds_and_megabits_is_a_trace(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(RATES)
    text = "# a bus\n0.5 1.196\n1.4877738952636719\t0\n\n2e0 12\n"
    (tmp_path / "3g.txt").write_text(text)
    scenario = Scenario.from_file(tmp_path / "scenario.toml")
    assert scenario.dumbbell is not None
    assert scenario.dumbbell.trace == TraceSteps(
        steps=(
            Step(at="500 ms", rate="1196 kbps"),
            Step(at="1487773895 ns", rate="0 bps"),
            Step(at="2 s", rate="12 Mbps"),
        )
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"3g\.txt has no steps"),
        ("# nothing\n", r"3g\.txt has no steps"),
        ("1 2\n\n1 3\n", r"3g\.txt, line 3: 1 s is not after 1 s"),
        ("2 2\n1 3\n", r"3g\.txt, line 2: 1 s is not after 2 s"),
        ("2 s, 1 Mbps,\n1 s, 2 Mbps,\n", r"3g\.txt, line 2: 1 s is not after 2 s"),
        ("0 1\n1 -2\n", r'3g\.txt, line 2: "-2" is not a rate in Mbit/s'),
        ("0 NaN\n", r'3g\.txt, line 1: "NaN" is not a rate in Mbit/s'),
        ("0 1e30\n", r'3g\.txt, line 1: "1e30" is not a rate in Mbit/s'),
        ("NaN 1\n", r'3g\.txt, line 1: "NaN" is not a time in seconds'),
        ("-1 1\n", r'3g\.txt, line 1: "-1" is not a time in seconds'),
        ("inf 1\n", r'3g\.txt, line 1: "inf" is not a time in seconds'),
        ("0.5\n", r"3g\.txt, line 1: give time, rate and delay, .* or seconds and Mbit/s"),
        ("0 1 2\n", r"3g\.txt, line 1: give time, rate and delay, .* or seconds and Mbit/s"),
    ],
)
def test_a_wrong_file_of_a_trace_says_what_is_wrong_and_where(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "scenario.toml").write_text(RATES)
    (tmp_path / "3g.txt").write_text(text)
    with pytest.raises(ScenarioError, match=rf"dumbbell\.trace\.file: {message}"):
        Scenario.from_file(tmp_path / "scenario.toml")


def test_who_does_not_talk_has_no_table_of_voice() -> None:
    scenario = dumbbell("quiet", duration="1 s", rate="1 Mbps", delay="1 ms")
    scenario.add_flow("call", "s1", "d1", Tcp())
    with pytest.raises(AttributeError, match="no voice flow"):
        _ = run(scenario).voice


@pytest.mark.parametrize("overtaking", [False, True])
def test_packets_overtake_only_where_they_may(overtaking: bool) -> None:
    """Each packet's delay differs by up to 20 ms, in which 50 packets are transmitted."""
    scenario = Scenario(
        name="route",
        duration="2 s",
        links=[
            Link(
                from_="a",
                to="b",
                rate="10 Mbps",
                delay="50 ms",
                jitter="20 ms",
                overtaking=overtaking,
            )
        ],
        nodes=["a", "b"],
        probes=Probes(packets=True, tables=("packets",)),
    )
    scenario.add_flow("dccp", "a", "b", Dccp(), Ftp(datagram="500 B"))
    packets = run(scenario).tables["packets"].to_pydict()
    arrived = [
        packet
        for event, place, packet in zip(
            packets["event"], packets["place"], packets["seq"], strict=True
        )
        if event == "receive" and place == "dccp receiver"
    ]
    late = sum(after < before for before, after in itertools.pairwise(arrived))
    assert (late > 0) == overtaking
    assert len(arrived) > 50
