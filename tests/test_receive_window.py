"""TCP's receive window: autotuned by default, announced on the wire, and told of if it limits."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from conftest import EXAMPLES, assert_bad_input, run_cli
from skywave import Scenario, ScenarioError, Tcp, dumbbell, run

if TYPE_CHECKING:
    from pathlib import Path

SATELLITE = """
name = "satellite"
duration = "120 s"
[dumbbell]
pairs = 1
rate = "100 Mbps"
delay = "299 ms"
queue = { drop-tail = { packets = 15000 } }
access_rate = "1 Gbps"
access_delays = ["0.5 ms"]
[[flows]]
name = "cubic"
from = "s1"
to = "d1"
transport = { tcp = { control = "cubic" } }
source = { ftp = {} }
"""
"""100 Mbps and a round-trip time of 600 ms: 7.5 MB in flight."""
FIXED = SATELLITE.replace('"cubic" }', '"cubic", receive_window = 1000 }')
WARNING = "warning: cubic was limited by its receive window for "


def ran(text: str, directory: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Return the first flow's totals, and what was printed on stderr."""
    path = directory / "scenario.toml"
    path.write_text(text)
    done = run_cli("run", path, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["flows"][0], done.stderr


def test_cubic_fills_a_long_fat_path_without_a_word_about_windows(tmp_path: Path) -> None:
    flow, stderr = ran(SATELLITE.replace('"120 s"', '"300 s"'), tmp_path)
    assert flow["goodput_bps"] == pytest.approx(94e6, rel=0.02)
    assert flow["receive_window_limited_s"] < 0.01 * flow["active_s"]
    # A run of more than two seconds says how far it is.
    assert [line for line in stderr.splitlines() if not line.endswith(" %")] == []


def test_a_window_that_limits_a_flow_is_named(tmp_path: Path) -> None:
    flow, stderr = ran(FIXED, tmp_path)
    assert flow["goodput_bps"] == pytest.approx(13e6, rel=0.03)
    share = flow["receive_window_limited_s"] / flow["active_s"]
    assert share > 0.9
    assert stderr.startswith(WARNING)
    assert f"({100 * share:.0f} %): set a larger receive_window, or raise max_" in stderr
    small = FIXED.replace("receive_window = 1000", 'max_receive_window = "1 MB"')
    _, stderr = ran(small, tmp_path)
    assert stderr.startswith(WARNING)


def test_a_sweep_says_at_how_many_points_a_window_limits(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(FIXED.replace('"120 s"', '"10 s"'))
    windows = ("--set", "flows[*].transport.tcp.receive_window=100,1000,100000")
    done = run_cli("sweep", path, *windows, "--out", tmp_path / "sweep", "--json")
    assert done.returncode == 0, done.stderr
    [warning] = [line for line in done.stderr.splitlines() if "receive window" in line]
    assert warning.startswith("warning: at 2 of 3 points, cubic was limited by its receive window ")
    assert warning.endswith(
        "set a larger receive_window, or raise max_receive_window if it autotunes"
    )


def test_the_default_is_printed_and_a_fixed_window_has_no_maximum() -> None:
    def described(**given: Any) -> Scenario:
        scenario = dumbbell("x", duration="1 s", rate="1 Mbps", delay="10 ms")
        scenario.add_flow("f", "s1", "d1", Tcp(**given))
        return scenario

    def windows(**given: Any) -> tuple[object, object]:
        tcp = described(**given).inspect().scenario["flows"][0]["transport"]["tcp"]
        return tcp.get("receive_window"), tcp.get("max_receive_window")

    assert windows() == (None, "33554.432 kB")
    assert windows(max_receive_window="1 MB") == (None, "1 MB")
    assert windows(receive_window=40) == (40, None)
    assert windows(profile="ns2") == (1000, None)
    for wrong in ({"receive_window": 40}, {"profile": "ns2"}):
        with pytest.raises(ScenarioError, match=r"max_receive_window: the window is fixed"):
            run(described(max_receive_window="1 MB", **wrong))
    for size in ("0 B", "2 GB"):
        with pytest.raises(ScenarioError, match=r"max_receive_window: .*from 1 B to 1 GiB"):
            run(described(max_receive_window=size))


def test_cubic_has_sack_and_other_controls_keep_their_recovery() -> None:
    def recovery(**given: Any) -> object:
        scenario = dumbbell("x", duration="1 s", rate="1 Mbps", delay="10 ms")
        scenario.add_flow("f", "s1", "d1", Tcp(**given))
        return scenario.inspect().scenario["flows"][0]["transport"]["tcp"]["recovery"]

    assert recovery(control="cubic") == "sack"
    assert recovery(control="cubic", profile="ns2") == "sack"
    assert recovery(control="cubic", recovery="newreno") == "newreno"
    assert recovery() == recovery(control="aimd") == "newreno"
    assert recovery(control="vegas") == "vegas"


SYN = re.compile(r"\[S\.?\] seq (?P<seq>\d+).* wscale (?P<scale>\d+)")
DATA = re.compile(r"seq \d+:(?P<end>\d+) ")
ACK = re.compile(r"ack (?P<ack>\d+) win (?P<window>\d+)")


@pytest.mark.parametrize(
    ("window", "scale"),
    [
        ("", 10),
        (", receive_window = 60", 0),
        (", receive_window = 1000", 4),
        (', max_receive_window = "3 MB"', 6),
    ],
)
def test_a_capture_shows_that_no_sender_exceeds_the_window_announced(
    window: str, scale: int, tmp_path: Path
) -> None:
    """A scale that does not fit shows as more in flight than the announced window has room for."""
    text = SATELLITE.replace('"120 s"', '"8 s"').replace('"cubic" }', f'"cubic"{window} }}')
    links = ("s1->r1", "r1->s1")
    files = [tmp_path / f"{number}.pcapng" for number in range(len(links))]
    options = (f"--capture={link}={file}" for link, file in zip(links, files, strict=True))
    flow, _ = ran(text, tmp_path, *options)
    sent, answers = (
        json.loads(run_cli("decode", file, "--json").stdout)["frames"] for file in files
    )
    first = SYN.search(sent[0]["text"])
    assert first, sent[0]
    assert int(first["scale"]) == scale
    if scale:
        second = SYN.search(answers[0]["text"])
        assert second, answers[0]
        assert int(second["scale"]) == scale
    # Everything that has been announced before a segment leaves; a SYN's window is not scaled.
    start = int(first["seq"])
    edge, most = 0, 0
    frames = [(frame["time_s"], False, frame["text"]) for frame in sent[1:]]
    frames += [(frame["time_s"], True, frame["text"]) for frame in answers]
    acked = 0
    for number, (_, is_answer, frame) in enumerate(sorted(frames)):
        if is_answer:
            found = ACK.search(frame)
            assert found, frame
            acked = int(found["ack"]) - start
            shift = 0 if "[S.]" in frame else scale
            edge = max(edge, acked + (int(found["window"]) << shift))
        elif data := DATA.search(frame):
            end = int(data["end"]) - start
            assert end <= edge, (number, frame)
            most = max(most, end - acked)
    assert flow["delivered_bytes"] > 0
    assert (most > 65_535) == (scale > 0), most


def test_a_late_flow_is_measured_over_its_own_time() -> None:
    mpcp = next(path for path in EXAMPLES if path.stem == "mpcp")
    flows = {flow["name"]: flow for flow in run(Scenario.from_file(mpcp)).totals["flows"]}
    late = flows["dpcp over tcp, late"]
    assert late["active_s"] == 40
    assert late["goodput_bps"] == pytest.approx(0.386e6, rel=0.05)
    assert flows["dpcp over tcp"]["active_s"] == 60


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_trace_is_read_from_a_regular_file_of_limited_size(command: str, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(100_000_001)
    for name, says in (
        ("/dev/zero", "is not a file"),
        ("pipe", "is not a file"),
        (".", "is not a file"),
        ("huge", "at most 100000000 B"),
    ):
        trace = f'rate = "100 Mbps"\ntrace = {{ file = "{name}" }}'
        scenario.write_text(SATELLITE.replace('rate = "100 Mbps"', trace))
        assert_bad_input(run_cli(command, scenario), "dumbbell.trace.file", says)
