"""A whole scenario."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from attrs import define, frozen

from skywave import _core
from skywave.control import Control, live
from skywave.scenario import parts
from skywave.scenario.parts import DropTail, Dumbbell, Flow, Ftp, Probes, Unlimited

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.quantities import Duration, Rate
    from skywave.scenario.parts import Back, Loss, Queue, Source, Trace, Transport


@frozen(kw_only=True)
class Inspection:
    """What is known of a scenario before it runs."""

    scenario: dict[str, Any]
    """The scenario with every default, those included that follow from a profile or a control."""
    routes: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    """The nodes that each flow's packets pass, to the receiver and back."""
    warnings: tuple[str, ...]
    """What is permitted, but hardly meant: ``field: message``."""


@define(kw_only=True)
class Scenario(parts.Scenario):
    """An experiment: a network, the flows on it, what to measure, for how long.

    ``bottleneck`` is the schema's ``dumbbell``; ``nodes`` and ``links`` come in addition to it.
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
        """Add a flow and return the scenario; without a source it always has data."""
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
        """Return the form that the core reads, without what has its default."""
        return {"flows": [], **super().to_dict()}

    def to_json(self) -> str:
        """Return the scenario as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def inspect(self) -> Inspection:
        """Check the scenario and return what is known of it before it runs.

        Raises:
            ScenarioError: with the field that is wrong.

        """
        controls = live(self.controls())
        found = json.loads(_core.inspect_scenario(self.to_json(), controls=controls))
        return Inspection(
            scenario=found["scenario"],
            routes={
                flow["flow"]: (tuple(flow["forward"]), tuple(flow["back"]))
                for flow in found["routes"]
            },
            warnings=tuple(f"{one['field']}: {one['message']}" for one in found["warnings"]),
        )

    def normalised(self) -> dict[str, Any]:
        """Return the scenario with the defaults of all fields that have one.

        What follows from a profile or a control is left out: :meth:`inspect` has that too.

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
        return cls.from_dict(json.loads(_core.check_scenario(text, syntax, beside)))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a scenario from a file: JSON if its name ends so, else TOML.

        The steps of trace files that it names become part of the scenario.

        Raises:
            ScenarioError: with the field that is wrong.
            OSError: where the file cannot be read.

        """
        path = Path(path)
        if path.suffix in (".yaml", ".yml"):
            raise _core.ScenarioError(f"{path} is YAML: a scenario is a .toml or a .json file")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise _core.ScenarioError(f"{path} is not a text file: {error.reason}") from error
        syntax: Literal["toml", "json"] = "json" if path.suffix == ".json" else "toml"
        try:
            return cls.from_text(text, syntax, path.parent)
        except _core.ScenarioError as error:
            # An error of syntax names no field: it needs the file's name.
            if not str(error).startswith("not "):
                raise
            raise _core.ScenarioError(f"{path} is {error}") from None
