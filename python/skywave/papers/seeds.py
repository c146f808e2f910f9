"""The minimum number of seeds for a paper's averages."""

LEAST_SEEDS = 2
"""The fewest seeds for a mean with a confidence interval."""
