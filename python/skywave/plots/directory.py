"""Figures of what ``skywave run --out`` and ``skywave sweep --out`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave.plots.runs import of_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from matplotlib.figure import Figure

    from skywave.sweeps.table import Sweep

OF_RUNS = ("flows", "links", "from_s", "to_s")
OF_SWEEPS = ("x", "by", "where", "labels")
SAMPLED = ("flows.parquet", "links.parquet")
"""What a figure of a run is made from."""


def of_directory(
    directory: str | Path, kind: str | None = None, measures: tuple[str, ...] = (), **options: Any
) -> Figure:
    """Return a figure of a run's or a sweep's directory.

    ``options`` are the other arguments of :func:`skywave.plots.of_run` or
    :func:`skywave.plots.of_sweep`. Those that are None or empty are not given.

    Raises:
        ValueError: As these functions do, or if an option is of the other of the two.
        OSError: If the directory cannot be read.

    """
    path = Path(directory)
    given = {name: value for name, value in options.items() if value}
    if is_run(path):
        _refuse(given, OF_SWEEPS, "a sweep", "a run")
        return of_run(_tables(path), kind or "series", measures=measures, **given)  # type: ignore[arg-type]
    if len(measures) > 1:
        raise ValueError(f"a figure of a sweep has one measure, not {len(measures)}")
    sweep = _sweep(path, measures)
    _refuse(given, OF_RUNS, "a run", "a sweep")
    return sweep.plot(kind, sweep.measures[0] if measures else None, **given)  # type: ignore[arg-type]


def _sweep(directory: Path, measures: tuple[str, ...]) -> Sweep:
    # Every measure is stored, whichever the sweep has asked for.
    from skywave.sweeps.table import load  # noqa: PLC0415  (sweeps draw themselves by this package)

    if (directory / "both.json").exists():
        raise ValueError(
            f"{directory} has runs on both clocks: give the folder of one, such as "
            f"{directory / 'simulated-1'}"
        )
    if not (directory / "sweep.json").exists():
        raise ValueError(
            f"{directory} has no results: give a folder that skywave run --out or sweep --out has "
            "written"
        )
    return load(directory, measures or None)


def is_run(directory: Path) -> bool:
    """Return whether a directory has the results of one run; those of --both have no summary."""
    return any((directory / name).exists() for name in ("summary.json", *SAMPLED))


def _tables(directory: Path) -> dict[str, pa.Table]:
    tables = read_tables(directory)
    if not any(Path(file).stem in tables for file in SAMPLED):
        raise ValueError(
            f"{directory} has a run, but neither of its tables {' and '.join(SAMPLED)}: run it "
            "again with --out"
        )
    return tables


def read_tables(directory: Path) -> dict[str, pa.Table]:
    """Return the tables of a run by name.

    Raises:
        OSError: If a table cannot be read.
        ValueError: If a file is not Parquet.

    """
    import pyarrow.parquet  # noqa: PLC0415  (loaded when there are tables)

    return {
        file.stem: pyarrow.parquet.read_table(file) for file in sorted(directory.glob("*.parquet"))
    }


def _refuse(given: Mapping[str, Any], names: tuple[str, ...], of: str, found: str) -> None:
    for name in names:
        if name in given:
            option = name.removesuffix("_s").removesuffix("s")
            raise ValueError(f"--{option} is for {of}, and the directory has {found}")
