"""Programs behind an emulated link, in namespaces."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT, run_cli
from patience import PATIENCE_S
from skywave import _core
from skywave._machine import Shares
from skywave.realtime.accuracy import LinkAccuracy
from skywave.realtime.link.launch import AS_ROOT, AS_USER, Request
from skywave.realtime.privileges import LaunchError, check_namespaces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def refusal() -> str:
    """Why the system does not let us create namespaces; nothing if it does."""
    is_root = os.geteuid() == 0
    try:
        check_namespaces(["unshare", *(AS_ROOT if is_root else AS_USER)], is_root=is_root)
    except (LaunchError, OSError) as error:
        return str(error)
    return ""


REFUSAL = refusal()
needs_namespaces = pytest.mark.skipif(bool(REFUSAL), reason=f"needs namespaces: {REFUSAL}")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root connects this machine")

LINK = """
rate = "10 Mbps"
delay = "25 ms"
queue = { drop-tail = { packets = 30 } }
"""
PYTHON = sys.executable
# It prints how long it took for an answer, and the answer.
ASK = """
import os, socket, time
begun = time.monotonic()
with socket.create_connection((os.environ["SKYWAVE_PEER"], 5001), timeout=60) as there:
    answer = there.makefile("rb").read()
print(f"{time.monotonic() - begun} {len(answer)}")
"""
# It answers one connection by so many bytes.
ANSWER = """
import os, socket, sys, time
with socket.create_server(("", 5001)) as server:
    there, _ = server.accept()
    there.sendall(bytes(int(sys.argv[1])))
    there.close()
