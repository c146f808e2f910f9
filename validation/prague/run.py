"""Run udp_prague behind an emulated link with DualPI2, alone and beside one CUBIC flow.

usage: chrt --fifo 5 .venv/bin/python -m validation.prague.run UDP_PRAGUE_TREE SKYWAVE

The tree has udp_prague_sender and udp_prague_receiver, SKYWAVE is the command `skywave`. Needs root
and the kernel's CUBIC; the real-time priority keeps other work of the machine from delaying
packets. Stores prague.csv.

The wait of a packet is the time from its kernel stamp in the sender's namespace (sniff.py) to the
link's stamp at the far end (`skywave emulate --capture`), less its time on the link, less the fifth
smallest such value of the run, in which no queue is assumed. So it includes how late the emulator
read the packet. `base_spread_us` is how far the smallest of all is below it. A run in which 1 % of
the packets left more than a millisecond late is repeated; `tries` counts.
"""

from __future__ import annotations

import json
import math
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation import tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).resolve().parent
RATE_BPS = 20e6
SECONDS, FROM = 30, 5
UDP = 17
SEQUENCE = slice(20 + 8 + 9, 20 + 8 + 13)
"""udp_prague's sequence number, behind the headers of IP and UDP."""
LINK = """
rate = "20 Mbps"
delay = "{delay} ms"
queue = {{ dualpi2 = {{ bytes = "625 kB" }} }}

[back]
rate = "100 Mbps"
queue = {{ drop-tail = {{ packets = 1000 }} }}
"""
CUBIC = "python3 {here}/cubic.py source $SKYWAVE_PEER 5001 {seconds}"
CASES = {
    "prague": "wait $prague",
    "prague_cubic": CUBIC + " & cubic=$!; wait $prague; wait $cubic",
    "cubic": CUBIC,
}
SENDER = "timeout {seconds} {tree}/udp_prague_sender -c -a $SKYWAVE_PEER -q & prague=$!"
COMMAND = """
python3 {here}/sniff.py {sent} {sniff} & sniff=$!
sleep 0.7
{prague}
{rest}
wait $sniff
"""
PEER = "sh -c 'python3 {here}/cubic.py sink 5001 & exec {tree}/udp_prague_receiver -q'"


@dataclass(frozen=True)
class Packet:
    """A packet that arrived."""

    protocol: int
    left_s: float
    delay_s: float
    """Without its transmission."""
    size: int
    is_marked: bool


def key(ip: bytes) -> tuple[int, bytes]:
    """Return what identifies a packet: udp_prague's number, or IP's identification and TCP's."""
    return (UDP, ip[SEQUENCE]) if ip[9] == UDP else (6, ip[4:6] + ip[24:28])


