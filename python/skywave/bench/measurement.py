"""Runs programs for ``skywave bench`` and measures the resources they use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from skywave._errors import SkywaveError


class BenchError(SkywaveError):
    """A measurement is impossible: the work is invalid, or a program fails. One line."""


@dataclass(frozen=True)
class Measurement:
    """How a program ended, what it wrote, and the resources it used."""

    status: int
    """Its exit status, or a signal's negative number."""
    stdout: str
    """What it wrote to stdout and to stderr."""
    cpu_s: float
    peak_memory_bytes: int


_LAUNCHER = """
import os, sys
try:
    pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
except OSError as error:
    sys.exit(error.strerror)
_, status, usage = os.wait4(pid, 0)
answer = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss
os.write(int(sys.argv[1]), " ".join(map(str, answer)).encode())
"""
"""Starts a program from a small process, since a child's ``ru_maxrss`` starts at its parent's."""


def run(command: list[str]) -> Measurement:
    """Run a program as ``measure`` does; raise ``BenchError`` if it fails."""
    measured = measure(command)
    if measured.status != 0:
        last = _last_line(measured.stdout)
        raise BenchError(f"{Path(command[0]).name} ended with {measured.status}: {last}")
    return measured


def measure(command: list[str]) -> Measurement:
    """Run a program; measure its CPU seconds (user and system) and its peak resident memory."""
    reader, writer = os.pipe()
    with (
        os.fdopen(reader) as usage,
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(writer), *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=(writer,),
            start_new_session=True,
        ) as process,
    ):
        os.close(writer)
        try:
            stdout, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        answer = usage.read().split()
    if not answer:
        raise BenchError(f"{Path(command[0]).name} cannot be started: {_last_line(stdout)}")
    status, cpu_s, peak_kib = answer
    # Linux counts ru_maxrss in KiB.
    return Measurement(int(status), stdout, float(cpu_s), int(peak_kib) * 1024)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no output"])[-1]
