"""Figures of runs and sweeps, in the style of the papers' figures.

:func:`of_run` draws one run, :func:`of_sweep` a table with one row per run, and
:func:`of_directory` what ``skywave run --out`` or ``skywave sweep --out`` wrote. :func:`write`
stores a figure as PDF, SVG or PNG.
"""

from skywave.plots.directory import of_directory
from skywave.plots.files import write
from skywave.plots.runs import of_run
from skywave.plots.sweeps import of_sweep

__all__ = ["of_directory", "of_run", "of_sweep", "write"]
