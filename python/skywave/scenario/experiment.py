"""Scenarios."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from attrs import define

from skywave import _core
from skywave._errors import ScenarioError
from skywave._files import read_text
from skywave.scenario import parts
from skywave.scenario.parts import Flow, Ftp, Source, Transport
from skywave.scenario.quantities import Duration

Syntax = Literal["toml", "json"]
Read = TypeVar("Read")


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The findings of a check of a scenario, without running it."""

    scenario: dict[str, Any]
    """The scenario with all defaults, including those that follow from a profile or a control."""
    routes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    """The nodes on each flow's path, to the receiver and back."""
    warnings: tuple[str, ...]
    """Settings that are allowed but probably mistakes, as ``field: message``."""
    simulation_warnings: tuple[str, ...]
    """Those of the warnings that concern a simulation only, not a run in real time."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the core's findings."""
        found = json.loads(text)
        return cls(
            scenario=found["scenario"],
            routes={
                flow["flow"]: (tuple(flow["forward"]), tuple(flow["back"]))
                for flow in found["routes"]
            },
            warnings=tuple(map(_sentence, found["warnings"])),
            simulation_warnings=tuple(
                _sentence(one) for one in found["warnings"] if one["in_simulation"]
            ),
        )


def _sentence(warning: dict[str, Any]) -> str:
    return f"{warning['field']}: {warning['message']}"


@define(kw_only=True)
class Scenario(parts.Scenario):
    """An experiment: a network, the flows on it, what to measure, and for how long.

    :func:`skywave.dumbbell` and :func:`skywave.parking_lot` return common ones. ``nodes`` and
    ``links`` add to ``dumbbell``.
    """

    def add_flow(
        self,
        name: str,
        from_: str,
        to: str,
        transport: Transport,
        source: Source = Ftp(),
        *,
        start: Duration | str = "0 s",
        start_jitter: Duration | str = "0 s",
        stop: Duration | str | None = None,
        class_: int = 0,
    ) -> None:
        """Add a flow. By default it always has data to send."""
        self.flows.append(
            Flow(
                name=name,
                from_=from_,
                to=to,
                transport=transport,
                source=source,
                start=start,
                start_jitter=start_jitter,
                stop=stop,
                class_=class_,
            )
        )

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values of these fields. Flows added to one are not in the other.

        Raises:
            TypeError: If there is no such field.
            ValueError: If a text is not a quantity.
        """
        lists = {name: list(getattr(self, name)) for name in ("nodes", "links", "flows")}
        return super().replace(**(lists | changes))

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as the core reads it, without fields that have their defaults."""
        return {"flows": [], **super().to_dict()}

    def to_json(self) -> str:
        """Return the scenario as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def inspect(self) -> Inspection:
        """Check the scenario without running it; return it with defaults, routes and warnings.

        Raises:
            ScenarioError: If the scenario is wrong; the message names the field.
        """
        text, members = self.to_core()
        return Inspection.of(_core.inspect_scenario(text, "json", members=members))

    def normalised(self) -> dict[str, Any]:
        """Return the scenario with the fixed defaults of all fields.

        Values that follow from a profile or a control are left out; :meth:`inspect` has them too.

        Raises:
            ScenarioError: If the scenario is wrong; the message names the field.
        """
        text, members = self.to_core()
        document: dict[str, Any] = json.loads(_core.check_scenario(text, "json", members=members))
        return document

    def digest(self) -> str:
        """Return a hash of everything that determines the results of a run, in hexadecimal.

        That is the scenario with all defaults, the version of the simulator, and the source of
        members in Python (:meth:`Control.source_hash <skywave.Control.source_hash>`).

        Raises:
            ScenarioError: If the scenario is wrong; the message names the field.
            ValueError: If the source of a member cannot be found.
        """
        sources = [member.source_hash() for member in self.members()]
        return digest_of(self.normalised(), sources)

    @classmethod
    def from_text(cls, text: str, syntax: Syntax, directory: str | Path | None = None) -> Self:
        """Parse and check a scenario. Trace files that it names are read from ``directory``.

        Raises:
            ScenarioError: If the scenario is wrong; the message names the field.
        """
        beside = None if directory is None else str(directory)
        return cls.from_dict(json.loads(_core.check_scenario(text, syntax, beside)))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a scenario from a file: JSON if the name ends in ``.json``, otherwise TOML.

        The steps of trace files that it names become part of the scenario.

        Raises:
            ScenarioError: If the scenario is wrong; the message names the field.
            OSError: If the file cannot be read.
        """
        return cls.from_dict(json.loads(read_file(path, _core.check_scenario)))


def digest_of(complete: dict[str, Any], sources: list[str]) -> str:
    """Return the digest of a scenario with all defaults, and hashes of its members' sources."""
    identity = [complete, _core.ENGINE, sources]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def inspect_file(path: str | Path) -> Inspection:
    """Do the same as ``Scenario.from_file(path).inspect()``, faster."""
    return Inspection.of(read_file(path, _core.inspect_scenario))


def read_file(path: str | Path, read: Callable[[str, Syntax, str], Read]) -> Read:
    """Return what ``read`` returns for the text, the syntax and the directory of a file."""
    path = Path(path)
    if path.suffix in (".yaml", ".yml"):
        raise ScenarioError(f"{path} is YAML: a scenario is a .toml or a .json file")
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        message = f"{path} is not text in UTF-8 ({error.reason}): save it as UTF-8"
        raise ScenarioError(message) from error
    syntax: Syntax = "json" if path.suffix == ".json" else "toml"
    try:
        return read(text, syntax, str(path.parent))
    except ScenarioError as error:
        raise ScenarioError(message_about(path, text, syntax, error)) from None


def message_about(source: str | Path, text: str, syntax: Syntax, error: Exception) -> str:
    """Return the message of an error with where it is: the source of the text, and the line."""
    message = str(error)
    # A text in another syntax is "not TOML: ..".
    if message.startswith("not "):
        return f"{source} is {message}"
    place = line_and_column(text, field_of(message)) if syntax == "toml" else None
    return f"{source}: {message}" if place is None else f"{source}, line {place[0]}: {message}"


def field_of(message: str) -> str:
    """Return the field that the message of a ``ScenarioError`` names, or an empty text."""
    field, colon, _ = message.partition(": ")
    return field if colon and " " not in field else ""


def line_and_column(text: str, field: str) -> tuple[int, int] | None:
    """Return where a text in TOML has a field, or lacks it; both count from 1."""
    place = _core.place_of_field(text, field) if field else None
    if place is None:
        return None
    key, value, _, is_exact = place
    # The header of a table is where something is missing; a value is what is wrong.
    at = value if is_exact else key
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
