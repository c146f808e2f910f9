"""A build of the core without sockets: the laboratory works, and what needs sockets says so."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from conftest import ROOT

# Takes out of the core what its cargo feature `sockets` brings in.
WITHOUT_SOCKETS = """
import sys
from skywave import _core
for name in sys.argv.pop(1).split(","):
    delattr(_core, name)
"""
SAYS = "this build of Skywave has no sockets: "


def of_sockets() -> str:
    """The names that the core's stub declares for builds with sockets only."""
    stub = (ROOT / "python" / "skywave" / "_core.pyi").read_text()
    _, _, part = stub.partition("# What follows exists only in a build with sockets.")
    names = re.findall(r"^(?:class|def) (\w+)", part, flags=re.MULTILINE)
    assert {"Endpoint", "NetError", "perf_loopback"} < set(names)
    return ",".join(names)


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_SOCKETS + program, of_sockets(), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def skywave(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python("from skywave.cli import main; main()", *arguments)


def test_the_laboratory_works() -> None:
    done = skywave("run", "examples/tcp.toml", "--json")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["skywave.net", "skywave.net.aio"])
def test_the_module_cannot_be_imported_and_says_why(module: str) -> None:
    done = python(f"import {module}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"skywave.sockets.NoSocketsError: {SAYS}")


@pytest.mark.parametrize(
    "command",
    ["listen 5001 --once", "send 127.0.0.1:5001 --count 3", "ping 127.0.0.1:5001", "perf"],
)
def test_a_command_says_why_it_does_nothing(command: str) -> None:
    done = skywave(*command.split())
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {SAYS}")
    assert done.stderr.count("\n") == 1


def test_the_help_names_the_commands() -> None:
    done = skywave("--help")
    assert done.returncode == 0, done.stderr
    for command in ("listen", "send", "ping", "perf"):
        assert command in done.stdout
