"""``python -m validation.kernel_tcp``: run the networks on both clocks and store the table."""

from __future__ import annotations

import csv
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, fields
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from skywave import simulate
from skywave.live import run_live
from validation.kernel_tcp.measures import Run, measured
from validation.kernel_tcp.networks import CONTROLS, NETWORKS, Network, scenario

SEEDS = (1, 2, 3)
WORKERS = 6
TABLE = Path(__file__).with_name("table.csv")
NAMES = [field.name for field in fields(Run)]


def both(network: Network, control: str, seed: int) -> tuple[Run, Run, float]:
    """Run on both clocks; return the kernel's measures, ours, and the lateness in ms (p99)."""
    described = scenario(network, control, seed)
    lived = run_live(described)
    return (
        measured(lived.results),
        measured(simulate.run(described)),
        1e3 * lived.verdict.p99_s,
    )


def main() -> None:
    """Write the table."""
    runs = list(product(NETWORKS, CONTROLS, SEEDS))
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        found = dict(zip(runs, pool.map(both, *zip(*runs, strict=True)), strict=True))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["network", "conditions", "control", "stack", *NAMES, "late_p99_ms"])
        for network, control in product(NETWORKS, CONTROLS):
            of = [found[network, control, seed] for seed in SEEDS]
            late_ms = max(late for _, _, late in of)
            for stack, each in (
                (f"Linux {platform.release()}", [kernel for kernel, _, _ in of]),
                ("Skywave", [ours for _, ours, _ in of]),
            ):
                means = [_mean([asdict(run)[name] for run in each]) for name in NAMES]
                late = f"{late_ms:.2f}" if stack != "Skywave" else ""
                rows.writerow([network.name, network.conditions, control, stack, *means, late])
    sys.stdout.write(f"wrote {TABLE}\n")


def _mean(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return f"{np.mean(known):.4g}" if known else ""


if __name__ == "__main__":
    main()
