"""The soak: that its account and its outcome condemn what is wrong, and that it runs."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import counted
from conftest import ROOT
from skywave.net import Endpoint, aio, load
from validation.soak import ends, garbage, path
from validation.soak.account import Account
from validation.soak.ends import Reader, Report
from validation.soak.outcome import (
    LEAST_JUDGED_S,
    SLOPE_MB_PER_HOUR,
    Evidence,
    Judgement,
    Outcome,
    judge,
    passes,
)
from validation.soak.plan import HALF_OPEN_S, Faults, Plan
from validation.soak.samples import Sample

PATIENCE_S = 60.0
MB = 1_000_000


def right(role: ends.Role, **different: Any) -> Report:
    """What an end reports that has sent 10 datagrams and read the peer's 10."""
    report = Report(
        role=role,
        connection=7,
        ended="closed",
        ccids=(2, 2),
        has_reader=True,
        read_all=True,
        offered=10,
        acknowledged=10,
        delivered=10,
        dropped=0,
        read=10,
        latest=10,
        altered=0,
        duplicates=0,
        strange=0,
    )
    return replace(report, **different)


def faults(*reports: Report) -> list[str]:
    account = Account()
    for report in reports:
        account.take(report)
    account.settle()
    assert account.totals["faults"] == len(account.faults)
    return account.faults


def test_an_account_is_clean_if_both_ends_agree() -> None:
    assert faults(right("client"), right("server")) == []
    # What is lost on the way is not acknowledged.
    lossy = right("server", delivered=8, read=8, latest=9)
    assert faults(right("client", acknowledged=8), lossy) == []
    # A CCID without a window does not say what has been acknowledged.
    assert faults(right("client", acknowledged=None), lossy) == []
    # The receiver had no room, and has said so.
    assert faults(right("client"), replace(lossy, dropped=2)) == []
    # It did not read to the end, so nobody can tell.
    assert faults(right("client"), replace(lossy, read_all=False, read=1)) == []


WRONG = {
    "acknowledged, but not delivered": (
        [right("client"), right("server", delivered=9, read=9)],
        "10 acknowledged, 9 delivered or reported as dropped",
    ),
    "the same in the other direction": (
        [right("server"), right("client", delivered=9, read=9)],
        "10 acknowledged, 9 delivered or reported as dropped",
    ),
    "delivered, but not read": (
        [right("client"), right("server", read=9)],
        "9 read of 10 delivered",
    ),
    "never sent": ([right("client"), right("server", latest=11)], "index 10 read of 10 sent"),
    "altered": ([right("server", altered=1)], "1 altered"),
    "twice": ([right("server", duplicates=1)], "1 duplicates"),
    "of another connection": ([right("server", strange=1)], "1 strange"),
    "acknowledged, but the server has no such connection": (
        [right("client")],
        "10 acknowledged, and the server has none",
    ),
    "two connections of one number": (
        [right("client"), right("client")],
        "a number given to two connections",
    ),
}


@pytest.mark.parametrize(("reports", "fault"), WRONG.values(), ids=WRONG.keys())
def test_an_account_finds(reports: list[Report], fault: str) -> None:
    found = faults(*reports)
    assert any(each.startswith(fault) for each in found), found


def test_the_server_may_know_nothing_of_what_was_aborted_or_what_it_does_not_read() -> None:
    assert faults(right("client", ended="aborted")) == []
    assert faults(right("client", has_reader=False)) == []
    assert faults(right("client", acknowledged=0)) == []


def test_a_reader_knows_datagrams_by_their_connection_and_index() -> None:
    reader = Reader()
    sent = [ends.datagram(7, index, 100) for index in range(5)]
    for data in (sent[0], sent[3], sent[1], sent[3]):
        reader.take(data)
    reader.take(ends.datagram(8, 4, 100))
    altered = bytearray(sent[2])
    altered[-1] ^= 1
    reader.take(bytes(altered))
    stats = counted.stats(acknowledged=5)
    report = Report.of("server", reader, stats, ended="closed", ccids=(2, 2), offered=0)
    assert report.connection == 7
    assert (report.read, report.latest) == (4, 5)
    assert (report.altered, report.duplicates, report.strange) == (1, 1, 1)
    assert Report.parse(json.loads(json.dumps(report.document()))) == report


