"""Every example scenario runs, breaks no law of physics, and repeats from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import EXAMPLES
from skywave import Results, Scenario, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def results(example: Path) -> Results:
    return run(Scenario.from_file(example), verify_physics=True)


def test_no_law_of_physics_is_broken(results: Results) -> None:
    assert results.violations == []


def test_every_flow_delivers(results: Results) -> None:
    for flow in results.totals["flows"]:
        assert flow["delivered_bytes"] > 0, flow["name"]


def test_the_codec_changes_nothing(example: Path, results: Results) -> None:
    """Encoding and parsing every packet on its way gives the same events."""
    scenario = Scenario.from_file(example)
    scenario.verify_wire = not scenario.verify_wire
    assert run(scenario).fingerprint == results.fingerprint


def test_named_drops_are_the_named_ones() -> None:
    path = next(path for path in EXAMPLES if path.stem == "named-drops")
    drops = run(Scenario.from_file(path)).drops
    assert drops.num_rows == 2
    assert set(drops["link"].to_pylist()) == {"sender->receiver"}
    file = run(Scenario.from_file(path)).totals["flows"][0]
    assert file["delivered_bytes"] == 100_000
    assert file["retransmissions"] >= 2
