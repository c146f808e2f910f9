"""What the README and pages beside it show works as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, run_cli, serving
from skywave import cli
from test_emulate import REFUSAL
from test_net_command import free_udp_port

if TYPE_CHECKING:
    import contextlib

README = (ROOT / "README.md").read_text()
PAGES_IN_DOCS = ("sockets.md", "statistics.md")
PAGES = [README, *((ROOT / "docs" / name).read_text() for name in PAGES_IN_DOCS)]


AS_USER = () if os.geteuid() == 0 else ("--user", "--map-root-user")
UP = 'ip link set lo up && exec "$@"'
ALONE = ("unshare", *AS_USER, "--net", "sh", "-c", UP, "sh")
"""Runs a command on a host that has only a loopback interface."""


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


@pytest.mark.parametrize("block", [block for page in PAGES for block in blocks("python", page)])
def test_python_examples_run(block: str) -> None:
    assert len(block.splitlines()) < 12
    # On a host of its own: others on this one may have the UDP port that the block takes.
    alone = () if REFUSAL or shutil.which("ip") is None else ALONE
    command = [*alone, sys.executable, "-c", block]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


SHOWN = [
    line for block in blocks("sh") for line in block.splitlines() if line.startswith("skywave ")
]
# What takes long, or serves until it is interrupted, has tests of its own.
ELSEWHERE = ("reproduce", "loopback", "skywave lab")
COMMANDS = [line for line in SHOWN if not any(words in line for words in ELSEWHERE)]
LISTENER = "skywave listen "
PEER = "127.0.0.1:5001"


def words_of(line: str) -> list[str]:
    """Return what follows the command's name, without the comment."""
    return shlex.split(line, comments=True)[1:]


def listener_of_the_readme(*options: str) -> contextlib.AbstractContextManager[object]:
    """Run what the README has in its other shell."""
    [line] = [line for line in COMMANDS if line.startswith(LISTENER)]
    return serving(*words_of(line), *options)


def writers_of_what_is_read(line: str) -> list[str]:
    """Return the commands that write the directory which a command draws."""
    words = words_of(line)
    if words[0] not in {"plot", "compare"}:
        return []
    directory = words[2 if words[0] == "plot" else 1]
    found = [
        other
        for other in COMMANDS
        if words_of(other)[0] in {"run", "sweep"} and directory in words_of(other)
    ]
    assert found, line
    return found


@pytest.mark.parametrize("line", [line for line in COMMANDS if not line.startswith(LISTENER)])
def test_commands_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if ("emulate" in line or "realtime" in line) and REFUSAL:
        pytest.skip(f"needs namespaces: {REFUSAL}")
    if words_of(line)[0] == "emulate":
        monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "validation").symlink_to(ROOT / "validation")
    for before in writers_of_what_is_read(line):
        assert run_cli(*words_of(before), cwd=tmp_path).returncode == 0
    # Others on this host may have the UDP port that is the default.
    port = ("--udp-port", str(free_udp_port())) if PEER in line else ()
    with listener_of_the_readme(*port) if port else nullcontext():
        done = run_cli(*words_of(line), *port, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_there_are_examples_to_run() -> None:
    assert blocks("python")
    known = set(cli.COMMANDS)
    assert {line.split()[1] for line in SHOWN} == known - {"bench"}


def test_what_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
