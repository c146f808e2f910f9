"""Starts the processes of a soak, listens to them, kills some, and gathers the evidence."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from validation.soak.account import Account
from validation.soak.ends import Report
from validation.soak.outcome import Evidence
from validation.soak.plan import HOST, PORTS, ports
from validation.soak.process import Crew
from validation.soak.samples import Sample, of_process

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.soak.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
JUDGED = ("server", "client")
VICTIMS = 1000
"""The number of the first client that is killed; the number of a connection begins with it."""
START_S = 120.0
END_S = 180.0
"""How long a process may take to end, which includes a close of its endpoint."""
LIFE_S = 6.0
"""The most that a client lives that is killed, once it has started."""
COMMAND_S = 120.0
LINE = 1 << 20


class SoakError(Exception):
    """A soak could not be run to its end, and why."""


class _Process:
    """A process of the soak: a module of this package, or a command."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, errors: Path) -> None:
        self.name = name
        self._process = process
        self._errors = errors

    @classmethod
    async def start(cls, name: str, folder: Path, *words: str) -> _Process:
        """Start Python with these arguments; what it writes to stderr goes into the folder."""
        errors = folder / f"{name}.err"
        with errors.open("wb") as file:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *words,
                stdin=PIPE,
                stdout=PIPE,
                stderr=file,
                limit=LINE,
                cwd=ROOT,
                # An interrupt at the terminal is for the runner alone.
                start_new_session=True,
            )
        return cls(name, process, errors)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Its exit status, if it has ended."""
        return self._process.returncode

    async def hear(self) -> dict[str, Any] | None:
        """Return the next thing that it says; ``None`` at the end."""
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        line = await self._process.stdout.readline()
        return json.loads(line) if line else None

    def tell(self, document: dict[str, Any]) -> None:
        """Tell it something."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        self._process.stdin.write(json.dumps(document).encode() + b"\n")

    def kill(self) -> None:
        """Kill it, if it still is."""
        with suppress(ProcessLookupError):
            self._process.kill()

    @property
    def errors(self) -> str:
        """The end of what it has written to stderr."""
        return self._errors.read_text(errors="replace").strip()[-1000:]

    async def finish(self, limit_s: float) -> list[str]:
        """Let it end, or kill it; return what is wrong with its end."""
        assert self._process.stdin is not None  # noqa: S101 - a pipe
        self._process.stdin.close()
        faults = []
        try:
            await asyncio.wait_for(self._process.wait(), limit_s)
        except TimeoutError:
            self.kill()
            await self._process.wait()
            faults.append(f"{self.name} had not ended after {limit_s:.0f} s")
        if self.status and not faults:
            faults.append(f"{self.name} ended with status {self.status}")
        if self.errors:
            faults.append(f"{self.name} said: {self.errors}")
        return faults

    async def wait(self) -> int:
        """Wait for its end; return its exit status."""
        return await self._process.wait()


