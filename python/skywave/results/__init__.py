"""The results of a run, as Arrow tables, and values derived from them.

``columns`` knows the names and units of columns, ``samples`` takes flows and links out of tables.
``emodel`` rates calls, ``fairness`` has Jain's index.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skywave.results.run import FlowTotals, LinkTotals, NoTableError, Results, Threads, Totals
__all__ = ["FlowTotals", "LinkTotals", "NoTableError", "Results", "Threads", "Totals"]


if not TYPE_CHECKING:  # with it, any name would pass for one that is there

    def __getattr__(name: str) -> object:
        """Return a name of ``run``, imported on first use: its figures need what is here."""
        if name in __all__:
            return getattr(import_module("skywave.results.run"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return what :func:`dir` shows: the names that are imported on first use, too."""
    return sorted({*globals(), *__all__})
