"""Scenarios of the page: errors at their lines, what is never loaded, choices, knobs."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, needs_checkout
from lab import (
    RATE_LINE,
    TEXT,
    hello,
)
from skywave import Scenario, ScenarioError, _core
from skywave.lab import choices, knobs, reading

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import WebSocketTestSession


def test_an_error_has_its_line(socket: WebSocketTestSession) -> None:
    hello(socket)
    wrong = TEXT.replace("2 Mbps", "2 Mbit")
    socket.send_json({"type": "check", "run": "a", "text": wrong})
    answer = socket.receive_json()
    assert (answer["type"], answer["field"]) == ("error", "dumbbell.rate")
    assert (answer["line"], answer["column"]) == (RATE_LINE, 8)
    assert "Mbit" in answer["message"]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ('"20 ms"', '"20 ms', 7),
        ("ccid = 3", "ccid = 9", 23),
        ("pairs = 2", "pears = 2", 5),
        ('to = "d2"', 'to = "d7"', 22),
    ],
)
def test_errors_of_all_kinds_have_their_line(before: str, after: str, line: int) -> None:
    with pytest.raises(reading.PageError) as raised:
        reading.inspect(TEXT.replace(before, after))
    assert raised.value.line == line


@pytest.mark.parametrize(
    "transport",
    [
        '{ tcp = { control = "os:system" } }',
        '{ dccp = { ccid = 251, control = "os:system" } }',
    ],
)
def test_a_control_in_python_is_never_loaded(
    socket: WebSocketTestSession, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(*_: object) -> None:
        raise AssertionError("a class was looked for")

    monkeypatch.setattr("skywave._members.find", find)
    hello(socket)
    text = TEXT.replace("{ tcp = {} }", transport)
    for message in ({"type": "check"}, {"type": "start", "pace": None}):
        socket.send_json({"run": "a", "text": text, **message})
        answer = socket.receive_json()
        assert answer["type"] == "error"
        assert "Python" in answer["message"]
        assert answer["line"] == 16
    # And if it were not noticed, the core would not know it either.
    with pytest.raises(ScenarioError, match="os:system"):
        _core.inspect_scenario(text, "toml", imports=False)
    with pytest.raises(ScenarioError, match="os:system"):
        _core.SteppedRun(text)


def test_files_are_not_read_for_the_page() -> None:
    trace = 'trace = { mahimahi = "/etc/passwd" }\naccess_rate ='
    with pytest.raises(reading.PageError, match="trace"):
        reading.inspect(TEXT.replace("access_rate =", trace))
    replay = TEXT.replace("source = { ftp = {} }", 'source = { replay = { file = "/etc/passwd" } }')
    assert replay != TEXT
    with pytest.raises(reading.PageError, match="the file has not been read"):
        reading.inspect(replay)


def test_a_file_may_begin_with_a_mark_of_its_byte_order(tmp_path: Path) -> None:
    file = tmp_path / "marked.toml"
    file.write_text(f"# A comment.\n{TEXT}", encoding="utf-8-sig")
    assert choices.of_file(file).text == f"# A comment.\n{TEXT}"


def test_a_scenario_may_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "scenario.toml"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[TEXT])
    writer.start()
    assert choices.of_file(pipe).text == TEXT
    writer.join()


@needs_checkout
def test_every_scenario_on_offer_can_be_run_and_has_knobs() -> None:
    every = choices.every()
    assert {choice.group for choice in every.values()} == {"Examples", "Networks of papers"}
    for choice in every.values():
        scenario = reading.inspect(choice.text).scenario
        assert any(knob.field.endswith(".rate") for knob in knobs.of_scenario(scenario)), choice.key


@needs_checkout
def test_a_file_that_is_an_example_is_listed_once(tmp_path: Path) -> None:
    first = choices.of_file(ROOT / "examples" / "red.toml")
    listed = choices.offered(first)
    assert listed[0] == first
    assert len(listed) == len(choices.every())
    assert "example/red" not in {choice.key for choice in listed}
    file = tmp_path / "duel.toml"
    file.write_text(choices.FIRST.replace("60 s", "20 s"))
    titles = [choice.title for choice in choices.offered(choices.of_file(file))]
    assert titles[0] == "duel.toml"
    assert "duel" in titles, "it is another scenario"


def test_a_scenario_is_the_same_after_it_was_written() -> None:
    for path in sorted((ROOT / "examples").glob("*.toml")):
        scenario = Scenario.from_file(path)
        again = Scenario.from_text(choices.as_toml(scenario.to_dict()), "toml")
        assert again.digest() == scenario.digest(), path.name


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("dumbbell.rate", 5_000_000, 'rate = "5 Mbps"'),
        ("dumbbell.delay", 0.3, 'delay = "300 ms"'),
        ("dumbbell.queue.drop-tail.packets", 7.2, "queue = { drop-tail = { packets = 7 } }"),
        ("dumbbell.queue", "codel", "queue = { codel = { packets = 20 } }"),
        ("dumbbell.loss", 0.01, "loss = { bernoulli = { probability = 0.01 } }"),
        ("flows[0].transport.tcp.control", "cubic", 'transport = { tcp = { control = "cubic" } }'),
        ("flows[1].transport.dccp.ccid", "2", "transport = { dccp = { ccid = 2 } }"),
    ],
)
def test_a_knob_changes_its_line_only(field: str, value: float | str, line: str) -> None:
    turned = knobs.turned(TEXT, field, value)
    before, after = TEXT.splitlines(), turned.splitlines()
    assert line in after
    assert len([one for one in after if one not in before]) == 1
    again = knobs.of_scenario(reading.inspect(turned).scenario)
    found = next((knob.value for knob in again if knob.field == field), value)
    assert found == (7 if value == 7.2 else value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "other"), ("dumbbell.rate", "fast"), ("dumbbell.rate", -1), ("dumbbell.queue", "?")],
)
def test_what_is_no_knob_cannot_be_turned(field: str, value: float | str) -> None:
    with pytest.raises(reading.PageError):
        knobs.turned(TEXT, field, value)
