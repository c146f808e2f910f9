"""The two ends of a connection: how each is started, and what it reports.

One contract holds for both, so that the runner treats them alike: ``guest/peer.py`` on the kernel's
sockets and ``skywave send`` and ``skywave listen`` take the same options and print the same JSON
document. ``README.md`` describes it.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from validation.linux.cases import (
    ELSEWHERE,
    INTERVAL_MS,
    SERVICE_CODE,
    SIZE_BYTES,
    WRONG_SERVICE_CODE,
    Ending,
    Role,
)
from validation.linux.guests import PEER, python
from validation.linux.namespace import HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from validation.linux.cases import Case
    from validation.linux.guests import Guest, Job
    from validation.linux.namespace import Namespace

REPORT_S = 3.0
"""How long our end may take to report once it is asked to end."""

LISTENING = "listening"
"""What a listening end writes to stderr once it does."""


@dataclass(frozen=True)
class Report:
    """What an end says about a connection."""

    error: str | None
    """Why it failed, or ``None``."""
    ccid: tuple[int, int] | None = None
    """CCIDs of what it sends and of what it receives."""
    sent: tuple[str, ...] = ()
    """Digests of the datagrams handed to the connection, in order."""
    received: tuple[str, ...] = ()
    end: tuple[str, int] | None = None
    """Who ended the connection, "local" or "remote", and the Reset Code that ended it."""

    @classmethod
    def parse(cls, out: str, err: str, status: int) -> Report:
        """Read what an end printed; what cannot be read is an error of that end."""
        try:
            document: Any = json.loads(out)
            ccid, end = document["ccid"], document["end"]
            return cls(
                error=None if document["ok"] else str(document["error"]),
                ccid=(int(ccid[0]), int(ccid[1])) if ccid else None,
                sent=tuple(map(str, document["sent"]["digests"])),
                received=tuple(map(str, document["received"]["digests"])),
                end=(str(end["origin"]), int(end["code"])) if end else None,
            )
        except (ValueError, KeyError, TypeError, IndexError):
            said = " ".join((err or out).split())[-300:]
            return cls(error=f"status {status}, no report: {said}")


class Running(Protocol):
    """An end that has been started."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""

    @property
    def err(self) -> str:
        """What it has written to stderr so far."""

    def report(self) -> Report:
        """Return its report, once it is over; one that is not is ended first."""


class End(Protocol):
    """What can be an end of a connection."""

    def address(self, family: str) -> str:
        """Return where it is."""

    def start(self, words: list[str], limit_s: int) -> Running:
        """Start it."""


def words(case: Case, *, ours: bool, peer: str, own: str, port: int) -> list[str]:
    """Return the arguments of one end of a case, ours or the kernel's."""
    connects = (case.role is Role.CONNECT) == ours
    host = peer if connects else own
    closes = ("reset" if case.ending.is_reset else "first") if case.ending.ours == ours else "await"
    insists = ours or case.kernel_insists
    asks_wrong = connects and case.ending is Ending.WRONG_SERVICE
    if case.ending is Ending.CLOSED_PORT and not connects:
        port += ELSEWHERE
    return [
        "send" if connects else "listen",
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
        *(["--ccid", str(case.ccid)] if insists else []),
        *("--service-code", str(WRONG_SERVICE_CODE if asks_wrong else SERVICE_CODE)),
        *("--count", str(case.sends(ours))),
        *("--size", str(SIZE_BYTES)),
        *("--gap", f"{INTERVAL_MS} ms"),
        *("--close-idle", f"{case.idle_ms} ms"),
        *("--close", closes),
    ]


def _peer(words: list[str], limit_s: int) -> list[object]:
    """Return the command of the program that uses the kernel's sockets."""
    return [python(), "-I", "-S", PEER, *words, "--timeout", limit_s]


class KernelEnd:
    """A kernel's sockets, in a guest."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest

    def address(self, family: str) -> str:
        """Return the guest's address."""
        return self._guest.machine.address(family)

    def start(self, words: list[str], limit_s: int) -> Running:
        """Start the peer in the guest."""
        job = self._guest.start(*_peer(words, limit_s), limit_s=limit_s + 8)
        return _KernelRunning(job)


class _KernelRunning:
    def __init__(self, job: Job) -> None:
        self._job = job

    @property
    def over(self) -> bool:
        return self._job.over

    @property
    def err(self) -> str:
        return self._job.err

    def report(self) -> Report:
        if not self.over:
            self._job.end()
        done = self._job.wait()
        return Report.parse(done.out, done.err, done.status)


class SkywaveEnd:
    """Our endpoint: a program of the host, inside the namespace."""

    def __init__(self, space: Namespace, folder: Path, command: Sequence[str]) -> None:
        self._space = space
        self._folder = folder
        self._command = command

    def address(self, family: str) -> str:
        """Return the host's address in the namespace."""
        return HOST[family]

    def start(self, words: list[str], limit_s: int) -> Running:  # noqa: ARG002 - ended by report
        """Start the program."""
        role, *rest = words
        once = ["--once"] if role == "listen" else []
        command = [*self._command, role, "--raw", *rest, *once, "--digests", "--json"]
        return _Process(self._space.command(*command), self._folder / "ours")


class NamespaceEnd:
    """The sockets of the kernel on which this runs, in a namespace."""

    def __init__(self, space: Namespace, base: Path, addresses: Mapping[str, str]) -> None:
        self._space = space
        self._base = base
        self._addresses = addresses

    def address(self, family: str) -> str:
        """Return the namespace's address."""
        return self._addresses[family]

    def start(self, words: list[str], limit_s: int) -> Running:
        """Start the peer in the namespace."""
        return _Process(self._space.command(*_peer(words, limit_s)), self._base)


class _Process:
    def __init__(self, command: list[str], base: Path) -> None:
        self._files = (base.with_suffix(".out"), base.with_suffix(".err"))
        with self._files[0].open("wb") as out, self._files[1].open("wb") as err:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def over(self) -> bool:
        return self._process.poll() is not None

    @property
    def err(self) -> str:
        return self._files[1].read_text(errors="replace")

    def report(self) -> Report:
        in_time = self.over
        status = self._end()
        report = Report.parse(self._files[0].read_text(errors="replace"), self.err, status)
        said = report.error or "then it ended as asked"
        return report if in_time else replace(report, error=f"not over in time; {said}")

    def _end(self) -> int:
        """End it as a user would, so that it reports what it has sent and received."""
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if self.over:
                break
            os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(REPORT_S)
        return self._process.wait()


def our_command() -> list[str]:
    """Return our program: ``SKYWAVE_COMMAND``, or the ``skywave`` of this interpreter."""
    named = os.environ.get("SKYWAVE_COMMAND")
    return shlex.split(named) if named else [sys.executable, "-m", "skywave"]
