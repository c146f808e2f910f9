"""``skywave sweep``: its tables, and its page in the documentation."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from attrs import evolve

import skywave
from conftest import ROOT, assert_bad_input, run_cli
from skywave import Scenario, Tcp, dumbbell, run
from skywave.scenario.paths import with_field
from skywave.sweeps.measures import MEASURES
from test_sweep import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path


def test_the_table_of_three_dimensions_fits_into_100_columns(
    base_file: Path, tmp_path: Path
) -> None:
    settings = (
        "dumbbell.queue.drop-tail.packets=5,100",
        "dumbbell.delay=20 ms,100 ms",
        "flows[file].transport.tcp.control=cubic,reno",
    )
    sets = [text for each in settings for text in ("--set", each)]
    ran = run_cli("sweep", str(base_file), "--out", str(tmp_path / "out"), "--seeds", "3", *sets)
    assert ran.returncode == 0, ran.stderr
    table = ran.stdout.partition("Results:")[0]
    assert max(map(len, table.splitlines())) <= 100, table
    assert "100 ms" in table
    assert "…" not in table


def test_no_number_of_a_table_is_cut(
    base_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A narrow terminal has it in parts, and a pipe is as wide as it takes."""
    arguments = (
        *("sweep", base_file, "--out", tmp_path / "out", "--seeds", 3),
        *("--set", "dumbbell.queue.drop-tail.packets=5,10", "--set", "dumbbell.rate=1 Mbps"),
        *("--measure", "goodput[*]", "--measure", "delay_mean[*]", "--measure", "delay_max[*]"),
        *("--measure", "utilisation[*]", "--measure", "queue_mean[*]"),
    )
    whole = run_cli(*arguments).stdout.partition("6 of 6 runs")[0]
    assert max(map(len, whole.splitlines())) > 200
    assert "parts" not in whole
    monkeypatch.setenv("COLUMNS", "80")
    split = run_cli(*arguments).stdout.partition("6 of 6 runs")[0]
    assert max(map(len, split.splitlines())) <= 80, split
    assert "wider than 80 columns: --measure" in " ".join(split.split())
    for shown in (whole, split):
        assert "…" not in shown
        assert "All with rate 1 Mbps" in shown
    [row] = [line.split() for line in whole.splitlines() if line.lstrip().startswith("10 ")]
    assert any("±" in cell for cell in row)
    parts = [line.split() for line in split.splitlines() if line.lstrip().startswith("10 ")]
    assert len(parts) > 1
    assert [cell for part in parts for cell in part[1:]] == row[1:]
    assert {part[0] for part in parts} == {"10"}, "each part says what its rows are"


