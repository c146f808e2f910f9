"""Sweeps: a scenario with every combination of values and every seed.

``paths`` and ``points`` say what is run, ``job`` does one run, ``local`` and ``cluster`` do many,
``measures`` and ``values`` say what is kept of each, and ``store`` is the folder that keeps it.
``work`` and ``runner`` put them together, ``table`` reads the results, with ``quantities`` as
numbers, and ``doubts`` says what to know first.
"""