class Soak:
    """A soak that runs, and what it has shown so far."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.account = Account()
        self.samples: dict[str, list[Sample]] = {name: [] for name in JUDGED}
        self.counts = Counter[str]()
        """Of what the client and the runner have done, apart from the account's."""
        self._folder = folder
        self._rng = np.random.default_rng(plan.seed)
        self._began_s = time.monotonic()
        self._quiet_s: float | None = None
        self._is_whole = False
        self._deaths_s: dict[int, float] = {}
        self._slowest_end_s = 0.0
        self._started: list[_Process] = []
        self._stop = asyncio.Event()

    @property
    def elapsed_s(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began_s

    def stop(self) -> None:
        """End it early; what was measured is kept."""
        self._stop.set()

    async def run(self, tell: Callable[[Soak], None], every_s: float) -> Evidence:
        """Run to the end, or until ``stop``; call ``tell`` now and then."""
        crew = Crew()
        crew.start(_repeat(lambda: tell(self), every_s))
        try:
            await self._run(crew)
        finally:
            await crew.stop()
            for process in self._started:
                process.kill()
                await process.wait()
        return self.evidence()

    def evidence(self) -> Evidence:
        """Return what it has shown so far."""
        return Evidence(
            plan=self.plan,
            samples=self.samples,
            quiet_s=self.elapsed_s if self._quiet_s is None else self._quiet_s,
            is_whole=self._is_whole,
            totals={**self.counts, **self.account.totals},
            slowest_end_s=self._slowest_end_s,
        )

    async def _run(self, crew: Crew) -> None:
        plan = self.plan
        common = {"limits": plan.limits, "sample_s": plan.sample_s}
        order = {**common, "seed": plan.seed, "shards": plan.shards}
        server, server_port = await self._start("server", order)
        path, relay = await self._start(
            "path",
            {
                "seed": plan.seed,
                "server": server_port,
                "faults": asdict(plan.faults),
                "garbage": plan.garbage,
                "ports": list(PORTS),
            },
        )
        order = {**common, "seed": plan.seed, "relay": relay, "rate": plan.rate}
        order |= {"forks_s": plan.forks_s, "threads": plan.threads}
        client, client_port = await self._start("client", order)
        path.tell({"client": client_port})
        listening = [crew.start(self._listen(each)) for each in (server, client)]
        churn = [crew.start(self._kill_clients(relay)), crew.start(self._run_commands(relay))]
        await self._wait(plan.duration_s, listening)
        self._quiet_s = self.elapsed_s
        for task in churn:
            task.cancel()
        for process in (client, path):
            process.tell({"quiet": True})
        await self._wait(plan.tail_s, listening)
        self._is_whole = not self._stop.is_set()
        for process in (client, server, path):
            for fault in await process.finish(END_S if self._is_whole else 5.0):
                if self._is_whole:
                    self.account.blame(fault)
        await asyncio.gather(*listening)
        if self._is_whole:
            self.account.settle()

    async def _start(self, name: str, order: dict[str, Any]) -> tuple[_Process, int]:
        """Start one of the long-lived processes; return it with the UDP port that it says."""
        module = f"validation.soak.{name}"
        process = await _Process.start(name, self._folder, "-m", module, json.dumps(order))
        self._started.append(process)
        said = await asyncio.wait_for(process.hear(), START_S)
        if said is None:
            raise SoakError(f"{name} did not start: {await process.finish(1.0)}")
        return process, int(said["port"])

    async def _wait(self, limit_s: float, listening: list[asyncio.Task[None]]) -> None:
        """Wait for this long, or until the soak is stopped or a judged process is gone."""
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait([stop, *listening], timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if any(task.done() for task in listening):
            self.account.blame("a judged process has ended before its time")
            self.stop()

    async def _listen(self, process: _Process) -> None:
        while (said := await process.hear()) is not None:
            if "report" in said:
                self._take(Report.parse(said["report"]))
            elif "complaint" in said:
                self.account.blame(f"{process.name}: {said['complaint']}")
            else:
                self._sample(process, said["sample"])

    def _take(self, report: Report) -> None:
        self.account.take(report)
        if report.connection is not None and report.role == "server":
            died_s = self._deaths_s.get(report.connection >> 32)
            if died_s is not None:
                self._slowest_end_s = max(self._slowest_end_s, self.elapsed_s - died_s)

    def _sample(self, process: _Process, said: dict[str, int]) -> None:
        known = {name: said.pop(name) for name in Sample.said()}
        self.counts |= Counter(said)
        with suppress(OSError):  # it has ended
            seen = of_process(process.pid)
            sample = Sample(time_s=self.elapsed_s, process=process.name, **seen, **known)  # type: ignore[arg-type]
            self.samples[process.name].append(sample)

    async def _kill_clients(self, relay: int) -> None:
        number = VICTIMS
        while True:
            await asyncio.sleep(self._rng.exponential(self.plan.kills_s))
            number += 1
            order = {"number": number, "relay": relay, "limits": self.plan.limits}
            words = ("-m", "validation.soak.victim", json.dumps(order))
            self.counts["killed"] += 1
            await self._run_and_kill("victim", words, kills=True)
            self._deaths_s[number] = self.elapsed_s

    async def _run_commands(self, relay: int) -> None:
        while True:
            await asyncio.sleep(self._rng.exponential(self.plan.commands_s))
            port = int(self._rng.choice(ports("command")))
            words = ("-m", "skywave", "send", f"{HOST}:{port}", "--udp-port", str(relay))
            load = ("--count", str(self._rng.integers(200)), "--gap", "10 ms", "--json")
            self.counts["commands"] += 1
            await self._run_and_kill("send", (*words, *load), kills=self._rng.random() < 0.5)

    async def _run_and_kill(self, name: str, words: tuple[str, ...], *, kills: bool) -> None:
        """Run Python with these arguments, and kill it at a random moment."""
        process = await _Process.start(name, self._folder, *words)
        self._started.append(process)
        limit_s = self._rng.random() * LIFE_S + 1 if kills else COMMAND_S
        try:
            status = await asyncio.wait_for(process.wait(), limit_s)
            if status not in (0, 1):  # the path may be down for too long
                self.account.blame(f"{name} ended with status {status}: {process.errors}")
        except TimeoutError:
            if not kills:
                self.account.blame(f"{name} had not ended after {limit_s:.0f} s")
        finally:
            process.kill()
            await process.wait()
            self._started.remove(process)


async def _repeat(call: Callable[[], None], every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        call()
