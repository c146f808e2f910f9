"""The rest of the command line: help, version, bench."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import EXAMPLES, ROOT, Done, assert_bad_input, run_cli, run_process
from skywave import Progress, Scenario, cli
from skywave.cli.console import progress_bar
from skywave.cli.messages import warn

if TYPE_CHECKING:
    from pathlib import Path

GROUPS = {
    "realtime": ("run", "compare"),
    "plot": ("run", "sweep"),
    "bench": ("dumbbell", "standard"),
    "perf": ("serve", "to", "loopback"),
}
COMMANDS = [
    (name, *more)
    for name in cli.COMMANDS
    for more in ([(each,) for each in GROUPS[name]] if name in GROUPS else [()])
]
"""All commands, with those of groups."""


@pytest.mark.parametrize(
    ("arguments", "status", "begins"),
    [
        (["--version"], 0, ""),
        (["ping", "127.0.0.1:5001", "--udp-port", "1"], 1, "error: "),
        (["nonsense"], 2, "error: "),
    ],
)
def test_a_process_ends_with_the_status(arguments: list[str], status: int, begins: str) -> None:
    """Interrupts, whose status is 130, are beside what they interrupt."""
    done = run_process(*arguments)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith("skywave ") == (status == 0)
    assert done.stderr.startswith(begins)
    assert done.stderr.count("\n") == bool(begins)


def test_help_names_every_command() -> None:
    for arguments in ([], ["--help"]):
        done = run_cli(*arguments)
        assert done.returncode == 0
        for command in cli.COMMANDS:
            assert f"│ {command} " in done.stdout


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_prints_its_help(name: str) -> None:
    done = run_cli(name)
    assert (done.returncode, done.stdout) == (0, run_cli(name, "--help").stdout)
    for command in GROUPS[name]:
        assert f"│ {command} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_of_a_command_has_its_statuses_and_json(command: tuple[str, ...]) -> None:
    shown = run_cli(*command, "--help").stdout
    # A page has no document, and a schema is one.
    assert ("--json" in shown) == (command not in {("lab",), ("schema",)})
    statuses = " ".join(shown.partition("Exit status: ")[2].split())
    assert statuses.startswith("0 success; ")
    for status in ("2 wrong input", "130 Ctrl-C", "143 SIGTERM", "141 the reader"):
        assert status in statuses
    assert ("3 --strict" in statuses) == ("--strict" in shown.partition("Exit status")[0])


def test_an_option_has_one_kind_of_value_in_all_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    found: dict[str, set[str]] = {}
    for command in COMMANDS:
        for line in run_cli(*command, "--help").stdout.splitlines():
            # An option begins a row; its short name may stand between.
            if option := re.match(r"│ \*? *(--[a-z0-9-]+) +(-\w )? *([A-Z<][^ ]*)?", line):
                found.setdefault(option[1], set()).add(option[3] or "")
    several = {name for name, kinds in found.items() if len(kinds) > 1}
    # A link emulated alone has no name; a sweep sets several values.
    assert several == {"--capture", "--set"}
    assert found["--gap"] == found["--warm-up"] == found["--strict"] == {"DURATION"}


def test_version() -> None:
    done = run_cli("--version")
    assert done.returncode == 0
    assert re.fullmatch(r"skywave \S+ \(Python \S+\)\n", done.stdout)


def run_with_input(text: str | bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    data = text.encode() if isinstance(text, str) else text
    command = [sys.executable, "-m", "skywave", *arguments]
    done = subprocess.run(command, input=data, capture_output=True, cwd=ROOT, check=False)
    return subprocess.CompletedProcess(
        command, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_scenarios_from_standard_input() -> None:
    [file] = [path for path in EXAMPLES if path.stem == "named-drops"]
    text = file.read_text()
    of_file = json.loads(run_cli("run", file, "--json").stdout)
    assert json.loads(run_with_input(text, "run", "-", "--json").stdout) == of_file
    as_json = Scenario.from_file(file).to_json()
    assert json.loads(run_with_input(as_json, "run", "-", "--json").stdout) == of_file
    checked = run_with_input(text, "check", "-")
    assert checked.stdout.startswith("standard input: valid.")
    assert checked.stdout.splitlines()[1:] == run_cli("check", file).stdout.splitlines()[1:]


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[x", "error: standard input is not TOML: "),
        ("{", "error: standard input is not JSON: "),
        ("", "error: "),
        ("name = 3", "error: standard input, line 1: name: "),
        (b"\xff\xfe", "error: standard input is not text in UTF-8 "),
    ],
)
def test_wrong_standard_input_is_one_line(command: str, text: str | bytes, says: str) -> None:
    done = run_with_input(text, command, "-")
    assert done.returncode == 2
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("skywave p", {"plot", "papers", "ping", "perf"}),
        ("skywave plot sweep --me", {"--measure"}),
        ("skywave plot r", {"run"}),
        ("skywave run --verify", {"--verify-physics"}),
    ],
)
def test_bash_completes_commands_and_options(words: str, completed: set[str]) -> None:
    """As the script that ``skywave --show-completion bash`` prints asks for it."""
    environment = {
        **os.environ,
        "_SKYWAVE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    code = "import sys; sys.argv = ['skywave']; from skywave.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == completed


def test_progress_shows_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar() as show:
        show(Progress("runs", 1, 2))
    shown = capsys.readouterr().err
    assert "runs" in shown
    assert re.search(r"left:\S* +\S*(-:--:--|\d:\d\d:\d\d)", shown), shown


def test_without_a_terminal_a_line_every_ten_seconds_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    times_s = iter([0.0, 1.0, 9.9, 10.0, 19.0, 35.0])
    with progress_bar(lambda: next(times_s)) as show:
        for done in (12, 24, 36, 48, 60):
            show(Progress("runs", done, 120))
    assert capsys.readouterr().err == "runs: 30 %\nruns: 50 %\n"


def test_bench_counts_what_it_did() -> None:
    work = ["--flows", "5", "--rate", "5 Mbps", "--buffer", "50", "--duration", "10 s"]
    done = run_cli("bench", "dumbbell", *work, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    counts = row["counts"]
    assert row["work"]["flows"] == 5
    assert (counts["rate_bps"], counts["duration_s"]) == (5_000_000, 10.0)
    # 10 s at 5 Mbps are 6103 packets of 1024 B.
    assert 5000 < counts["bottleneck_departures"] <= 6104
    assert counts["bottleneck_arrivals"] >= counts["bottleneck_departures"]
    assert counts["events_per_s"] > 0
    assert counts["packet_hops_per_s"] > 0
    assert 0 < counts["cpu_s"] <= row["process_cpu_s"]
    assert row["peak_memory_bytes"] > 1_000_000
    assert row["beside"] == []
    shown = run_cli("bench", "dumbbell", *work)
    for label in ("CPU (s)", "packets x hops (1/s)", "events (1/s)", "peak memory (MB)"):
        assert label in shown.stdout


def test_a_table_of_very_many_links_shows_those_that_say_most(tmp_path: Path) -> None:
    text = (ROOT / "examples/dccp.toml").read_text()
    text = text.replace("pairs = 1\n", "pairs = 2000\n").replace('"60 s"', '"2 s"')
    (tmp_path / "wide.toml").write_text(text)
    done = run_cli("run", tmp_path / "wide.toml")
    assert done.returncode == 0
    assert "100 of 8,002 links, by drops and arrivals, are shown; --json and" in done.stdout
    assert "r1->r2" in done.stdout
    assert done.stdout.count("->") <= 200


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_text_of_a_help_fills_its_lines(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line is wrapped once, where the terminal ends, and not also where the source does."""
    monkeypatch.setenv("COLUMNS", "80")
    text = run_cli(*command, "--help").stdout.partition("╭")[0]
    paragraphs = re.split(r"\n\s*\n", text.partition("Usage:")[2])[1:]
    assert paragraphs
    for paragraph in paragraphs:
        lines = [line.strip() for line in paragraph.splitlines()]
        for line, after in itertools.pairwise(lines):
            assert len(f"{line} {after.split()[0]}") > 78, line


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_help_is_whole_on_80_columns(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run_cli(*command, "--help").stdout
    assert max(map(len, shown.splitlines())) == 80
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown


def test_a_reader_that_has_gone_ends_a_command_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as output:
        command = [sys.executable, "-m", "skywave", "schema"]
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def redirected(command: str, to: str) -> tuple[int, str]:
    """Run a command by a shell, with a redirection; return its status and what it says."""
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m skywave {command} {to}', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", ["--version", "schema", "run examples/named-drops.toml"])
def test_output_that_cannot_be_written_is_a_failure_and_closed_output_is_not(command: str) -> None:
    status, said = redirected(command, ">/dev/full")
    assert (status, said.splitlines()[-1]) == (1, "error: the output: No space left on device")
    status, said = redirected(command, ">&-")
    assert (status, "error" in said) == (0, False)


def test_an_error_that_cannot_be_said_has_its_status() -> None:
    for to in ("2>/dev/full", "2>&-"):
        assert redirected("run nowhere.toml", to) == (2, "")


def test_a_missing_extra_is_a_missing_requirement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run_cli("sweep", "examples/tcp.toml", "--on", "tcp://x:1", "--out", tmp_path)
    assert_bad_input(done, "needs the extra skywave[dask]")


def test_a_warning_is_broken_between_words_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "the warm-up is inside the mean goodput of video (2.5 % lower): average from 5 s on"
    warn([text])
    assert capsys.readouterr().err == f"warning: {text}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    warn([text])
    lines = capsys.readouterr().err.splitlines()
    assert all(len(line) <= 30 for line in lines)
    assert " ".join(lines) == f"warning: {text}"


@pytest.mark.parametrize("arguments", [["--version"], ["run", str(EXAMPLES[0])]])
@pytest.mark.parametrize("core", ["nothing.so", __file__])
def test_a_core_that_is_none_is_one_line(arguments: list[str], core: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skywave", *arguments],
        env={**os.environ, "SKYWAVE_CORE": core},
        capture_output=True,
        text=True,
        check=False,
    )
    assert_bad_input(Done(done.returncode, done.stdout, done.stderr), "SKYWAVE_CORE is", core)
