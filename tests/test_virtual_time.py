"""Calls in guests, and scenarios on virtual time.

Where there is no kernel, a stand-in shows what the host does: a program that does the order of a
guest in real time.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pytest

import in_guest
from conftest import ROOT, run_process
from skywave import (
    Bernoulli,
    Cbr,
    CoDel,
    Dccp,
    DropTail,
    Ftp,
    KernelDccp,
    KernelQueue,
    KernelTcp,
    Probes,
    Progress,
    Red,
    Replay,
    Scenario,
    ScenarioError,
    Step,
    Tcp,
    TraceSteps,
    Udp,
    Voice,
    Web,
    dumbbell,
    realtime,
    run,
)
from skywave.realtime.report import write
from skywave.realtime.virtual import boot, kernel
from skywave.realtime.virtual.call import call
from skywave.realtime.virtual.guest import GuestError
from test_realtime import described

if TYPE_CHECKING:
    from skywave.scenario import Queue, Source, Transport

needs_kernel = pytest.mark.skipif(kernel.missing() is not None, reason=str(kernel.missing()))
without_dccp = kernel.missing(dccp=True)
needs_kernel_with_dccp = pytest.mark.skipif(without_dccp is not None, reason=str(without_dccp))


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A program that does what a guest is ordered to, here and in real time."""
    text = f"""\
        #!{sys.executable}
        import json, subprocess, sys
        from pathlib import Path
        [init] = [each for each in sys.argv if each.startswith("init=")]
        folder = Path(init.removeprefix("init=").strip(chr(34))).parent
        order = json.loads((folder / "{boot.ORDER}").read_text())
        print("booting", flush=True)
        out, err = (folder / "{boot.STDOUT}").open("wb"), (folder / "{boot.STDERR}").open("wb")
        with out, err:
            environment = order["environment"]
            done = subprocess.run(order["program"], stdout=out, stderr=err, env=environment)
        (folder / "{boot.STATUS}").write_text(str(done.returncode))
        """
    return program(tmp_path / "stand-in", text)


def program(file: Path, text: str) -> Path:
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    file.chmod(0o755)
    return file