def sent(path: Path) -> dict[tuple[int, bytes], list[float]]:
    """Return when each packet left the sender's namespace, by key, in order."""
    packets: dict[tuple[int, bytes], list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        time_s, _, head = line.split()
        packets.setdefault(key(bytes.fromhex(head)), []).append(float(time_s))
    return packets


def captured(path: Path) -> list[tuple[float, int, bytes]]:
    """Return time, length and head of each IPv4 packet that arrived at the peer."""
    data = path.read_bytes()
    offset, names, found = 0, [], []
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        if kind == 1:  # an interface of the pcapng: the second one is the peer's
            names.append(data[offset + 16 : offset + length])
        elif kind == 6:
            interface, high, low, size, original = struct.unpack_from("<IIIII", data, offset + 8)
            ip = data[offset + 28 : offset + 28 + min(size, 48)]
            if b"to peer" in names[interface] and ip[0] >> 4 == 4:
                found.append(((high << 32 | low) / 1e9, original, ip))
        offset += length
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def analyse(there: Path, capture: Path, report: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """Return the row of each flow."""
    left = sent(there)
    first_s = min(times[0] for times in left.values())
    matched = []
    for time_s, size, ip in captured(capture):
        times = left.get(key(ip))
        if times:
            began_s = times.pop(0)
            delay_s = time_s - began_s - size * 8 / RATE_BPS
            matched.append(Packet(ip[9], began_s - first_s, delay_s, size, ip[1] & 3 == 3))
    delays = sorted(packet.delay_s for packet in matched)
    base_s = delays[4]
    link, late = report["links"][0], report["lateness"]
    common = {
        "base_spread_us": f"{(base_s - delays[0]) * 1e6:.0f}",
        "link_arrivals": link["arrivals"],
        "link_drops": link["drops"],
        "link_marks": link["marks"],
        "late_median_us": f"{late['median_s'] * 1e6:.0f}",
        "late_p99_us": f"{late['p99_s'] * 1e6:.0f}",
        "others_cpu": f"{report['processors_others']:.2f}",
    }
    rows: list[Mapping[str, object]] = []
    for protocol, flow in ((UDP, "prague"), (6, "cubic")):
        mine = [
            packet
            for packet in matched
            if packet.protocol == protocol and FROM <= packet.left_s < SECONDS
        ]
        if not mine:
            continue
        waits_ms = [1e3 * max(0.0, packet.delay_s - base_s) for packet in mine]
        marks = sum(packet.is_marked for packet in mine)
        lost = sum(
            FROM <= time_s - first_s < SECONDS
            for (of, _), times in left.items()
            if of == protocol
            for time_s in times
        )
        rate_bps = sum(packet.size for packet in mine) * 8 / (SECONDS - FROM)
        rows.append(
            {
                "flow": flow,
                "rate_mbps": f"{rate_bps / 1e6:.3f}",
                "packets": len(mine),
                "marks": marks,
                "marked_share": f"{marks / len(mine):.4f}",
                "lost": lost,
                "queue_mean_ms": f"{sum(waits_ms) / len(waits_ms):.3f}",
                "queue_p50_ms": f"{percentile(waits_ms, 0.5):.3f}",
                "queue_p99_ms": f"{percentile(waits_ms, 0.99):.3f}",
                **common,
            }
        )
    return rows


def one(
    tree: Path, skywave: str, delay_ms: int, case: str
) -> tuple[float, list[Mapping[str, object]]]:
    """Run once; return the 99th percentile of lateness in seconds, and the rows."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        (work / "link.toml").write_text(LINK.format(delay=delay_ms), encoding="utf-8")
        words = {"here": HERE, "tree": tree, "seconds": SECONDS, "sniff": SECONDS + 3}
        command = COMMAND.format(
            sent=work / "sent.txt",
            prague=SENDER.format(**words) if "prague" in case else ":",
            rest=CASES[case].format(**words),
            **words,
        )
        emulate: list[str | Path] = [skywave, "emulate", work / "link.toml", "--json"]
        emulate += ["--capture", work / "link.pcapng", "--peer", PEER.format(**words)]
        done = subprocess.run(
            [*emulate, "--", "sh", "-c", command],
            stdout=subprocess.PIPE,
            text=True,
            timeout=180,
            check=True,
        )
        report = json.loads(done.stdout)
        return report["lateness"]["p99_s"], analyse(work / "sent.txt", work / "link.pcapng", report)


def main(tree: Path, skywave: str) -> None:
    """Run all cases, and store prague.csv."""
    rows: list[Mapping[str, object]] = []
    found: list[Mapping[str, object]] = []
    for delay_ms in (10, 20):
        for case in CASES:
            for number in (1, 2, 3):
                late_s, tries = math.inf, 0
                while late_s >= 1e-3 and tries < 4:
                    late_s, found = one(tree, skywave, delay_ms, case)
                    tries += 1
                head = {"delay_ms": delay_ms, "case": case, "run": number}
                rows += [{**head, **row, "tries": tries} for row in found]
    tables.write(HERE / "prague.csv", rows)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m validation.prague.run UDP_PRAGUE_TREE SKYWAVE")
    tree, skywave = Path(sys.argv[1]).resolve(), sys.argv[2]
    for program in (tree / "udp_prague_sender", tree / "udp_prague_receiver"):
        if not program.exists():
            sys.exit(f"error: {program} is missing: run make in {tree}")
    if shutil.which(skywave) is None:
        sys.exit(f"error: there is no command {skywave}: give the path of skywave")
    main(tree, skywave)
