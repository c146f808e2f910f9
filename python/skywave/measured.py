"""Runs programs for ``skywave bench`` and measures the resources they use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


class BenchError(Exception):
    """A measurement is impossible: the work is invalid, or a program fails. One line."""


@dataclass(frozen=True)
class Measured:
    """The output of a program and the resources it used."""

    stdout: str
    cpu_s: float
    peak_memory_bytes: int


_MEASURED = """
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


def run(command: list[str]) -> Measured:
    """Run a program; measure its CPU seconds (user and system) and its peak resident memory.

    ``stdout`` of the result includes what the program wrote to stderr.

    Raises:
        BenchError: If the program cannot be started or fails.

    """
    reader, writer = os.pipe()
    with (
        os.fdopen(reader) as usage,
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _MEASURED, str(writer), *command],
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
    name = Path(command[0]).name
    last = (stdout.strip().splitlines() or ["no output"])[-1]
    if not answer:
        raise BenchError(f"{name} cannot be started: {last}")
    status, cpu_s, peak_kib = answer
    if status != "0":
        raise BenchError(f"{name} ended with {status}: {last}")
    # Linux counts ru_maxrss in KiB.
    return Measured(stdout, float(cpu_s), int(peak_kib) * 1024)
