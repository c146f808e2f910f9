"""Asking ns-2: run now where it is installed, else the stored answers of the same runs."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from skywave import ns2
from skywave._files import replacing
from skywave.papers.reproduction import Ns2Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    RunsDone = Callable[[int, int], None]
    """Told how many runs are done, and how many there are."""

Run = TypeVar("Run")
Answer = TypeVar("Answer")


def run_all(
    runs: Iterable[Run],
    run_one: Callable[[Run], Answer],
    progress: RunsDone | None,
) -> dict[Run, Answer]:
    """Run ns-2 for each on all cores; where one fails, those that have not begun never do."""
    answers: dict[Run, Answer] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        pending = {pool.submit(run_one, run): run for run in runs}
        try:
            for done, future in enumerate(as_completed(pending), start=1):
                answers[pending[future]] = future.result()
                if progress is not None:
                    progress(done, len(pending))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return answers


@dataclass(frozen=True)
class Oracle(Generic[Run, Answer]):
    """ns-2's answers to a paper's runs, as files in a directory.

    ``ask`` has ns-2 do some of ``runs`` and writes its answers into a directory, ``read`` reads
    them from one; those of the repository are in ``stored``.
    """

    stored: Path
    runs: Sequence[Run]
    ask: Callable[[Sequence[Run], Path, RunsDone | None], None]
    read: Callable[[Sequence[Run], Path], Mapping[Run, Answer]]

    def consult(
        self,
        runs: Sequence[Run] | None = None,
        *,
        live: bool = True,
        progress: RunsDone | None = None,
    ) -> tuple[Mapping[Run, Answer], Ns2Source]:
        """Run ns-2, or read the stored answers where it cannot be run or ``live`` is false.

        It is asked for all ``runs`` where none are named.
        """
        runs = self.runs if runs is None else runs
        try:
            if not live:
                raise ns2.Ns2Error("asked not to run ns-2")
            program = ns2.find()
            with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as directory:
                self.ask(runs, Path(directory), progress)
                answers = self.read(runs, Path(directory))
        except ns2.Ns2Error as reason:
            source = Ns2Source("stored", f"stored answers of ns-2.35: {reason}")
            return self.read(runs, self.stored), source
        return answers, Ns2Source("live", f"run beside this report: {program}")

    def renew(self) -> None:
        """Run ns-2 and store its answers in place of those of the repository.

        Raises:
            Ns2Error: where it cannot be run; what was stored stays.

        """
        with replacing(self.stored) as partial:
            self.ask(self.runs, partial, None)
            written = {path.name for path in partial.iterdir()}
        for path in self.stored.iterdir():
            if path.name not in written:
                path.unlink()
