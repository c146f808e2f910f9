"""The stored tables of validation/picoquic/bbr."""

from __future__ import annotations

from conftest import ROOT
from validation.picoquic.bbr import simulated, tables


def test_the_readme_has_the_stored_tables() -> None:
    text = (ROOT / "validation/picoquic/README.md").read_text(encoding="utf-8")
    assert tables.single() in text
    assert tables.pairs() in text


def test_a_stored_run_can_be_repeated() -> None:
    [case] = [
        case
        for case in simulated.single()
        if case.network == "d" and case.flows[0].cc == "bbr" and case.seed == 1
    ]
    [row] = simulated.rows(case)
    [stored] = [
        row
        for row in tables.stored("skywave_single")
        if (row["network"], row["cc"], row["seed"]) == ("d", "bbr", "1")
    ]
    assert {name: str(value) for name, value in row.items()} == stored
