"""Sweeps: a scenario with every combination of values and every seed.

``paths`` and ``points`` say what is run, ``job`` does one run, ``local`` and ``cluster`` do many,
``measures`` says what is kept of each, ``store`` is the folder that keeps it, ``runner`` puts them
together, and ``table`` reads the results.
"""
