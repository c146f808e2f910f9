"""Ledgers of papers: what they may say, and what is wrong with those that may not."""

from __future__ import annotations

import pytest

from skywave.papers.expectation import Expectation
from skywave.papers.ledger import Ledger, LedgerError
from skywave.papers.measures import Measure, Measures
from skywave.papers.reasons import Cause
from skywave.papers.tried import Tried

LEDGER = """
parameters = [["Link", "2 Mbps", "paper"]]

[paper]
key = "new2024"
title = "A Paper"
authors = "A. Author"
year = 2024

[finding]
sentence = "It takes {time}
 s."
figure = "figure1"

[[value]]
id = "table1/n={n}"
what = '''time with {n}
flows'''
expect = "{published} s, within 10 %"
conditions = { flows = "{n}", load = "{n} of 3", "RTT (s)" = 0.1 }
reason = "slow"
rows = [{ n = 1, published = 4 }, { n = 2, published = 8.5, reason = "slower" }]

[[sentence]]
section = "2"
says = "It is fast."
tested_by = ["table1"]

[[sentence.claim]]
id = "claim/fast"
what = "time"
expect = "> 0 s"

[reason.slow]
text = "It takes {time} s."
cause = "unstated"

[reason.slower]
text = "{slow} And more."
""".replace('{time}\n s."', '{time} s."')

MEASURES = Measures(
    ours={"table1/n=1": 5.0, "table1/n=2": Measure(8.0, {"seeds": 3}), "claim/fast": None},
    ns2={"table1/n=1": 4.1},
    words={"time": "5.0"},
)


def test_rows_are_tests_and_texts_are_filled() -> None:
    ledger = Ledger.parse(LEDGER)
    (first, second), (claim,) = ledger.judge(MEASURES)
    assert (first.id, first.what, first.unit) == ("table1/n=1", "time with 1 flows", "s")
    assert first.conditions == {"flows": 1, "load": "1 of 3", "RTT (s)": 0.1}
    assert (first.published, first.ours, first.ns2, first.verdict) == (4, 5.0, 4.1, "mismatch")
    assert (first.cause, first.why) == (Cause.UNSTATED, "It takes 5.0 s.")
    assert second.conditions == {"flows": 2, "load": "2 of 3", "RTT (s)": 0.1, "seeds": 3}
    assert (second.published, second.ns2, second.verdict) == (8.5, None, "match")
    assert (claim.quote, claim.verdict) == ("It is fast.", "mismatch")
    assert second.known_reason is not None
    finding = ledger.found(MEASURES)
    assert finding is not None
    assert finding.sentence == "It takes 5.0 s."
    [sentence] = ledger.sentences(MEASURES)
    assert sentence.tests == ("claim/fast", "table1")
    assert ledger.met(MEASURES.ours) == ["table1/n=2"]
    assert ledger.published("table1/n=2") == 8.5


def test_means_over_seeds_are_judged_and_each_seed_is_counted() -> None:
    ledger = Ledger.parse(LEDGER)
    by_seed: list[dict[str, Measure | float | None]] = [
        {"table1/n=1": 3.0, "table1/n=2": Measure(8.5)},
        {"table1/n=1": 5.0, "table1/n=2": Measure(8.6)},
    ]
    tried = Tried.by_seed("as said", ledger, by_seed)
    assert tried == Tried("as said", 2, 1, 1, "table1/n=1 table1/n=2")
    by_seed.append({"table1/n=1": 4.0, "table1/n=2": None})
    tried = Tried.by_seed("as said", ledger, by_seed)
    assert tried == Tried("as said", 1, 1, 1, "table1/n=1")


def test_rows_fill_the_names_of_conditions() -> None:
    text = LEDGER.replace('load = "{n} of 3"', '"of {n}" = "{n}"')
    (first, second), _ = Ledger.parse(text).judge(MEASURES)
    assert (first.conditions["of 1"], second.conditions["of 2"]) == (1, 2)


def test_a_parameter_may_break_lines() -> None:
    text = LEDGER.replace('"2 Mbps"', "'''\n  2\n  Mbps'''")
    assert Ledger.parse(text).parameters[0].value == "2 Mbps"


def test_a_sentence_names_what_the_ids_of_rows_begin_with() -> None:
    text = LEDGER.replace('"claim/fast"', '"claim/n={n}/fast"\nrows = [{ n = 1 }, { n = 2 }]')
    [sentence] = Ledger.parse(text).sentences(MEASURES)
    assert sentence.tests == ("claim", "table1")
    other = '[[value]]\nid = "claim/other"\nwhat = "time"\nexpect = "> 0 s"\n\n[[sentence]]'
    [sentence] = Ledger.parse(text.replace("[[sentence]]", other)).sentences(MEASURES)
    assert sentence.tests == ("claim/n=1/fast", "claim/n=2/fast", "table1")


def test_a_sentence_is_tested_by_whole_parts_of_ids() -> None:
    [sentence] = Ledger.parse(LEDGER).sentences(MEASURES)
    assert sentence.is_tested_by("table1/n=1")
    assert sentence.is_tested_by("table1")
    assert not sentence.is_tested_by("table10/n=1")


