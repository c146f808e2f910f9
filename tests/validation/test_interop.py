"""The Linux kernel's DCCP as peer: its cases, and that its judge condemns what is wrong."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conftest import CAPTURES, ROOT, needs_tshark
from validation.linux import capture, machine, registers
from validation.linux.cases import DATAGRAMS, Case, Ending, Flow, Role, matrix, short
from validation.linux.defects import Defect
from validation.linux.ends import Report, words
from validation.linux.guests import MACHINES, guest, python
from validation.linux.namespace import namespace
from validation.linux.outcome import Evidence, Outcome, end_was_lost, judge, outcome

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = ROOT / "validation" / "linux" / "captures"
WE, KERNEL = "10.33.0.1", "10.33.0.2"
SENT = tuple(f"{index:016x}" for index in range(DATAGRAMS))


def clean_case(role: Role = Role.CONNECT, ending: Ending = Ending.WE_CLOSE) -> Case:
    return Case("uml", role, 2, "IPv4", "clean", ending, Flow.TO_KERNEL)


def right_evidence() -> Evidence:
    """What a connection leaves that we open, send on and close."""
    packets = [
        capture.Packet(1, WE, "Request"),
        capture.Packet(2, KERNEL, "Response"),
        *(capture.Packet(3 + i, WE, "DataAck", digest=digest) for i, digest in enumerate(SENT)),
        capture.Packet(100, WE, "Close"),
        capture.Packet(101, KERNEL, "Reset", reset_code=1),
    ]
    return Evidence(
        ours=Report(None, (2, 2), sent=SENT, end=("local", 1)),
        kernel=Report(None, (2, 2), received=SENT, end=("remote", 1)),
        packets=tuple(packets),
        our_address=WE,
    )


def kernel_received(*digests: str) -> Evidence:
    right = right_evidence()
    return replace(right, kernel=replace(right.kernel, received=digests))


def with_packets(*last: capture.Packet) -> Evidence:
    """The same connection, with another end on the wire."""
    right = right_evidence()
    return replace(right, packets=(*right.packets[:-2], *last))


CLOSE = capture.Packet(100, WE, "Close")
COMPLAINT = capture.Packet(9, KERNEL, "Ack", complaints=("its checksum is wrong",))

WRONG = {
    "a datagram altered": (
        kernel_received("f" * 16, *SENT[1:]),
        "to kernel, received: 1 datagrams that were never sent",
    ),
    "a datagram twice": (
        kernel_received(*SENT[:-1], SENT[0]),
        "to kernel, received: 1 datagrams twice",
    ),
    "a datagram lost on a clean path": (
        kernel_received(*SENT[1:]),
        f"to kernel: {DATAGRAMS - 1} datagrams arrived of {DATAGRAMS}",
    ),
    "out of order on a clean path": (
        kernel_received(*reversed(SENT)),
        "to kernel: datagrams out of order",
    ),
    "received, but never on the wire": (
        replace(right_evidence(), packets=right_evidence().packets[40:]),
        "received that the capture has not",
    ),
    "another Reset code": (
        with_packets(CLOSE, capture.Packet(101, KERNEL, "Reset", reset_code=2)),
        "ended by >Close <Reset 2, not >Close <Reset 1",
    ),
    "closed by the other side": (
        with_packets(
            capture.Packet(100, KERNEL, "Close"),
            capture.Packet(101, WE, "Reset", reset_code=1),
        ),
        "ended by <Close >Reset 1, not >Close <Reset 1",
    ),
    "a Close never answered": (with_packets(CLOSE), "ended by >Close, not"),
    "an end that says it ended otherwise": (
        replace(right_evidence(), ours=replace(right_evidence().ours, end=("remote", 1))),
        "we: ended ('remote', 1), not ('local', 1)",
    ),
    "another CCID": (
        replace(right_evidence(), kernel=replace(right_evidence().kernel, ccid=(2, 3))),
        "kernel: CCIDs (2, 3)",
    ),
    "an end that fails": (
        replace(right_evidence(), kernel=Report(error="TimeoutError")),
        "kernel: TimeoutError",
    ),
    "a packet that tshark complains of": (
        replace(right_evidence(), packets=(*right_evidence().packets, COMPLAINT)),
        "packet 9, kernel's Ack: its checksum is wrong",
    ),
    "nothing captured": (replace(right_evidence(), packets=()), "nothing captured"),
}


def test_right_evidence_passes() -> None:
    assert judge(clean_case(), right_evidence()) == []


@pytest.mark.parametrize(("evidence", "reason"), WRONG.values(), ids=WRONG.keys())
def test_wrong_evidence_fails(evidence: Evidence, reason: str) -> None:
    reasons = judge(clean_case(), evidence)
    assert any(reason in each for each in reasons), reasons


def test_what_comes_after_the_end_may_be_answered() -> None:
    late = [
        capture.Packet(102 + i, who, "Reset", reset_code=3) for i, who in enumerate((WE, KERNEL))
    ]
    right = right_evidence()
    assert judge(clean_case(), replace(right, packets=(*right.packets, *late))) == []
    assert judge(clean_case(), with_packets(CLOSE, *late))


def test_a_lossy_path_may_lose_but_not_alter() -> None:
    lossy = replace(clean_case(), path_name="loss")
    assert judge(lossy, kernel_received(*SENT[5:])) == []
    assert judge(lossy, kernel_received(*SENT[5:], "f" * 16))
    assert judge(lossy, kernel_received(*SENT[30:]))


def linux_to_linux() -> Evidence:
    """A capture of two kernels, whose sender was silent for 9 s, as if we had sent.

    All that it shows has arrived, and both ends gave up.
    """
    packets = tuple(capture.read(CAPTURES / "ccid2-loss.pcapng", 5001))
    arrived = tuple(packet.digest for packet in packets if packet.digest)
    return Evidence(
        ours=Report("not over in time", (2, 2), sent=arrived),
        kernel=Report("DeadlineError: not over", (2, 2), received=arrived),
        packets=packets,
        our_address="10.33.0.3",
        ended_s=packets[-1].time_s,
    )


@needs_tshark
def test_a_silent_ccid_2_is_the_kernels_defect() -> None:
    case = replace(clean_case(), path_name="loss")
    right = linux_to_linux()
    what, reasons = outcome(case, right)
    assert what is Outcome.KERNEL
    assert reasons[0] == Defect.SINGLE_PACKET
    assert reasons[1:] == judge(case, right)
    # The datagram behind which it was silent has not reached it.
    [lone] = [packet for packet in right.packets if packet.sequence == 190195269779199]
    less = tuple(digest for digest in right.kernel.received if digest != lone.digest)
    lost = replace(right, kernel=replace(right.kernel, received=less))
    assert outcome(case, lost)[0] is Outcome.FAILED
    # It has answered, and the path has lost that.
    [answer] = [packet for packet in right.packets if packet.sequence == 8557270946493]
    packets = tuple(p for p in right.packets if p is not answer)
    assert outcome(case, replace(right, packets=packets))[0] is Outcome.FAILED
    # The time was lost elsewhere.
    late = replace(right, ended_s=right.ended_s + 30)
    assert outcome(case, late)[0] is Outcome.FAILED
    # CCID 3 acknowledges otherwise.
    assert outcome(replace(case, ccid=3), right)[0] is Outcome.FAILED


@needs_tshark
def test_a_defect_of_the_kernel_excuses_nothing_that_is_wrong() -> None:
    case = replace(clean_case(), path_name="loss")
    right = linux_to_linux()
    altered = (*right.ours.sent[1:], "f" * 16)
    for wrong in (
        replace(right, packets=(*right.packets, replace(COMPLAINT, source=right.our_address))),
        replace(right, ours=replace(right.ours, sent=altered)),
        replace(right, kernel=replace(right.kernel, received=right.kernel.received * 2)),
    ):
        assert outcome(case, wrong)[0] is Outcome.FAILED


def test_a_defect_of_the_kernel_does_not_excuse_the_wrong_end_of_what_is_whole() -> None:
    request, response, *datagrams, close, reset = right_evidence().packets
    silent = (
        request,
        replace(response, time_s=0.0, sequence=0),
        *(replace(each, time_s=0.1) for each in datagrams),
        replace(close, time_s=5.0),
        replace(reset, time_s=5.0, sequence=1, reset_code=2),
    )
    whole = replace(right_evidence(), packets=silent, ended_s=5.0)
    assert outcome(clean_case(), whole) == (Outcome.FAILED, judge(clean_case(), whole))
    part = replace(whole, kernel=replace(whole.kernel, received=SENT[:30]))
    assert outcome(clean_case(), part)[0] is Outcome.KERNEL


@needs_tshark
def test_a_client_that_does_not_repeat_its_ack_is_the_kernels_defect() -> None:
    packets = tuple(capture.read(KERNELS / "handshake-ack.pcapng", 40002))
    assert [packet.type for packet in packets] == ["Request", "Response"]
    case = Case("uml", Role.LISTEN, 2, "IPv4", "loss", Ending.WE_CLOSE, Flow.TO_KERNEL)
    evidence = Evidence(
        ours=Report("not over in time"),
        kernel=Report("DeadlineError: not over", (2, 2)),
        packets=packets,
        our_address=WE,
        ended_s=packets[0].time_s + 40,
    )
    what, reasons = outcome(case, evidence)
    assert (what, reasons[0]) == (Outcome.KERNEL, Defect.HANDSHAKE_ACK)
    # It has not connected: the Response was lost.
    assert outcome(case, replace(evidence, kernel=Report("timed out")))[0] is Outcome.FAILED
    # It has sent its Ack.
    ack = capture.Packet(3, KERNEL, "Ack", time_s=packets[1].time_s + 0.1)
    assert outcome(case, replace(evidence, packets=(*packets, ack)))[0] is Outcome.FAILED
    # Ours is the one that does not repeat it.
    assert outcome(replace(case, role=Role.CONNECT), evidence)[0] is Outcome.FAILED


@needs_tshark
def test_what_finds_out_the_mtu_is_no_datagram() -> None:
    """A Sync that is padded, as RFC 4340 section 14.1 has it."""
    packets = capture.read(KERNELS / "mtu-probe.pcapng", 40005)
    [probe] = [packet for packet in packets if packet.type == "Sync"]
    assert probe.digest is None
    assert sum(packet.digest is not None for packet in packets) == 4


def refused(code: int, error: str, *more: capture.Packet) -> Evidence:
    """Return what is left of our being refused by the kernel."""
    reset = capture.Packet(2, KERNEL, "Reset", reset_code=code)
    packets = (capture.Packet(1, WE, "Request"), reset, *more)
    return Evidence(Report(error), Report("not over when the runner gave up"), packets, WE)


def test_a_refusal_is_a_reset_with_its_reason() -> None:
    case = clean_case(ending=Ending.WRONG_SERVICE)
    reason = "the port does not offer this service code"
    assert judge(case, refused(8, reason)) == []
    assert judge(case, refused(3, reason)) == [
        "on the wire: >Request <Reset 3, not >Request <Reset 8"
    ]
    assert judge(case, refused(8, "timed out"))
    assert judge(case, refused(8, reason, capture.Packet(3, KERNEL, "Response")))
    assert judge(case, replace(refused(8, reason), ours=Report(None, (2, 2))))
    closed = clean_case(ending=Ending.CLOSED_PORT)
    assert judge(closed, refused(3, "connection refused: nobody listens")) == []
    assert judge(closed, refused(7, "connection refused: nobody listens"))


def test_who_is_to_be_refused_asks_for_what_is_not_there() -> None:
    case = clean_case(ending=Ending.WRONG_SERVICE)
    ends = [words(case, ours=ours, peer=KERNEL, own=WE, port=5001) for ours in (True, False)]
    codes = {end[end.index("--service-code") + 1] for end in ends}
    assert len(codes) == len(ends)
    case = clean_case(ending=Ending.CLOSED_PORT)
    ends = [words(case, ours=ours, peer=KERNEL, own=KERNEL, port=5001) for ours in (True, False)]
    assert ends[0][1] == f"{KERNEL}:5001"
    assert ends[1][1] != ends[0][1]


def test_only_a_path_that_loses_excuses_a_missing_reset() -> None:
    unanswered = with_packets(CLOSE)
    assert end_was_lost(replace(clean_case(), path_name="loss"), unanswered)
    assert not end_was_lost(clean_case(), unanswered)
    assert not end_was_lost(replace(clean_case(), path_name="loss"), right_evidence())
    we_ask = clean_case(Role.LISTEN, Ending.WE_CLOSE)
    asked, close = capture.Packet(100, WE, "CloseReq"), capture.Packet(101, KERNEL, "Close")
    unknown = capture.Packet(102, KERNEL, "Reset", reset_code=3)
    assert end_was_lost(replace(we_ask, path_name="loss"), with_packets(asked, unknown))
    assert not end_was_lost(we_ask, with_packets(asked, unknown))
    # We had it, and should not have asked again.
    assert not end_was_lost(replace(we_ask, path_name="loss"), with_packets(asked, close, unknown))


def test_each_end_is_told_its_part() -> None:
    case = Case("qemu", Role.LISTEN, 3, "IPv6", "clean", Ending.KERNEL_RESETS, Flow.FROM_KERNEL)
    ours = words(case, ours=True, peer="fd33::3", own="fd33::1", port=5001)
    kernel = words(case, ours=False, peer="fd33::1", own="fd33::3", port=5001)
    assert ours[:4] == ["listen", "[fd33::1]:5001", "--ccid", "3"]
    assert kernel[:2] == ["send", "[fd33::1]:5001"]
    assert ours[-2:] == ["--close", "await"]
    assert kernel[-2:] == ["--close", "reset"]
    assert ours[ours.index("--count") + 1] == "0"


def test_the_matrix_has_every_combination_once() -> None:
    cases = matrix()
    assert len(set(cases)) == len(cases)
    product = {(case.role, case.ccid, case.family, case.path_name, case.ending) for case in cases}
    assert len(product) == 2 * 2 * 2 * (5 * 4 + 2)
    # As the documents say; besides, those in which the listener or both send.
    assert len(cases) == 208
    assert set(short()) <= {replace(case, guest="uml") for case in cases}


@needs_tshark
def test_tshark_reads_a_good_capture_and_finds_a_changed_byte(tmp_path: Path) -> None:
    golden = CAPTURES / "ccid2-closereq.pcapng"
    packets = capture.read(golden, 5001)
    assert len(packets) == 64
    assert not [packet for packet in packets if packet.complaints]
    assert [packet.type for packet in packets[-3:]] == ["CloseReq", "Close", "Reset"]
    assert packets[-1].reset_code == 1
    assert sum(packet.digest is not None for packet in packets) == 30

    altered = bytearray(golden.read_bytes())
    altered[altered.index(b"KDP1") + 20] ^= 1
    (tmp_path / "altered.pcapng").write_bytes(altered)
    [bad] = [p for p in capture.read(tmp_path / "altered.pcapng", 5001) if p.complaints]
    assert "its checksum is wrong" in bad.complaints


@needs_tshark
def test_tshark_finds_a_bad_option_length(tmp_path: Path) -> None:
    golden = (CAPTURES / "ccid2.pcapng").read_bytes()
    # The Request's Change L(ECN Incapable): type 32, length 4, feature 4, value 1.
    altered = golden.replace(b"\x20\x04\x04\x01", b"\x20\xff\x04\x01", 1)
    assert altered != golden
    (tmp_path / "altered.pcapng").write_bytes(altered)
    complaints = [c for p in capture.read(tmp_path / "altered.pcapng", 5001) for c in p.complaints]
    assert any("expert" in complaint or "malformed" in complaint for complaint in complaints)


def test_a_machine_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "root" in str(machine.lacking("uml"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    reason = str(machine.lacking("qemu"))
    assert reason.startswith("ip, busybox, ")
    assert "qemu-system-x86" in reason


@pytest.fixture(scope="module")
def user_mode_linux() -> None:
    """Skip where the guest cannot run: it needs root, TAP devices and packages.

    The reason says which of them is missing.
    """
    machine.find_system_programs()
    reason = machine.lacking("uml")
    if reason:
        pytest.skip(reason)


def run_matrix(*options: str, command: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"SKYWAVE_COMMAND": command} if command else {})
    return subprocess.run(
        [sys.executable, "-m", "validation.linux", "matrix", *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        check=False,
    )


@pytest.mark.deep
@pytest.mark.usefixtures("user_mode_linux")
@pytest.mark.parametrize("are_too_many", [False, True])
def test_a_guest_keeps_all_registers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, are_too_many: bool
) -> None:
    """What is loaded where a processor has too many changes nothing where it has not.

    Python and its hashes use the widest registers that there are, across the faults of a start.
    """
    if registers.are_too_many() and not are_too_many:
        pytest.skip("User Mode Linux does not start on this processor without it")
    monkeypatch.setattr(registers, "are_too_many", lambda: are_too_many)
    word = "import hashlib; print(hashlib.sha256(bytes(3_000_000)).hexdigest())"
    with namespace("registers") as space, guest(MACHINES["uml"], space, tmp_path) as booted:
        answer = booted.run(python(), "-c", word)
    assert answer.split() == [hashlib.sha256(bytes(3_000_000)).hexdigest()]


@pytest.mark.deep
@pytest.mark.usefixtures("user_mode_linux")
def test_a_liar_fails(tmp_path: Path) -> None:
    """A program that says nothing of what it should."""
    one = ["--short", "--only", "we listen", "--only", "both ways", "--json"]
    wrong = run_matrix(*one, "--keep", str(tmp_path), command="echo {}")
    assert wrong.returncode == 1
    document = json.loads(wrong.stdout)
    assert document["summary"] == "0 passed, 0 kernel, 1 failed, 0 skipped"
    assert any(re.match("we: status 0, no report", r) for r in document["cases"][0]["reasons"])


@pytest.mark.deep
def test_cases_on_virtual_time_pass_and_a_liar_fails(tmp_path: Path) -> None:
    machine.find_system_programs()
    if reason := machine.lacking("virtual"):
        pytest.skip(reason)
    few = ["--virtual-time", "--short", "--json", "--keep", str(tmp_path)]
    right = run_matrix(*few)
    assert right.returncode == 0, right.stdout
    assert json.loads(right.stdout)["summary"] == "10 passed, 0 kernel, 0 failed, 0 skipped"
    wrong = run_matrix(*few, "--only", "we listen", "--only", "both ways", command="echo {}")
    assert json.loads(wrong.stdout)["summary"] == "0 passed, 0 kernel, 1 failed, 0 skipped"
