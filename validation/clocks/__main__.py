"""``python -m validation.clocks``: run on both clocks and store the tables."""

from __future__ import annotations

import csv
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from skywave._files import replacing_file
from validation.clocks import examples, kernel_tcp
from validation.testbed.running import in_order, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.stats import Estimate
    from validation.testbed.experiment import Experiment

HERE = Path(__file__).parent
WORKERS = 6


def main() -> None:
    """Run what the arguments name, or everything, and store its table."""
    kernel = f"Linux {platform.release().split('-')[0]}, real time"
    parts = {
        "examples": (list(examples.experiments()), "real time"),
        "kernel_tcp": (list(kernel_tcp.experiments()), kernel),
    }
    chosen = sys.argv[1:] or list(parts)
    if unknown := [name for name in chosen if name not in parts]:
        sys.exit(f"error: {unknown[0]} is not a known table: use {', '.join(parts)}")
    for name in chosen:
        experiments, label = parts[name]
        store(experiments, label, HERE / f"{name}.csv")


def store(experiments: Sequence[Experiment], real_time: str, path: Path) -> None:
    """Run experiments on both clocks, and store means over runs with their margins."""
    done = in_order(run_all(experiments, workers=WORKERS), experiments)
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        measures = experiments[0].measures
        names = [f"{measure.title} ({measure.unit or '1'})" for measure in measures.values()]
        rows.writerow(["section", "label", "clock", *names, "late, 99th percentile (ms)"])
        for one in done:
            late_ms = max(1e3 * pair.p99_s for pair in one.pairs)
            found = one.experiment
            simulated = [_text(one.simulated(key)) for key in measures]
            rows.writerow([found.section, found.label, "simulated", *simulated, ""])
            values = [_text(one.real_time(key)) for key in measures]
            rows.writerow([found.section, found.label, real_time, *values, f"{late_ms:.2f}"])
    sys.stdout.write(f"wrote {path}\n")


def _text(average: Estimate) -> str:
    return f"{average.value:.4g} ± {average.margin:.2g}"


if __name__ == "__main__":
    main()
