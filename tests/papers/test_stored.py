"""Tables that take minutes to make: they are read as they were written."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from skywave.matrix import table
from skywave.papers import installed
from skywave.papers.ns2 import Ns2Error, Oracle
from skywave.report.tables import Table, read, write
from skywave_papers import matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STORED = {
    "matrix": (Path(matrix.__file__).with_name("stored.csv"), table.Row),
    **{
        f"{paper.key}/{one.name}": (one.path, one.kind)
        for paper in installed.every()[0]
        for one in paper.stored
    },
}


@dataclass(frozen=True)
class Choice:
    packets: int
    rule: Literal["rfc", "ns2"]


@dataclass(frozen=True)
class Found:
    choice: Choice
    kbps: float
    wait_s: float | None = None


FOUND = [Found(Choice(3, "rfc"), 1234.5678, 0.25), Found(Choice(4, "ns2"), float("inf"))]


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    write(path, Found, FOUND, total=2)
    assert path.read_text() == "packets,rule,kbps,wait_s\n3,rfc,1234.568,0.25\n4,ns2,inf,\n"
    first, second = read(path, Found)
    assert first == Found(Choice(3, "rfc"), 1234.568, 0.25)
    assert second == FOUND[1]


def test_progress_overwrites_itself_on_a_terminal_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "found.csv"
    monkeypatch.setattr("skywave._progress.BETWEEN_LINES_S", 0.0)
    write(path, Found, FOUND, total=2)
    assert capsys.readouterr().err == "found.csv: 50 %\nfound.csv: 100 %\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    write(path, Found, FOUND, total=2)
    assert capsys.readouterr().err == "\rfound.csv: 1 of 2\rfound.csv: 2 of 2\n"


def test_an_interrupt_keeps_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    path.write_text("mine")

    def interrupted() -> Iterator[Found]:
        yield FOUND[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(path, Found, interrupted(), total=2)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_ns2s_answers_are_replaced_whole(tmp_path: Path) -> None:
    """Where it fails what was stored stays; what no run gives any more goes."""
    stored = tmp_path / "ns2"
    stored.mkdir()
    for name in ("kept", "former"):
        (stored / name).write_text("mine")

    def ask(runs: Sequence[str], directory: Path, _: object) -> None:
        for run in runs:
            (directory / run).write_text("new")
        if "bad" in runs:
            raise Ns2Error("it is not installed")

    def oracle(*runs: str) -> Oracle[str, str]:
        return Oracle(stored, runs, ask, lambda *_: {})

    with pytest.raises(Ns2Error):
        oracle("kept", "bad").renew()
    assert {path.name: path.read_text() for path in stored.iterdir()} == {
        "kept": "mine",
        "former": "mine",
    }
    oracle("kept", "more").renew()
    assert {path.name: path.read_text() for path in stored.iterdir()} == {
        "kept": "new",
        "more": "new",
    }
    assert list(tmp_path.iterdir()) == [stored]


def test_ns2_that_fails_is_not_answered_from_what_is_stored(tmp_path: Path) -> None:
    def ask(*_: object) -> None:
        raise Ns2Error("it fails")

    with pytest.raises(Ns2Error):
        Oracle(tmp_path, ["a"], ask, lambda *_: {"a": "stored"}).run(["a"])


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Twice:
        choice: Choice
        packets: int

    with pytest.raises(ValueError, match=r"same name: choice.packets, choice.rule, packets"):
        write(tmp_path / "found.csv", Twice, [], total=0)


def test_a_table_is_made_anew_from_what_is_given(tmp_path: Path) -> None:
    made = Table(tmp_path / "found.csv", Found, [3, 4], lambda n: Found(Choice(n, "rfc"), n / 2))
    made.renew()
    assert made.read() == [Found(Choice(3, "rfc"), 1.5), Found(Choice(4, "rfc"), 2.0)]
    assert made.rows(kbps=2.0) == [Found(Choice(4, "rfc"), 2.0)]
    with pytest.raises(ValueError, match=r"found.csv has 2 rows with \{'wait_s': None\}, not one"):
        made.row(wait_s=None)


def test_papers_store_tables() -> None:
    assert {"chen2010/sweep", "li2009/lots", "sarwar2008/fit"} <= set(STORED)


@pytest.mark.parametrize(("path", "kind"), STORED.values(), ids=STORED)
def test_the_packages_tables_survive_being_read_and_written(
    path: Path, kind: type[object], tmp_path: Path
) -> None:
    rows = read(path, kind)
    assert rows
    write(tmp_path / "again.csv", kind, rows, total=len(rows))
    # As text, in which "nan" is "nan".
    assert str(read(tmp_path / "again.csv", kind)) == str(rows)
