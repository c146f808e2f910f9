"""The first process of an emulation's namespaces: it has the link, and starts the programs.

It is run as ``python -m skywave.realtime.link.inside PIPE REQUEST`` and ends when its command does,
or when the other end of the pipe is closed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from skywave import _core
from skywave._files import replacing_file
from skywave._machine import Watch
from skywave.realtime.accuracy import TOO_INACCURATE, LinkAccuracy
from skywave.realtime.link.launch import Request

CHECK_S = 1.0
"""How often it is checked whether the emulation still runs."""
TERMINATION_S = 2.0
"""How long a program that was told to end may take."""
BAD_INPUT = 2
"""The status if there can be no link or no capture."""
NOT_FOUND = 127
"""The status of a shell that cannot find a program."""


class Program:
    """A program at an end of the link."""

    def __init__(self, emulation: _core.Emulation, host: int, arguments: Sequence[str]) -> None:
        """Start it. It finds the other end's addresses in its environment."""
        there = emulation.addresses[1 - host]
        environment = {"SKYWAVE_PEER": there[0], "SKYWAVE_PEER6": there[1]}
        self.pid = emulation.spawn(host, list(arguments), list(environment.items()))
        self.ended = os.pidfd_open(self.pid)
        self._status: int | None = None

    def wait(self, timeout_s: float) -> bool:
        """Return whether it ends in time."""
        if self._status is None and select.select([self.ended], [], [], timeout_s)[0]:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._status is not None

    def stop(self) -> int:
        """End it, if it has not yet; return its status as a shell would."""
        for number, timeout_s in ((0, 0.0), (signal.SIGTERM, TERMINATION_S), (signal.SIGKILL, 60)):
            if self._status is None:
                os.kill(self.pid, number)
                self.wait(timeout_s)
        status = self._status or 0
        return 128 - status if status < 0 else status


def main(pipe: int, request: Request) -> int:
    """Run the emulation; return the status of its command, or why there is none."""
    # The command gets Ctrl-C too, and decides. A handler is not inherited, as ignoring would be.
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        if request.capture is None:
            return _run(pipe, request, None)
        with replacing_file(request.capture) as capture:
            return _run(pipe, request, capture)
    except OSError as error:
        _tell(f"error: {f'{error.filename}: {error.strerror}' if error.filename else error}")
        return BAD_INPUT


def _run(pipe: int, request: Request, capture: Path | None) -> int:
    """Run the emulation; return the status of its command, or :data:`TOO_INACCURATE`."""
    watch = Watch()
    out = os.dup(sys.stdout.fileno())
    if request.as_json:
        # The programs inherit it.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    emulation = _core.Emulation(
        request.link,
        request.directory,
        new_peer=request.peer is not None,
        seed=request.seed,
        spin=request.spin,
        capture=None if capture is None else str(capture),
    )
    (near, near6), (far, far6) = emulation.addresses
    where = "the peer" if request.peer else "this machine"
    _tell(f"the command is at {near} and {near6}; {where} is at {far} and {far6}")
    programs = []
    status = NOT_FOUND
    try:
        if request.peer is not None:
            programs.append(Program(emulation, 1, request.peer))
        command = Program(emulation, 0, request.command)
        programs.insert(0, command)
        _wait(command, pipe, emulation, request.interval_s)
        status = command.stop()
    except OSError as error:
        name = (request.command if programs else request.peer or request.command)[0]
        _tell(f"error: {name}: {error.strerror or error}")
    finally:
        for program in programs:
            program.stop()
    accuracy = LinkAccuracy(json.loads(emulation.stop()), watch.shares())
    if request.as_json:
        with os.fdopen(out, "w") as stdout:
            stdout.write(json.dumps(accuracy.document()) + "\n")
    else:
        _tell(*accuracy.lines())
    if request.strict_ms is not None and (failure := accuracy.failure(request.strict_ms)):
        _tell(f"error: {failure}")
        return status or TOO_INACCURATE
    return status


def _wait(
    command: Program, pipe: int, emulation: _core.Emulation, interval_s: float | None
) -> None:
    """Return when the command has ended, or the launching process."""
    begun = time.monotonic()
    before: LinkAccuracy | None = None
    while True:
        passed_s = time.monotonic() - begun
        every_s = interval_s or CHECK_S
        ready, _, _ = select.select([command.ended, pipe], [], [], every_s - passed_s % every_s)
        if ready:
            return
        # It raises what has ended the emulation.
        accuracy = LinkAccuracy(json.loads(emulation.report()))
        if interval_s is not None:
            _tell(accuracy.line(before))
            before = accuracy


def _tell(*lines: str) -> None:
    for line in lines:
        sys.stderr.write(f"skywave: {line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Request.from_json(sys.argv[2])))
