"""Results of ns-2: run now if it is installed, or stored from the same runs."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from skywave._files import replacing
from skywave._progress import Progress
from skywave.papers import ns2
from skywave.papers.reproduction import Ns2Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

STORED = "stored results of ns-2.35"

Run = TypeVar("Run")
Answer = TypeVar("Answer")


def run_all(
    runs: Iterable[Run],
    run_one: Callable[[Run], Answer],
    progress: Callable[[Progress], None] | None,
) -> dict[Run, Answer]:
    """Run ``run_one`` for each run on all cores. If one fails, cancel those not yet started."""
    answers: dict[Run, Answer] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        pending = {pool.submit(run_one, run): run for run in runs}
        try:
            for done, future in enumerate(as_completed(pending), start=1):
                answers[pending[future]] = future.result()
                if progress is not None:
                    progress(Progress("ns-2", done, len(pending)))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
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
            program = ns2.find()
            with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as directory:
                self.ask(runs, Path(directory), progress)
                answers = self.read(runs, Path(directory))
        except ns2.Ns2Error as reason:
            source = Ns2Source("stored", f"{STORED}, because {reason}")
            return self.read(runs, self.stored), source
        return answers, Ns2Source("live", f"run for this report: {program}")

    def renew(self) -> None:
        """Run ns-2 and replace the stored results.

        Raises:
            Ns2Error: If ns-2 cannot be run. The stored results stay.

        """
        with replacing(self.stored) as partial:
            self.ask(self.runs, partial, None)
            written = {path.name for path in partial.iterdir()}
        for path in self.stored.iterdir():
            if path.name not in written:
                path.unlink()
