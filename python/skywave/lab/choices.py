"""The scenarios that the page offers: the examples, and the papers' networks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from skywave._errors import ScenarioError
from skywave.lab import reading
from skywave.scenario import Scenario
from skywave.scenario.experiment import Syntax, read_file

FIRST = """\
# Two flows share a bottleneck. Run it, then turn a knob or change the text.
name = "duel"
duration = "60 s"

[dumbbell]
pairs = 2
rate = "4 Mbps"
delay = "30 ms"
queue = { drop-tail = { packets = 40 } }
access_rate = "100 Mbps"
access_delays = ["1 ms"]

[[flows]]
name = "tcp"
from = "s1"
to = "d1"
transport = { tcp = { control = "cubic" } }
source = { ftp = {} }

[[flows]]
name = "dccp"
from = "s2"
to = "d2"
transport = { dccp = { ccid = 3 } }
source = { ftp = {} }

[probes]
interval = "100 ms"
rates = true
"""
"""With what the page opens if the command names no scenario."""
EXAMPLES = Path(__file__).parents[3] / "examples"
"""They are beside the package in a source checkout only."""


@dataclass(frozen=True)
class Choice:
    """A scenario to begin with."""

    key: str
    group: str
    title: str
    text: str


def example() -> Choice:
    """Return the scenario with which the page opens if the command names none."""
    return Choice("duel", "Examples", "duel", FIRST)


def of_file(path: Path) -> Choice:
    """Return the scenario of a file, with the contents of files that it names in its text."""

    def parsed(text: str, syntax: Syntax, directory: str) -> tuple[str, Scenario]:
        return text, Scenario.from_text(text, syntax, directory)

    text, experiment = read_file(path, parsed)
    try:
        reading.inspect(text)
    except reading.PageError:
        text = as_toml(experiment.to_dict())
        try:
            reading.inspect(text)
        except reading.PageError as error:
            raise ScenarioError(str(error)) from None
    return Choice(str(path), "File", path.name, text)


@cache
def every() -> dict[str, Choice]:
    """Return all scenarios by key."""
    return {choice.key: choice for choice in (example(), *_examples(), *_papers())}


def offered(first: Choice | None) -> list[Choice]:
    """Return the scenarios of the picker: ``first``, and all that are not the same."""
    if first is None:
        return list(every().values())
    same = _digest(first)
    return [first, *(one for one in every().values() if _digest(one) != same)]


@cache
def _digest(choice: Choice) -> str:
    return Scenario.from_text(choice.text, "toml").digest()


def _examples() -> Iterator[Choice]:
    for path in sorted(EXAMPLES.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        try:
            reading.inspect(text)
        except reading.PageError:  # it needs files, or a control in Python
            continue
        yield Choice(f"example/{path.stem}", "Examples", path.stem, text)


def _papers() -> Iterator[Choice]:
    from skywave.matrix.axes import NETWORKS, PAPERS  # noqa: PLC0415  (loads the papers)
    from skywave.matrix.runs import Run, scenario  # noqa: PLC0415

    proposed = {paper.key: paper.controls for paper in PAPERS}
    for key, network in NETWORKS.items():
        control = proposed[key][0].key if proposed[key] else "ccid3"
        try:
            described = scenario(Run("beside", control, key, 1, network.duration_s))
            text = as_toml(described.to_dict())
            reading.inspect(text)
        except (KeyError, reading.PageError):  # the network cannot run this control
            continue
        title = f"{network.label}: {control} beside TCP"
        yield Choice(f"paper/{key}", "Networks of papers", title, text)


BARE = re.compile(r"[A-Za-z0-9_-]+")


def as_toml(document: Mapping[str, Any]) -> str:
    """Return a document as TOML for readers: plain values, then a header for each part and flow."""
    plain = {key: value for key, value in document.items() if not _has_header(value)}
    parts = [_lines(plain)]
    for key, value in document.items():
        if isinstance(value, dict):
            parts.append(f"[{_key(key)}]\n{_lines(value)}")
        elif _has_header(value):
            parts.extend(f"[[{_key(key)}]]\n{_lines(element)}" for element in value)
    return "\n".join(part for part in parts if part)


def _has_header(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(element, dict) for element in value)
    return isinstance(value, dict)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