def samples(**last: Any) -> list[Sample]:
    """An hour of a process whose memory is level but noisy, and the quiet time after it."""
    plan = Plan()
    rng = np.random.default_rng(1)
    found = []
    for time_s in np.arange(0.0, plan.duration_s + plan.tail_s, plan.sample_s):
        is_quiet = time_s > plan.duration_s
        sample = Sample(**dict.fromkeys((each.name for each in fields(Sample)), 0))  # type: ignore[arg-type]
        found.append(
            replace(
                sample,
                time_s=float(time_s),
                anonymous_bytes=40 * MB + int(rng.integers(MB)),
                descriptors=11,
                connections=0 if is_quiet else 100,
                opened=int(20 * min(time_s, plan.duration_s)),
            )
        )
    found[-1] = replace(found[-1], **last)
    return found


def evidence(given: list[Sample], **different: Any) -> Evidence:
    totals = {"compared": 70_000, "acknowledged": 1, "read": 1, "killed": 200}
    right = Evidence(
        plan=Plan(),
        samples={"server": given},
        quiet_s=Plan.duration_s,
        is_whole=True,
        totals=totals,
        slowest_end_s=150.0,
    )
    return replace(right, **different)


def failed(judgements: list[Judgement]) -> list[str]:
    return [each.rule for each in judgements if each.outcome is Outcome.FAILED]


def test_a_soak_without_a_leak_passes() -> None:
    judgements = judge(evidence(samples()))
    assert failed(judgements) == []
    assert passes(judgements)
    assert all(each.outcome is Outcome.PASSED for each in judgements)


def leaking(bytes_: float) -> list[Sample]:
    """A process that keeps so much of each connection."""
    return [
        replace(each, anonymous_bytes=each.anonymous_bytes + int(bytes_ * each.opened))
        for each in samples()
    ]


def test_a_slow_leak_fails() -> None:
    found = failed(judge(evidence(leaking(100))))
    assert found == ["server: growth of memory by time", "server: growth of memory by connections"]
    assert failed(judge(evidence(leaking(10)))) == []


def test_one_jump_is_no_leak() -> None:
    """A heap that grows once, by far more than the bound, and stays there."""
    given = samples()
    late = [replace(each, anonymous_bytes=each.anonymous_bytes + 10 * MB) for each in given[-200:]]
    assert SLOPE_MB_PER_HOUR < 10
    assert failed(judge(evidence([*given[:-200], *late]))) == []


def test_memory_that_was_not_watched_for_long_is_not_judged() -> None:
    plan = replace(Plan(), duration_s=LEAST_JUDGED_S)
    judgements = judge(evidence(leaking(100), plan=plan, quiet_s=LEAST_JUDGED_S))
    growth = [each for each in judgements if "growth" in each.rule]
    assert [each.outcome for each in growth] == [Outcome.SKIPPED] * 2
    assert all(each.reason for each in growth)


@pytest.mark.parametrize(
    ("name", "count", "rule"),
    [
        ("descriptors", 16, "descriptors"),
        ("connections", 1, "connections"),
        ("tasks", 1, "connections in use"),
        ("queued_bytes", 1, "queued bytes"),
        ("half_open", 1, "handshakes"),
        ("time_waits", 1, "resting ports"),
    ],
)
def test_what_is_left_at_the_end_fails(name: str, count: int, rule: str) -> None:
    given = samples(connections=1, half_open=1) if name == "half_open" else samples(**{name: count})
    assert failed(judge(evidence(given))) == [f"server: {rule} at the end"]


def test_nobody_waits_for_what_may_last_longer() -> None:
    plan = replace(Plan(), tail_s=HALF_OPEN_S)
    given = samples(connections=1, half_open=1)
    assert failed(judge(evidence(given, plan=plan))) == []
    assert failed(judge(evidence(samples(connections=1), is_whole=False))) == []


@pytest.mark.parametrize(
    ("different", "rule"),
    [
        ({"totals": {}}, "compared in the account"),
        ({"slowest_end_s": 400.0}, "end of connections with a killed client"),
    ],
)
def test_other_rules_fail_too(different: dict[str, Any], rule: str) -> None:
    assert rule in failed(judge(evidence(samples(), **different)))


@pytest.mark.parametrize("name", ["faults", "connects failed: RefusedError"])
def test_faults_and_refused_connections_fail(name: str) -> None:
    right = evidence(samples())
    judgements = judge(replace(right, totals={**right.totals, name: 2_000}))
    assert len(failed(judgements)) == 1


