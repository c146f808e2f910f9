"""What runs cost in a sweep: the table of docs/performance.md.

python examples/sweep_overhead.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from skywave import Bernoulli, Dccp, Progress, Scenario, Tcp, dumbbell, sweep

DELAYS = "dumbbell.delay"


def scenario(duration: str) -> Scenario:
    """Return two flows that lose packets."""
    made = dumbbell(
        "overhead",
        duration=duration,
        rate="2 Mbps",
        delay="10 ms",
        queue=10,
        loss=Bernoulli(probability=0.01),
    )
    made.add_flow("file", "s1", "d1", Tcp())
    made.add_flow("stream", "s1", "d1", Dccp(), start="500 ms")
    return made


def measured(duration: str, seeds: int, points: int) -> tuple[float, float, float]:
    """Return the processor time of a sweep before, during and after its runs, in ms for each."""
    over = {DELAYS: [f"{delay} us" for delay in range(10_000, 10_000 + points)]}
    times = []

    def tell(step: Progress) -> None:
        if step.done in {0, step.total}:
            times.append(process_time())

    with TemporaryDirectory() as out:
        times.append(process_time())
        sweep(scenario(duration), over, seeds=seeds, out=Path(out, "out"), progress=tell)
        times.append(process_time())
    begun, first, last, ended = times
    each = 1e3 / (seeds * points)
    return (first - begun) * each, (last - first) * each, (ended - last) * each


def overhead(runs: int) -> list[tuple[str, float, float, float]]:
    """Return rows of what is swept, and ms for each run before, during and after all runs."""
    measured("1 ms", seeds=2, points=2)  # loads what is loaded once
    return [
        ("seeds, 2 s simulated", *measured("2 s", seeds=runs, points=1)),
        ("seeds, nothing simulated", *measured("1 ms", seeds=runs, points=1)),
        ("values, nothing simulated", *measured("1 ms", seeds=1, points=runs)),
    ]


def main() -> None:
    """Print the table."""
    print("| sweep over | points | runs | table |\n|---|---|---|---|")
    for name, *times in overhead(2000):
        print(f"| {name} | {' | '.join(f'{each:.2f} ms' for each in times)} |")


if __name__ == "__main__":
    main()
