"""The schema, and what is written from it: both say what the core does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from conftest import EXAMPLES
from skywave import Scenario, ScenarioError, _core
from skywave.scenario.quantities import Bytes, Duration, Rate
from tools import GENERATED

if TYPE_CHECKING:
    from types import ModuleType

SCHEMA: dict[str, Any] = json.loads(_core.scenario_schema())
VALIDATOR = Draft202012Validator(SCHEMA)
STORED = Path(__file__).parent.parent / "docs" / "scenario.schema.json"
TAPLO = Path(sys.executable).with_name("taplo")

GOOD = """
name = "one file"
duration = "5 s"
flows = [{ name = "file", from = "s1", to = "d1", transport = { tcp = {} }, source = { ftp = {} } }]

[dumbbell]
pairs = 1
rate = "2 Mbps"
delay = "50 ms"
access_rate = "1 Gbps"
access_delays = ["1 ms"]
"""


def faults(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(tomllib.loads(text))]


@pytest.mark.parametrize("generated", GENERATED, ids=lambda module: module.PATH.name)
def test_what_is_generated_is_current(generated: ModuleType) -> None:
    assert generated.PATH.read_text(encoding="utf-8") == generated.text(), "run `make schema`"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_validates_as_it_is_written_and_normalised(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("#:schema ../docs/scenario.schema.json\n")
    assert faults(text) == []
    scenario = Scenario.from_file(path)
    assert [error.message for error in VALIDATOR.iter_errors(scenario.to_dict())] == []
    assert [error.message for error in VALIDATOR.iter_errors(scenario.normalised())] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('rate = "2 Mbps"', 'rate = "2 Mbit"'),
        ('rate = "2 Mbps"', "rate = 2"),
        ('delay = "50 ms"', 'delay = "50 Mbps"'),
        ("pairs = 1", "pairs = -1"),
        ("pairs = 1", 'pairs = "1"'),
        ("tcp = {}", "sctp = {}"),
        ("tcp = {}", "tcp = {}, udp = {}"),
        ("tcp = {}", "tcp = { segmennt = 1 }"),
        ("tcp = {}", 'tcp = { recovery = "fack" }'),
        ("tcp = {}", 'tcp = { control = "copa" }'),
        ("tcp = {}", 'tcp = { control = "cubic", cubic = { betta = 1 } }'),
        ("tcp = {}", "dccp = { ccid = 5 }"),
        ("pairs = 1", 'pairs = 1\nqueue = "red-queue"'),
        ("pairs = 1", "pairs = 1\nqueue = { blue = {} }"),
        ("pairs = 1", "pairs = 1\nloss = { bernoulli = {} }"),
    ],
)
def test_what_the_schema_refuses_the_core_refuses_too(old: str, new: str) -> None:
    assert faults(GOOD) == []
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    assert faults(text)
    with pytest.raises(ScenarioError):
        Scenario.from_text(text, "toml")


NUMBERS = ("5", "5.25", "1_000", "5.", " 7 ", ".5", "-5", "5e3", "", "5,0")
UNITS = ("ms", "µs", "h", "Mbps", "bps", "kB", "B", "mbps", "", "m s")


def is_read(kind: type[Duration] | type[Rate] | type[Bytes], text: str) -> bool:
    """Whether a text is a number and a unit of this kind."""
    try:
        kind(text)
    except ValueError as error:
        # What is too fine for a whole number of the smallest unit is the core's alone to know.
        return "cannot be represented exactly" in str(error)
    return True


@pytest.mark.parametrize("kind", [Duration, Rate, Bytes])
def test_the_expressions_for_units_are_the_grammar_of_the_core(
    kind: type[Duration] | type[Rate] | type[Bytes],
) -> None:
    pattern = re.compile(SCHEMA["$defs"][kind.__name__]["pattern"])
    texts = [f"{number} {unit}" for number, unit in product(NUMBERS, UNITS)]
    matching = {text for text in texts if pattern.search(text)}
    assert matching == {text for text in texts if is_read(kind, text)}


@pytest.mark.parametrize(("text", "status"), [(GOOD, 0), (GOOD.replace("2 Mbps", "2 Mbit"), 1)])
def test_an_editors_language_server_finds_a_wrong_unit(
    text: str, status: int, tmp_path: Path
) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(f"#:schema {STORED.as_uri()}\n{text}", encoding="utf-8")
    done = subprocess.run(
        [TAPLO, "lint", path], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == status, done.stderr
    assert ("2 Mbit" in done.stderr) == bool(status)
    assert ("scenario.toml:9:" in done.stderr) == bool(status)


def test_the_command_prints_the_schema(capfd: pytest.CaptureFixture[str]) -> None:
    subprocess.run([sys.executable, "-m", "skywave", "schema"], check=True)
    assert json.loads(capfd.readouterr().out) == SCHEMA
