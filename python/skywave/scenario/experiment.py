"""Scenarios."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from attrs import define, frozen

from skywave import _core
from skywave._files import read_text
from skywave.scenario import parts
from skywave.scenario.parts import DropTail, Dumbbell, Flow, Ftp, Probes, Unlimited
from skywave.scenario.place import field_of, line_and_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skywave.scenario.parts import Back, Loss, Queue, Source, Trace, Transport
    from skywave.scenario.quantities import Duration, Rate

Syntax = Literal["toml", "json"]
Read = TypeVar("Read")


@frozen(kw_only=True)
class Inspection:
    """What a check of a scenario finds, without running it."""

    scenario: dict[str, Any]
    """The scenario with all defaults, including those that follow from a profile or a control."""
    routes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    """The nodes on each flow's path, to the receiver and back."""
    warnings: tuple[str, ...]
    """Settings that are allowed but probably mistakes, as ``field: message``."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read what the core returns."""
        found = json.loads(text)
        return cls(
            scenario=found["scenario"],
            routes={
                flow["flow"]: (tuple(flow["forward"]), tuple(flow["back"]))
                for flow in found["routes"]
            },
            warnings=tuple(f"{one['field']}: {one['message']}" for one in found["warnings"]),
        )


@define(kw_only=True)
class Scenario(parts.Scenario):
    """An experiment: a network, the flows on it, what to measure, and for how long.

    ``bottleneck`` is ``dumbbell`` in the schema. ``nodes`` and ``links`` add to it.
    """

    @classmethod
    def dumbbell(
        cls,
        name: str,
        *,
        duration: Duration | str,
        rate: Rate | str,
        delay: Duration | str,
        pairs: int = 1,
        queue: Queue | int = Unlimited(),
        loss: Loss | None = None,
        trace: Trace | None = None,
        jitter: Duration | str = "0 s",
        back: Back | None = None,
        access_rate: Rate | str = "1 Gbps",
        access_delays: Iterable[Duration | str] = ("1 ms",),
        seed: int = 0,
        probes: Probes = Probes(),
    ) -> Self:
        """Return a scenario on a dumbbell, without flows.

        ``rate``, ``delay``, ``queue``, ``loss``, ``trace`` and ``jitter`` are those of the
        bottleneck ``r1->r2``. An integer ``queue`` is a drop-tail queue of that many packets.
        ``back`` has what differs in the reverse direction, ``r2->r1``.
        """
        bottleneck = Dumbbell(
            pairs=pairs,
            rate=rate,
            delay=delay,
            access_rate=access_rate,
            access_delays=access_delays,
            queue=DropTail(packets=queue) if isinstance(queue, int) else queue,
            loss=loss,
            trace=trace,
            jitter=jitter,
            back=back,
        )
        return cls(
            name=name,
            duration=duration,
            seed=seed,
            bottleneck=bottleneck,
            probes=probes,
        )

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
    ) -> Self:
        """Add a flow and return the scenario. By default the flow always has data to send."""
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
        return self

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
        identity = [self.normalised(), _core.ENGINE, sources]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()

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


def inspect_file(path: str | Path) -> Inspection:
    """Do the same as ``Scenario.from_file(path).inspect()``, faster.

    Raises:
        ScenarioError: If the scenario is wrong; the message names the field.
        OSError: If the file cannot be read.

    """
    return Inspection.of(read_file(path, _core.inspect_scenario))


def read_file(path: str | Path, read: Callable[[str, Syntax, str], Read]) -> Read:
    """Return what ``read`` returns for the text, the syntax and the directory of a file.

    Raises:
        ScenarioError: If the scenario is wrong; the message names the field.
        OSError: If the file cannot be read.

    """
    path = Path(path)
    if path.suffix in (".yaml", ".yml"):
        raise _core.ScenarioError(f"{path} is YAML: a scenario is a .toml or a .json file")
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        message = f"{path} is not text in UTF-8 ({error.reason}): save it as UTF-8"
        raise _core.ScenarioError(message) from error
    syntax: Syntax = "json" if path.suffix == ".json" else "toml"
    try:
        return read(text, syntax, str(path.parent))
    except _core.ScenarioError as error:
        raise _core.ScenarioError(message_about(path, text, syntax, error)) from None


def message_about(source: str | Path, text: str, syntax: Syntax, error: Exception) -> str:
    """Return the message of an error with where it is: the source of the text, and the line."""
    message = str(error)
    # A text in another syntax is "not TOML: ..".
    if message.startswith("not "):
        return f"{source} is {message}"
    place = line_and_column(text, field_of(message)) if syntax == "toml" else None
    return f"{source}: {message}" if place is None else f"{source}, line {place[0]}: {message}"
