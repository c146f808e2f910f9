"""Sweeps: a scenario with every combination of values and every seed.

``points`` defines the runs, ``job`` does them here and ``cluster`` on many machines, ``measures``
and ``values`` define what is stored of each, and ``store`` is the directory for it. ``work`` and
``runner`` put them together, ``table`` reads the results, with ``quantities`` as numbers, and
``warning`` collects warnings.
"""
