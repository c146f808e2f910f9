"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, run_cli
from skywave import cli

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("block", blocks("python"))
def test_python_examples_run(block: str) -> None:
    assert len(block.splitlines()) < 12
    # In a process, which frees its UDP port for the commands below.
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


SHOWN = [
    line for block in blocks("sh") for line in block.splitlines() if line.startswith("skywave ")
]
# What takes long has tests of its own, with less to do.
COMMANDS = [line for line in SHOWN if "reproduce" not in line and "--loopback" not in line]
LISTENER = "skywave listen "
PEER = "127.0.0.1:5001"


@contextmanager
def listener_of_the_readme() -> Iterator[None]:
    """Run what the README has in its other shell."""
    [line] = [line for line in COMMANDS if line.startswith(LISTENER)]
    words = shlex.split(line.split("#", maxsplit=1)[0])
    command = [sys.executable, "-m", "skywave", *words[1:]]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "listening" in process.stderr.readline()
        yield
        process.send_signal(signal.SIGINT)


@pytest.mark.parametrize("line", [line for line in COMMANDS if not line.startswith(LISTENER)])
def test_commands_run(line: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "validation").symlink_to(ROOT / "validation")
    words = shlex.split(line.split("#", maxsplit=1)[0])
    with listener_of_the_readme() if PEER in line else nullcontext():
        done = run_cli(*words[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_there_are_examples_to_run() -> None:
    assert blocks("python")
    known = {command.name for command in cli.app.registered_commands}
    assert {line.split()[1] for line in SHOWN} == known - {"bench", "version"}


def test_what_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
