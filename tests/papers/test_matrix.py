"""The matrix of controls and networks: its definitions, its command, and what its text claims."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet
import pytest

from conftest import assert_bad_input, assert_figures_are_whole, run_cli
from skywave import Scenario, Tcp, VcpRouter, Weighted, run
from skywave._core import scenario_schema
from skywave.cli.console import out
from skywave.cli.matrix import print_panel
from skywave.matrix import SEEDS, plan
from skywave.matrix.axes import CONTROLS, NETWORKS
from skywave.matrix.measures import MEASURES, VOICE, convergence_s, values
from skywave.matrix.panels import panels
from skywave.matrix.report import stored
from skywave.matrix.runs import LATE, Run, scenario
from skywave.matrix.table import Row, rows
from skywave.scenario.quantities import Duration, Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("control", CONTROLS)
def test_every_cell_is_a_good_scenario(control: str, network: str) -> None:
    kinds = {one.kind for one in plan((control,), (network,), 1, None)}
    assert kinds >= {"alone", "beside"}
    for one in plan((control,), (network,), 1, None):
        described = scenario(one)
        described.normalised()
        queue = described.links[0].queue
        chain = CONTROLS[control].chain
        if chain is None:
            assert queue == NETWORKS[network].links.queue
        elif one.kind == "beside":
            # The routers' bits must not meet in one queue.
            assert isinstance(queue, Weighted)
            classes = {flow.name[:3]: flow.class_ or 0 for flow in described.flows}
            papers, own = (sub.queue for sub in queue.queues)
            assert papers == NETWORKS[network].links.queue
            assert isinstance(own, VcpRouter)
            assert own.chain == chain
            assert (classes["con"], classes["tcp"]) == (1, 0)
        elif one.kind == "alone":
            assert isinstance(queue, VcpRouter)
            assert queue.chain == chain


def test_no_default_decides_what_limits_a_tcp() -> None:
    """Stored and published values must not change with the default of a window or a recovery."""
    tcps = [one.transport for one in CONTROLS.values() if isinstance(one.transport, Tcp)]
    assert len(tcps) >= 7
    for tcp in tcps:
        assert tcp.receive_window is not None
        assert tcp.control != "cubic" or tcp.recovery is not None or tcp.profile == "linux"


def test_every_control_of_tcp_is_in_the_matrix() -> None:
    """Except AIMD, whose parameters make it any of them."""
    kinds = json.loads(scenario_schema())["$defs"]["Tcp"]["properties"]["control"]["anyOf"]
    tcps = [one.transport for one in CONTROLS.values() if isinstance(one.transport, Tcp)]
    assert set(kinds[0]["enum"]) - {tcp.control for tcp in tcps} == {"aimd"}


def test_no_queue_marks_as_the_notes_of_prague_and_dctcp_say() -> None:
    for control in ("tcp-prague", "tcp-dctcp"):
        assert "marks" in CONTROLS[control].note
    for network in NETWORKS.values():
        assert not getattr(network.links.queue, "ecn", False)


def test_networks_are_those_of_the_papers() -> None:
    rates = {key: (network.rate_bps, network.flows) for key, network in NETWORKS.items()}
    assert rates == {
        "nor2011": (2_000_000, 2),
        "lien2009": (250_000, 6),
        "sarwar2008": (1_000_000, 2),
        "chen2010": (45_000_000, 200),
        "li2009": (4_000_000, 10),
    }
    buffers = {key: network.buffer_packets for key, network in NETWORKS.items()}
    # With the limits of ns-2's queues, the packet in transmission is not in the queue.
    assert buffers == {
        "nor2011": 19,
        "lien2009": 19,
        "sarwar2008": 50,
        "chen2010": 200,
        "li2009": 240,
    }


def test_the_capacity_of_a_link_follows_its_course() -> None:
    sarwar = NETWORKS["sarwar2008"]
    assert sarwar.trace is not None
    trace = sarwar.trace(1, 300)
    # By the millisecond, by hand.
    at_s = np.array([step.at.seconds for step in trace.steps])
    rate = np.array([1e6 if step.rate == Rate("1 Mbps") else 250e3 for step in trace.steps])
    times = np.arange(60, 200, 1e-3)
    by_hand = rate[np.searchsorted(at_s, times, side="right") - 1].mean()
    assert 250e3 < by_hand < 1e6
    assert sarwar.capacity_bps(trace, 60, 200) == pytest.approx(by_hand, rel=1e-3)
    assert NETWORKS["li2009"].capacity_bps(None, 1, 2) == 4e6


def rates(late: Sequence[float], other: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[other] * len(late), late], dtype=np.float64)


@pytest.mark.parametrize(
    ("late", "expected_s"),
    [
        # 400 samples are 100 s; half of 10 each is an equal share of two.
        ([5.0] * 400, 0.0),
        ([0.0] * 100 + [5.0] * 300, None),
        ([1.0] * 400, None),
        # A burst that does not last is no share.
        ([9.0] * 60 + [1.0] * 340, None),
    ],
)
def test_time_to_fair_share(late: list[float], expected_s: float | None) -> None:
    found = convergence_s(rates(late, 5.0), np.ones(len(late), dtype=bool))
    if late[:1] == [0.0]:
        # 80 % of half: in 10 s at most a window of the rate with 2/3 of the rest may be empty.
        assert found is not None
        assert 15 <= found < 25
    else:
        assert found == expected_s


def test_a_link_that_tcp_fills() -> None:
    """Six flows of NewReno on the slow link, where what they do is known without measuring."""
    one = Run("alone", "tcp-newreno", "lien2009", seed=1, duration_s=60)
    described = scenario(one)
    starts = {flow.name: flow.start for flow in described.flows}
    assert starts[LATE] == Duration("40 s")
    measured = values(one, run(described))
    assert set(measured) == {"utilisation", "jain", "queue", "loss", "convergence"}
    utilisation, jain, queue, loss = (
        measured[key] or 0.0 for key in ("utilisation", "jain", "queue", "loss")
    )
    # By rounding to whole packets at the ends of the time, a little more than all.
    assert 98 < utilisation < 100.5
    assert 1 / 6 < jain <= 1
    # The queue holds 19 packets of 48 ms.
    assert 0.5 * 19 * 48 < queue <= 19 * 48
    assert 1 < loss < 15


def test_newreno_beside_itself_has_half() -> None:
    shares = [row for row in stored() if (row.measure, row.control) == ("share", "tcp-newreno")]
    assert len(shares) == len(NETWORKS)
    for row in shares:
        assert row.margin is not None
        assert abs(row.mean - 50) <= max(row.margin, 1)


def test_means_count_seeds_without_an_answer_as_a_bound() -> None:
    runs = [Run("alone", "ccid2", "li2009", seed, 300) for seed in (1, 2, 3)]
    taken: tuple[float | None, ...] = (10.0, None, 40.0)
    (row,) = rows({one: {"convergence": value} for one, value in zip(runs, taken, strict=True)})
    # The late flow was seen for 100 s.
    assert (row.mean, row.unreached, row.seeds) == (50.0, 1, 3)
    assert row.text == "> 50"
    assert "1 of 3" in row.margin_text
    (single,) = rows({runs[0]: {"jain": 0.5}})
    assert single.margin is None
    assert single.margin_text == ""


def test_the_command(tmp_path: Path) -> None:
    chosen = ["--control", "tcp-vcp", "--control", "ccid3", "--network", "lien2009"]
    done = run_cli(
        "matrix", *chosen, "--seeds", 1, "--duration", "60 s", "--json", "--out", tmp_path / "m"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert list(document["controls"]) == ["ccid3", "tcp-vcp"]
    cells = {(row["control"], row["measure"]): row for row in document["rows"]}
    assert len(cells) == len(document["rows"]) == 2 * len(MEASURES)
    assert cells["ccid3", "utilisation"]["unit"] == "%"
    assert cells["ccid3", "utilisation"]["mean"] > 90
    assert all(0 <= cells["ccid3", measure]["mean"] <= 93.2 for measure in VOICE)
    assert document["report"] == str(tmp_path / "m" / "matrix.html")
    page = (tmp_path / "m" / "matrix.html").read_text()
    assert page.count("</figure>") == len(MEASURES) - len(VOICE) + 1
    assert "<script" not in page
    assert f"{SEEDS} seeds" in page
    assert_figures_are_whole(tmp_path / "m")
    table = pyarrow.parquet.read_table(tmp_path / "m" / "matrix.parquet")
    with (tmp_path / "m" / "matrix.csv").open() as file:
        assert len(list(csv.DictReader(file))) == table.num_rows == 2 * len(MEASURES)
    written = sorted((tmp_path / "m" / "scenarios").glob("*.json"))
    assert len(written) == 2 * 3
    Scenario.from_file(written[0])
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--control", "ccid9"], ["ccid9", "tcp-vegas"]),
        (["--network", "xia2005"], ["xia2005", "li2009"]),
        (["--seeds", "0"], ["seeds"]),
        (["--duration", "2 s"], ["2 s"]),
        (["--duration", "soon"], ["soon"]),
    ],
)
def test_bad_input(arguments: list[str], names: list[str]) -> None:
    assert_bad_input(run_cli("matrix", *arguments), *names)


def test_a_narrow_terminal_cuts_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    found = panels(stored())
    console, shown = out(), io.StringIO()
    console.file = shown
    for panel in found:
        print_panel(console, panel)
    words = shown.getvalue().split()
    texts = [cell.text for panel in found for cell in panel.cells.values()]
    assert not [text for text in texts if text.split()[-1] not in words]
    assert "…" not in shown.getvalue()


def test_what_is_stored_is_a_whole_default_run() -> None:
    assert len(files("skywave_papers.matrix").joinpath("stored.csv").read_bytes()) < 100_000
    table = stored()
    assert {row.seeds for row in table} == {SEEDS}
    of_networks = len(CONTROLS) * len(NETWORKS) * (len(MEASURES) - len(VOICE))
    assert len(table) == of_networks + len(CONTROLS) * len(VOICE)
    assert len({(row.network, row.control, row.measure) for row in table}) == len(table)


@pytest.mark.parametrize("control", CONTROLS)
def test_a_stored_cell_is_what_is_measured(control: str) -> None:
    """The cheapest cells, run anew: where this fails, store the table anew, and judge its text."""
    runs = list(plan((control,), ("lien2009",), SEEDS, None))
    again = rows({one: values(one, run(scenario(one))) for one in runs})
    known = {
        row.measure: row for row in stored() if (row.network, row.control) == ("lien2009", control)
    }
    assert len(again) == len(known)
    for row in again:
        stays = known[row.measure]
        assert row.mean == pytest.approx(stays.mean, rel=1e-4)
        assert replace(row, mean=0, margin=0) == replace(stays, mean=0, margin=0)


ADVICE = (
    files("skywave_papers.matrix").joinpath("templates/advice.html.j2").read_text(encoding="utf-8")
)
CLAIMS = re.findall(r'<data value="([^"]+)">([^<]+)</data>', ADVICE)
CHOICES: dict[str, Callable[[Sequence[float]], float]] = {"least": min, "most": max}
GROUPS = {
    "all": list(CONTROLS),
    "tcp": [key for key, control in CONTROLS.items() if control.kind == "tcp"],
}


def claimed(claim: str) -> float:
    """Return the stored value that a claim is about: "measure, controls, networks[, least]"."""
    measure, controls, networks, *choice = (part.strip() for part in claim.split(","))
    found = [
        row.mean
        for row in stored()
        if row.measure == measure
        and row.control in GROUPS.get(controls, controls.split())
        and row.network in (networks.split() if networks != "all" else NETWORKS)
    ]
    assert found, claim
    if choice:
        return CHOICES[choice[0]](found)
    (only,) = found
    return only


def test_the_text_makes_claims() -> None:
    assert CLAIMS
    assert len(CLAIMS) == ADVICE.count("<data value")


@pytest.mark.parametrize(("claim", "text"), CLAIMS)
def test_numbers_of_the_text_are_stored(claim: str, text: str) -> None:
    decimals = len(text.partition(".")[2])
    assert round(claimed(claim), decimals) == float(text), claim


def mean(measure: str, control: str, network: str) -> float:
    return claimed(f"{measure}, {control}, {network}")


def test_what_the_text_ranks_is_ranked_so() -> None:
    others = {"nor2011", "sarwar2008"}
    late = {
        row.network
        for row in stored()
        if (row.control, row.measure) == ("tcp-bbr", "convergence") and row.unreached > 0
    }
    assert late == others
    assert claimed("jain, all, all, least") == mean("jain", "tcp-c4", "li2009")
    assert claimed("queue, all, lien2009, least") == mean("queue", "tcp-c4", "lien2009")
    fuller = {one for one in CONTROLS if mean("utilisation", one, "sarwar2008") > 90}
    assert fuller == {"tcp-cubic-linux", "tcp-hybla", "tcp-htcp", "tcp-illinois"}
    (most,) = (
        row
        for row in stored()
        if (row.network, row.control, row.measure) == ("sarwar2008", "tcp-westwood", "convergence")
    )
    assert most.unreached > most.seeds / 2


def test_no_number_of_the_text_is_unchecked() -> None:
    """What is left are names: of controls, networks and schemes."""
    prose = re.sub(r"<data.*?</data>", "", ADVICE)
    prose = re.sub(r"\{#.*?#\}|<[^>]+>|\{[{%].*?[%}]\}", "", prose, flags=re.DOTALL)
    prose = re.sub(
        r"CCID \d|\bC4\b|(Nor|Lien|Sarwar|Chen|Li) 20\d\d|ssthresh 200|G\.729A|RFC \d+", "", prose
    )
    assert re.findall(r"[^ ]*\d[^ ]*", prose) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0007, "0.001"), (0.98765, "0.988"), (1, "1"), (12.34, "12.3"), (432.1, "432")],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert Row("li2009", "ccid2", "jain", "", value, None, 1, 0).text == text
