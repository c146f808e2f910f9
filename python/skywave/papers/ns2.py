"""ns-2 for comparison: run now if it is installed, or stored results of the same runs.

To run, it needs a checkout of the repository, which has the scripts.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Generic, Literal, TypeVar

from skywave._errors import SkywaveError
from skywave._files import replacing
from skywave._parallel import as_completed
from skywave._progress import Progress

SCRIPTS = Path(__file__).parents[3] / "validation" / "ns2" / "scripts"
"""The scripts. They are part of the repository, not of the installed package."""
STORED = "stored results of ns-2.35"

Run = TypeVar("Run")
Answer = TypeVar("Answer")


class Ns2Error(SkywaveError):
    """ns-2 is missing or failed. The message is one line."""


@dataclass(frozen=True)
class Ns2Source:
    """Where ns-2's values come from: run for this report, or stored."""

    kind: Literal["live", "stored"]
    remark: str


def find() -> Path:
    """Return the path of ``ns``; an error says that it or the scripts are missing."""
    program = shutil.which("ns")
    if program is None:
        raise Ns2Error("ns-2 is not installed (Debian: apt-get install ns2)")
    if not SCRIPTS.is_dir():
        raise Ns2Error("the ns-2 scripts are missing: use a checkout of the repository")
    return Path(program)


def command(script: str, **parameters: object) -> list[str]:
    """Return the command line that runs a script with ``name=value`` parameters."""
    arguments = [f"{name}={value}" for name, value in parameters.items()]
    return [str(find()), str(SCRIPTS / script), *arguments]


def run(command: list[str], folder: Path | None = None) -> str:
    """Run a program, in ``folder`` if given, and return its output.

    An interrupt from the terminal also ends the program.

    Raises:
        Ns2Error: If the program fails.
    """
    done = subprocess.run(command, stdout=PIPE, stderr=STDOUT, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Ns2Error(f"{Path(command[0]).name} ended with {done.returncode}: {last}")
    return done.stdout


def run_all(
    runs: Iterable[Run],
    run_one: Callable[[Run], Answer],
    progress: Callable[[Progress], None] | None,
) -> dict[Run, Answer]:
    """Run ``run_one`` for each run on all cores. If one fails, cancel those not yet started."""
    asked = list(runs)
    answers: dict[Run, Answer] = {}
    for one, answer in as_completed(lambda given, _: run_one(given), asked):
        answers[one] = answer.result()
        if progress is not None:
            progress(Progress("ns-2", len(answers), len(asked)))
    return answers


@dataclass(frozen=True)
class Oracle(Generic[Run, Answer]):
    """ns-2's results of a paper's runs, as files in a directory.

    ``ask`` runs ns-2 for some of ``runs`` and writes its results into a directory; ``read`` reads
    them from a directory. ``stored`` is the directory of stored results.
    """

    stored: Path
    runs: Sequence[Run]
    ask: Callable[[Sequence[Run], Path, Callable[[Progress], None] | None], None]
    read: Callable[[Sequence[Run], Path], Mapping[Run, Answer]]

    def run(
        self, runs: Sequence[Run], progress: Callable[[Progress], None] | None = None
    ) -> Mapping[Run, Answer]:
        """Run ns-2 and return its results.

        Raises:
            Ns2Error: If ns-2 cannot be run.
        """
        find()
        with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as directory:
            self.ask(runs, Path(directory), progress)
            return self.read(runs, Path(directory))

    def consult(
        self,
        runs: Sequence[Run] | None = None,
        *,
        live: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[Mapping[Run, Answer], Ns2Source]:
        """Run ns-2, or read its stored results if ns-2 cannot be run or ``live`` is false.

        Covers all of ``self.runs`` if ``runs`` is None.
        """
        runs = self.runs if runs is None else runs
        if not live:
            return self.read(runs, self.stored), Ns2Source("stored", STORED)
        try:
            answers = self.run(runs, progress)
        except Ns2Error as reason:
            source = Ns2Source("stored", f"{STORED}, because {reason}")
            return self.read(runs, self.stored), source
        return answers, Ns2Source("live", f"run for this report: {find()}")

    def renew(self) -> None:
        """Run ns-2 and replace the stored results, which stay if it cannot be run."""
        with replacing(self.stored) as partial:
            self.ask(self.runs, partial, None)
            written = {path.name for path in partial.iterdir()}
        for path in self.stored.iterdir():
            if path.name not in written:
                path.unlink()
