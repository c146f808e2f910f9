"""A build of the core without sockets: the laboratory works, and what needs sockets says so.

``make no-sockets`` runs this with a core that was built so. Without it, names are taken out of the
core that is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

# Takes out of the core what its cargo features bring in.
WITHOUT_SOCKETS = """
import sys
from skywave import _core
for name in sys.argv.pop(1).split(","):
    delattr(_core, name)
"""
# Loads a core from a file.
OF_FILE = """
import sys
from importlib import util
spec = util.spec_from_file_location("skywave._core", sys.argv.pop(1))
sys.modules["skywave._core"] = module = util.module_from_spec(spec)
spec.loader.exec_module(module)
"""
BUILT = os.environ.get("SKYWAVE_WITHOUT_SOCKETS")
SAYS = "this build of Skywave has no sockets: "


def of_sockets() -> str:
    """The names that the core's stub declares for builds with sockets only."""
    stub = (ROOT / "python" / "skywave" / "_core.pyi").read_text()
    _, _, part = stub.partition("# What follows exists only in a build with sockets.")
    names = re.findall(r"^(?:class|def) (\w+)", part, flags=re.MULTILINE)
    assert {"Endpoint", "perf_loopback", "Emulation"} < set(names)
    return ",".join(names)


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    prepare, argument = (OF_FILE, BUILT) if BUILT else (WITHOUT_SOCKETS, of_sockets())
    return subprocess.run(
        [sys.executable, "-c", prepare + program, argument, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def skywave(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python("from skywave.cli import main; main()", *arguments)


@pytest.mark.skipif(BUILT is None, reason="no core was built without sockets")
def test_the_core_lacks_what_the_stub_says() -> None:
    done = python("print(*dir(module))")
    assert done.returncode == 0, done.stderr
    assert not set(of_sockets().split(",")) & set(done.stdout.split())


def test_the_laboratory_works() -> None:
    done = skywave("run", "examples/tcp.toml", "--json")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["skywave.net", "skywave.net.aio"])
def test_the_module_cannot_be_imported_and_says_why(module: str) -> None:
    done = python(f"import {module}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"skywave._errors.NoSocketsError: {SAYS}")


@pytest.mark.parametrize(
    "command",
    ["listen 5001 --once", "send 127.0.0.1:5001 --count 3", "ping 127.0.0.1:5001", "perf serve"],
)
def test_a_command_says_why_it_does_nothing(command: str) -> None:
    done = skywave(*command.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: {SAYS}")
    assert done.stderr.count("\n") == 1


def test_emulation_says_what_it_needs() -> None:
    done = skywave("emulate", "examples/links/dsl.toml", "--", "true")
    assert done.returncode == 2
    assert done.stderr.startswith("error: emulation needs Linux, and the extension built with")
    assert done.stderr.count("\n") == 1


def test_the_help_names_the_commands() -> None:
    done = skywave("--help")
    assert done.returncode == 0, done.stderr
    for command in ("listen", "send", "ping", "perf"):
        assert command in done.stdout