def test_a_narrow_terminal_shows_all_of_a_comparison(
    base_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    setting = "dumbbell.queue.drop-tail.packets=5,10"
    run_cli("sweep", base_file, "--out", out, "--seeds", 3, "--set", setting)
    monkeypatch.setenv("COLUMNS", "50")
    shown = run_cli("compare", out, "--by", "packets").stdout
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 50, shown
    assert shown.count("5 - 10") > 1
    assert "The p-values are corrected for the number of comparisons (1), the intervals are" in (
        " ".join(shown.split())
    )


TRANSPORTS = (
    "dumbbell.rate=1 Mbps,2 Mbps",
    (
        "flows[*].transport={ dccp = { ccid = 3 } },"
        "{ dccp = { ccid = 3, tfrc = { feedback = { dynamic = {} } } } },"
        '{ dccp = { ccid = 3, tfrc = { feedback = { dynamic = {} }, receiver_rtt = "option" } } }'
    ),
)


@pytest.mark.parametrize(("columns", "most_parts"), [(60, 4), (80, 3)])
def test_long_names_are_in_lines_on_a_narrow_terminal(
    base_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int, most_parts: int
) -> None:
    out = tmp_path / "out"
    monkeypatch.setenv("COLUMNS", str(columns))
    sets = [text for each in TRANSPORTS for text in ("--set", each)]
    shown = [
        run_cli("sweep", base_file, "--out", out, "--seeds", 3, *sets).stdout.partition(
            "18 of 18 runs"
        )[0],
        run_cli("compare", out, "--by", "transport").stdout,
    ]
    for each in shown:
        assert max(map(len, each.splitlines())) <= columns, each
        assert "…" not in each
        assert "receiver_rtt=option" in each
    assert "(Holm)" in shown[1]
    assert shown[1].count("difference of") <= most_parts, "a table that falls apart cannot be read"
    arguments = ("compare", out, "--by", "transport", "--label", "dccp=TFRC")
    named = run_cli(*arguments).stdout
    assert "TFRC" in named
    assert_bad_input(run_cli(*arguments, "--label", "bbr=B"), "bbr is no value of the sweep")
    assert_bad_input(run_cli(*arguments, "--label", "bbr"), "VALUE=TEXT")


def test_a_comparison_of_runs_that_do_not_vary_says_so(tmp_path: Path) -> None:
    still = dumbbell("still", duration="2 s", rate="2 Mbps", delay="10 ms", queue=10)
    file, out = tmp_path / "still.json", tmp_path / "out"
    still.add_flow("file", "s1", "d1", Tcp())
    file.write_text(still.to_json())
    setting = "dumbbell.queue.drop-tail.packets=5,10"
    run_cli("sweep", file, "--out", out, "--seeds", 3, "--set", setting)
    shown = run_cli("compare", out, "--by", "packets").stdout
    [row] = [line.split() for line in shown.splitlines() if line.startswith("5 - 10")]
    assert row[4:] == ["-", "-", "-", "3", "-"]
    assert "the differences do not vary, so there is nothing to test" in shown
    assert "corrected" not in shown
    [told] = json.loads(run_cli("compare", out, "--by", "packets", "--json").stdout)["comparisons"]
    assert told["difference"] != 0
    absent = ("low", "high", "p", "adjusted_p", "effect", "significant")
    assert [told[name] for name in absent] == [None] * 6


def test_one_seed_is_no_mean(base_file: Path, tmp_path: Path) -> None:
    shown = run_cli("sweep", base_file, "--out", tmp_path / "out").stdout
    assert shown.startswith("Values of one seed\n")
    assert "±" not in shown


def test_the_command_prints_means(base_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (
        "sweep",
        str(base_file),
        "--out",
        str(out),
        "--seeds",
        "3",
        *("--measure", "goodput", "--measure", "loss"),
    )
    ran = run_cli(*arguments, "--set", "dumbbell.queue.drop-tail.packets=5,10")
    assert ran.returncode == 0, ran.stderr
    for word in ("packets", "goodput", "(Mbps)", "loss", "±", "6 of 6 runs are done"):
        assert word in ran.stdout
    values = skywave.Sweep.load(out).table["goodput_bps"].to_numpy()
    ran = run_cli(*arguments, "--set", "dumbbell.queue.drop-tail.packets=5,10", "--json")
    answer = json.loads(ran.stdout)
    assert answer["resumed"] == 6
    [five, ten] = answer["points"]
    assert five["measures"]["goodput_bps"]["mean"] == pytest.approx(np.mean(values[:3]))
    assert (five["packets"], ten["packets"], ten["seeds"]) == (5, 10, 3)


def test_an_interrupt_before_the_first_new_run_says_what_is_kept(
    base_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("sweep", base_file, "--seeds", 2, "--out", tmp_path / "out")
    assert run_cli(*command).returncode == 0

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skywave.sweeps.runner.sweep", interrupted)
    done = run_cli(*command)
    assert done.returncode == 130
    assert f"2 of 2 runs are done and kept in {tmp_path / 'out'}; run the same" in done.stderr


def test_the_command_says_what_it_leaves_out(base_file: Path, tmp_path: Path) -> None:
    arguments = ("sweep", base_file, "--out", tmp_path / "out", "--seeds")
    assert "no longer part" not in run_cli(*arguments, 3).stderr
    assert "no longer part" not in run_cli(*arguments, 4).stderr
    assert "2 runs of" in run_cli(*arguments, 2).stderr


def test_what_the_command_refuses(base_file: Path, tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "out"))
    for arguments, complaint in (
        (("--set", "duration"), "PATH=VALUE"),
        (("--set", "duration=1 s", "--set", "duration=2 s"), "twice"),
        (("--set", "duraton=1 s"), "duraton"),
        (("--set", "a.b=1"), "no such field"),
        (("--measure", "godput"), "not a known measure"),
        (("--warm-up", "soon"), "soon"),
        (("--seeds", "0"), "seeds"),
    ):
        assert_bad_input(run_cli("sweep", str(base_file), *out, *arguments), complaint)
    assert not (tmp_path / "out").exists()


def test_a_run_with_other_values(base: Scenario, base_file: Path) -> None:
    ran = run_cli("run", str(base_file), "--set", "dumbbell.rate=1 Mbps", "--seed", "7", "--json")
    told = json.loads(ran.stdout)
    same = run(evolve(with_field(base, "dumbbell.rate", "1 Mbps"), seed=7))
    assert told["fingerprint"] == same.fingerprint
    for setting in ("dumbbell.rate=5 Mbps,6 Mbps", "flows[file].transport.tcp.control=cubic,reno"):
        path, _, values = setting.partition("=")
        ran = run_cli("run", base_file, "--set", setting)
        assert_bad_input(ran, f"run takes one value of {path}: skywave sweep runs all of {values}")
    named = run_cli("run", base_file, "--set", "name=one, two", "--json")
    assert json.loads(named.stdout)["name"] == "one, two"


PAGE = (ROOT / "docs" / "sweeps.md").read_text()


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
def test_the_pages_examples_run(block: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    short = block.replace('duration="60 s"', 'duration="5 s"')
    subprocess.run([sys.executable, "-c", short], cwd=tmp_path, env=ENVIRONMENT, check=True)


def test_the_pages_first_command_runs(tmp_path: Path) -> None:
    [shown] = re.findall(r"```console\n\$ (skywave sweep examples.*?)```", PAGE, flags=re.DOTALL)
    command, printed = re.split(r"(?<!\\)\n", shown, maxsplit=1)
    words = shlex.split(command.replace("\\\n", " "))[1:]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ran = run_cli(*words, cwd=tmp_path)
    lines = [line.rstrip() for line in ran.stdout.splitlines()]
    assert lines == printed.splitlines(), ran.stderr
    assert "nothing in this scenario is random" not in ran.stderr, "seeds are of use"


def test_the_page_has_every_measure() -> None:
    rows = {row for row in PAGE.splitlines() if row.startswith("| `")}
    for measure in MEASURES.values():
        assert f"| `{measure.name}` | {measure.meaning} | {measure.whole} |" in rows
