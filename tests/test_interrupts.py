"""Ctrl-C and SIGTERM while a command starts: one line, and the status that says which it was."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from conftest import ROOT

AT_AN_IMPORT = """
import signal, sys
left, number = int(sys.argv.pop(1)), int(sys.argv.pop(1))
def look(event, _):
    global left
    left -= event == "import"
    if left == 0 and event == "import":
        signal.raise_signal(number)
from skywave.cli import main
import skywave.cli.interrupts
sys.addaudithook(look)
main()
"""
"""Sends a signal to itself when it imports its nth module."""


@pytest.mark.parametrize("nth", [1, 60, 250, 400])
@pytest.mark.parametrize(
    ("number", "status", "says"),
    [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "terminated\n")],
    ids=["SIGINT", "SIGTERM"],
)
def test_a_start_that_is_interrupted_ends_with_one_line(
    number: int, status: int, says: str, nth: int
) -> None:
    arguments = [str(nth), str(number), "run", "examples/dccp.toml"]
    done = subprocess.run(
        [sys.executable, "-c", AT_AN_IMPORT, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", says)
