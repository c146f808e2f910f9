"""Sweeps: a scenario with every combination of values and every seed.

``points`` defines the runs, ``job`` does them here and ``cluster`` on many machines, ``measures``
and ``values`` define what is stored of each, and ``store`` is the directory for it. ``runner``
puts them together, ``table`` reads the results, and ``warning`` collects warnings.
"""
