"""Fields of a scenario by their paths, such as ``dumbbell.queue.drop-tail.packets``.

``flows[2]`` is an entry of a list, ``flows[voice]`` the one of that name, ``links[a->b]`` the link
between these nodes, and ``flows[*]`` every entry. A key with a dot is written in quotation marks.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from skywave._core import check_scenario
from skywave._errors import ScenarioError
from skywave._known import listed
from skywave._members import named
from skywave.control import Control
from skywave.scenario.experiment import Scenario
from skywave.scenario.labels import Named
from skywave.scenario.part import plain

Place = tuple[str | int, ...]
"""The keys and indices that lead to a value."""

STEP = re.compile(r'(?P<key>"[^"]*"|[^".\[\]]+)(?P<entries>(?:\[[^\[\]]+\])*)(?:\.|$)')
EVERY = "*"
NAMED = re.compile(
    r"(?P<value>.*\S)\s+as\s+"
    r"""(?:"(?P<quoted>[^"]+)"|(?P<bare>[^"'\[\]{}(),=]*[^"'\[\]{}(),=\s]))\s*""",
    re.DOTALL,
)
"""A value with a name. An ``as`` within quotation marks or brackets names nothing."""


@dataclass(frozen=True)
class Entry:
    """One entry of a list, or every one (``*``)."""

    which: str

    def find(self, entries: list[Any]) -> list[int]:
        """Return the indices of the entries that are meant."""
        if self.which == EVERY:
            return list(range(len(entries)))
        if self.which.isdecimal():
            return [int(self.which)] if int(self.which) < len(entries) else []
        return [index for index, entry in enumerate(entries) if _name(entry) == self.which]


@dataclass(frozen=True)
class FieldPath:
    """A path, which may lead to several fields."""

    text: str
    steps: tuple[str | Entry, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a path."""
        steps: list[str | Entry] = []
        position = 0
        while position < len(text) or not steps:
            found = STEP.match(text, position)
            if found is None or (found.end() == len(text) and text.endswith(".")):
                raise ValueError(
                    f'"{text}" is not the path of a field: write it as '
                    "dumbbell.queue.drop-tail.packets or flows[*].start"
                )
            steps.append(found["key"].strip('"'))
            steps += [Entry(which) for which in re.findall(r"\[([^\[\]]+)\]", found["entries"])]
            position = found.end()
        if isinstance(steps[-1], Entry):
            raise ValueError(f'"{text}" is an entry of a list: name a field of it')
        return cls(text, tuple(steps))

    def set(self, document: dict[str, Any], complete: Mapping[str, Any], value: object) -> None:
        """Set a field in a scenario.

        Args:
            document: The scenario, which is changed. It may lack what has its default.
            complete: The same with all defaults; it says which fields there are.
            value: The value. A control in Python sets its parameters too.
        """
        places = list(_places(complete, self.steps))
        # Of the flows, some may have the field. A field without a default is in none of them.
        having = [place for place in places if place[-1] in _get(complete, place[:-1])]
        if not places:
            hint = self._hint(complete)
            raise ScenarioError(f"{self.text}: the scenario has no such field{hint}")
        for place in having or places:
            *way, last = place
            parent = _made(document, complete, tuple(way))
            if isinstance(value, Control):
                name, parameters = named(value)
                parent |= {str(last): name, name: parameters}
            else:
                parent[last] = plain(value)

    def _hint(self, complete: Mapping[str, Any]) -> str:
        """Return the fields at the last step of the path that exists."""
        if self.steps[0] == "links" and not complete.get("links") and complete.get("dumbbell"):
            return self._hint_of_dumbbell()
        for length in range(len(self.steps) - 1, -1, -1):
            for place in _whole(complete, self.steps[:length]):
                value = _get(complete, place)
                step = self.steps[length]
                before = _written(place) or "the scenario"
                if isinstance(value, list) and isinstance(step, Entry):
                    names = [str(_name(entry) or index) for index, entry in enumerate(value)]
                    return f": {before} has {listed(str(step.which), names, 'no entries')}"
                if isinstance(value, list):
                    return f": {before} is a list: write {before}[*], or the name of one entry"
                if isinstance(value, dict):
                    return f": {before} has {listed(str(step), value)}"
                return f": {before} is {json.dumps(value)}"
        return ""

    def _hint_of_dumbbell(self) -> str:
        """Return the field of the dumbbell that describes the link of a path."""
        field = self.text.partition("].")[2] or "rate"
        match self.steps:
            case ["links", Entry("r1->r2"), *_]:
                return f": dumbbell describes the bottleneck r1->r2: use dumbbell.{field}"
            case _:
                return (
                    f": dumbbell describes the links: use dumbbell.{field} for the bottleneck, "
                    "dumbbell.access_rate and dumbbell.access_delays for the others"
                )


