"""Runs ns-2 for comparison. It must be installed, and this a checkout of the repository."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from skywave._errors import SkywaveError

SCRIPTS = Path(__file__).parents[3] / "validation" / "ns2" / "scripts"
"""The scripts. They are part of the repository, not of the installed package."""


class Ns2Error(SkywaveError):
    """ns-2 is missing or failed. The message is one line."""


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


def run(command: list[str], folder: Path | None = None) -> str:
    """Run a program, in ``folder`` if given, and return its output.

    An interrupt from the terminal also ends the program.

    Raises:
        Ns2Error: If the program fails.

    """
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=folder,
    )
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Ns2Error(f"{Path(command[0]).name} ended with {done.returncode}: {last}")
    return done.stdout
