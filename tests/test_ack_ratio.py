"""CCID 2's Ack Ratio spares the reverse path, and does not starve the sender."""

from __future__ import annotations

import statistics
import tomllib

import pytest

from skywave import Scenario, run_many

SCENARIO = """
name = "acknowledgements"
duration = "60 s"
seed = {seed}
[dumbbell]
pairs = 1
rate = "20 Mbps"
delay = "50 ms"
queue = {{ drop-tail = {{ packets = 167 }} }}
back = {{ {back} }}
access_rate = "1 Gbps"
access_delays = ["0 ms"]
[[flows]]
name = "data"
from = "s1"
to = "d1"
transport = {{ dccp = {{ {transport} }} }}
source = {{ ftp = {{ datagram = "1000 B" }} }}
"""


def ran(back: str, transport: str, seeds: int = 1) -> tuple[float, int]:
    """Return the mean goodput, in Mbit/s, and how many acknowledgements were lost."""
    texts = (SCENARIO.format(back=back, transport=transport, seed=seed) for seed in range(seeds))
    results = list(run_many([Scenario.from_dict(tomllib.loads(text)) for text in texts]))
    goodputs = [result.totals["flows"][0]["goodput_bps"] / 1e6 for result in results]
    links = (link for result in results for link in result.totals["links"])
    dropped = sum(link["drops"] for link in links if link["name"] == "r2->r1")
    return statistics.mean(goodputs), dropped


@pytest.mark.parametrize("transport", ["ccid = 2", 'ccid = 251, control = "cubic"'])
@pytest.mark.parametrize(("lost", "least"), [(0.05, 15), (0.1, 13), (0.2, 12)])
def test_lost_acknowledgements_alone_do_not_stop_data(
    lost: float, least: float, transport: str
) -> None:
    goodput, _ = ran(f"loss = {{ bernoulli = {{ probability = {lost} }} }}", transport, seeds=10)
    assert goodput > least


def test_a_narrow_reverse_path_is_spared() -> None:
    narrow = 'rate = "64 kbps", queue = { drop-tail = { packets = 20 } }'
    goodput, dropped = ran(narrow, "ccid = 2")
    at_two, dropped_at_two = ran(narrow, "ccid = 2, max_ack_ratio = 2")
    assert dropped < 0.02 * dropped_at_two
    assert goodput > 1.5 * at_two


def test_two_acknowledgements_per_window_are_often_lost_together() -> None:
    losing = "loss = { bernoulli = { probability = 0.2 } }"
    goodput, _ = ran(losing, "ccid = 2", seeds=3)
    by_the_letter, _ = ran(losing, "ccid = 2, min_acks_per_window = 2", seeds=3)
    assert by_the_letter < goodput / 3
