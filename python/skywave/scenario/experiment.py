"""A whole scenario."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from skywave import _core
from skywave.control import Control, live
from skywave.scenario.flows import Flow, Probes
from skywave.scenario.mirror import plain
from skywave.scenario.networks import Dumbbell, Link
from skywave.scenario.queues import DropTail
from skywave.scenario.reading import read
from skywave.scenario.sources import Ftp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.scenario.networks import Back, Loss, Trace
    from skywave.scenario.queues import Queue
    from skywave.scenario.sources import Source
    from skywave.scenario.transports import Transport


@dataclass(kw_only=True)
class Scenario:
    """An experiment: a network, the flows on it, what to measure, for how long.

    ``bottleneck`` is the schema's ``dumbbell``; ``nodes`` and ``links`` come beside it.
    """

    name: str
    duration: str
    description: str | None = None
    seed: int | None = None
    bottleneck: Dumbbell | None = None
    nodes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    probes: Probes = field(default_factory=Probes)
    verify_wire: bool = False

    @classmethod
    def dumbbell(
        cls,
        name: str,
        *,
        duration: str,
        rate: str,
        delay: str,
        pairs: int = 1,
        queue: Queue | int | None = None,
        loss: Loss | None = None,
        trace: Trace | None = None,
        jitter: str | None = None,
        back: Back | None = None,
        access_rate: str = "1 Gbps",
        access_delays: tuple[str, ...] = ("1 ms",),
        seed: int | None = None,
        probes: Probes | None = None,
    ) -> Self:
        """Begin a scenario on the classic topology.

        ``rate``, ``delay``, ``queue``, ``loss``, ``trace`` and ``jitter`` are those of the
        bottleneck ``r1->r2``; an integer ``queue`` is a drop-tail queue of so many packets.
        ``back`` is what is otherwise on ``r2->r1``.
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
            probes=probes or Probes(),
        )

    def add_flow(
        self,
        name: str,
        from_: str,
        to: str,
        transport: Transport,
        source: Source | None = None,
        *,
        start: str | None = None,
        start_jitter: str | None = None,
        stop: str | None = None,
        class_: int | None = None,
    ) -> Self:
        """Add a flow and return the scenario; without a source it always has data."""
        self.flows.append(
            Flow(
                name=name,
                from_=from_,
                to=to,
                transport=transport,
                source=source or Ftp(),
                start=start,
                start_jitter=start_jitter,
                stop=stop,
                class_=class_,
            )
        )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the form that the core reads, without what has its default."""
        given = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        given["dumbbell"] = given.pop("bottleneck")
        body = {name: plain(value) for name, value in given.items()}
        required = ("name", "duration", "flows")
        return {
            name: value
            for name, value in body.items()
            if name in required or value not in (None, [], {}, False)
        }

    def to_json(self) -> str:
        """Return the scenario as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def normalised(self) -> dict[str, Any]:
        """Return the scenario with every default filled in.

        Raises:
            ScenarioError: with the field that is wrong.

        """
        text = _core.check_scenario(self.to_json(), "json", controls=live(self.controls()))
        document: dict[str, Any] = json.loads(text)
        return document

    def controls(self) -> list[Control]:
        """Return the controls in Python that flows have."""
        given = (getattr(flow.transport, "control", None) for flow in self.flows)
        return [control for control in given if isinstance(control, Control)]

    def digest(self) -> str:
        """Return a hash over all that decides what a run gives, in hexadecimal.

        That is the scenario with every default filled in, the version of Skywave, and the source of
        controls in Python (:meth:`Control.source_hash <skywave.Control.source_hash>`).

        Raises:
            ScenarioError: with the field that is wrong.
            ValueError: where the source of a control cannot be found.

        """
        sources = [control.source_hash() for control in self.controls()]
        identity = [self.normalised(), version("skywave"), sources]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_text(
        cls, text: str, syntax: Literal["toml", "json"], directory: str | Path | None = None
    ) -> Self:
        """Read a scenario and check it; trace files that it names stand in ``directory``.

        Raises:
            ScenarioError: with the field that is wrong.

        """
        beside = None if directory is None else str(directory)
        return cls._from_dict(json.loads(_core.check_scenario(text, syntax, beside)))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a scenario from a file: JSON if its name ends so, else TOML.

        The steps of trace files that it names become part of the scenario.

        Raises:
            ScenarioError: with the field that is wrong.
            OSError: where the file cannot be read.

        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise _core.ScenarioError(f"{path} is not a text file: {error.reason}") from error
        syntax: Literal["toml", "json"] = "json" if path.suffix == ".json" else "toml"
        return cls.from_text(text, syntax, path.parent)

    @classmethod
    def _from_dict(cls, document: Mapping[str, Any]) -> Self:
        given = dict(document)
        given["bottleneck"] = given.pop("dumbbell", None)
        readers: dict[str, Callable[[Any], Any]] = {
            "bottleneck": lambda value: read(Dumbbell, value) if value else None,
            "links": lambda values: [read(Link, value) for value in values],
            "flows": lambda values: [read(Flow, value) for value in values],
            "probes": lambda value: read(Probes, value),
        }
        return cls(
            **{
                name: readers[name](value) if name in readers else value
                for name, value in given.items()
            }
        )
