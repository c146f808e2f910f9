"""``skywave decode``: captures of this project's and of others."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from conftest import CAPTURES, assert_bad_input, run_cli

if TYPE_CHECKING:
    from pathlib import Path

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
    records = b""
    for port, checksum in datagrams:
        udp = struct.pack("!4H", 40000, port, 8 + len(REQUEST), checksum) + REQUEST
        fields = struct.pack("!2B3H2B", 0x45, 0, 20 + len(udp), 0, 0, 64, 17)
        addresses = bytes([192, 0, 2, 1, 192, 0, 2, 2])
        packet = fields + internet_checksum(fields + addresses) + addresses + udp
        records += struct.pack("<4I", 0, 0, len(packet), len(packet)) + packet
    path.write_bytes(struct.pack("<I2HqII", 0xA1B2C3D4, 2, 4, 0, 65535, RAW_IP) + records)
    return path


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
    assert not any(frame["wrong_checksum"] for frame in frames)


def test_a_packet_with_a_wrong_checksum_is_decoded_and_marked(tmp_path: Path) -> None:
    file = captured(tmp_path / "offload.pcap", (6511, WRONG), (6511, NO_CHECKSUM))
    frames = decoded(file)
    assert [frame["protocol"] for frame in frames] == ["DCCP-UDP"] * 2
    assert [frame["wrong_checksum"] for frame in frames] == [True, False]
    mark = "[UDP: the checksum is 0x1234, which does not match the datagram]"
    assert frames[0]["text"] == f"{frames[1]['text']} {mark}"
    first, second = run_cli("decode", file).stdout.splitlines()
    assert first.endswith(mark)
    assert "checksum" not in second


@pytest.mark.parametrize("port", ["0", "65536", "dccp"])
def test_what_is_no_port_is_refused(port: str) -> None:
    done = run_cli("decode", CAPTURES / "ccid2.pcapng", "--udp-port", port)
    assert_bad_input(done, "--udp-port")
