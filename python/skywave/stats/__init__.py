"""Statistics of independent runs (docs/statistics.md).

- :func:`average`, :func:`median` and :func:`bootstrap`: estimates with confidence intervals;
- :func:`compare` and :func:`compare_all`: differences, p-values and effect sizes, paired by seed or
  not, corrected for many comparisons (:func:`adjust`);
- :func:`summarise` and :func:`compare_table`: the same of a table with one row per run;
- :class:`Target`: how many seeds are enough;
- :func:`unchanged_by_seeds`, :func:`seeds_without_effect`, :func:`limited_by_receive_window` and
  :func:`warm_ups_in_means`: warnings, as sentences; :meth:`skywave.Results.warnings` has those of
  one run.
"""

from skywave.stats.comparison import Comparison, adjust, compare, compare_all, welch
from skywave.stats.diagnostics import (
    WarmUp,
    limited_by_receive_window,
    truncation,
    unchanged_by_seeds,
    warm_up_in_mean,
    warm_ups_in_means,
)
from skywave.stats.intervals import CONFIDENCE, Estimate, average, bootstrap, median
from skywave.stats.stopping import LEAST_SEEDS, Target
from skywave.stats.tables import by_point, compare_table, seeds_without_effect, summarise

__all__ = [
    "CONFIDENCE",
    "LEAST_SEEDS",
    "Comparison",
    "Estimate",
    "Target",
    "WarmUp",
    "adjust",
    "average",
    "bootstrap",
    "by_point",
    "compare",
    "compare_all",
    "compare_table",
    "limited_by_receive_window",
    "median",
    "seeds_without_effect",
    "summarise",
    "truncation",
    "unchanged_by_seeds",
    "warm_up_in_mean",
    "warm_ups_in_means",
    "welch",
]