@pytest.mark.parametrize(
    ("text", "rule", "met", "missed"),
    [
        ("160 s, within 10 %", "within 10 %", 175, 177),
        ("-2 s, within 10 %", "within 10 %", -2.1, -2.3),
        ("42 %, within 5 points", "within 5 points", 47, 48),
        ("0.28, exact to 2 decimals", "exact to 2 decimals", 0.284, 0.286),
        ("= 4 levels", "exact to 0 decimals", 4.4, 5),
        ("> 0 s", "more than that", 1e-9, 0),
        ("< 1e-3 %", "less than that", 0.0009, 0.001),
        ("<= 1", "at most that", 1, 1.1),
        ("0 s, same order, by more than 1 s", "same order, by more than 1 s", 1, 1.5),
        (
            "-1, same sign, at least 0.2 in magnitude",
            "same sign, at least 0.2 in magnitude",
            -0.2,
            -0.19,
        ),
        (
            "-1, same sign, at least 0.2 in magnitude",
            "same sign, at least 0.2 in magnitude",
            -1.5,
            0.5,
        ),
    ],
)
def test_an_expectation_is_a_value_a_unit_and_a_rule(
    text: str, rule: str, met: float, missed: float
) -> None:
    expected = Expectation.parse(text)
    assert expected.rule.text == rule
    assert expected.is_met_by(met)
    assert not expected.is_met_by(missed)
    assert not expected.is_met_by(None)


def test_a_mean_may_be_allowed_the_spread_of_single_runs() -> None:
    expected = Expectation.parse("30 %, within 2 sd of our 40 runs or 5 points, whichever is wider")
    assert expected.is_met_by(Measure(35, sd=1))
    assert not expected.is_met_by(Measure(36, sd=1))
    assert expected.is_met_by(Measure(36, sd=3))
    assert not expected.is_met_by(Measure(None))
    with pytest.raises(ValueError, match="needs the standard deviation of our runs"):
        expected.is_met_by(30)
    text = "within 2 sd of our 40 runs (sd 1.23 points) or 5 points, whichever is wider"
    assert expected.rule_for(Measure(35, sd=1.2345)).text == text
    ledger = Ledger.parse(
        LEDGER.replace("s, within 10 %", "s, within 2 sd of our 9 runs or 1 s, whichever is wider")
    )
    with pytest.raises(LedgerError, match="table1/n=1 is measured without its spread"):
        ledger.judge(MEASURES)
    spread = {f"table1/n={n}": Measure(5.0 * n, sd=0.6 * n) for n in (1, 2)}
    (first, second), _ = ledger.judge(
        Measures({**MEASURES.ours, **spread}, ns2={"table1/n=2": 7.0}, words=MEASURES.words)
    )
    assert first.rule.text == "within 2 sd of our 9 runs (sd 0.6 s) or 1 s, whichever is wider"
    assert (first.verdict, second.verdict, second.ns2_verdict) == ("match", "match", "match")
    assert ledger.met({"table1/n=2": spread["table1/n=2"]}) == ["table1/n=2"], "some of them"


def test_claims_in_rows_are_named_by_what_they_share() -> None:
    rows = 'expect = "> 0 s"\nrows = [{ n = 1 }, { n = 2 }]'
    for own, others, named in (
        ("claim/fast/{n}", "table1", ("claim/fast", "table1")),
        ("claim/fast={n}", "table1", ("claim", "table1")),
        ("fast{n}", "table1", ("fast1", "fast2", "table1")),
        ("table1/fast={n}", "table1/n=1", ("table1/fast=1", "table1/fast=2", "table1/n=1")),
    ):
        text = LEDGER.replace('"claim/fast"', f'"{own}"').replace('expect = "> 0 s"', rows)
        [sentence] = Ledger.parse(text.replace('["table1"]', f'["{others}"]')).sentences(MEASURES)
        assert sentence.tests == named


@pytest.mark.parametrize("text", ["160 s", "> 0 s, within 10 %", "fast", "1 s, nearly", ">= s"])
def test_other_expectations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write it as|use within"):
        Expectation.parse(text)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("year = 2024", "yaer = 2024", "line 4: paper: "),
        ("year = 2024", 'year = "2024"', "line 8: paper.year: .*expected int"),
        ("within 10 %", "nearly 10 %", r"line 18: value\[0\].expect: 'nearly 10 %' is not a rule"),
        ("n = 2, published = 8.5,", "n = 2,", r"line 14: value\[0\]: a row lacks 'published'"),
        ("n = 2, published", "n = 1, published", "table1/n=1 is the id of another test too"),
        ('reason = "slower"', 'reason = "sloth"', r"value\[0\].reason: 'sloth' is not in"),
        ('["table1"]', '["table2"]', r"line 26: sentence\[0\].tested_by: no test is table2"),
        ('expect = "> 0 s"', 'expect = "0 s"', r"line 31: sentence\[0\].claim\[0\].expect"),
        ('cause = "unstated"', 'cause = "weather"', "line 3[2-4]: reason"),
        ("year = 2024", "year = ", "Invalid value"),
    ],
)
def test_an_error_names_its_line(old: str, new: str, complaint: str) -> None:
    assert old in LEDGER
    with pytest.raises(LedgerError, match=f"paper.toml.*{complaint}"):
        Ledger.parse(LEDGER.replace(old, new))


def test_every_test_is_measured_and_nothing_else() -> None:
    ledger = Ledger.parse(LEDGER)
    ours = dict(MEASURES.ours)
    with pytest.raises(LedgerError, match="new2024: table1/n=3 is measured but not in it"):
        ledger.judge(Measures({**ours, "table1/n=3": 1.0}, words=MEASURES.words))
    del ours["claim/fast"]
    with pytest.raises(LedgerError, match="new2024: claim/fast is not measured"):
        ledger.judge(Measures(ours, words=MEASURES.words))
    with pytest.raises(
        LedgerError, match=r"\{time\} is neither a number of the judge nor a reason"
    ):
        ledger.judge(Measures(MEASURES.ours))
