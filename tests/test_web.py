"""Web traffic: what is drawn has the laws that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from skywave import Dccp, FileSize, Results, Tcp, Think, Web, dumbbell, run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SOURCES = 400
EACH = 5
"""Draws of each source that are looked at, so that those which draw much do not count for more."""


def log_logistic(x: Floats, median: float, shape: float) -> Floats:
    """Return P{X > x}."""
    tail: Floats = 1 / (1 + (x / median) ** shape)
    return tail


def browse(web: Web, duration: str) -> list[tuple[Floats, Floats, Floats]]:
    """Return starts, finishes and sizes of the first files of each source, on an ample network."""
    scenario = dumbbell(
        "browse", duration=duration, rate="100 Gbps", delay="1 us", seed=3, access_rate="100 Gbps"
    )
    for number in range(SOURCES):
        scenario.add_flow(f"web{number}", "s1", "d1", Tcp(initial_cwnd=100), web)
    scenario.probes = type(scenario.probes)(interval=duration, links=("r1->r2",))
    transfers = run(scenario).transfers
    flows = transfers["flow"].combine_chunks()
    names, index = flows.dictionary.to_pylist(), flows.indices.to_numpy()
    columns = [
        transfers[name].to_numpy(zero_copy_only=False) for name in ("start_s", "finish_s", "bytes")
    ]
    found = []
    for number in range(SOURCES):
        rows = np.flatnonzero(index == names.index(f"web{number}"))[:EACH]
        assert rows.size == EACH, "the run is long enough for each source"
        start, finish, size = (column[rows].astype(np.float64) for column in columns)
        found.append((start, finish, size))
    return found


def test_think_times_have_the_law_of_the_paper() -> None:
    """Kolmogorov and Smirnov, on 2,000 times between the end of a file and the next's start."""
    tiny = FileSize(median="1 B", shape=1e6)
    thinks = np.concatenate(
        [
            np.append(start[0], start[1:] - finish[:-1])
            for start, finish, _ in browse(Web(size=tiny), "1500 s")
        ]
    )

    def below(t: Floats) -> Floats:
        high = 0.4953916 * log_logistic(t, 1.0, 1.243437)
        low = 0.5046084 * log_logistic(t, 0.0245032, 3.252665)
        return 1 - high - low

    assert thinks.size == SOURCES * EACH
    assert stats.kstest(thinks, below).pvalue > 0.01
    # The test tells another law: exponential times of the same median.
    scale = np.median(thinks) / np.log(2)
    assert stats.kstest(thinks, stats.expon(scale=scale).cdf).pvalue < 1e-6


def test_files_have_the_law_of_the_paper() -> None:
    quick = (Think(probability=1.0, median="1 ms", shape=1e6),)
    sizes = np.concatenate([size for *_, size in browse(Web(think=quick), "200 ms")])
    # Sizes are rounded up to whole bytes.
    result = stats.kstest(sizes - 0.5, lambda f: 1 - log_logistic(f, 2190, 1.15066))
    assert result.pvalue > 0.01
    other = stats.kstest(sizes - 0.5, lambda f: 1 - log_logistic(f, 2190, 1.6))
    assert other.pvalue < 0.01


def test_the_laws_are_parameters() -> None:
    web = Web(
        think=(Think(probability=1.0, median="2 s", shape=2.0),),
        size=FileSize(median="10 kB", shape=3.0),
    )
    files = browse(web, "200 s")
    sizes = np.concatenate([size for *_, size in files])
    thinks = np.concatenate([start[1:] - finish[:-1] for start, finish, _ in files])
    assert stats.kstest(sizes - 0.5, lambda f: 1 - log_logistic(f, 1e4, 3)).pvalue > 0.01
    assert stats.kstest(thinks, lambda t: 1 - log_logistic(t, 2, 2)).pvalue > 0.01


def few(transport: Tcp | Dccp, *, more: bool) -> Results:
    scenario = dumbbell("few", duration="30 s", rate="10 Mbps", delay="10 ms", seed=9)
    scenario.add_flow("web", "s1", "d1", transport, Web())
    if more:
        scenario.add_flow("other", "s1", "d1", transport, Web())
    return run(scenario)


def test_a_source_that_is_added_changes_no_draw_of_another() -> None:
    for transport in (Tcp(), Dccp()):
        alone, beside = (few(transport, more=more).transfers for more in (False, True))
        sizes = [
            size
            for flow, size in zip(
                *(beside[name].to_pylist() for name in ("flow", "bytes")), strict=True
            )
            if flow == "web"
        ]
        expected = alone["bytes"].to_pylist()
        shorter = min(len(sizes), len(expected))
        assert shorter > 5
        assert sizes[:shorter] == expected[:shorter]