"""
PATIENT = f"""
import time
for _ in range(200):
    try:
        exec({ASK!r})
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
"""


def emulate(
    path: Path, *arguments: str, link: str = LINK, before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run the command, behind ``before``."""
    file = path / "link.toml"
    file.write_text(link)
    return subprocess.run(
        [*before, PYTHON, "-m", "skywave", "emulate", str(file), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the report that ``--json`` prints, alone on its output."""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def output(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the words that the programs have written: with ``--json``, among the messages."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith("skywave: ")]
    return " ".join(lines).split()


def server(path: Path, size: int) -> str:
    """Return the command of a server that answers by so many bytes."""
    file = path / "server.py"
    file.write_text(ANSWER)
    return f"{PYTHON} {file} {size}"


@needs_namespaces
def test_two_programs_talk_over_the_link(tmp_path: Path) -> None:
    size = 1_000_000
    done = emulate(
        tmp_path, "--json", "--peer", server(tmp_path, size), "--", PYTHON, "-c", PATIENT
    )
    assert done.returncode == 0, done.stderr
    took_s, length = output(done)
    assert int(length) == size
    assert float(took_s) >= 8 * size / 10e6 + 0.05
    found = report(done)
    there, back = found["links"]
    assert (there["name"], back["name"]) == ("command->peer", "peer->command")
    assert back["delivered_bytes"] > size
    # Segments leave in the size that a link carries.
    assert 1000 < back["delivered_bytes"] / back["delivered"] <= 1500
    assert found["lateness"]["packets"] == there["delivered"] + back["delivered"]
    assert found["lateness"]["median_s"] < found["lateness"]["p99_s"] <= found["lateness"]["max_s"]
    assert found["malformed"] == 0


MEMBERS = """
from skywave import Conduct, Losses, Queue

class Counts(Queue):
    count = 0
    limit = 10**9

    def conduct(self):
        # More than the acknowledgements of all data, which a busy machine may bring at once.
        return Conduct(packets=300)

    def enqueue(self, packet):
        self.count += 1
        if self.count > self.limit:
            raise LookupError("enough")
        return "accept" if packet.packets_ahead < 300 else "full"

class Ends(Counts):
    limit = 20

class Every50th(Losses):
    count = 0

    def loses(self, now_s, size):
        self.count += 1
        return self.count % 50 == 0
"""


@needs_namespaces
def test_a_link_may_have_a_queue_and_losses_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link_members.py").write_text(MEMBERS)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    own = LINK.replace("{ drop-tail = { packets = 30 } }", '"link_members:Counts"')
    done = emulate(
        tmp_path,
        "--json",
        "--peer",
        server(tmp_path, 300_000),
        "--",
        PYTHON,
        "-c",
        PATIENT,
        link=own + 'back = { loss = "link_members:Every50th" }',
    )
    assert done.returncode == 0, done.stderr
    assert output(done)[1] == "300000"
    there, back = report(done)["links"]
    assert back["drops"] >= back["arrivals"] // 50 > 0
    assert there["drops"] == 0


@needs_namespaces
def test_a_queue_in_python_that_fails_ends_the_emulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link_members.py").write_text(MEMBERS)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    own = LINK.replace("{ drop-tail = { packets = 30 } }", '"link_members:Ends"')
    done = emulate(
        tmp_path, "--peer", server(tmp_path, 300_000), "--", PYTHON, "-c", PATIENT, link=own
    )
    assert done.returncode != 0
    assert "LookupError: enough" in done.stderr
    assert "link_members.py" in done.stderr


@needs_namespaces
@needs_root
def test_this_machine_is_at_the_other_end(tmp_path: Path) -> None:
    listen = tmp_path / "server.py"
    listen.write_text(ANSWER)
    with subprocess.Popen([PYTHON, str(listen), "1000"]) as process:
        try:
            done = emulate(tmp_path, "--", PYTHON, "-c", PATIENT)
        finally:
            process.kill()
    assert done.returncode == 0, done.stderr
    took_s, length = done.stdout.split()
    assert (int(length), float(took_s) >= 0.1) == (1000, True)
    assert "this machine is at 100." in done.stderr


@needs_namespaces
@needs_root
def test_emulations_may_be_nested(tmp_path: Path) -> None:
    inner = [PYTHON, "-m", "skywave", "emulate", str(tmp_path / "link.toml"), "--"]
    done = emulate(tmp_path, "--", *inner, "sh", "-c", "echo $SKYWAVE_PEER")
    assert done.returncode == 0, done.stderr
    inside = done.stdout.strip()
    outside = done.stderr.partition("this machine is at ")[2].split()[0]
    assert inside.startswith("100.")
    assert inside.split(".")[1] != outside.split(".")[1]


@needs_namespaces
def test_no_privileges_are_needed_for_a_peer(tmp_path: Path) -> None:
    # A user who is not root there, and so has no privileges here.
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if subprocess.run([*user, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the system has no user namespaces")
    alone = emulate(tmp_path, "--", "true", before=user)
    assert alone.returncode == 2
    assert "only root can connect this machine to a link" in alone.stderr
    peer = server(tmp_path, 1000)
    done = emulate(tmp_path, "--peer", peer, "--", PYTHON, "-c", PATIENT, before=user)
    if "does not let users create namespaces" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "1000"


VCP = """
rate = "1600 kbps"
delay = "1 ms"
queue = { vcp = { packets = 100 } }
"""
# Packets of 1,000 bytes with ECT(1), the lowest of VCP's codes, four times as many as the link
# carries. Then the sender waits until the reader has had nothing for a second.
CODES = """
import os, pathlib, socket, sys, time
read = pathlib.Path(sys.argv[1])
while not read.exists():
    time.sleep(0.01)
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 1)
for number in range(300):
    for _ in range(4):
        peer.sendto(bytes(972), (os.environ["SKYWAVE_PEER"], 5001))
    time.sleep(0.005)
while time.time() - read.stat().st_mtime < 1:
    time.sleep(0.05)
"""
READ = """
import pathlib, socket, sys
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
here.bind(("", 5001))
pathlib.Path(sys.argv[1]).touch()
while True:
    _, ancillary, _, _ = here.recvmsg(2000, 100)
    print(ancillary[0][2][0] & 3, flush=True)
    pathlib.Path(sys.argv[1]).touch()
"""


@needs_namespaces
def test_a_router_writes_its_codes_into_real_packets(tmp_path: Path) -> None:
    (tmp_path / "read.py").write_text(READ)
    ready, capture = tmp_path / "ready", tmp_path / "link.pcapng"
    options = ("--json", "--capture", str(capture), "--peer")
    peer = f"{PYTHON} {tmp_path / 'read.py'} {ready}"
    done = emulate(tmp_path, *options, peer, "--", PYTHON, "-c", CODES, str(ready), link=VCP)
    assert done.returncode == 0, done.stderr
    codes = [int(word) for word in output(done)]
    # Nothing has been measured yet; then there is overload, as long as packets arrive.
    assert codes[0] == 1
    assert codes[len(codes) // 2] == 3
    marked = report(done)["links"][0]["marks"]
    assert marked == sum(code != 1 for code in codes)
    frames = json.loads(run_cli("decode", capture, "--json").stdout)
    assert len(frames["frames"]) == len(codes)


@needs_namespaces
def test_the_status_is_that_of_the_command(tmp_path: Path) -> None:
    assert emulate(tmp_path, "--peer", "sleep 100", "--", "sh", "-c", "exit 7").returncode == 7
    missing = emulate(tmp_path, "--peer", "sleep 100", "--", "no-such-program")
    assert missing.returncode == 127
    assert "skywave: error: no-such-program: No such file or directory" in missing.stderr
    peer = emulate(tmp_path, "--peer", "no-such-program", "--", "true")
    assert peer.returncode == 127
    assert "skywave: error: no-such-program" in peer.stderr


@needs_namespaces
def test_strict_fails_where_the_timing_is_too_inaccurate(tmp_path: Path) -> None:
    arguments = ("--peer", server(tmp_path, 1000), "--", PYTHON, "-c", PATIENT)
    strict = emulate(tmp_path, "--strict", "1 ns", *arguments)
    assert strict.returncode == 3
    assert "packets left late by" in strict.stderr.splitlines()[-1]
    assert emulate(tmp_path, "--strict", "1000 s", *arguments).returncode == 0


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_however_it_ends(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    # What the programs hold is a pipe, whose other end tells when the last one has gone.
    read, write = os.pipe()
    programs = ["--peer", "sleep 1000", "--", "sh", "-c", "sleep 1000 & sleep 1000"]
    with subprocess.Popen(
        [PYTHON, "-m", "skywave", "emulate", str(file), *programs],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        os.close(write)
        try:
            assert process.stderr is not None
            assert "the command is at" in process.stderr.readline()
            time.sleep(0.5)
            assert not select.select([read], [], [], 0)[0]
            process.send_signal(number)
            assert select.select([read], [], [], 60)[0], "a program lives on"
            assert os.read(read, 1) == b""
            process.wait(timeout=PATIENCE_S)
            assert process.returncode == {signal.SIGTERM: 143}.get(number, -number)
            assert "command->peer" in process.stderr.read()
        finally:
            process.kill()
            os.close(read)


@needs_namespaces
def test_a_line_each_second(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    programs = ["--peer", "sleep 100", "--", "sleep", "100"]
    with subprocess.Popen(
        [PYTHON, "-m", "skywave", "emulate", str(file), "--interval", "1 s", *programs],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stderr is not None
        lines = (line for line in process.stderr if " s: command->peer " in line)
        first, second = next(lines), next(lines)
        process.terminate()
    assert first.startswith("skywave: 1 s: ")
    assert second.startswith("skywave: 2 s: ")
    assert "queue 0, lost 0" in first


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ('rate = "fast"\ndelay = "1 ms"', 'error: rate: "fast" is not a rate'),
        ('delay = "1 ms"', "missing field `rate`"),
        ('rate = "1 Mbps"\ndelay = "1 ms"\nfrom = "a"', "error: from: the ends of this link are"),
        ('rate = "1 Mbps"\ndelay = "1 ms"\nnat = {}', "nat: a NAT cannot run in real time"),
        ('rate = "1 Mbps"\ndelay = "1 ms"\nqueue = "best"', '"best" is not a known queue'),
        ('rate = "0 Mbps"\ndelay = "1 ms"', "error: rate: "),
        ("rate =", "error: not TOML"),
    ],
)
def test_a_wrong_link_is_one_clear_line(tmp_path: Path, link: str, message: str) -> None:
    file = tmp_path / "link.toml"
    file.write_text(link)
    done = run_cli("emulate", file, "--", "true")
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("file", sorted((ROOT / "examples" / "links").glob("*.toml")), ids=str)
def test_examples_can_be_emulated(file: Path) -> None:
    _core.check_emulated_link(file.read_text(), str(file.parent))


def test_a_request_survives_the_command_line() -> None:
    request = Request(
        link=LINK,
        directory="/a folder",
        command=("sh", "-c", "echo 'a b' \"c\""),
        peer=("server", "--port", "1"),
        seed=7,
        spin=True,
        strict_ms=1.5,
        interval_s=0.5,
        capture="/a folder/b.pcapng",
        as_json=True,
    )
    assert Request.from_json(request.to_json()) == request


REPORT: dict[str, Any] = {
    "elapsed_s": 2.0,
    "links": [
        {
            "name": "command->peer",
            "arrivals": 110,
            "drops": 10,
            "delivered": 100,
            "delivered_bytes": 125_000,
            "marks": 5,
            "queue_packets": 0,
        }
    ],
    "lateness": {
        "packets": 100,
        "median_s": 30e-6,
        "p99_s": 2e-3,
        "max_s": 1.5,
        "beyond_1_ms": 0.02,
    },
    "overflows": 0,
    "refused": 0,
    "unsent": 0,
    "unreachable": 0,
    "malformed": 0,
    "capture_error": None,
}


@needs_namespaces
@pytest.mark.parametrize(
    ("capture", "message"),
    [("nowhere/x.pcapng", "No such file or directory"), ("", "Is a directory")],
    ids=["missing", "directory"],
)
def test_a_capture_that_cannot_be_written_is_one_line(
    tmp_path: Path, capture: str, message: str
) -> None:
    done = emulate(tmp_path, "--capture", str(tmp_path / capture), "--peer", "true", "--", "true")
    assert done.returncode == 2
    assert done.stderr.startswith("skywave: error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


@needs_namespaces
def test_a_capture_replaces_another_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "x.pcapng"
    file.write_text("mine\n")
    done = emulate(tmp_path, "--capture", str(file), "--peer", "true", "--", "cat", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "mine\n"
    assert json.loads(run_cli("decode", file, "--json").stdout)["frames"] == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.toml", "x.pcapng"]


def test_the_report_says_what_the_link_did_and_how_late_it_was() -> None:
    link, lateness, others = LinkAccuracy(REPORT, Shares(stolen=0.01, others=0.2)).lines()
    assert link == "command->peer: 100 packets, 0.5 Mbps; 9.09% lost, 5.00% marked"
    assert lateness == (
        "packets left late by 30 us (median), 2 ms (99th percentile), 1.5 s (largest); "
        "2.00% by more than 1 ms"
    )
    assert others.startswith("of the processors' time, 1.0% went to other machines")


@pytest.mark.parametrize("name", ["overflows", "refused", "unsent"])
def test_what_no_link_does_is_a_warning(name: str) -> None:
    accuracy = LinkAccuracy({**REPORT, name: 1234})
    [warning] = accuracy.warnings()
    assert warning.startswith("1,234 packets")
    assert accuracy.failure(1e6) == warning
    assert LinkAccuracy(REPORT).failure(2.5) is None
    failure = LinkAccuracy(REPORT).failure(1.9)
    assert failure == "packets left late by 2 ms (99th percentile), and 1.9 ms is allowed"
