"""Sweeps: a scenario with every combination of values and every seed.

``paths`` and ``points`` define the runs, ``job`` does one run, ``local`` and ``cluster`` do many,
``measures`` and ``values`` define what is stored of each, and ``store`` is the directory for it.
``work`` and ``runner`` put them together, ``table`` reads the results, with ``quantities`` as
numbers, and ``warning`` collects warnings.
"""
