"""Prague beside udp_prague: the stored tables of validation/prague."""

from __future__ import annotations

from conftest import ROOT
from skywave import run
from validation.prague import simulated


def test_the_readme_has_the_stored_table() -> None:
    text = (ROOT / "validation/prague/README.md").read_text(encoding="utf-8")
    assert simulated.table() in text


def test_a_stored_run_can_be_repeated() -> None:
    results = run(simulated.scenario(20, "prague_cubic"))
    rows = [row for row in simulated.stored("simulated") if row["case"] == "prague_cubic"]
    for row in rows:
        if row["delay_ms"] == "20":
            measures = simulated.measures(results, row["flow"], 20)
            assert {name: str(value) for name, value in measures.items()}.items() <= row.items()
    assert len(rows) == 4
