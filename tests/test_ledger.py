"""Ledgers of papers: what they may say, and what is wrong with those that may not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from skywave.papers.cells import Cause, Reason
from skywave.papers.entries import begins
from skywave.papers.errors import LedgerError
from skywave.papers.ledger import Ledger
from skywave.papers.measures import Measure, Measures, Value, over_seeds
from skywave.papers.readings import ReadingResult, table
from skywave.papers.rules import Expectation

if TYPE_CHECKING:
    from pathlib import Path

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
    assert first.reason == Reason("It takes 5.0 s.", Cause.UNSTATED)
    assert second.conditions == {"flows": 2, "load": "2 of 3", "RTT (s)": 0.1, "seeds": 3}
    assert (second.published, second.ns2, second.verdict) == (8.5, None, "match")
    assert (claim.quote, claim.verdict) == ("It is fast.", "mismatch")
    assert second.known_reason is not None
    filled = ledger.filled(MEASURES.words)
    assert filled.finding is not None
    assert filled.finding.sentence == "It takes 5.0 s."
    [sentence] = filled.sentences
    assert sentence.tested_by == ("claim/fast", "table1")
    assert ledger.met(MEASURES.ours) == ["table1/n=2"]
    assert ledger.published("table1/n=2") == 8.5


def test_means_over_seeds_are_judged_and_each_seed_is_counted() -> None:
    ledger = Ledger.parse(LEDGER)
    by_seed: list[dict[str, Value]] = [
        {"table1/n=1": 3.0, "table1/n=2": Measure(8.5)},
        {"table1/n=1": 5.0, "table1/n=2": Measure(8.6)},
    ]
    result = ReadingResult.judge("as said", ledger, by_seed)
    assert result == ReadingResult("as said", 2, 1, 1, "table1/n=1 table1/n=2")
    by_seed.append({"table1/n=1": 4.0, "table1/n=2": None})
    result = ReadingResult.judge("as said", ledger, by_seed)
    assert result == ReadingResult("as said", 1, 1, 1, "table1/n=1")


def test_readings_are_run_by_their_changes_and_stored(tmp_path: Path) -> None:
    readings = "[[reading]]\nlabel = 'as said'\n[[reading]]\nlabel = 'slow'\nchanges = { s = 9.0 }"
    ledger = Ledger.parse(f"{LEDGER}\n{readings}")
    stored = table(
        ledger,
        tmp_path / "readings.csv",
        lambda reading: {"table1/n=1": 4.0, "table1/n=2": reading.changes.get("s", 1.0)},
    )
    stored.renew()
    first, slow = stored.read()
    assert (first.reading, first.cells, first.matches) == ("as said", "table1/n=1", 1)
    assert slow.gained(first) == ["table1/n=2"]
    assert stored.row(reading="slow") == slow


def test_rows_fill_the_names_of_conditions() -> None:
    text = LEDGER.replace('load = "{n} of 3"', '"of {n}" = "{n}"')
    (first, second), _ = Ledger.parse(text).judge(MEASURES)
    assert (first.conditions["of 1"], second.conditions["of 2"]) == (1, 2)


def test_a_parameter_may_break_lines() -> None:
    text = LEDGER.replace('"2 Mbps"', "'''\n  2\n  Mbps'''")
    assert Ledger.parse(text).parameters[0].value == "2 Mbps"


def test_a_sentence_names_what_the_ids_of_rows_begin_with() -> None:
    text = LEDGER.replace('"claim/fast"', '"claim/n={n}/fast"\nrows = [{ n = 1 }, { n = 2 }]')
    [sentence] = Ledger.parse(text).sentences
    assert sentence.tested_by == ("claim", "table1")
    other = '[[value]]\nid = "claim/other"\nwhat = "time"\nexpect = "> 0 s"\n\n[[sentence]]'
    [sentence] = Ledger.parse(text.replace("[[sentence]]", other)).sentences
    assert sentence.tested_by == ("claim/n=1/fast", "claim/n=2/fast", "table1")


def test_a_mean_over_seeds_needs_every_seed() -> None:
    assert over_seeds([{"a": 1.0, "b": 1.0}, {"a": 2.0, "b": None}]) == {"a": 1.5, "b": None}


def test_a_sentence_is_tested_by_whole_parts_of_ids() -> None:
    assert begins("table1/n=1", "table1")
    assert begins("table1", "table1")
    assert not begins("table10/n=1", "table1")


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
        [sentence] = Ledger.parse(text.replace('["table1"]', f'["{others}"]')).sentences
        assert sentence.tested_by == named


@pytest.mark.parametrize("text", ["160 s", "> 0 s, within 10 %", "fast", "1 s, nearly", ">= s"])
def test_other_expectations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write it as|use within"):
        Expectation.parse(text)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("year = 2024", "yaer = 2024", "line 4: paper: "),
        ("year = 2024", 'year = "2024"', "line 8: paper.year: .*is not a whole number"),
        ("within 10 %", "nearly 10 %", r"line 18: value\[0\].expect: 'nearly 10 %' is not a rule"),
        ("n = 2, published = 8.5,", "n = 2,", r"line 14: value\[0\]: a row lacks 'published'"),
        ("n = 2, published", "n = 1, published", "table1/n=1 is the id of another test too"),
        ('reason = "slower"', 'reason = "sloth"', r"value\[0\].reason: 'sloth' is not in"),
        ('["table1"]', '["table2"]', r"line 26: sentence\[0\].tested_by: no test is table2"),
        ('expect = "> 0 s"', 'expect = "0 s"', r"line 31: sentence\[0\].claim\[0\].expect"),
        ('cause = "unstated"', 'cause = "weather"', "line 3[2-4]: reason"),
        ("year = 2024", "year = ", "Invalid value"),
        (
            "[reason.slower]",
            "[[reading]]\nlabel = 'a'\n[[reading]]\nlabel = 'a'\n[reason.slower]",
            r"line 40: reading\[1\].label: a is the label of another reading too",
        ),
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


CHAIN = "\n".join(
    ['[reason.r0]\ntext = "end"']
    + [f'[reason.r{n}]\ntext = "{{r{n - 1}}}"' for n in range(1, 2000)]
)
PLACEHOLDERS = [
    "{}",
    "{n.real}",
    "{n!r}",
    "{n:bad}",
    "{n:9999999999}",
    "{n[0]}",
    "{",
    "}",
    "{n:{n}}",
]
"""What ``str.format`` takes, or raises many errors of."""


@pytest.mark.parametrize("wrong", PLACEHOLDERS)
@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ('"table1/n={n}"', '"table1/%s"', r"line 14: value\[0\]"),
        ("time with {n}", "time with %s", r"line 14: value\[0\]"),
        ('"{published} s, within', '"{published} %s, within', r"line 14: value\[0\]"),
        ('flows = "{n}"', 'flows = "%s "', r"line 14: value\[0\]"),
        ('flows = "{n}"', '"in %s" = "{n}"', r"line 14: value\[0\]"),
        ('text = "It takes {time} s."', 'text = "%s"', r"line 34: reason.slow.text"),
        ('sentence = "It takes {time} s."', 'sentence = "%s"', r"line 11: finding.sentence"),
        ('section = "2"', 'remark = "%s"', r"line 24: sentence\[0\].remark"),
    ],
)
def test_only_names_are_placeholders(wrong: str, old: str, new: str, at: str) -> None:
    assert old in LEDGER
    with pytest.raises(LedgerError, match=f"^paper.toml, {at}: .* is not a placeholder: write"):
        Ledger.parse(LEDGER.replace(old, new.replace("%s", wrong)))


def test_braces_that_are_doubled_stand_for_themselves() -> None:
    text = LEDGER.replace("time with {n}", "{{time}} with {n}")
    assert Ledger.parse(text).values["table1/n=2"].what == "{time} with 2 flows"


def test_reasons_do_not_name_each_other_in_a_circle() -> None:
    at = "paper.toml, line {}: reason.{}.text: it names itself"
    for text in ("{slow}", "{slower}", "{time} {slower}"):
        circle = LEDGER.replace('text = "It takes {time} s."', f'text = "{text}"')
        with pytest.raises(LedgerError) as error:
            Ledger.parse(circle)
        assert at.format(34, "slow") in str(error.value)
        assert at.format(38, "slower") in str(error.value), "what names a circle has no end either"


def test_a_reason_may_name_others_to_any_depth() -> None:
    text = LEDGER.replace("{slow} And more.", "{r1999}") + CHAIN
    (_, second), _ = Ledger.parse(text).judge(
        Measures({**MEASURES.ours, "table1/n=2": 1.0}, words=MEASURES.words)
    )
    assert second.why == "end"


PRINTED = '\n[[printed]]\nplace = "Table 1"\nwhat = "share (%)"\n'
ROWS = 'rows = [{ n = 1, published = 4 }, { n = 2, published = 8.5, reason = "slower" }]'


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            '[["Link", "2 Mbps", "paper"]]',
            '["abc"]',
            r"line 2: parameters\[0\]: write it as a list",
        ),
        ('[["Link", "2 Mbps", "paper"]]', '[["Link"]]', r"line 2: parameters\[0\]: Not enough"),
        ('["table1"]', '"table1"', r"line 26: sentence\[0\].tested_by: write it as a list"),
        ("[[value]]", "[value]", "line 14: value: write it as a list"),
        (ROWS, "rows = [3]", r"line 21: value\[0\].rows\[0\]: expected a table"),
        (ROWS, "rows = []", r"line 14: value\[0\]: a row lacks 'n'"),
        (
            "published = 4",
            "published = nan",
            r"rows\[0\]\['published'\]: nan is neither a text nor",
        ),
        ("published = 4", "published = 1e999", r"line 21: .*inf is neither a text nor a finite"),
        ('load = "{n} of 3"', "load = inf", r"line 19: value\[0\].conditions\['load'\]: inf is"),
        ('load = "{n} of 3"', '"of {n}" = 1, "of 1" = 2', "line 19: .* have the same name"),
        ('"> 0 s"', '"> 1e999 s"', r"line 31: sentence\[0\].claim\[0\].expect: .* too large"),
        ('"> 0 s"', f'"> {"9" * 5000} s"', r"line 31: .*'> 9{38}' has a number that is too large"),
        ('"> 0 s"', '"1 s, within -1 s"', "line 31: .*'within -1 s' is not a rule"),
        (
            '"> 0 s"',
            '"1 s, exact to 99 decimals"',
            "line 31: .*'exact to 99 decimals' is not a rule",
        ),
        ('"> 0 s"', '"= 4.5 levels"', "line 31: .*only whole numbers follow ="),
        ('"claim/fast"', '""', r"line 29: sentence\[0\].claim\[0\].id: '' is not an id"),
        ('"claim/fast"', '"/fast"', "line 29: .*'/fast' is not an id: begin it with the place"),
        ('authors = "A. Author"', 'authors = ""', "line 7: paper.authors: a name is empty"),
        ("[[value]]", "[[valeu]]", "line 14: valeu: a ledger has no valeu: docs/papers.md"),
        ("[reason.slow]", "[[reason.slow]]", r"line 33: reason\['slow'\]: expected a table"),
        ('cause = "unstated"', "cause = 3", "line 33: .*expected one of unstated, two-readings"),
        ("[reason.slow]", "origin = 3\n[reason.slow]", "it has no origin"),
        ("[finding]", f'{PRINTED}values = ["1e5"]\nwhole = 1\n[finding]', "'1e5' is not a number"),
        (
            "[finding]",
            f"{PRINTED}values = []\nwhole = 1\n[finding]",
            r"printed\[0\]: there are none",
        ),
        (
            "[finding]",
            f'{PRINTED}values = "16"\nwhole = 1\n[finding]',
            "values: write it as a list",
        ),
        ("[finding]", f'{PRINTED}values = ["1"]\nwhole = 0\n[finding]', "whole is 0: give 100"),
        (
            "[finding]",
            f'{PRINTED}values = ["1.{"0" * 30}"]\nwhole = 1\n[finding]',
            r"line 11: printed\[0\]: 1.0* has too many digits",
        ),
    ],
)
def test_what_would_be_read_as_something_else_is_refused(
    old: str, new: str, complaint: str
) -> None:
    assert old in LEDGER
    with pytest.raises(LedgerError, match=f"paper.toml.*{complaint}"):
        Ledger.parse(LEDGER.replace(old, new))


def test_a_file_that_is_no_ledger_is_named(tmp_path: Path) -> None:
    path = tmp_path / "paper.toml"
    for data, complaint in (
        (b"", "^paper.toml: paper: required field missing"),
        (b"x = " + b"[" * 5000, "^paper.toml: lists or tables are nested too deeply"),
        (b"# one\r\nx = \xff", "^paper.toml, line 2: the text is not UTF-8"),
    ):
        path.write_bytes(data)
        with pytest.raises(LedgerError, match=complaint):
            Ledger.read(path)
    text = LEDGER.replace("\n", "\r\n").encode("utf-8-sig")
    path.write_bytes(text)
    assert Ledger.read(path) == Ledger.parse(LEDGER)


def test_an_id_that_code_asks_for_is_named() -> None:
    with pytest.raises(LedgerError, match=r"^paper.toml: no test has the id 'table1/n=3'"):
        Ledger.parse(LEDGER).published("table1/n=3")


@pytest.mark.parametrize("value", ["4.5 s", math.nan, math.inf, True])
def test_a_measurement_is_a_number(value: Any) -> None:
    ledger = Ledger.parse(LEDGER)
    for measures, line, test in (
        (Measures({**MEASURES.ours, "claim/fast": value}), 28, "claim/fast"),
        (Measures({**MEASURES.ours, "claim/fast": Measure(1.0, sd=value)}), 28, "claim/fast"),
        (Measures(MEASURES.ours, ns2={"table1/n=2": value}), 14, "table1/n=2"),
    ):
        with pytest.raises(LedgerError) as error:
            ledger.judge(replace(measures, words=MEASURES.words))
        told = f": new2024: the measurement of {test} is {value!r}: give a number"
        assert str(error.value).startswith(f"paper.toml, line {line}: ")
        assert told in str(error.value)


def test_the_figure_of_the_finding_is_drawn() -> None:
    ledger = Ledger.parse(LEDGER)
    ledger.check_figures(["figure1", "figure2"])
    with pytest.raises(LedgerError, match=r"line 12: finding.figure: .*use one of a, b"):
        ledger.check_figures(["b", "a"])


def test_a_word_that_nobody_has_is_named_with_its_line() -> None:
    with pytest.raises(
        LedgerError, match=r"^paper.toml, line 34: reason.slow.text: new2024: {time}"
    ):
        Ledger.parse(LEDGER).judge(replace(MEASURES, words={}))
