"""Runs ns-2 for comparison. It must be installed, and this a checkout of the repository."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "validation" / "ns2" / "scripts"
"""The scripts. They are part of the repository, not of the installed package."""


class Ns2Error(Exception):
    """ns-2 is missing or failed. The message is one line."""


@dataclass(frozen=True)
class Measured:
    """The output of a program and the resources it used."""

    stdout: str
    cpu_s: float
    peak_memory_bytes: int


def find() -> Path:
    """Return the path of ``ns``.

    Raises:
        Ns2Error: If ns-2 is not installed or the scripts are missing.

    """
    program = shutil.which("ns")
    if program is None:
        raise Ns2Error("ns-2 is not installed (Debian: apt-get install ns2)")
    if not SCRIPTS.is_dir():
        raise Ns2Error("the ns-2 scripts are missing: use a checkout of the repository")
    return Path(program)


def command(script: str, **parameters: object) -> list[str]:
    """Return the command line that runs a script with ``name=value`` parameters.

    Raises:
        Ns2Error: If ns-2 is missing.

    """
    arguments = [f"{name}={value}" for name, value in parameters.items()]
    return [str(find()), str(SCRIPTS / script), *arguments]


def run(command: list[str]) -> str:
    """Run a program and return its output. An interrupt from the terminal also ends the program.

    Raises:
        Ns2Error: If the program fails.

    """
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    _check(command, done.returncode, done.stdout)
    return done.stdout


def _check(command: list[str], status: int, stdout: str) -> None:
    if status != 0:
        last = (stdout.strip().splitlines() or ["no output"])[-1]
        raise Ns2Error(f"{Path(command[0]).name} ended with {status}: {last}")


_MEASURED = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
answer = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss
os.write(int(sys.argv[1]), " ".join(map(str, answer)).encode())
"""
"""Starts a program from a small process, since a child's ``ru_maxrss`` starts at its parent's."""


def run_measured(command: list[str]) -> Measured:
    """Run a program and measure its CPU seconds (user and system) and peak resident memory.

    Raises:
        Ns2Error: If the program fails.

    """
    reader, writer = os.pipe()
    with (
        os.fdopen(reader) as usage,
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _MEASURED, str(writer), *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
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
        status, cpu_s, peak_kib = usage.read().split()
    _check(command, int(status), stdout)
    # Linux counts ru_maxrss in KiB.
    return Measured(stdout, float(cpu_s), int(peak_kib) * 1024)