def test_what_a_call_prints_tells_and_returns_reaches_the_host(
    stand_in: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    steps: list[Progress] = []
    assert call(in_guest.greet, stand_in, progress=steps.append, name="host") == "hello host"
    assert steps == [Progress("greeting", 1.0, 2.0), Progress("greeting", 2.0, 2.0)]
    assert capfd.readouterr() == ("on stdout\n", "on stderr\n")


def test_what_a_call_raises_is_raised(stand_in: Path) -> None:
    with pytest.raises(ValueError, match=r"^refused$"):
        call(in_guest.refuse, stand_in)
    with pytest.raises(RuntimeError, match=r"^UnpicklableError: odd$"):
        call(in_guest.refuse_oddly, stand_in)
    with pytest.raises(RuntimeError, match=r"^TwoPartsError: this and that$"):
        call(in_guest.refuse_in_two_parts, stand_in)
    with pytest.raises(RuntimeError, match="lambda"):
        call(in_guest.answer_oddly, stand_in)
    with pytest.raises(ValueError, match="of a user") as raised:
        call(in_guest.refuse_with_a_note, stand_in)
    assert "in refuse_with_a_note" in raised.value.__notes__[-1]


def test_what_cannot_be_passed_is_refused_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(realtime.LaunchError, match="cannot send this to the guest"):
        call(lambda: None, tmp_path / "never started")


def test_only_what_is_there_can_be_written_to(stand_in: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        call(in_guest.greet, stand_in, writable=[tmp_path / "missing"], name="host")


def test_a_lock_of_somebody_else_is_in_nobodys_way(
    stand_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for processor in os.sched_getaffinity(0):
        (tmp_path / f"skywave-guest-{os.getuid()}-{processor}.lock").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert call(in_guest.greet, stand_in, name="host") == "hello host"


def test_a_program_that_ends_without_an_answer_is_a_failure(stand_in: Path) -> None:
    with pytest.raises(GuestError, match="ended with status 7"):
        call(in_guest.leave, stand_in)


def test_an_interrupted_call_may_still_return_something(stand_in: Path) -> None:
    interrupted: list[Progress] = []

    def interrupt(step: Progress) -> None:
        if not interrupted:
            interrupted.append(step)
            raise KeyboardInterrupt

    assert call(in_guest.go_on, stand_in, progress=interrupt) == "interrupted"


def test_a_guest_without_progress_is_given_up(stand_in: Path) -> None:
    with pytest.raises(GuestError, match=r'no progress in stage "ignoring" for 0.5 s of real time'):
        call(in_guest.ignore, stand_in, patience_s=0.5)


def test_an_error_in_the_host_ends_the_guest(stand_in: Path) -> None:
    def fail(_: Progress) -> None:
        raise OSError("a full disk")

    start_s = time.monotonic()
    with pytest.raises(OSError, match="a full disk"):
        call(in_guest.ignore, stand_in, progress=fail)
    assert time.monotonic() - start_s < 60


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho no memory >&2; exit 1", "did not start a guest: no memory"),
        ("#!/bin/sh\n", "did not start a guest: it printed nothing"),
        ("no program", "Exec format error"),
    ],
)
def test_a_kernel_that_does_not_boot_says_why(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(realtime.LaunchError, match=message):
        call(in_guest.greet, program(tmp_path / "kernel", text), name="host")


def test_a_crash_of_the_kernel_is_told_by_its_panic(tmp_path: Path) -> None:
    text = f"""\
        #!/bin/sh
        for each in "$@"; do case $each in init=*) eval "$each";; esac; done
        touch "$(dirname "$init")/{boot.STDOUT}"
        printf 'booting\\nKernel panic - not syncing: why\\nCall Trace:\\n<1> f()\\n'
        kill -ABRT $$
        """
    with pytest.raises(GuestError, match=r"kernel crashed: Kernel panic - not syncing: why$"):
        call(in_guest.greet, program(tmp_path / "kernel", text), name="host")


def test_a_guest_ends_with_a_killed_host(tmp_path: Path) -> None:
    pids = tmp_path / "pid"
    kernel = program(tmp_path / "kernel", f"#!/bin/sh\necho $$ >{pids}; exec sleep 600\n")
    code = f"""\
        import sys; sys.path.insert(0, {str(ROOT / "tests")!r})
        import in_guest, pathlib
        from skywave.realtime.virtual.call import call
        call(in_guest.refuse, pathlib.Path({str(kernel)!r}))
        """
    # A host that is killed leaves its folder.
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    host = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment)
    while not (pids.exists() and (text := pids.read_text(encoding="ascii"))):
        assert host.poll() is None
        time.sleep(0.02)
    host.kill()
    host.wait()
    stat = Path(f"/proc/{text.strip()}/stat")
    # Whoever takes it in may be slow to notice that it has ended.
    with suppress(OSError):
        while stat.read_text(encoding="ascii").split()[2] != "Z":
            time.sleep(0.02)


def test_without_a_kernel_the_command_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel.VARIABLE, str(tmp_path))
    done = run_process("realtime", "run", "examples/dccp.toml", "--virtual-time")
    assert done.returncode == 2
    assert "make virtual-kernel" in done.stderr
    monkeypatch.delenv(kernel.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(realtime.LaunchError, match=f"no kernel {tmp_path}/skywave/virtual-kernel"):
        kernel.find()


def test_spinning_and_samples_are_not_for_virtual_time() -> None:
    scenario = described(Udp(), Cbr(rate="1 Mbps", datagram="1000 B"))
    with pytest.raises(ValueError, match="spinning takes much longer"):
        realtime.run(scenario, virtual_time=True, spin=True)
    with pytest.raises(ValueError, match="samples"):
        realtime.run(scenario, virtual_time=True, samples=print)
    done = run_process("realtime", "run", "examples/dccp.toml", "--virtual-time", "--spin")
    assert (done.returncode, "--spin" in done.stderr) == (2, True)


def test_a_guest_captures_to_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel.VARIABLE, "/bin/true")
    with pytest.raises(realtime.LaunchError, match="/dev/null is a device"):
        realtime.run(described(Udp(), Ftp()), virtual_time=True, captures={"a": "/dev/null"})


@needs_kernel
def test_in_a_guest_a_day_takes_no_time() -> None:
    start_s = time.monotonic()
    slept_s = call(in_guest.sleep, kernel.find(), duration_s=86_400.0)
    assert 0 <= slept_s - 86_400 < 1e-3
    assert time.monotonic() - start_s < 600


