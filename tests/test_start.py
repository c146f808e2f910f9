"""What a command imports: libraries that take long, only where it needs them."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module

import pytest

import skywave
from conftest import ROOT
from skywave.scenario import parts

SLOW = (
    "attrs",
    "distributed",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "prometheus_client",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "skywave.scenario.parts",
    "starlette",
    "typer",
    "xarray",
)
"""Each takes from 20 ms to a second."""
COMMANDS = ("pydantic", "rich", "typer")
SCENARIOS = (*COMMANDS, "attrs", "numpy", "pyarrow", "skywave.scenario.parts")

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
        (("run", str(ROOT / "examples" / "dccp.toml")), SCENARIOS),
        (("check", str(ROOT / "examples" / "dccp.toml")), SCENARIOS),
        (("schema",), SCENARIOS),
        (("sweep", "--help"), SCENARIOS),
        (("plot", "run", "--help"), SCENARIOS),
        (("ping", "--help"), (*SCENARIOS, "prometheus_client")),
    ],
)
def test_a_command_imports_what_it_needs(arguments: tuple[str, ...], may: tuple[str, ...]) -> None:
    assert set(imported(*arguments)) <= set(may)


def test_the_package_imports_nothing_slow() -> None:
    code = f"import sys, skywave; print(*(name for name in {SLOW} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_names_are_the_same_for_type_checkers_and_on_first_use() -> None:
    module = ast.parse((ROOT / "python" / "skywave" / "__init__.py").read_text())
    froms = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    checked = {(one.module, name.name) for one in froms for name in one.names if name.asname}
    used = {
        (f"skywave.{home}", name)
        for home, names in skywave._MODULES.items()  # noqa: SLF001
        for name in names.split()
    }
    assert checked == used
    for home, name in used:
        assert getattr(skywave, name) is getattr(import_module(home), name)
    assert dir(skywave) == sorted({*(name for _, name in used), *parts.__all__})


def test_a_name_that_is_not_there_is_an_error_for_type_checkers_too() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'scenaro'"):
        _ = skywave.scenaro  # type: ignore[attr-defined]
