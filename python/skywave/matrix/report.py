"""The output of the matrix: tables, heat maps, and a page that says what to use where.

Another package may add advice on controls to the page, by an entry point in the group
``skywave.matrix``. The advice is its ``templates/advice.html.j2``, written from a table of the
default run, its ``stored.csv``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import entry_points, version
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from skywave._files import replacing
from skywave._folders import Kind, check_folder
from skywave.matrix import measures, runs, table
from skywave.matrix.axes import CONTROLS, NETWORKS
from skywave.matrix.measures import Values
from skywave.matrix.panels import Panel, draw, panels
from skywave.matrix.runs import Run
from skywave.papers.lent import Control, Network
from skywave.report.figures import RenderedFigure
from skywave.report.pages import render, write
from skywave.report.tables import read

STORED = "stored.csv"


@dataclass(frozen=True)
class Matrix:
    """The measures of all runs."""

    measured: Mapping[Run, Values]

    @cached_property
    def rows(self) -> Sequence[table.Row]:
        """Means over seeds."""
        return table.rows(self.measured)

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len({run.seed for run in self.measured})

    @cached_property
    def panels(self) -> Sequence[Panel]:
        """The panels that present the measures."""
        return panels(self.rows)

    @property
    def controls(self) -> list[Control]:
        """The controls that were run."""
        used = {run.control for run in self.measured}
        return [control for key, control in CONTROLS.items() if key in used]

    @property
    def networks(self) -> dict[str, Network]:
        """The networks that were run, by the key of their paper."""
        used = {run.network for run in self.measured}
        return {key: network for key, network in NETWORKS.items() if key in used}

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``--json`` prints."""
        return {
            "skywave": version("skywave"),
            "seeds": self.seeds,
            "controls": {control.key: control.label for control in self.controls},
            "networks": {key: network.conditions for key, network in self.networks.items()},
            "measures": {key: measure.title for key, measure in measures.MEASURES.items()},
            "rows": [asdict(row) for row in self.rows],
        }

    @cached_property
    def _figures(self) -> list[RenderedFigure]:
        return [draw(panel) for panel in self.panels]

    def html(self) -> str:
        """Return the page as self-contained HTML."""
        known = stored()
        durations_s = {run.network: run.duration_s for run in self.measured if run.kind == "alone"}
        return render(
            "matrix.html.j2",
            packages=("skywave.matrix", *_advice()),
            matrix=self,
            drawn={figure.name: figure for figure in self._figures},
            measures=measures,
            runs=runs,
            durations_s=durations_s,
            stored_seeds=known[0].seeds if known else None,
        )

    def write(self, directory: Path) -> None:
        """Write the page, heat maps, tables and scenarios into a directory.

        Raises:
            OSError: If the directory cannot be written, or is that of something else. Its
                contents stay.
        """
        check_folder(directory, Kind.MATRIX)
        with replacing(directory, whole=True) as partial:
            for name in ("figures", "scenarios"):
                (partial / name).mkdir()
            for figure in self._figures:
                figure.write(partial / "figures")
            for name, rows in (("matrix", self.rows), ("runs", table.samples(self.measured))):
                records = pa.Table.from_pylist([asdict(row) for row in rows])
                pyarrow.parquet.write_table(records, partial / f"{name}.parquet")
                pyarrow.csv.write_csv(records, partial / f"{name}.csv")
            for run in self.measured:
                # Other seeds change only the seed and the rate trace derived from it.
                if run.seed == 1:
                    path = partial / "scenarios" / f"{run.name}.json"
                    path.write_text(runs.scenario(run).to_json() + "\n", encoding="utf-8")
            write(partial, "matrix", self.html(), self.to_dict())


def _advice() -> tuple[str, ...]:
    """Return the package with advice, if there is one; of several, the first by name."""
    return tuple(sorted(entry.value for entry in entry_points(group="skywave.matrix")))[:1]


def stored() -> list[table.Row]:
    """Return the table from which the advice was written."""
    rows: list[table.Row] = []
    for package in _advice():
        with as_file(files(package).joinpath(STORED)) as path:
            rows += read(path, table.Row)
    return rows
