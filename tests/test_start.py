"""What a command imports: libraries that take long, only where it needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import ROOT

SLOW = (
    "attrs",
    "distributed",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "prometheus_client",
    "pyarrow",
    "scipy",
    "skywave.scenario.parts",
    "starlette",
    "xarray",
)
"""Each takes from 30 ms to a second."""
SCENARIOS = ("attrs", "numpy", "pyarrow", "skywave.scenario.parts")

LIST = f"""
import atexit, sys
atexit.register(lambda: print(*(name for name in {SLOW} if name in sys.modules), file=sys.stderr))
from skywave.cli import main
main()
"""


def imported(*arguments: str) -> list[str]:
    command = [sys.executable, "-c", LIST, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()


@pytest.mark.parametrize(
    ("arguments", "may"),
    [
        (("--version",), ()),
        (("version",), ()),
        (("run", str(ROOT / "examples" / "dccp.toml")), SCENARIOS),
        (("check", str(ROOT / "examples" / "dccp.toml")), SCENARIOS),
        (("schema",), SCENARIOS),
        (("sweep", "--help"), SCENARIOS),
        (("plot", "--help"), SCENARIOS),
        (("ping", "--help"), (*SCENARIOS, "prometheus_client")),
    ],
)
def test_a_command_imports_what_it_needs(arguments: tuple[str, ...], may: tuple[str, ...]) -> None:
    assert set(imported(*arguments)) <= set(may)


def test_the_package_imports_nothing_slow() -> None:
    code = f"import sys, skywave; print(*(name for name in {SLOW} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