@needs_kernel
def test_a_guest_that_fails_ends_with_one_clear_line() -> None:
    with pytest.raises(GuestError, match="Kernel panic - not syncing: sysrq triggered crash"):
        call(in_guest.crash, kernel.find())
    with pytest.raises((GuestError, MemoryError)):
        call(in_guest.fill, kernel.find(), memory_mib=128, mib=300)
    with pytest.raises(GuestError, match="no progress"):
        call(in_guest.ignore, kernel.find(), patience_s=3)


@needs_kernel
def test_a_guest_boots_from_a_folder_with_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder, it's"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert call(in_guest.greet, kernel.find(), name="host") == "hello host"


@needs_kernel
def test_a_guest_writes_only_where_it_may(tmp_path: Path) -> None:
    file = tmp_path / "of the guest, it is"
    with pytest.raises(OSError, match="Read-only"):
        call(in_guest.write, kernel.find(), file=file)
    call(in_guest.write, kernel.find(), writable=[tmp_path], file=file)
    assert file.read_text(encoding="utf-8") == "written"


@needs_kernel
@pytest.mark.parametrize(
    ("transport", "source"),
    [
        (Dccp(ccid=2), Cbr(rate="6 Mbps", datagram="1000 B")),
        (Dccp(ccid=3), Cbr(rate="6 Mbps", datagram="1000 B")),
        (Udp(), Cbr(rate="3 Mbps", datagram="1000 B")),
        (Tcp(control="cubic"), Ftp()),
    ],
    ids=["ccid2", "ccid3", "udp", "tcp"],
)
def test_on_virtual_time_sockets_do_what_a_simulation_does(
    transport: Transport, source: Source
) -> None:
    scenario = described(transport, source, "3 s")
    simulated = run(scenario).totals["flows"]
    finished = realtime.run(scenario, virtual_time=True)
    assert finished.is_whole
    assert finished.results.totals["flows"] == simulated
    assert finished.accuracy.p99_s < 1e-5


@needs_kernel
def test_a_capture_and_a_qlog_leave_the_guest(tmp_path: Path) -> None:
    capture, qlog = tmp_path / "one" / "c.pcapng", tmp_path / "f.sqlog"
    capture.parent.mkdir()
    scenario = described(Dccp(ccid=2), Cbr(rate="1 Mbps", datagram="1000 B"))
    realtime.run(
        scenario,
        virtual_time=True,
        captures={"r1->r2": str(capture)},
        qlogs={"f": str(qlog)},
    )
    assert capture.stat().st_size > 1000
    assert qlog.stat().st_size > 1000


