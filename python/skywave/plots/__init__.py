"""Figures of runs and sweeps, in the style of the papers' figures.

:func:`of_run` draws one run, and :func:`of_sweep` a table with one row per run. :func:`write`
stores a figure as PDF, SVG or PNG.
"""

from skywave.plots.files import write
from skywave.plots.runs import of_run
from skywave.plots.sweeps import of_sweep

__all__ = ["of_run", "of_sweep", "write"]
