"""Sweeps on a Dask cluster: a real scheduler and two workers, which are processes that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

import pytest

import skywave
from conftest import run_cli, small_scenario
from skywave import Ack, ClusterError, Control, Loss, Timeout, sweep
from skywave.scenario.paths import with_field
from test_sweep import ENVIRONMENT, PATIENCE_S, RUNS, finished, kept, longest_queue

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skywave import Progress, Results

# Workers die in these tests, and new ones take their time on a busy machine.
pytestmark = pytest.mark.filterwarnings("ignore:the Dask cluster has no workers")

OVER: dict[str, list[object]] = {"dumbbell.queue.drop-tail.packets": [5, 10]}


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._description = directory / "scheduler.json"
        self._workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1")
        self.address = self._address()

    def _start(self, part: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._directory / f"{part}.log").open("ab") as log:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", f"distributed.cli.dask_{part}", "--no-dashboard"),
                    *("--scheduler-file", str(self._description), *arguments),
                ],
                stderr=log,
                cwd=self._directory,  # not that of the tests: workers do not have their modules
                env=ENVIRONMENT,
            )

    def _address(self) -> str:
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            assert self.scheduler.poll() is None, (self._directory / "scheduler.log").read_text()
            try:
                return str(json.loads(self._description.read_text())["address"])
            except (OSError, ValueError):
                time.sleep(0.05)
        raise TimeoutError("the scheduler does not start")

    def add_worker(self) -> None:
        worker = self._start("worker", "--nthreads", "1", "--no-nanny")
        self._workers.append(worker)

    def revive_workers(self) -> None:
        """Put a new worker in the place of each that has died."""
        for worker in list(self._workers):
            if worker.poll() is not None:
                self._workers.remove(worker)
                self.add_worker()

    def kill_worker(self) -> None:
        worker = self._workers.pop(0)
        worker.kill()
        worker.wait()

    def end(self) -> None:
        for process in (*self._workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def running(directory: Path, workers: int = 2) -> Iterator[Cluster]:
    cluster = Cluster(directory)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    """Return a cluster with two workers, whatever became of those of the test before."""
    shared.revive_workers()
    return shared


class Gentle(Control):
    """A control that workers can only get from here."""

    def on_ack(self, ack: Ack) -> None:
        self.cwnd += ack.newly_acked / self.cwnd

    def on_loss(self, loss: Loss) -> None:
        self.cwnd = max(0.8 * self.cwnd, 2)

    def on_timeout(self, timeout: Timeout) -> None:
        self.cwnd = 1


def test_a_cluster_does_what_this_machine_does(cluster: Cluster, tmp_path: Path) -> None:
    over = {**OVER, "flows[file].transport.tcp.control": ["reno", Gentle()]}
    measures: list[str | Callable[[Results], float]] = ["goodput", longest_queue]
    here = sweep(small_scenario(), over, seeds=5, out=tmp_path / "here", measures=measures)
    with distributed.Client(cluster.address, set_as_default=False) as client:
        there = sweep(
            small_scenario(), over, seeds=5, out=tmp_path / "there", measures=measures, on=client
        )
    assert kept(there) == kept(here)
    assert there.table.num_rows == 20


def test_killed_workers_and_interrupted_clients_lose_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    whole = sweep(small_scenario(), OVER, seeds=RUNS // 2, out=tmp_path / "whole")
    base, out = tmp_path / "base.json", tmp_path / "out"
    base.write_text(small_scenario().to_json())
    arguments = [
        *("sweep", str(base), "--set", "dumbbell.queue.drop-tail.packets=5,10"),
        *("--seeds", str(RUNS // 2), "--out", str(out), "--on", cluster.address),
    ]
    for share in (0.2, 0.4, 0.6):
        before = finished(out)
        with subprocess.Popen(
            [sys.executable, "-m", "skywave", *arguments], stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                ends = time.monotonic() + PATIENCE_S
                while finished(out) < max(share * RUNS, before + 1):
                    assert process.poll() is None, process.communicate()
                    assert time.monotonic() < ends
                    time.sleep(0.01)
                cluster.kill_worker()
                cluster.add_worker()
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)
            finally:
                process.kill()
        assert process.returncode == 130
    stop = threading.Event()

    def restless() -> None:
        # Not by the clock: on a slow machine no worker would live long enough to do anything.
        before = finished(out)
        while not stop.wait(0.2):
            if finished(out) > before + RUNS // 20:
                before = finished(out)
                cluster.kill_worker()
                cluster.add_worker()

    thread = threading.Thread(target=restless)
    thread.start()
    try:
        ran = run_cli(*arguments, "--json")
    finally:
        stop.set()
        thread.join()
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["resumed"] >= 0.6 * RUNS
    assert kept(skywave.Sweep.load(out)) == kept(whole)


class Deadly(Gentle):
    """Ends its process."""

    def on_loss(self, loss: Loss) -> None:
        os._exit(3)


def test_a_run_that_kills_its_workers_fails_alone(cluster: Cluster, tmp_path: Path) -> None:
    done = threading.Event()

    def revive() -> None:
        while not done.wait(0.2):
            cluster.revive_workers()

    thread = threading.Thread(target=revive)
    thread.start()
    try:
        over: dict[str, list[object]] = {"flows[file].transport.tcp.control": ["reno", Deadly()]}
        with pytest.warns(UserWarning, match="1 of 2 runs failed"):
            found = sweep(small_scenario(), over, seeds=[1], out=tmp_path, on=cluster.address)
    finally:
        done.set()
        thread.join()
    assert found.table["control"].to_pylist() == ["reno"]
    [failure] = found.failures
    assert failure.reason == "every worker that did this run has died"


def test_a_cluster_that_cannot_be_used(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.sweeps.cluster.CONNECT_S", 1.0)
    ran = run_cli("sweep", "examples/tcp.toml", "--out", tmp_path, "--on", "tcp://127.0.0.1:9")
    assert ran.returncode == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in ran.stderr
    monkeypatch.setattr("skywave._core.ENGINE", "0.0.0+other")
    with pytest.raises(ClusterError, match="install the same"):
        sweep(small_scenario(), out=tmp_path / "out", on=cluster.address)


def test_a_scheduler_that_dies_is_told(tmp_path: Path) -> None:
    with running(tmp_path) as mortal:
        long = with_field(small_scenario(), "duration", "100 h")
        long = with_field(with_field(long, "dumbbell.rate", "500 Mbps"), "dumbbell.loss", None)

        def kill(progress: Progress) -> None:
            assert progress.done == 0
            threading.Timer(1, mortal.scheduler.kill).start()

        with pytest.raises(ClusterError, match="the Dask scheduler is gone"):
            sweep(long, out=tmp_path / "out", on=mortal.address, progress=kill)


def test_a_cluster_without_workers_is_told_and_waited_for(tmp_path: Path) -> None:
    with running(tmp_path, workers=0) as cluster:
        told = threading.Event()

        def tell(message: Warning | str, *_: object) -> None:
            assert "has no workers, and the sweep waits for them" in str(message)
            assert f"`dask worker {cluster.address}`" in str(message)
            told.set()
            cluster.add_worker()

        with warnings.catch_warnings(), mock.patch("warnings.showwarning", tell):
            warnings.simplefilter("always")
            found = sweep(small_scenario(), OVER, seeds=2, out=tmp_path / "out", on=cluster.address)
        assert told.is_set()
        assert found.table.num_rows == 4
