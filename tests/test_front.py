"""All papers in one go: the front page counts what the papers' own reports say."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conftest import assert_bad_input, run_cli
from skywave.papers import installed
from skywave.papers.cells import Cell, Within
from skywave.papers.front import Front, reproduce_all
from skywave.papers.reproduction import Citation, Finding, Judgement, Ns2Source

if TYPE_CHECKING:
    from pathlib import Path


def cell(name: str, ours: float | None, why: str | None = None) -> Cell:
    return Cell(name, "a value", {}, "s", 10, ours, Within(10), known_reason=why)


def judgement(key: str, *cells: Cell) -> Judgement:
    paper = Citation(key, f"Title of {key}", "A. Author", 2009)
    return Judgement(paper, cells, (), (), Ns2Source("stored", "stored answers"))


FRONT = Front(
    [
        judgement("first", cell("a", 10), cell("b", 20, "twice"), cell("c", 21, "twice")),
        judgement("second", cell("d", 9.5), cell("e", None)),
    ]
)


def test_the_front_page_counts() -> None:
    document = FRONT.to_dict()
    assert (document["values"], document["matches"]) == (5, 2)
    page = FRONT.html()
    assert "2 of 5 published values match" in page
    assert page.count('class="badge mismatch"') == 3
    assert page.count('class="badge match"') == 2


def test_a_reason_stands_once_with_its_values() -> None:
    first, second = FRONT.papers
    assert first.reasons == {"twice": ["b", "c"]}
    assert second.reasons == {"not explained yet": ["e"]}


def test_claims_are_counted_apart() -> None:
    claimed = replace(
        FRONT.papers[0],
        claims=[replace(cell("f", 10), quote="It is <fast>."), cell("g", 3, "slow")],
        finding=Finding("It works.", "figure1"),
    )
    front = Front([claimed])
    assert (front.values, front.matches, front.claims, front.claims_met) == (3, 1, 2, 1)
    assert claimed.reasons == {"twice": ["b", "c"], "slow": ["g"]}
    page = front.html()
    assert "1 of 3 published values match; 1 of 2 further claims hold" in page
    assert "It is &lt;fast&gt;." in page
    assert "It works." in page
    document = front.to_dict()
    assert (document["claims"], document["claims_met"]) == (2, 1)
    assert [claim["id"] for claim in document["papers"][0]["claims"]] == ["f", "g"]


def test_a_paper_in_front(tmp_path: Path) -> None:
    """What is counted is what the paper's own report has, and the link leads there."""
    told: list[str] = []
    front = reproduce_all(
        tmp_path / "all",
        keys=("nor2011",),
        live_ns2=False,
        progress=lambda key, *_: told.append(key),
    )
    own = json.loads((tmp_path / "all" / "nor2011" / "report.json").read_text())
    assert set(told) == {"nor2011"}
    matches = sum(cell["verdict"] == "match" for cell in own["cells"])
    assert (front.values, front.matches) == (len(own["cells"]), matches)
    page = html.unescape((tmp_path / "all" / "report.html").read_text())
    for target in re.findall(r'href="([^"#]+)"', page):
        assert (tmp_path / "all" / target).is_file()
    for value in own["cells"]:
        assert f"<code>{value['id']}</code>" in page
        assert value["why"] is None or value["why"] in page
    assert json.loads((tmp_path / "all" / "report.json").read_text())["matches"] == matches


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce_all(tmp_path / "all", keys=("nor2011",), live_ns2=False, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_all_our_papers_can_be_used() -> None:
    usable, broken = installed.every()
    assert broken == {}
    assert [paper.key for paper in usable] == installed.all_keys()
    assert {"chen2010", "li2009", "lien2009", "nor2011", "sarwar2008"} <= set(installed.all_keys())


@pytest.mark.parametrize("arguments", [[], ["nor2011", "--all"]])
def test_one_paper_or_all(arguments: list[str]) -> None:
    assert_bad_input(run_cli("reproduce", *arguments), "--all", "nor2011")