def fates(faults: Faults, now_s: float = 0.0) -> list[int]:
    rng = np.random.default_rng(1)
    return [len(faults.copies(rng, now_s)) for _ in range(1000)]


def test_the_path_loses_repeats_and_is_down() -> None:
    clean = Faults(loss=0, repetition=0, reordering=0)
    assert set(fates(clean)) == {1}
    assert set(fates(replace(clean, loss=1))) == {0}
    assert set(fates(replace(clean, repetition=1))) == {2}
    assert set(fates(Faults())) == {0, 1, 2}
    assert set(fates(clean, now_s=clean.outage_every_s - clean.outage_s / 2)) == {0}
    late = replace(clean, reordering=1).copies(np.random.default_rng(1), 0.0)
    assert late[0] > clean.delay_s


def test_the_path_keeps_clients_apart() -> None:
    """Two clients on one path, whose packets it delays: each gets its own answer."""
    with Endpoint.udp("127.0.0.1", 0) as server, Endpoint.udp("127.0.0.1", 0) as one:
        listener = server.listen(5001)
        port = server.local_address[1]

        async def main() -> None:
            relay = path.Relay(("127.0.0.1", port), lambda *_: [0.001])
            with Endpoint.udp("127.0.0.1", 0) as two:
                await asyncio.to_thread(talk, [one, two], relay.port)
            relay.close()

        def talk(clients: list[Endpoint], port: int) -> None:
            for index, client in enumerate(clients):
                connection = client.connect("127.0.0.1", 5001, udp_port=port)
                accepted = listener.accept(PATIENCE_S)
                accepted.send(load.datagram(index, 50))
                assert connection.recv(PATIENCE_S) == load.datagram(index, 50)
                connection.close(PATIENCE_S)

        asyncio.run(main())


def test_garbage_is_of_every_kind() -> None:
    """Some of it is no packet, some belongs to no connection, and some begins a handshake."""
    server = aio.Endpoint.udp("127.0.0.1", 0)
    _listener = server.listen(5001)
    rng = np.random.default_rng(1)

    async def main() -> None:
        source = path.Socket(lambda *_: None)
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            for _ in range(50):
                source.send(garbage.packet(rng, [5001]), ("127.0.0.1", server.local_address[1]))
            await asyncio.sleep(0.01)
            stats = server.stats()
            if min(stats.malformed, stats.strays, stats.connections) > 0:
                break
        else:
            pytest.fail(str(server.stats()))
        source.close()

    asyncio.run(main())
    server.abort()


def soak(folder: Path, *options: str) -> subprocess.Popen[str]:
    words = ["run", "--out", str(folder), "--keepalive", "2 s", "--silence-timeout", "3 s"]
    return subprocess.Popen(
        [sys.executable, "-m", "validation.soak", *words, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def alive(folder: Path) -> list[str]:
    """The command lines of the processes of a soak; each has its errors in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            errors = (process / "fd" / "2").readlink()
            if errors.parent == folder:
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.deep
def test_a_short_soak_leaves_a_clean_account_and_its_curves(tmp_path: Path) -> None:
    # A tail in which everything ends on a busy machine too.
    process = soak(tmp_path, "--duration", "6 s", "--tail", "20 s", "--json")
    out, err = process.communicate(timeout=10 * PATIENCE_S)
    document = json.loads(out)
    assert document["faults"] == [], err
    assert document["totals"]["compared"] > 0
    assert document["totals"]["read"] > 0
    assert document["whole"]
    table = pq.read_table(tmp_path / "samples.parquet")
    assert set(table["process"].to_pylist()) == {"server", "client"}
    assert (tmp_path / "soak.svg").read_text().endswith("</svg>\n")
    assert alive(tmp_path) == []


@pytest.mark.deep
def test_an_interrupt_ends_a_soak_and_keeps_what_was_measured(tmp_path: Path) -> None:
    process = soak(tmp_path, "--duration", "1 h")
    end_s = time.monotonic() + PATIENCE_S
    while not any("validation.soak.client" in each for each in alive(tmp_path)):
        assert time.monotonic() < end_s
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10 * PATIENCE_S)
    assert process.returncode in (1, 130)  # 1 if it had not yet compared anything
    assert alive(tmp_path) == []
    assert not json.loads((tmp_path / "outcome.json").read_text())["whole"]
