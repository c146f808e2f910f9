"""Speed and memory of the simulator: ``skywave bench``.

``rows`` measures a dumbbell, beside other simulators (``competitors``), and ``speed`` the
experiments of papers. ``measured`` runs a program and tells what it used, ``process`` is the
program that runs the simulator.
"""

from skywave.bench.measurement import BenchError

__all__ = ["BenchError"]
