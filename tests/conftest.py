"""What several tests need: the command line, and one reproduction of the paper."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

# A shell that starts tests in the background has them ignore interrupts, and what they start too:
# tests that interrupt something need that undone.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
CAPTURES = ROOT / "validation" / "captures"

# tshark and ns-2 are judges from outside that not every machine has. What they are asked nobody
# else can answer, so without them there is nothing to check; continuous integration installs both.
needs_tshark = pytest.mark.skipif(
    not shutil.which("tshark"), reason="tshark is not installed: apt-get install tshark"
)
needs_ns2 = pytest.mark.skipif(
    not shutil.which("ns"), reason="ns-2 is not installed: apt-get install ns2"
)


def run_cli(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "skywave", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def assert_bad_input(done: subprocess.CompletedProcess[str], *names: str) -> None:
    """Assert that the input was refused: status 2, one line on stderr that names these."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    for name in names:
        assert name in done.stderr


def assert_figures_are_whole(report: Path) -> None:
    """Assert that the margins of a report's figures cut nothing off: their edges are white."""
    figures = sorted((report / "figures").glob("*.png"))
    assert figures
    for path in figures:
        pixels = matplotlib.image.imread(path)[..., :3]
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            assert edge.min() == 1, path.name


@dataclass(frozen=True)
class Reproduced:
    """What ``skywave reproduce nor2011 --json`` printed, and where it wrote."""

    document: dict[str, Any]
    directory: Path


@pytest.fixture(scope="session")
def nor2011(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    """Reproduce the paper once, with ns-2's stored answers."""
    directory = tmp_path_factory.mktemp("reproduce") / "nor2011"
    done = run_cli("reproduce", "nor2011", "--json", "--stored-ns2", "--out", directory)
    assert done.returncode == 0, done.stderr
    return Reproduced(json.loads(done.stdout), directory)
