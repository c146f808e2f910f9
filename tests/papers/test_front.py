"""All papers in one go: the front page counts what the papers' own reports say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conftest import assert_bad_input, run_cli, words
from skywave.papers import installed
from skywave.papers.cells import Cause, Cell, Comparison, Reason
from skywave.papers.entries import Citation, Finding
from skywave.papers.front import Front, reproduce_all
from skywave.papers.ns2 import Ns2Source
from skywave.papers.reproduction import Reproduction
from skywave.papers.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path


def cell(
    name: str, ours: float | None, why: Reason | str | None = None, ns2: float | None = None
) -> Cell:
    reason = Reason(why) if isinstance(why, str) else why
    return Cell(name, "a value", {}, "s", 10, ours, Rule("within 10 %"), ns2, known_reason=reason)


def judgement(key: str, *cells: Cell) -> Reproduction:
    paper = Citation(key, f"Title of {key}", "A. Author", 2009)
    return Reproduction(paper, cells, Ns2Source("stored", "stored answers"))


FRONT = Front(
    [
        judgement("first", cell("a", 10), cell("b", 20, "twice"), cell("c", 21, "twice")),
        judgement("second", cell("d", 9.5), cell("e", None)),
    ]
)


def test_the_front_page_counts() -> None:
    document = FRONT.to_dict()
    assert (document["values"], document["matches"]) == (5, 2)
    assert (document["compared_with_ns2"], document["close_to_ns2"]) == (0, 0)
    assert "2 of 5 published values match" in words(FRONT.html())


def test_a_report_names_the_command_that_repeats_it() -> None:
    plain = judgement("first")
    assert plain.command == "skywave reproduce first"
    assert replace(plain, seeds=40, own_seeds=40).command == plain.command
    shorter = replace(plain, seeds=10, own_seeds=40, live_ns2=False)
    assert shorter.command == "skywave reproduce first --seeds 10 --stored-ns2"


def ids(judged: Reproduction) -> dict[str, list[str]]:
    """Return the reasons of a paper with the ids of the values that have them."""
    return {why: [cell.id for cell in cells] for why, cells in judged.reasons.items()}


def test_a_reason_stands_once_with_its_values() -> None:
    first, second = FRONT.papers
    assert ids(first) == {"twice": ["b", "c"]}
    assert ids(second) == {"not explained yet": ["e"]}


def test_claims_are_counted_apart() -> None:
    claimed = replace(
        FRONT.papers[0],
        claims=[replace(cell("f", 10), quote="It is <fast>."), cell("g", 3, "slow")],
        finding=Finding("It works.", "figure1"),
    )
    front = Front([claimed])
    score = front.score
    assert (score.values, score.matches, score.claims, score.claims_met) == (3, 1, 2, 1)
    assert ids(claimed) == {"twice": ["b", "c"], "slow": ["g"]}
    text = words(front.html())
    assert "1 of 3 published values match" in text
    assert "1 of 2 further claims hold" in text
    assert "It works." in text
    document = front.to_dict()
    assert (document["claims"], document["claims_met"]) == (2, 1)
    assert [claim["id"] for claim in document["papers"][0]["claims"]] == ["f", "g"]


def test_causes_are_counted_and_what_ns2_says_of_them() -> None:
    unstated, rules = (Reason("in full", cause) for cause in (Cause.UNSTATED, Cause.RULES))
    judged = judgement(
        "first",
        cell("a", 10, unstated, ns2=10),
        cell("b", 20, unstated, ns2=20),
        cell("c", 20, unstated),
        cell("d", None, rules, ns2=10),
        cell("e", 20, "only in words"),
        cell("f", 20),
    )
    score = judged.score
    assert score.causes == {Cause.UNSTATED: 2, Cause.RULES: 1, Cause.OTHER: 1, Cause.UNKNOWN: 1}
    assert (score.asked_of_ns2, score.missed_by_ns2) == (2, 1)
    assert ids(judged)["in full"] == ["b", "c", "d"]
    text = words(Front([judged, FRONT.papers[1]]).html())
    assert f"2 {Cause.UNSTATED.value}" in text
    assert (
        "The other 5 published values, by cause (ns-2 also gives values for 2 of them, and 1 of "
        "these matches" in text
    )
    assert "The other 6 published values" in text, "of both papers"


def test_a_comparison_with_ns2_counts_if_it_is_close() -> None:
    close = Comparison("queue", {}, "packets", 10, 10.5, limit_percent=10)
    judged = replace(FRONT.papers[0], comparisons=[close, replace(close, ns2=20)])
    assert "1 of 2 quantities agree with ns-2" in words(Front([judged]).html())
    assert judged.to_dict()["comparison"][1]["verdict"] == "mismatch"


def test_a_paper_is_cited() -> None:
    known = Citation("k", "T", "A. B. First, C. Second", 2009, "A Journal", doi="10.1/2")
    page = Front([replace(FRONT.papers[0], paper=known)]).html()
    assert '<a href="https://doi.org/10.1/2">doi:10.1/2</a>' in page
    assert "A. B. First, C. Second, 2009. A Journal." in words(page)
    assert known.short == "First and Second 2009"
    assert replace(known, authors="A. First, B. Second, C. Third").short == "First et al. 2009"
    assert replace(known, authors="A. First").short == "First 2009"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("table1/ssthresh=20", "Table 1"),
        ("fig7-peakb", "Figure 7"),
        ("text/gain", "text"),
        ("C/p=0.03", "C"),
        ("figures", "figures"),
    ],
)
def test_a_value_has_its_place(name: str, place: str) -> None:
    assert cell(name, 10).place == place


def test_a_paper_in_front(tmp_path: Path) -> None:
    """What is counted is what the paper's own report has, and the link leads there."""
    told: list[str] = []
    front = reproduce_all(
        tmp_path / "all",
        keys=("nor2011",),
        live_ns2=False,
        progress=lambda step: told.append(step.stage),
    )
    own = json.loads((tmp_path / "all" / "nor2011" / "report.json").read_text())
    assert set(told) == {"nor2011, Skywave"}
    matches = sum(cell["verdict"] == "match" for cell in own["cells"])
    assert (front.score.values, front.score.matches) == (len(own["cells"]), matches)
    page = (tmp_path / "all" / "report.html").read_text()
    text = words(page)
    assert front.papers[0].finding is not None
    headline = front.papers[0].finding.headline
    assert headline is not None
    assert headline in text
    front_of_cards = words(page.partition('<section class="card">')[0])
    assert headline in front_of_cards, "the first screen says what was found"
    assert front.papers[0].finding.sentence in text
    assert "skywave reproduce nor2011 --stored-ns2" in text
    assert "skywave reproduce nor2011 --stored-ns2" in words(
        (tmp_path / "all" / "nor2011" / "report.html").read_text()
    )
    for value in own["cells"]:
        assert value["id"] not in text, "ids are for the paper's own report"
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
