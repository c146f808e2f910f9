"""What is wrong with the input is one line that names the field, and exit status 2."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import CAPTURES, EXAMPLES, assert_bad_input, run_cli
from skywave import CaptureError, Dccp, Scenario, ScenarioError, _core, dumbbell, run
from skywave.bench.measurement import measure

if TYPE_CHECKING:
    from pathlib import Path

GOOD = next(path for path in EXAMPLES if path.stem == "dccp").read_text()

MISTAKES = {
    "unknown key": ('delay = "50 ms"', 'dealy = "50 ms"', ["dumbbell", "dealy"]),
    "negative rate": ('rate = "2 Mbps"', 'rate = "-2 Mbps"', ["dumbbell.rate", "-2 Mbps"]),
    "missing node": ('to = "d1"', 'to = "d9"', ["flows[0].to", "d9"]),
    "queue of 0": ("packets = 20", "packets = 0", ["dumbbell.queue", "packets"]),
    "wrong unit": ('delay = "50 ms"', 'delay = "50 Mbps"', ["dumbbell.delay", "Mbps"]),
    "no unit": ('rate = "2 Mbps"', 'rate = "2"', ["dumbbell.rate", "unit"]),
    "number in place of a text": ('rate = "2 Mbps"', "rate = 2", ["dumbbell.rate"]),
    "unknown CCID": ("ccid = 2", "ccid = 77", ["flows[0].transport", "ccid", "77"]),
    "not TOML": ("[dumbbell]", "[dumbbell", ["wrong.toml is not TOML: line 11, column 10: "]),
}


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_scenario_is_one_line_that_names_the_field(
    command: str, mistake: str, tmp_path: Path
) -> None:
    right, wrong, names = MISTAKES[mistake]
    assert GOOD.count(right) == 1
    path = tmp_path / "wrong.toml"
    path.write_text(GOOD.replace(right, wrong))
    assert_bad_input(run_cli(command, path), *names)


@pytest.mark.parametrize("command", ["run", "check"])
def test_what_only_the_network_tells_is_said_before_the_run(command: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(GOOD.replace("[dumbbell]", '[probes]\nlinks = ["r1->r9"]\n\n[dumbbell]'))
    assert_bad_input(run_cli(command, path), "probes.links[0]", "r1->r9")
    apart = 'nodes = ["apart"]\n\n[dumbbell]'
    path.write_text(GOOD.replace('to = "d1"', 'to = "apart"').replace("[dumbbell]", apart))
    assert_bad_input(run_cli(command, path), "flows[0]", "no route")


@pytest.mark.parametrize("syntax", ["toml", "json"])
def test_a_file_of_a_million_flows_is_refused_before_it_is_in_memory(
    syntax: str, tmp_path: Path
) -> None:
    flow = {"from": "s1", "to": "d1", "transport": {"udp": {}}, "source": "ftp"}
    path = tmp_path / f"long.{syntax}"
    with path.open("w") as file:
        if syntax == "toml":
            file.write(GOOD)
            fields = "\n".join(f"{field} = {_toml(value)}" for field, value in flow.items())
            file.writelines(f'[[flows]]\nname = "{n}"\n{fields}\n' for n in range(1_000_000))
        else:
            fields = json.dumps(flow)[1:]
            file.write('{"flows": [')
            file.write(",".join(f'{{"name": "{n}", {fields}' for n in range(1_000_000)))
            file.write("]}")
    done = measure([sys.executable, "-m", "skywave", "check", str(path)])
    assert done.status == 2
    assert re.search("at most 33554432|flows: there are more than 100000", done.stdout), done.stdout
    # The text itself takes 100 MB, more than once.
    assert done.peak_memory_bytes < 1e9


def _toml(value: object) -> str:
    return "{ udp = {} }" if value == {"udp": {}} else json.dumps(value)


def test_an_error_has_its_line_and_the_name_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    for right, wrong, line, meant in [
        ("pairs = 1", "paris = 1", 12, "pairs"),
        ("drop-tail", "drop-tial", 15, "drop-tail"),
        ('to = "d1"', 'to = "d1"\nroute = ["s1", "r1"]', None, None),
    ]:
        assert GOOD.count(right) == 1
        path.write_text(GOOD.replace(right, wrong))
        for command in ("run", "check"):
            done = run_cli(command, path)
            assert_bad_input(done, f"{path}, line {line or ''}")
            if meant is not None:
                assert done.stderr.endswith(f'; did you mean "{meant}"?\n')
    apart = GOOD.replace("pairs = 1", "paris = 1").encode()
    piped = subprocess.run(
        [sys.executable, "-m", "skywave", "check", "-"],
        input=apart,
        capture_output=True,
        check=False,
    )
    assert piped.stderr.startswith(b"error: standard input, line 12: dumbbell.paris: ")


def test_what_only_the_network_tells_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    apart = 'nodes = ["apart"]\n\n[dumbbell]'
    text = GOOD.replace('to = "d1"', 'to = "apart"').replace("[dumbbell]", apart)
    path.write_text(text)
    line = text[: text.index("[[flows]]")].count("\n") + 1
    for command in ("run", "check"):
        assert_bad_input(
            run_cli(command, path), f"{path}, line {line}: flows[0]: there is no route"
        )


def test_names_of_the_command_are_suggested() -> None:
    named: list[tuple[list[object], str]] = [
        (["run", EXAMPLES[0], "--set", "dumbbell.paris=2"], "pairs"),
        (["send", "127.0.0.1:5001", "--option", "send_qeue=5"], "send_queue"),
    ]
    for arguments, meant in named:
        done = run_cli(*arguments)
        assert done.returncode == 2
        assert f'; did you mean "{meant}"?' in done.stderr


def test_names_are_printed_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "names.toml"
    path.write_text(GOOD.replace('name = "', 'name = "[/b] '))
    done = run_cli("run", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[/b] ") == 2


def test_python_raises_what_the_command_prints() -> None:
    scenario = dumbbell("x", duration="1 s", rate="0 bps", delay="1 ms")
    scenario.add_flow("f", "s1", "d1", Dccp())
    with pytest.raises(ScenarioError, match=r"^dumbbell\.rate: "):
        run(scenario)
    with pytest.raises(ValueError, match='"-2 Mbps" is negative'):
        dumbbell("x", duration="1 s", rate="-2 Mbps", delay="1 ms")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nowhere.toml"],
        ["run", "."],
        ["run"],
        ["run", EXAMPLES[0], "--nonsense"],
        ["run", EXAMPLES[0], "--strict", "1 ms"],
        ["realtime", "run", EXAMPLES[0], "--strict", "2"],
        ["realtime", "compare", EXAMPLES[0], "--seeds", "0"],
        ["realtime", "nonsense"],
        ["run", "/dev/zero"],
        ["run", "/proc/kmsg"],
        ["run", CAPTURES / "ccid2.pcapng"],
        ["reproduce", "nobody1999"],
        ["bench", "dumbbell"],
        [
            "bench",
            "dumbbell",
            "--flows",
            "1",
            "--rate",
            "fast",
            "--buffer",
            "5",
            "--duration",
            "1 s",
        ],
        [
            "bench",
            "dumbbell",
            "--flows",
            "1",
            "--rate",
            "1 Mbps",
            "--buffer",
            "1",
            "--duration",
            "1 s",
        ],
        ["run", EXAMPLES[0], "--capture", "r1->r2=nowhere/x.pcapng"],
        ["decode", "nowhere.pcapng"],
        ["decode", "pyproject.toml"],
        ["nonsense"],
    ],
    ids=lambda arguments: " ".join(str(argument) for argument in arguments)[-40:],
)
def test_a_wrong_command_line_is_one_line(arguments: list[object]) -> None:
    assert_bad_input(run_cli(*arguments))


def test_an_out_that_is_a_file_is_refused_and_kept(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert_bad_input(run_cli("run", EXAMPLES[0], "--out", taken), "taken")
    assert taken.read_text() == "mine"


def test_an_out_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    # A scenario that would take hours.
    path = tmp_path / "long.toml"
    path.write_text(GOOD.replace('duration = "60 s"', 'duration = "1000000 s"'))
    for command in (["run", path], ["reproduce", "chen2010"], ["reproduce", "--all"], ["matrix"]):
        done = run_cli(*command, "--out", tmp_path / "taken" / "below")
        assert_bad_input(done, f"{tmp_path / 'taken'} is a file: give a directory")


def test_marks_of_byte_order_are_skipped(tmp_path: Path) -> None:
    for name, text in (
        ("dccp.toml", GOOD),
        ("dccp.json", Scenario.from_text(GOOD, "toml").to_json()),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
        assert Scenario.from_file(tmp_path / name).name == "dccp"


@pytest.fixture(scope="module")
def capture() -> bytes:
    return (CAPTURES / "ccid2.pcapng").read_bytes()


def test_a_capture_cut_short_tells_the_offset(capture: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(capture[: len(capture) - 7])
    done = run_cli("decode", path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: byte ")
    offsets = [int(word.strip(":,.")) for word in done.stderr.split() if word[0].isdigit()]
    assert any(0 < offset <= len(capture) for offset in offsets), done.stderr


def test_every_cut_of_a_capture_decodes_or_is_a_capture_error(capture: bytes) -> None:
    whole = list(_core.decode_capture(capture))
    for length in range(0, len(capture), 37):
        frames: list[_core.Frame] = []
        try:
            frames.extend(_core.decode_capture(capture[:length]))
        except CaptureError as error:  # a cut may also fall between two blocks
            assert "byte" in str(error)  # noqa: PT017  (either outcome is right)
        assert frames == whole[: len(frames)]


def test_a_corrupted_capture_is_a_capture_error(capture: bytes) -> None:
    corrupted = bytearray(capture)
    # The length of the first block, after its type.
    corrupted[4:8] = b"\xff\xff\xff\xff"
    with pytest.raises(CaptureError, match="byte"):
        list(_core.decode_capture(bytes(corrupted)))
