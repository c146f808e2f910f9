"""``skywave decode``: captures of this project's and of others."""

from __future__ import annotations

import gzip
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
    frames = decoded(file, "--extra-udp-port", 7000, "--extra-udp-port", 7001)
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
    assert done.returncode == 1
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
    done = run_cli("decode", CAPTURES / "ccid2.pcapng", "--extra-udp-port", port)
    assert_bad_input(done, "--extra-udp-port")


def pcapng(path: Path, options: bytes) -> Path:
    """Write a pcapng capture of two packets of an interface with these options."""

    def block(kind: int, body: bytes) -> bytes:
        return struct.pack("<2I", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    packet = ip_packet(17, struct.pack("!4H", 40000, 6511, 8 + len(REQUEST), 0) + REQUEST)
    enhanced = struct.pack("<5I", 0, 0, 1, len(packet), len(packet)) + packet
    path.write_bytes(
        block(0x0A0D0D0A, struct.pack("<I2Hq", 0x1A2B3C4D, 1, 0, -1))
        + block(1, struct.pack("<2HI", RAW_IP, 0, 65535) + options)
        + block(6, enhanced)
        + block(5, struct.pack("<3I2HI", 0, 0, 0, 4, 4, 1))  # a counter of four bytes, not eight
        + block(6, enhanced)
    )
    return path


NO_CLOCK = (
    "skipped a time resolution or offset of a wrong length, in the block at byte 28; "
    "times are read as microseconds and may be wrong"
)
PAST_THE_END = (
    "skipped a list of options that is longer than its block, in the block at byte 28; "
    "the frames are complete"
)


@pytest.mark.parametrize(
    ("options", "warnings"),
    [
        # opt_endofopt may be missing.
        (struct.pack("<2H4s", 2, 4, b"eth0"), []),
        (
            struct.pack("<2H4s", 2, 4, b"caf\xe9"),
            ["skipped a text that is not UTF-8, in the block at byte 28; the frames are complete"],
        ),
        (
            struct.pack("<2H", 9, 0),
            [NO_CLOCK],
        ),
        (struct.pack("<2H4s", 2, 100, b"eth0"), [PAST_THE_END]),
    ],
    ids=["no end of options", "Latin-1", "no time resolution", "past the end"],
)
def test_options_that_are_not_as_they_should_be_cost_no_frame(
    options: bytes, warnings: list[str], tmp_path: Path
) -> None:
    file = pcapng(tmp_path / "options.pcapng", options)
    done = run_cli("decode", file)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    *found, counter = done.stderr.splitlines()
    assert found == [f"warning: {warning}" for warning in warnings]
    assert counter.startswith("warning: skipped an option of a wrong length, in the block at byte")
    document = json.loads(run_cli("decode", file, "--json").stdout)
    assert [f"warning: {skipped}" for skipped in document["skipped"]] == [*found, counter]


def test_a_compressed_capture_opens(tmp_path: Path) -> None:
    whole = CAPTURES / "ccid2.pcapng"
    file = tmp_path / "ccid2.pcapng.gz"
    file.write_bytes(gzip.compress(whole.read_bytes()))
    frames = decoded(whole)
    assert decoded(file) == frames
    file.write_bytes(file.read_bytes()[:-100])
    done = run_cli("decode", file, "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert 0 < len(document["frames"]) < len(frames)
    assert document["frames"] == frames[: len(document["frames"])]
    assert "of the uncompressed capture: the compressed file is truncated" in document["error"]


def test_a_link_type_that_states_a_check_sequence_is_that_link_type(tmp_path: Path) -> None:
    file = captured(tmp_path / "plain.pcap", (6511, NO_CHECKSUM))
    frames = decoded(file)
    flags = 0x44000000
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, 20, RAW_IP | flags)
    file.write_bytes(data)
    assert decoded(file) == frames


def test_a_link_type_that_is_not_decoded_is_named(tmp_path: Path) -> None:
    (frame,) = decoded(capture_of(tmp_path / "nflog.pcap", 239, bytes(20)))
    assert (frame["protocol"], frame["text"]) == ("link type 239", "not decoded")


def test_the_packet_in_a_tunnel_is_decoded(tmp_path: Path) -> None:
    inner = ip_packet(33, REQUEST)
    gre = struct.pack("!2HI", 0x2000, 0x0800, 7) + inner
    deep = inner
    for _ in range(1000):
        deep = ip_packet(4, deep)
    file = capture_of(
        tmp_path / "tunnels.pcap", RAW_IP, ip_packet(4, inner), ip_packet(47, gre), deep
    )
    frames = decoded(file)
    packet = "192.0.2.1 > 192.0.2.2: 49152 > 5001 Request service SC=42 seq 7"
    for frame, tunnel in zip(frames, ("IPv4", "GRE"), strict=False):
        assert frame["protocol"] == "DCCP"
        assert frame["text"].startswith(f"192.0.2.1 > 192.0.2.2: {tunnel}: {packet}")
        # REQUEST has no checksum, which DCCP needs.
        assert frame["text"].count("[bad checksum]") == 1
    assert frames[2]["protocol"] == "IP"
