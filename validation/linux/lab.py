"""A booted kernel with an endpoint beside it, and one case run between the two."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from validation.linux import capture
from validation.linux.cases import Role
from validation.linux.ends import LISTENING, KernelEnd, Report, SkywaveEnd, words
from validation.linux.guests import MACHINES, guest
from validation.linux.namespace import namespace
from validation.linux.outcome import Evidence, Outcome, end_was_lost, outcome, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.linux import emulation
    from validation.linux.cases import Case
    from validation.linux.ends import End, Running
    from validation.linux.guests import Guest, Kind
    from validation.linux.namespace import Namespace

LIMIT_S = 40
"""What a connection may take. Linux sends a lost Request again after 3 s, a lost Close too."""

PASSIVE_S = 10.0
"""What the second end may take when the first is over: Linux sends a Close again after 3 s."""

LISTEN_S = 30.0
SETTLE_S = 0.05
"""Time for the last packet to reach the capture, beyond the path's delay."""

ATTEMPTS = 3
"""A case whose last packet the emulated path has lost runs again."""


@dataclass(frozen=True)
class Plan:
    """How cases are run."""

    command: tuple[str, ...] | None
    """Our program, or ``None`` for a second kernel in our place."""
    keep: Path
    """Where the captures go of cases that have not passed."""


@dataclass(frozen=True)
class Result:
    """What became of a case."""

    case: Case
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    """Why it has not passed."""
    to_kernel: tuple[int, int] = (0, 0)
    """Datagrams sent and received."""
    from_kernel: tuple[int, int] = (0, 0)
    closing: str = ""
    """The packets that ended the connection: > is ours, < the kernel's."""
    attempts: int = 0
    seconds: float = 0.0


class Lab:
    """What cases run in."""

    def __init__(self, space: Namespace, kernel: Guest, ours: End, plan: Plan) -> None:
        self._space = space
        self._guest = kernel
        self._kernel: End = KernelEnd(kernel)
        self._ours = ours
        self._plan = plan
        self._path: emulation.Path | None = None

    def run(self, case: Case, port: int) -> Result:
        """Run a case, again while the path loses the packet that would show it.

        Each attempt takes the next DCCP port: the kernel may still ask for the end of the last one.
        """
        began = time.monotonic()
        if case.path != self._path:
            self._guest.run("sh", "-c", case.path.script())
            self._path = case.path
        file = self._guest.folder / "case.pcap"
        attempts = 0
        while True:
            evidence = self._gather(case, port + attempts, file)
            attempts += 1
            what, reasons = outcome(case, evidence)
            if not reasons or attempts == ATTEMPTS or not end_was_lost(case, evidence):
                break
        if reasons:
            self._plan.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(
                file, self._plan.keep / f"{case.name.replace(', ', '+').replace(' ', '-')}.pcap"
            )
        return Result(
            case,
            what,
            tuple(reasons),
            (len(evidence.ours.sent), len(evidence.kernel.received)),
            (len(evidence.kernel.sent), len(evidence.ours.received)),
            show(evidence.closing()),
            attempts,
            time.monotonic() - began,
        )

    def _gather(self, case: Case, port: int, file: Path) -> Evidence:
        """Make one connection, and hear its ends and the capture."""
        addresses = {
            True: self._ours.address(case.family),
            False: self._kernel.address(case.family),
        }
        listener = case.role is Role.LISTEN
        running: dict[bool, Running] = {}
        with capture.capture(self._space, self._guest.machine.tap, file):
            for ours in (listener, not listener):
                end = self._ours if ours else self._kernel
                own, peer = addresses[ours], addresses[not ours]
                running[ours] = end.start(
                    words(case, ours=ours, peer=peer, own=own, port=port), LIMIT_S
                )
                if ours == listener and not _listens(running[ours]):
                    break
            ends = list(running.values())
            # Nobody comes to a listener that refuses: it is over when it is asked for its report.
            _await_ends(ends[-1:] if case.ending.is_refusal else ends)
            time.sleep(SETTLE_S + case.path.delay_ms / 1000)
        ended_s = time.time()
        reports = {ours: end.report() for ours, end in running.items()}
        unheard = Report(error="not started, since the other end did not listen")
        return Evidence(
            reports.get(True, unheard),
            reports.get(False, unheard),
            tuple(capture.read(file, port)),
            addresses[True],
            ended_s,
        )


@contextmanager
def lab(kind: Kind, plan: Plan) -> Iterator[Lab]:
    """Boot what cases need, and take it down afterwards."""
    with (
        TemporaryDirectory(prefix="skywave-lab-") as name,
        namespace(kind) as space,
        guest(MACHINES[kind], space, Path(name)) as kernel,
    ):
        if plan.command is not None:
            yield Lab(space, kernel, SkywaveEnd(space, Path(name), plan.command), plan)
            return
        with guest(MACHINES[f"{kind}2"], space, Path(name)) as second:
            yield Lab(space, kernel, KernelEnd(second), plan)


def _listens(end: Running) -> bool:
    until = time.monotonic() + LISTEN_S
    while LISTENING not in end.err:
        if end.over or time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _await_ends(running: list[Running]) -> None:
    """Wait until all ends are over, or one for much longer than the other."""
    until = time.monotonic() + LIMIT_S + 1
    alone = False
    while time.monotonic() < until:
        over = sum(end.over for end in running)
        if over == len(running):
            return
        if over and not alone:
            until, alone = min(until, time.monotonic() + PASSIVE_S), True
        time.sleep(0.01)
