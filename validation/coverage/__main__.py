"""Repeats the simulation and stores its results: ``python -m validation.coverage``."""

from validation.coverage import FIXED, SEQUENTIAL, Fixed, Sequential, fixed, sequential, store

store(Sequential, [sequential(distribution, bound) for distribution, bound in SEQUENTIAL])
store(Fixed, [fixed(distribution, seeds) for distribution, seeds in FIXED])
