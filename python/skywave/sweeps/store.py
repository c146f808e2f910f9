"""The folder of a sweep: its plan, and a Parquet file for each run that is done.

- ``sweep.json``: the request: the scenario, values and seeds;
- ``plan.parquet``: the runs that belong to it, with their values and seeds;
- ``table.csv``: a row for each run that is done, once the sweep has ended or was interrupted;
- ``runs/NAME.parquet``: the measures of a run. The name is a hash of all that determines them;
- ``failed/NAME.txt``: why a run failed.

A file appears when it is complete. Files of other plans and versions stay, and are reused if the
same runs are requested again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave import _arrow, _json
from skywave._errors import SkywaveError
from skywave._files import replace_file, replacing_file
from skywave._folders import Kind, check_folder

if TYPE_CHECKING:
    import pyarrow as pa

    from skywave.sweeps.values import Values

END_OF_PARQUET = b"PAR1"
METADATA = b"skywave"


class DamagedError(SkywaveError, OSError):
    """The plan of a sweep cannot be read."""


@dataclass(frozen=True)
class Outcome:
    """The stored outcome of a run."""

    values: Values
    fingerprint: str
    """A hash of every event."""
    wall_s: float
    """How long the run took, in seconds."""


@dataclass(frozen=True)
class Failure:
    """A run that failed."""

    run: str = field(repr=False)
    reason: str
    """One line."""
    trace: str = field(repr=False)
    """The traceback."""
    where: str = ""
    """Its values and its seed, once it is read from a sweep."""

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class Store:
    """The folder of a sweep."""

    directory: Path

    def create(self) -> None:
        """Create the folder."""
        check_folder(self.directory, Kind.SWEEP)
        (self.directory / "runs").mkdir(parents=True, exist_ok=True)
        (self.directory / "failed").mkdir(exist_ok=True)

    @property
    def csv(self) -> Path:
        """The file of the table."""
        return self.directory / "table.csv"

    def _file(self, run: str) -> str:
        return f"{self.directory}/runs/{run}.parquet"

    def _failure(self, run: str) -> str:
        return f"{self.directory}/failed/{run}.txt"

    def has(self, run: str) -> bool:
        """Return whether a run is done. An incomplete file does not count."""
        try:
            with open(self._file(run), "rb") as file:  # noqa: PTH123  (as below)
                file.seek(-len(END_OF_PARQUET), 2)
                return file.read() == END_OF_PARQUET
        except OSError:
            return False

    def keep(self, run: str, outcome: Outcome | Failure) -> None:
        """Store the outcome of a run.

        Raises:
            OSError: If it cannot be written. There is no file of the run then.
        """
        import pyarrow as pa  # noqa: PLC0415  (loaded when there are results)
        import pyarrow.parquet  # noqa: PLC0415

        if isinstance(outcome, Failure):
            text = f"{outcome.reason}\n{outcome.trace}"
            replace_file(self._failure(run), text.encode())
            return
        about = {"fingerprint": outcome.fingerprint, "wall_s": outcome.wall_s}
        table = pa.Table.from_arrays(
            [*_names(tuple(outcome.values)), _arrow.floats(outcome.values.values())],
            names=["measure", "of", "value"],
            metadata={METADATA: json.dumps(about)},
        )
        sink = pa.BufferOutputStream()
        # A file has so few rows that dictionaries and statistics would only make it larger.
        pa.parquet.write_table(
            table, sink, compression="none", use_dictionary=False, write_statistics=False
        )
        replace_file(self._file(run), memoryview(sink.getvalue()))
        with suppress(FileNotFoundError):
            os.unlink(self._failure(run))  # noqa: PTH108  (pathlib takes longer than the system)

    def read(self, run: str) -> Outcome | None:
        """Return the outcome of a run; None if it is not done."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415

        try:
            data = pa.py_buffer(Path(self._file(run)).read_bytes())
            # Without Arrow's threads: one may release our bytes as late as at the end of the
            # interpreter, which then aborts the process.
            with pa.parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False) as file:
                table = file.read(use_threads=False)
        except (OSError, pa.ArrowInvalid):
            return None
        about = json.loads(table.schema.metadata[METADATA])
        names = zip(table["measure"].to_pylist(), table["of"].to_pylist(), strict=True)
        values = dict(zip(names, table["value"].to_pylist(), strict=True))
        return Outcome(values, about["fingerprint"], about["wall_s"])

    def failure(self, run: str) -> Failure | None:
        """Return why a run has failed; None if it has not."""
        try:
            text = Path(self._failure(run)).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        reason, _, trace = text.partition("\n")
        return Failure(run, reason, trace)

    def write_plan(self, plan: pa.Table, about: dict[str, Any]) -> None:
        """Store the plan of the sweep.

        Raises:
            OSError: If it cannot be written. The previous plan stays.
        """
        import pyarrow.parquet  # noqa: PLC0415

        # It would be of another plan, or of fewer runs, if this sweep is killed.
        self.csv.unlink(missing_ok=True)
        with replacing_file(self.directory / "sweep.json") as partial:
            partial.write_text(_json.text(about) + "\n", encoding="utf-8")
        # It has what is read later, so that both can only change together.
        plan = plan.replace_schema_metadata({METADATA: _json.text(about, indent=None)})
        with replacing_file(self.directory / "plan.parquet") as partial:
            pyarrow.parquet.write_table(plan, partial)

    def planned(self) -> set[str]:
        """Return the runs that the sweep consists of; none if there is no readable one."""
        try:
            return set(self.read_plan()[0]["run"].to_pylist())
        except (FileNotFoundError, DamagedError):
            return set()

    def read_plan(self) -> tuple[pa.Table, dict[str, Any]]:
        """Return the plan of the sweep.

        Raises:
            OSError: If the folder has no sweep, or it cannot be read.
        """
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415

        file = self.directory / "plan.parquet"
        if not file.exists():
            raise FileNotFoundError(
                f"{self.directory} is not the folder of a sweep: it has no {file.name}"
            )
        try:
            # `read_table` imports pandas.
            with pa.parquet.ParquetFile(file) as opened:
                plan = opened.read()
            about: dict[str, Any] = json.loads(plan.schema.metadata[METADATA])
        except (pa.ArrowInvalid, KeyError, TypeError) as error:
            raise DamagedError(
                f"{file} is damaged: run the sweep again to rewrite it; completed runs are kept"
            ) from error
        return plan, about


# Runs of a sweep have the same measures, if they have the same flows and links.
@lru_cache(maxsize=4)
def _names(keys: tuple[tuple[str, str], ...]) -> tuple[pa.Array, pa.Array]:
    """Return measures and what they are of as columns."""
    measures, ofs = zip(*keys, strict=True)
    return _arrow.strings(measures), _arrow.strings(ofs)