@needs_kernel
def test_comparing_clocks_names_virtual_time(tmp_path: Path) -> None:
    comparison = realtime.compare(
        described(Dccp(ccid=2), Cbr(rate="1 Mbps", datagram="1000 B")), virtual_time=True
    )
    write(comparison, tmp_path / "out")
    page = (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    assert "simulated and on virtual time" in page
    assert "real time" not in page
    assert (tmp_path / "out" / "virtual-time-1" / "flows.parquet").exists()


@needs_kernel
def test_without_privileges_a_run_on_virtual_time_is_the_same() -> None:
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if shutil.which(user[0]) is None or subprocess.run([*user, "true"], check=False).returncode:
        pytest.skip("the system has no user namespaces, and this is root")
    command = ["realtime", "run", "examples/dccp.toml", "--set", "duration=2 s", "--virtual-time"]
    done = subprocess.run(
        [*user, sys.executable, "-m", "skywave", *command, "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    simulated = run(Scenario.from_file(ROOT / "examples/dccp.toml").replace(duration="2 s"))
    assert json.loads(done.stdout)["flows"] == simulated.totals["flows"]


@needs_kernel
def test_long_waits_end_exactly() -> None:
    scenario = described(Udp(), Cbr(rate="40 kbps", datagram="1000 B"), "20 s")
    finished = realtime.run(scenario, virtual_time=True)
    assert finished.accuracy.report["lateness"]["packets"] > 50
    assert finished.accuracy.report["lateness"]["max_s"] < 2e-5


@needs_kernel
def test_the_kernels_retransmission_timeouts_are_counted() -> None:
    scenario = dumbbell(
        "lossy", duration="20 s", rate="4 Mbps", delay="10 ms", loss=Bernoulli(probability=0.3)
    )
    scenario.add_flow("f", "s1", "d1", KernelTcp(control="reno"), Ftp())
    (flow,) = realtime.run(scenario, virtual_time=True).results.totals["flows"]
    assert flow["timeouts"] > 2


@needs_kernel
def test_both_ends_of_a_kernels_connection_have_its_control() -> None:
    scenario = dumbbell(
        "dctcp",
        duration="5 s",
        rate="4 Mbps",
        delay="10 ms",
        queue=Red(packets=100, ecn=True),
        access_rate="100 Mbps",
    )
    scenario.add_flow("f", "s1", "d1", KernelTcp(control="dctcp"), Ftp())
    links = realtime.run(scenario, virtual_time=True).results.totals["links"]
    assert sum(link["marks"] for link in links) > 10, "ECN was not negotiated"


@needs_kernel_with_dccp
@pytest.mark.parametrize("ccid", [2, 3])
def test_the_kernels_dccp_sends_the_datagrams_of_its_source(ccid: int) -> None:
    # Its connection opens in the first 42 ms.
    replay = Replay(times=("0 s", "1 s", "1.2 s", "1.2 s"), sizes=("30 B", "500 B", "1 B", "90 B"))
    scenario = described(KernelDccp(ccid=ccid), replay, "2 s")
    voice = Voice(frame="80 B", interval="10 ms", codec="g711")
    scenario.add_flow("call", "s1", "d1", KernelDccp(ccid=ccid), voice)
    results = realtime.run(scenario, virtual_time=True).results
    flow, call = results.totals["flows"]
    assert flow["transport"] == "kernel-dccp"
    assert [flow["packets_sent"], flow["bytes_sent"]] == [4, 621]
    assert [flow["delivered_packets"], flow["delivered_bytes"]] == [4, 621]
    simulated = run(scenario)
    assert call["packets_sent"] == pytest.approx(
        simulated.totals["flows"][1]["packets_sent"], abs=3
    )
    played = [pc.sum(of.voice["played"]).as_py() for of in (results, simulated)]
    assert played[0] > 90
    assert played[0] == pytest.approx(played[1], abs=3)


@needs_kernel_with_dccp
def test_the_rate_of_the_kernels_ccid_3_is_sampled() -> None:
    scenario = described(KernelDccp(ccid=3), Ftp(datagram="1000 B"), "10 s")
    scenario.probes = Probes(rates=True)
    results = realtime.run(scenario, virtual_time=True).results
    (flow,) = results.totals["flows"]
    assert flow["goodput_bps"] > 2e6
    rates = results.rates["allowed_rate_bps"].to_numpy()
    assert 2e6 < rates[len(rates) // 2 :].mean() < 6e6
    assert 0.04 < results.flows["srtt_s"].to_numpy()[-1] < 0.2


@needs_kernel_with_dccp
def test_what_the_kernels_ccid_3_reports_fits_its_goodput() -> None:
    scenario = dumbbell(
        "lossy", duration="20 s", rate="4 Mbps", delay="10 ms", loss=Bernoulli(probability=0.01)
    )
    scenario.add_flow("f", "s1", "d1", KernelDccp(ccid=3), Ftp(datagram="1000 B"))
    scenario.probes = Probes(rates=True)
    results = realtime.run(scenario, virtual_time=True).results
    (flow,) = results.totals["flows"]
    settled = results.rates.slice(10)
    received = pc.mean(settled["receive_rate_bps"]).as_py()
    assert received == pytest.approx(flow["goodput_bps"], rel=0.25)
    assert 0.002 < pc.mean(settled["loss_event_rate"]).as_py() < 0.05


@needs_kernel_with_dccp
def test_the_kernels_dccp_refuses_what_its_queue_has_no_room_for() -> None:
    at_once = Replay(times=("0 s",) * 9 + ("1 s",) * 9, sizes=("1000 B",) * 18)
    scenario = described(KernelDccp(send_queue=4), at_once, "3 s")
    (flow,) = realtime.run(scenario, virtual_time=True).results.totals["flows"]
    # Four wait for the connection. Of the later ones, some leave before the queue is full.
    assert 8 <= flow["packets_sent"] <= 13
    assert flow["delivered_packets"] == flow["packets_sent"]
    too_fast = described(KernelDccp(send_queue=4), Cbr(rate="9 Mbps", datagram="9 kB"), "3 s")
    (flow,) = realtime.run(too_fast, virtual_time=True).results.totals["flows"]
    assert flow["goodput_bps"] > 2e6


@needs_kernel_with_dccp
def test_the_kernels_dccp_and_ours_share_protocol_33() -> None:
    scenario = described(KernelDccp(), Ftp(), "10 s")
    scenario.add_flow("ours", "s1", "d1", Dccp(), Ftp())
    # Its connections have ports of their own.
    scenario.add_flow("pages", "s1", "d1", Dccp(), Web())
    for over_udp in (False, True):
        finished = realtime.run(scenario, virtual_time=True, dccp_over_udp=over_udp)
        flows = finished.results.totals["flows"]
        assert all(flow["delivered_packets"] > 20 for flow in flows), over_udp
        accuracy = finished.accuracy.document()
        assert accuracy["overflows"] == accuracy["malformed"] == 0


def queued(queue: Queue, *, mbps: float = 6) -> Scenario:
    """Return a bottleneck of 4 Mbps with this queue, and what overloads it."""
    scenario = dumbbell("queue", duration="4 s", rate="4 Mbps", delay="10 ms", queue=queue)
    scenario.add_flow("f", "s1", "d1", Udp(), Cbr(rate=f"{mbps} Mbps", datagram="972 B"))
    return scenario


@needs_kernel
def test_a_queue_of_the_kernel_drops_what_ours_drops() -> None:
    scenario = queued(KernelQueue(qdisc="pfifo limit 20", simulated=DropTail(packets=20)))
    virtual, simulated = realtime.run(scenario, virtual_time=True).results, run(scenario)
    assert virtual.totals["links"] == simulated.totals["links"]
    assert virtual.totals["links"][0]["drops"] > 1000
    delays = [pc.mean(of.flows["delay_mean_s"]).as_py() for of in (virtual, simulated)]
    assert delays[0] == pytest.approx(delays[1], rel=0.01)


@needs_kernel
def test_what_a_queue_of_the_kernel_drops_inside_is_counted() -> None:
    scenario = queued(KernelQueue(qdisc="codel limit 1000", simulated=CoDel(packets=1000)))
    virtual, simulated = realtime.run(scenario, virtual_time=True).results, run(scenario)
    totals = [of.totals for of in (virtual, simulated)]
    drops = [of["links"][0]["drops"] for of in totals]
    assert drops[0] == pytest.approx(drops[1], rel=0.05)
    assert drops[0] > 100
    delivered = [of["flows"][0]["delivered_packets"] for of in totals]
    assert delivered[0] == pytest.approx(delivered[1], abs=2)


@needs_kernel
def test_what_a_queue_of_the_kernel_marks_is_counted() -> None:
    queue = KernelQueue(qdisc="codel limit 1000 target 2ms ecn")
    scenario = dumbbell("marks", duration="4 s", rate="4 Mbps", delay="10 ms", queue=queue)
    scenario.add_flow("f", "s1", "d1", Dccp(), Ftp(datagram="1000 B"))
    totals = realtime.run(scenario, virtual_time=True).results.totals
    assert totals["links"][0]["marks"] > 10
    assert totals["flows"][0]["goodput_bps"] > 3e6


@needs_kernel
def test_a_queue_that_the_kernel_does_not_have_is_named() -> None:
    with pytest.raises(
        OSError, match=r'^the queue of link "r1->r2": tc refuses "qdisc add .* codal limit 5": '
    ):
        realtime.run(queued(KernelQueue(qdisc="codal limit 5")), virtual_time=True)


@needs_kernel
def test_a_packet_too_long_for_a_queue_of_the_kernel_ends_the_run() -> None:
    scenario = queued(KernelQueue(qdisc="pfifo", mtu="999 B"))
    with pytest.raises(ScenarioError, match=r"1000 B, .* up to 999 B: give a larger kernel\.mtu"):
        realtime.run(scenario, virtual_time=True)


def test_a_queue_of_the_kernel_has_no_trace() -> None:
    scenario = queued(KernelQueue(qdisc="pfifo"))
    assert scenario.dumbbell is not None
    trace = TraceSteps(steps=(Step(at="1 s", rate="1 Mbps"),))
    scenario.dumbbell = scenario.dumbbell.replace(trace=trace)
    with pytest.raises(ScenarioError, match=r'link "r1->r2": .* constant rate: leave out the'):
        realtime.run(scenario)


@needs_kernel
def test_a_kernel_without_dccp_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernel.VARIABLE, str(kernel.find()))
    with pytest.raises(ScenarioError, match='flow "f": the kernel has no DCCP with CCID 2 '):
        realtime.run(described(KernelDccp(), Ftp(), "1 s"), virtual_time=True)


@pytest.mark.deep
@needs_kernel
@pytest.mark.parametrize(
    ("sends", "least_s", "most_s"),
    [
        # Data is owed an answer: silence_timeout.
        (True, 30, 30.001),
        # keepalive, up to a sixteenth shorter, and silence_timeout.
        (False, 142.5, 150.001),
    ],
)
def test_a_silent_peer_is_given_up_after_the_documented_time(
    *, sends: bool, least_s: float, most_s: float
) -> None:
    assert least_s <= call(in_guest.end_of_silence, kernel.find(), sends=sends) <= most_s


@pytest.mark.deep
@needs_kernel
def test_a_connection_without_data_ends_after_its_idle_timeout() -> None:
    ended_s = call(in_guest.end_of_idleness, kernel.find(), limit="10 min")
    assert 0 <= ended_s - 600 < 1e-3


@pytest.mark.deep
@needs_kernel
def test_keepalives_keep_a_connection_open_for_hours() -> None:
    arrived, packets = call(in_guest.idle_for, kernel.find(), duration_s=6 * 3600.0)
    assert arrived == b"still there"
    # A Sync and a SyncAck each two minutes, or a little less.
    assert 360 <= packets <= 360 * 16 / 15 + 20


@pytest.mark.deep
@needs_kernel
def test_ports_rest_for_two_maximum_segment_lifetimes() -> None:
    assert 240 <= call(in_guest.rest_of_a_port, kernel.find()) <= 242


@needs_kernel
@pytest.mark.parametrize("interrupts", [1, 2])
def test_ctrl_c_ends_a_run_early_and_twice_at_once(tmp_path: Path, interrupts: int) -> None:
    capture = tmp_path / "c d.pcapng"
    command = ["realtime", "run", "examples/tcp.toml", "--set", "duration=1000 s"]
    command += ["--virtual-time", "--json", "--capture", f"r1->r2={capture}"]
    with subprocess.Popen(
        [sys.executable, "-m", "skywave", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as run:
        # It is in the guest once what it captures has a size.
        while not any(file.stat().st_size > 100_000 for file in tmp_path.glob(".c d*")):
            assert run.poll() is None
            time.sleep(0.05)
        for _ in range(interrupts):
            run.send_signal(signal.SIGINT)
            time.sleep(0.2)
        out, _ = run.communicate()
    assert run.returncode == 130
    if interrupts == 1:
        assert json.loads(out)["accuracy"]["interrupted"] is True
        assert capture.exists()
    left = [file.name for file in tmp_path.iterdir() if not file.name.endswith(".lock")]
    assert left == ([capture.name] if interrupts == 1 else [])


@pytest.mark.deep
@needs_kernel
@pytest.mark.parametrize(("keepalive", "arrives"), [("2 min", b"news"), ("2 h", None)])
def test_a_keepalive_keeps_the_mapping_of_a_nat(keepalive: str, arrives: bytes | None) -> None:
    # RFC 4787 REQ-5 allows a NAT to forget after five minutes.
    found = call(
        in_guest.behind_nat, kernel.find(), forgets_s=300.0, keepalive=keepalive, idle_s=1800.0
    )
    assert found == arrives


@pytest.mark.deep
@needs_kernel
def test_a_larger_path_is_found_after_ten_minutes() -> None:
    before, after, found_s = call(in_guest.larger_path, kernel.find(), mtu=1400, larger=1500)
    assert before < 1400
    assert after - before == 100
    # PMTU_RAISE_TIMER (RFC 8899 section 5.1.1).
    assert 540 <= found_s <= 610


@pytest.mark.deep
@needs_kernel
def test_partopen_ends_after_eight_minutes() -> None:
    # RFC 4340 section 8.1.5.
    assert 0 <= call(in_guest.end_of_partopen, kernel.find()) - 480 < 1


@pytest.mark.deep
@needs_kernel
def test_a_day_leaves_nothing_behind() -> None:
    found = call(in_guest.day, kernel.find(), hours=24)
    assert found.received == found.sent > 80_000
    assert {*found.connections} == {1}
    assert {*found.descriptors} == {found.descriptors[0]}
    # After two hours, all pools and caches are as large as they get.
    assert max(found.anonymous_kib[2:]) - min(found.anonymous_kib[2:]) < 1024, found
