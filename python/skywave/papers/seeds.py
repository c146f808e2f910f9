"""How many seeds a paper's averages need."""

LEAST_SEEDS = 2
"""The fewest seeds for a mean with a confidence interval."""
