"""``skywave decode``: captures of this project's and of others."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from conftest import CAPTURES, assert_bad_input, run_cli

if TYPE_CHECKING:
    from pathlib import Path

ETHERNET = 1
RAW_IP = 101
NO_CHECKSUM = 0
WRONG = 0x1234
REQUEST = struct.pack("!2H2B", 49152, 5001, 5, 0) + bytes.fromhex(
    "0000"  # no checksum, as UDP has one
    "0100000000000007"  # DCCP-Request with a long sequence number: 7
    "0000002a"  # service code 42
)


def captured(path: Path, *datagrams: tuple[int, int]) -> Path:
    """Write a capture of a DCCP-Request in UDP to each of these ports, with these checksums."""
    return capture_of(
        path,
        RAW_IP,
        *(
            ip_packet(17, struct.pack("!4H", 40000, port, 8 + len(REQUEST), checksum) + REQUEST)
            for port, checksum in datagrams
        ),
    )


def capture_of(path: Path, link: int, *frames: bytes) -> Path:
    """Write a capture of these frames."""
    records = (struct.pack("<4I", 0, 0, len(frame), len(frame)) + frame for frame in frames)
    header = struct.pack("<I2HqII", 0xA1B2C3D4, 2, 4, 0, 65535, link)
    path.write_bytes(header + b"".join(records))
    return path


def ip_packet(protocol: int, payload: bytes) -> bytes:
    fields = struct.pack("!2B3H2B", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol)
    addresses = bytes([192, 0, 2, 1, 192, 0, 2, 2])
    return fields + internet_checksum(fields + addresses) + addresses + payload


def internet_checksum(data: bytes) -> bytes:
    """Return the checksum of RFC 1071."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    return struct.pack("!H", ~(total % 0xFFFF) & 0xFFFF)


def decoded(*arguments: object) -> list[dict[str, Any]]:
    done = run_cli("decode", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    frames: list[dict[str, Any]] = json.loads(done.stdout)["frames"]
    return frames


def test_there_is_a_line_a_frame() -> None:
    path = CAPTURES / "ccid2.pcapng"
    frames = decoded(path)
    assert any("Request" in frame["text"] for frame in frames)
    lines = run_cli("decode", path).stdout.splitlines()
    assert len(lines) == len(frames) > 60
    assert lines[0].split()[:3] == ["1", f"{frames[0]['time_s']:.6f}", "s"]


def test_dccp_over_udp_is_found_at_its_port_and_at_those_that_are_named(tmp_path: Path) -> None:
    ports = (6511, 7000, 7001)
    file = captured(tmp_path / "udp.pcap", *((port, NO_CHECKSUM) for port in ports))
    frames = decoded(file)
    assert [frame["protocol"] for frame in frames] == ["DCCP-UDP", "UDP", "UDP"]
    assert "UDP 40000 > 6511: 49152 > 5001 Request service SC=42 seq 7" in frames[0]["text"]
    frames = decoded(file, "--udp-port", 7000, "--udp-port", 7001)
    assert [frame["protocol"] for frame in frames] == ["DCCP-UDP"] * 3
    assert all(frame["wrong_checksum"] is None for frame in frames)


def test_a_packet_with_a_wrong_checksum_is_decoded_and_marked(tmp_path: Path) -> None:
    file = captured(tmp_path / "offload.pcap", (6511, WRONG), (6511, NO_CHECKSUM), (6511, WRONG))
    frames = decoded(file)
    assert [frame["protocol"] for frame in frames] == ["DCCP-UDP"] * 3
    why = "UDP: the checksum is 0x1234, which does not match the datagram"
    assert [frame["wrong_checksum"] for frame in frames] == [why, None, why]
    assert frames[0]["text"] == f"{frames[1]['text']} [bad checksum]"
    done = run_cli("decode", file)
    first, second, _ = done.stdout.splitlines()
    assert first.endswith(frames[0]["text"])
    assert "checksum" not in second
    assert done.stderr.startswith("warning: 2 of 3 frames have a bad checksum; the usual cause is")
    assert done.stderr.count("\n") == 1


def test_without_wrong_checksums_there_is_no_warning(tmp_path: Path) -> None:
    done = run_cli("decode", captured(tmp_path / "udp.pcap", (6511, NO_CHECKSUM)))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("file", ["ccid2.pcapng", "udp.pcap"])
def test_the_frames_before_a_cut_are_printed_and_then_the_error(file: str, tmp_path: Path) -> None:
    if file == "udp.pcap":
        whole = captured(tmp_path / file, *[(6511, WRONG)] * 5)
    else:
        whole = CAPTURES / file
    frames = decoded(whole)
    cut = tmp_path / f"cut-{file}"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    done = run_cli("decode", cut)
    lines = done.stdout.splitlines()
    assert done.returncode == 2
    assert 1 < len(lines) < len(frames)
    assert lines == run_cli("decode", whole).stdout.splitlines()[: len(lines)]
    *_, error = done.stderr.splitlines()
    assert error.startswith("error: byte ")
    assert "the capture is truncated" in error
    as_json = run_cli("decode", cut, "--json")
    assert (as_json.returncode, as_json.stderr) == (done.returncode, done.stderr)
    document = json.loads(as_json.stdout)
    assert document["frames"] == frames[: len(lines)]
    assert error == f"error: {document['error']}"
    assert json.loads(run_cli("decode", whole, "--json").stdout)["error"] is None


def test_what_is_no_capture_has_no_frames(tmp_path: Path) -> None:
    file = tmp_path / "text.pcap"
    file.write_text("no capture")
    assert_bad_input(run_cli("decode", file), "neither a pcapng nor a pcap file")
    done = run_cli("decode", file, "--json")
    assert done.returncode == 2
    document = json.loads(done.stdout)
    assert (document["frames"], done.stderr) == ([], f"error: {document['error']}\n")


@pytest.mark.parametrize(
    ("ethertype", "protocol"),
    [(0x0806, "ARP"), (0x88CC, "EtherType 0x88cc"), (38, "IEEE 802.3")],
)
def test_what_is_not_ip_is_not_malformed(ethertype: int, protocol: str, tmp_path: Path) -> None:
    frame = struct.pack("!12xH46x", ethertype)
    file = capture_of(tmp_path / "ethernet.pcap", ETHERNET, frame)
    (one,) = decoded(file)
    assert (one["protocol"], one["text"]) == (protocol, "not decoded")
    done = run_cli("decode", file)
    assert done.stdout == f"    1 0.000000 s {protocol} 60 B  not decoded\n"


def test_a_port_unreachable_report_is_recognised(tmp_path: Path) -> None:
    about = ip_packet(17, struct.pack("!4H", 40000, 6511, 8 + len(REQUEST), 0) + REQUEST)
    message = struct.pack("!2B6x", 3, 3) + about
    message = message[:2] + internet_checksum(message) + message[4:]
    file = capture_of(tmp_path / "icmp.pcap", RAW_IP, ip_packet(1, message))
    (frame,) = decoded(file)
    assert frame["protocol"] == "ICMP"
    assert frame["text"] == (
        "192.0.2.1 > 192.0.2.2: destination unreachable: port unreachable, "
        "quotes 192.0.2.1 > 192.0.2.2: UDP 40000 > 6511: DCCP 49152 > 5001"
    )
    assert frame["wrong_checksum"] is None


@pytest.mark.parametrize("port", ["0", "65536", "dccp"])
def test_what_is_no_port_is_refused(port: str) -> None:
    done = run_cli("decode", CAPTURES / "ccid2.pcapng", "--udp-port", port)
    assert_bad_input(done, "--udp-port")
