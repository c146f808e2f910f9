"""Two ends and what connects them, and one case run between the two."""

from __future__ import annotations

import shutil
import time
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

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


class Wire(Protocol):
    """What connects the two ends."""

    def emulate(self, path: emulation.Path) -> None:
        """Treat packets as on this path from now on."""

    def capture(self, file: Path) -> AbstractContextManager[None]:
        """Write the packets that pass into a file."""


class Tap:
    """A guest's TAP device. The guest emulates the path."""

    def __init__(self, space: Namespace, guest: Guest) -> None:
        self._space = space
        self._guest = guest

    def emulate(self, path: emulation.Path) -> None:
        """Have the guest treat packets as on this path."""
        self._guest.run("sh", "-c", path.script())

    def capture(self, file: Path) -> AbstractContextManager[None]:
        """Write the packets that pass the device into a file."""
        return capture.capture(self._space, self._guest.machine.tap, file)


class Lab:
    """What cases run in."""

    def __init__(self, ours: End, kernel: End, wire: Wire) -> None:
        self._ours = ours
        self._kernel = kernel
        self._wire = wire
        self._path: emulation.Path | None = None

    def connect(self, case: Case, port: int, file: Path) -> Evidence:
        """Make the connection of a case. Return what its ends say; the file has its packets."""
        began = time.monotonic()
        if case.path != self._path:
            self._wire.emulate(case.path)
            self._path = case.path
        addresses = {
            True: self._ours.address(case.family),
            False: self._kernel.address(case.family),
        }
        listener = case.role is Role.LISTEN
        running: dict[bool, Running] = {}
        with self._wire.capture(file):
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
            (),
            addresses[True],
            ended_s,
            time.monotonic() - began,
        )


def result(
    case: Case, said: Evidence, *, port: int, file: Path, attempt: int, keep: Path
) -> Result | None:
    """Return what became of a case, from what its ends said and its capture.

    ``None`` if the path has lost what would show it, and the case runs again.
    """
    evidence = replace(said, packets=tuple(capture.read(file, port)))
    what, reasons = outcome(case, evidence)
    if reasons and attempt < ATTEMPTS and end_was_lost(case, evidence):
        return None
    if reasons:
        keep.mkdir(parents=True, exist_ok=True)
        name = case.name.replace(", ", "+").replace(" ", "-")
        shutil.copy(file, keep / f"{name}.pcap")
    return Result(
        case,
        what,
        tuple(reasons),
        (len(evidence.ours.sent), len(evidence.kernel.received)),
        (len(evidence.kernel.sent), len(evidence.ours.received)),
        show(evidence.closing()),
        attempt,
    )


class GuestLab:
    """A booted guest, with our end beside it."""

    def __init__(self, ours: End, kernel: Guest, space: Namespace, plan: Plan) -> None:
        self._lab = Lab(ours, KernelEnd(kernel), Tap(space, kernel))
        self._file = kernel.folder / "case.pcap"
        self._keep = plan.keep

    def run(self, case: Case, port: int) -> Result:
        """Run a case, again while the path loses the packet that would show it.

        Each attempt takes the next DCCP port: the kernel may still ask for the end of the last one.
        """
        attempt, took_s = 1, 0.0
        while True:
            said = self._lab.connect(case, port, self._file)
            took_s += said.took_s
            found = result(case, said, port=port, file=self._file, attempt=attempt, keep=self._keep)
            if found is not None:
                return replace(found, seconds=took_s)
            attempt += 1
            port += 1


@contextmanager
def lab(kind: Kind, plan: Plan) -> Iterator[GuestLab]:
    """Boot what cases need, and take it down afterwards."""
    with (
        TemporaryDirectory(prefix="skywave-lab-") as name,
        namespace(kind) as space,
        guest(MACHINES[kind], space, Path(name)) as kernel,
    ):
        if plan.command is not None:
            yield GuestLab(SkywaveEnd(space, Path(name), plan.command), kernel, space, plan)
            return
        with guest(MACHINES[f"{kind}2"], space, Path(name)) as second:
            yield GuestLab(KernelEnd(second), kernel, space, plan)


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
