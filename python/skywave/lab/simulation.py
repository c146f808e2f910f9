"""A simulated run: at a pace or as fast as it can, paused, stepped, changed, stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import pyarrow as pa

from skywave import _core
from skywave.lab.messages import Clock, Phase, Send, State, frame
from skywave.lab.reading import inspect
from skywave.results import Results
from skywave.scenario.quantities import Duration

FRAME_S = 0.02
"""The time between two frames: 50 a second."""
PIECE_S = 0.015
"""How much processor time a piece of a run may take, about: the rest of a frame is for the page."""


@dataclass(frozen=True)
class PreparedScenario:
    """A scenario that is ready to run, parsed and checked."""

    text: str
    core: _core.SteppedRun
    interval_s: float

    @classmethod
    def of(cls, text: str) -> Self:
        """Prepare a scenario, which may take seconds."""
        interval = inspect(text).scenario["probes"]["interval"]
        return cls(text, _core.SteppedRun(text), Duration(interval).seconds)


@dataclass
class _History:
    """The results of a run so far. A changed run begins another history."""

    core: _core.SteppedRun
    pieces: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)
    is_over: bool = False
    """Whether nothing more is computed."""
    results: Results | None = None


class SimulatedRun:
    """A run on the page, on the simulator's clock.

    ``pace`` is in simulated seconds per second; None is as fast as it can.
    """

    clock: Clock = "simulated"

    def __init__(
        self,
        name: str,
        prepared: PreparedScenario,
        pace: float | None,
        send: Send,
        *,
        paused: bool = False,
    ) -> None:
        """Create the run, at time zero."""
        self.name = name
        self.pace = pace
        self.state: Phase = "paused" if paused else "running"
        self.epoch = 0
        self._send = send
        self._then: Phase = self.state
        self._until_s = 0.0
        self._steps = 0
        self._wake = asyncio.Event()
        self._begin(prepared)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in ("ended", "stopped")

    def _begin(self, prepared: PreparedScenario) -> None:
        self.text = prepared.text
        self._history = _History(prepared.core)
        self._interval_s = prepared.interval_s
        self._stop = _core.Stop()
        self._now_s = 0.0
        self._end_s = prepared.core.end_s
        self._piece_s = self._interval_s
        self._since: tuple[float, float] | None = None

    def play(self) -> None:
        """Go on, if it is paused."""
        if self.state == "paused":
            self._set("running")

    def pause(self) -> None:
        """Stay where it is, until played or stepped."""
        if self.state == "again":
            self._then = "paused"
        elif self.state == "running":
            self._set("paused")

    def step(self) -> None:
        """Pause, and advance by one sampling interval."""
        self.pause()
        self._steps += 1
        self._wake.set()

    def set_pace(self, pace: float | None) -> None:
        """Go on at another pace."""
        self.pace = pace
        self._since = None

    def stop(self) -> None:
        """End the run now. It keeps its measurements."""
        if not self.is_over:
            self._set("stopped")
        self._stop.set()

    async def change(self, text: str) -> None:
        """Run another scenario up to the present, as fast as it can, and continue from there.

        If it cannot be run, the run continues unchanged.
        """
        prepared = await asyncio.to_thread(PreparedScenario.of, text)
        until_s = max(self._now_s, self._until_s if self.state == "again" else 0.0)
        then: Phase = self._then if self.state == "again" else self.state
        was_over = self.is_over
        self._stop.set()
        self._begin(prepared)
        self.epoch += 1
        self._until_s = min(until_s, self._end_s)
        self._then = "paused" if was_over else then
        self._set("again")
        await self.tell()

    async def drive(self) -> None:
        """Run it, until it is over."""
        try:
            await self._drive()
        except Exception:
            self._history.is_over = True
            raise
        await self.tell()

    async def _drive(self) -> None:
        await self.tell()
        due = time.monotonic()
        while not self.is_over:
            began = time.monotonic()
            to_s = self._next_s(began)
            if to_s is None:
                self._wake.clear()
                await self._wake.wait()
                continue
            state, epoch = self.state, self.epoch
            await self._advance(to_s)
            if epoch != self.epoch:
                continue
            if self._now_s >= self._end_s:
                # Told once it is no longer driven: whoever hears of it may ask for its results, or
                # change it, and must not get it a second time.
                self._set("ended")
                continue
            if self.state == "again" and self._now_s >= self._until_s:
                self._set(self._then)
            if self.state != state:
                await self.tell()
            # On a grid, so that lateness does not add up; but frames that are missed stay missed.
            due = max(due + FRAME_S, began)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        history = self._history
        if self.state == "stopped":
            # The part of an interval that has passed.
            history.core.stop()
            await self._show()
        history.is_over = True

    def results(self) -> Mapping[str, pa.Table]:
        """Return all tables if the run is over, otherwise the samples so far."""
        # This may be another thread than the one that changes the run.
        history = self._history
        if history.is_over and history.results is None:
            history.results = Results.of_core(history.core.finish())
        if history.results is not None:
            return history.results.tables
        return {
            name: pa.Table.from_batches(pieces).unify_dictionaries()
            for name, pieces in history.pieces.items()
        }

    def capture(self, link: str, file: str) -> None:
        """Run it once more up to the present, and write the packets of a link as pcapng."""
        again = _core.SteppedRun(self.text, captures={link: file})
        again.advance(self._now_s)
        again.finish()

    def _set(self, state: Phase) -> None:
        self.state = state
        self._since = None
        self._steps = 0
        self._wake.set()

    def _next_s(self, now: float) -> float | None:
        """Return up to when to run next; None to wait."""
        fast_s = self._now_s + self._piece_s
        if self.state == "again":
            return min(fast_s, self._until_s)
        if self.state == "paused":
            if not self._steps:
                return None
            self._steps -= 1
            whole = int(self._now_s / self._interval_s + 1e-6)
            return (whole + 1) * self._interval_s
        if self.pace is None:
            return fast_s
        if self._since is None:
            self._since = (now, self._now_s)
        began, from_s = self._since
        to_s = from_s + (now - began + FRAME_S) * self.pace
        if to_s > fast_s:
            # The machine cannot keep this pace: what it owes is not made up for later.
            self._since = (now, fast_s - FRAME_S * self.pace)
            return fast_s
        return to_s

    async def _advance(self, to_s: float) -> None:
        core, epoch = self._history.core, self.epoch
        asked_s = to_s - self._now_s
        try:
            now_s, took_s = await asyncio.to_thread(_advanced, core, to_s, self._stop)
        except Exception:
            if epoch != self.epoch:  # what has failed was replaced meanwhile
                return
            raise
        if epoch != self.epoch:
            return
        self._now_s = now_s
        # Pieces of a run are about equally expensive, but events come in bursts.
        if took_s > 2 * PIECE_S:
            self._piece_s = max(asked_s / 2, self._interval_s / 1000)
        elif took_s < PIECE_S and asked_s >= self._piece_s * 0.99:
            self._piece_s *= 2
        await self._show()

    async def _show(self) -> None:
        """Send the samples since the last frame, and keep them."""
        tables = self._history.core.samples()
        if any(batch.num_rows for batch in tables.values()):
            for name, batch in tables.items():
                self._history.pieces.setdefault(name, []).append(batch)
            await self._send(frame(self.name, self.epoch, self._now_s, tables))

    async def tell(self) -> None:
        """Send the state."""
        state = State(
            self.name,
            self.clock,
            self.state,
            self._now_s,
            self._end_s,
            epoch=self.epoch,
            until_s=self._until_s,
        )
        await self._send(state.message())


def _advanced(core: _core.SteppedRun, to_s: float, stop: _core.Stop) -> tuple[float, float]:
    """Advance a run; return its time, and the processor time that this took, in seconds.

    Not the time on the clock: on a busy machine, pieces would shrink until the run hardly moved.
    """
    began = time.thread_time()
    now_s = core.advance(to_s, stop)
    return now_s, time.thread_time() - began
