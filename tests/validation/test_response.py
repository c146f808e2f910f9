"""Response functions beside their equations: the stored table of validation/response."""

from __future__ import annotations

import pytest

from conftest import ROOT
from validation.response.__main__ import RATES, RESPONSES, difference, stored, table


def test_the_readme_has_the_stored_table() -> None:
    text = (ROOT / "validation/response/README.md").read_text(encoding="utf-8")
    assert table() in text


@pytest.mark.parametrize(
    ("name", "p"),
    [("reno", 1e-2), ("reno", 1e-3), ("cubic", 1e-3), ("bbr", 1e-2)],
)
def test_a_stored_value_can_be_repeated(name: str, p: float) -> None:
    [row] = [row for row in stored() if (row["response"], float(row["p"])) == (name, p)]
    assert f"{RESPONSES[name].measured(p):.4g}" == row["measured"]


@pytest.mark.parametrize(
    ("name", "least_p", "most_p", "bound"),
    [
        ("reno", 1e-5, 1e-3, 0.05),
        ("reno, in whole rounds", 1e-5, 1e-2, 0.025),
        ("cubic", 3e-4, 1e-3, 0.04),
        ("cubic", 1e-5, 1e-5, 0.04),
        ("cubic", 1e-5, 3e-4, 0.1),
        ("cubic, without fast convergence", 1e-4, 1e-3, 0.03),
        ("bbr", 1e-5, 1e-2, 0.005),
    ],
)
def test_the_equation_describes_what_is_measured(
    name: str, least_p: float, most_p: float, bound: float
) -> None:
    rows = [
        row for row in stored() if row["response"] == name and least_p <= float(row["p"]) <= most_p
    ]
    assert len(rows) == sum(least_p <= p <= most_p for p in RATES)
    assert all(abs(difference(row)) < bound for row in rows)
