"""Papers side by side: what a worker raises comes out here, and no process stays behind."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from conftest import assert_bad_input, run_cli
from skywave import papers
from skywave.papers.front import BRIEF_SEEDS, Front, reproduce_all
from skywave.papers.reproduction import Judgement, Ns2Source, Paper
from skywave.papers.workers import Work, reproduce_each

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
    with pytest.raises(KeyError, match="nobody2024 is not a known paper") as error:
        reproduce_each([work], None)
    (note,) = error.value.__notes__
    assert "Traceback" in note, "where it was raised is not lost"
    assert [process.returncode is None for process in started] == [False]


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
    with pytest.raises(ValueError, match="nor2011 has the seeds of its experiments"):
        papers.reproduce("nor2011", seeds=3)
    assert_bad_input(
        run_cli("reproduce", "nor2011", "--seeds", 3, "--out", tmp_path / "n"), "nor2011", "seeds"
    )
    assert_bad_input(run_cli("reproduce", "chen2010", "--seeds", 1), "seeds")
    assert list(tmp_path.iterdir()) == []


def test_fewer_seeds_are_told_of() -> None:
    paper = Paper("chen2010", "A title", "An author", 2010, seeds=20)

    def judgement(seeds: int | None) -> Judgement:
        return Judgement(paper, (), (), (), Ns2Source("stored", "stored answers"), seeds=seeds)

    fewer, all_of_them, none = (judgement(seeds) for seeds in (5, 20, None))
    remark = "Averages are over 5 seeds; skywave reproduce chen2010 runs all 20."
    assert fewer.seeds_remark == remark
    assert all_of_them.seeds_remark == "Averages are over 20 seeds."
    assert none.seeds_remark is None
    assert remark in Front([fewer]).html()
    assert Front([fewer]).to_dict()["papers"][0]["seeds"] == 5


def test_papers_with_fewer_seeds_in_all_leave_them_open() -> None:
    for key, brief in BRIEF_SEEDS.items():
        seeds = papers.package(key).PAPER.seeds
        assert seeds is not None
        assert papers.LEAST_SEEDS <= brief < seeds
