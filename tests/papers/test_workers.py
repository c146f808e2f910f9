"""Papers side by side: what a worker raises comes out here, and no process stays behind."""

from __future__ import annotations

import copyreg
import os
import pickle
import select
import signal
import subprocess
from multiprocessing.connection import Pipe
from typing import TYPE_CHECKING, Any

import pytest

from conftest import assert_bad_input, run_cli
from skywave import ScenarioError, papers
from skywave.papers import front, installed
from skywave.papers.entries import Citation
from skywave.papers.errors import UnknownPaperError
from skywave.papers.front import Front, Work, reproduce_all, reproduce_each
from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import Seeds
from skywave.papers.reproduction import Reproduction

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Return the processes that are started."""
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        processes.append(start(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    return processes


def test_what_a_worker_raises_is_raised_here(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    work = Work("nobody2024", tmp_path / "all", live_ns2=False, seeds=None)
    with pytest.raises(UnknownPaperError, match="nobody2024 is not a known paper") as error:
        reproduce_each([work], None)
    (note,) = error.value.__notes__
    assert "Traceback" in note, "where it was raised is not lost"
    assert [process.returncode is None for process in started] == [False]


class TakesTwoError(Exception):
    """Is not made anew from its text alone, as pickle would."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} in {where}")


def local_error() -> Exception:
    class LocalError(Exception):
        pass

    return LocalError("the disk is full")


@pytest.mark.parametrize("error", [local_error(), TakesTwoError("the disk is full", "here")])
def test_what_cannot_be_sent_comes_as_text(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    # Dask, where another test has loaded it, lets every exception be pickled.
    monkeypatch.delitem(copyreg.dispatch_table, type(error), raising=False)
    monkeypatch.setattr(papers, "reproduce", fail)
    kept = signal.getsignal(signal.SIGTERM)
    work = Work("nor2011", tmp_path, live_ns2=False, seeds=None)
    raised = front._reproduce(work, lambda _: None)  # noqa: SLF001
    signal.signal(signal.SIGTERM, kept)
    received = pickle.loads(pickle.dumps(raised))  # noqa: S301
    assert type(received) is RuntimeError
    for part in (type(error).__name__, "disk is full", "Traceback", "In the process of nor2011"):
        assert part in str(received)


def test_errors_of_the_core_are_those_of_its_module() -> None:
    again = pickle.loads(pickle.dumps(ScenarioError("flows[0]: is missing")))  # noqa: S301
    assert type(again) is ScenarioError
    assert str(again) == "flows[0]: is missing"


def test_what_a_dead_worker_started_ends_too() -> None:
    """Its ns-2, for which a sleep stands here, holds its stdout open."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & echo started"], stdout=subprocess.PIPE, process_group=0
    )
    ours, theirs = Pipe()
    with process, ours, theirs:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        assert process.wait() == 0
        front._Worker("nor2011", process, ours).signal(signal.SIGTERM)  # noqa: SLF001
        assert select.select([process.stdout], [], [], 20)[0], "nobody holds it any more"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_our_process_ends_its_workers(
    number: signal.Signals, tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    def before(*_: object) -> None:
        pytest.fail("it is no interrupt")

    kept = signal.signal(number, before)
    try:
        with pytest.raises(KeyboardInterrupt):
            reproduce_all(
                tmp_path / "all",
                keys=("nor2011",),
                live_ns2=False,
                progress=lambda *_: os.kill(os.getpid(), number),
            )
        assert signal.getsignal(number) is before
    finally:
        signal.signal(number, kept)
    assert [process.returncode is None for process in started] == [False]
    assert list(tmp_path.iterdir()) == []


def test_what_is_ignored_stays_so() -> None:
    """As nohup has it: who leaves the terminal wants the reports."""
    kept = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with front._endings_interrupt():  # noqa: SLF001
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, kept)


def test_a_worker_that_dies_is_an_error(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    def kill(*_: object) -> None:
        started[0].kill()

    with pytest.raises(ChildProcessError, match="nor2011: its process ended with status -9"):
        reproduce_all(tmp_path / "all", keys=("nor2011",), live_ns2=False, progress=kill)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_all_workers(
    tmp_path: Path,
    started: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """One of them is in the middle of its runs, and there are as many as cores."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce_all(tmp_path / "all", live_ns2=False, progress=stop)
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)
    assert capfd.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


def test_seeds_of_a_paper_that_has_its_own(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nor2011 has a fixed number of seeds"):
        papers.reproduce("nor2011", seeds=3)
    assert_bad_input(
        run_cli("reproduce", "nor2011", "--seeds", 3, "--out", tmp_path / "n"), "nor2011", "seeds"
    )
    assert_bad_input(run_cli("reproduce", "chen2010", "--seeds", 1), "seeds")
    assert list(tmp_path.iterdir()) == []


def test_fewer_seeds_are_told_of() -> None:
    paper = Citation("chen2010", "A title", "An author", 2010)

    def judgement(seeds: int | None) -> Reproduction:
        ns2 = Ns2Source("stored", "stored answers")
        return Reproduction(paper, (), ns2, seeds=seeds, own_seeds=seeds and 20)

    fewer, all_of_them, none = (judgement(seeds) for seeds in (5, 20, None))
    remark = "Averages are over 5 seeds; skywave reproduce chen2010 runs all 20."
    assert fewer.seeds_remark == remark
    assert all_of_them.seeds_remark == "Averages are over 20 seeds."
    assert none.seeds_remark is None
    assert remark in Front([fewer]).html()
    assert Front([fewer]).to_dict()["papers"][0]["seeds"] == 5


def test_all_papers_have_fewer_seeds_where_they_leave_them_open() -> None:
    chen, nor = installed.paper("chen2010"), installed.paper("nor2011")
    assert (chen.brief_seeds(None), chen.brief_seeds(7)) == (5, 7)
    assert (nor.brief_seeds(None), nor.brief_seeds(7)) == (None, None)


@pytest.mark.parametrize("brief", [1, 21])
def test_brief_seeds_are_an_average_and_no_more_than_the_papers(brief: int) -> None:
    with pytest.raises(ValueError, match=f"brief seeds are {brief}"):
        Seeds(own=20, brief=brief)
