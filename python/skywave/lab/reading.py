"""Reads scenarios that come from the page: built-in members only, errors with their line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from skywave import _core
from skywave._errors import ScenarioError, SkywaveError
from skywave.scenario.experiment import Inspection, field_of, line_and_column

KINDS = {"control": "control", "queue": "queue", "loss": "loss model", "source": "source"}
"""What may be written in Python, by its field."""
SYNTAX = re.compile(r"not TOML: line (\d+), column (\d+): (.*)")


class PageError(SkywaveError):
    """A message, a scenario or a run is faulty. Lines and columns count from 1."""

    def __init__(
        self, field: str, message: str, line: int | None = None, column: int | None = None
    ) -> None:
        """Create it. ``field`` is empty if the fault is in no single field."""
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message
        self.line = line
        self.column = column


def inspect(text: str) -> Inspection:
    """Check a scenario in TOML. It may name no files and no members in Python."""
    try:
        return Inspection.of(_core.inspect_scenario(text, "toml", imports=False))
    except ScenarioError as error:
        raise located(text, str(error)) from None


def located(text: str, message: str) -> PageError:
    """Return the error that a ``ScenarioError`` reports in a text, with its place."""
    syntax = SYNTAX.match(message)
    if syntax is not None:
        line, column, reason = syntax.groups()
        return PageError("", f"not TOML: {reason}", int(line), int(column))
    if message.startswith("not TOML: "):  # nested too deeply
        return PageError("", message)
    document: dict[str, Any] = {}
    with suppress(tomllib.TOMLDecodeError):  # the core knows TOML 1.1
        document = tomllib.loads(text)
    for field, kind, name in _in_python(document, ""):
        return _at(text, field, f'"{name}" is a {kind} in Python, which a page may not load')
    field = field_of(message)
    return _at(text, field, message.removeprefix(f"{field}: ")) if field else PageError("", message)


def _in_python(value: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Find every member that is ``module:Class``. Documents from the core are not deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else key
            names = [inner] if isinstance(inner, str) else inner if isinstance(inner, dict) else []
            for name in names:
                if key in KINDS and ":" in name:
                    yield here, KINDS[key], name
            yield from _in_python(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _in_python(inner, f"{path}[{index}]")


def _at(text: str, field: str, message: str) -> PageError:
    return PageError(field, message, *(line_and_column(text, field) or ()))


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenarios, for completion."""
    document: dict[str, Any] = json.loads(_core.scenario_schema())
    return document