def with_field(scenario: Scenario, path: str, value: object) -> Scenario:
    """Return a scenario with another value of the fields at a path.

    Files that the value names are read, relative to the current directory.

    Raises:
        ScenarioError: If there is no such field, or the value is wrong; the message names the
            field.
        ValueError: If the path is malformed.
    """
    return next(with_each(scenario, path, [value]))


def with_each(scenario: Scenario, path: str, values: Iterable[object]) -> Iterator[Scenario]:
    """Yield a scenario with each value of the fields at a path, as :func:`with_field` does."""
    given, field = scenario.to_dict(), FieldPath.parse(path)
    complete = scenario.inspect().scenario
    for value in values:
        document: dict[str, Any] = copy.deepcopy(given)
        field.set(document, complete, value)
        # The core reads it first: its messages name the field.
        text = check_scenario(json.dumps(document), "json", ".")
        yield Scenario.from_dict(json.loads(text))


def parse_values(text: str) -> tuple[object, ...]:
    """Parse comma-separated values as TOML; anything else is text.

    ``10,50`` are numbers, ``10 ms,20 ms`` and ``cubic,reno`` texts. A comma within brackets, braces
    or quotation marks separates nothing. A value followed by ``as NAME`` is a :class:`Named`; a
    name with a comma needs quotation marks.
    """
    return tuple(map(_value, _split(text)))


def _value(text: str) -> object:
    found = NAMED.fullmatch(text)
    if found is None:
        return parse_value(text)
    return Named(found["quoted"] or found["bare"], parse_value(found["value"]))


def parse_value(text: str) -> object:
    """Parse one value as TOML; anything else is text."""
    text = text.strip()
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
        json.dumps(value, allow_nan=False)
    except (tomllib.TOMLDecodeError, TypeError, ValueError):
        return text
    return value


def _split(text: str) -> Iterator[str]:
    depth, quote, begun = 0, "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "[{(":
            depth += 1
        elif character in "]})":
            depth -= 1
        elif character == "," and depth == 0:
            yield _given(text, text[begun:index])
            begun = index + 1
    yield _given(text, text[begun:])


def _given(text: str, part: str) -> str:
    if not part.strip():
        raise ValueError(f'"{text}" lacks a value: write values as 10,50,200')
    return part


def _written(place: Place) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


def _name(entry: Any) -> str | None:
    """Return the name of an entry: a flow's, or the two ends of a link."""
    if not isinstance(entry, dict):
        return entry if isinstance(entry, str) else None
    if "name" in entry:
        return str(entry["name"])
    return f"{entry['from']}->{entry['to']}" if {"from", "to"} <= entry.keys() else None


def _places(complete: Any, steps: tuple[str | Entry, ...]) -> Iterator[Place]:
    """Yield the places of a field whose parents exist."""
    *way, last = steps
    assert isinstance(last, str)  # noqa: S101  (`parse` has made sure)
    for place in _whole(complete, tuple(way)):
        if isinstance(_get(complete, place), dict):
            yield (*place, last)


def _whole(complete: Any, steps: tuple[str | Entry, ...]) -> Iterator[Place]:
    """Yield the places to which these steps lead."""
    if not steps:
        yield ()
        return
    step, *rest = steps
    keys: list[Any] = []
    if isinstance(step, Entry):
        keys = step.find(complete) if isinstance(complete, list) else []
    elif isinstance(complete, dict) and step in complete:
        keys = [step]
    for key in keys:
        for place in _whole(complete[key], tuple(rest)):
            yield (key, *place)


def _get(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def _made(document: dict[str, Any], complete: Any, place: Place) -> Any:
    """Return the value at a place of a document, creating missing parents."""
    value: Any = document
    for depth, key in enumerate(place):
        complete = complete[key]
        if isinstance(value, dict) and key not in value:
            value[key] = copy.deepcopy(complete) if isinstance(complete, list) else {}
        elif isinstance(value[key], str):
            # The short form of a part whose fields all have their defaults.
            value[key] = {value[key]: {}} if value[key] in place[depth + 1 :] else {}
        value = value[key]
    return value
