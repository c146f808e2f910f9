"""Controls in Python that a scenario names, and what of them is kept."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from conftest import run_process
from skywave import (
    CoDel,
    Dccp,
    Scenario,
    ScenarioError,
    Sent,
    Tcp,
    dumbbell,
    run,
)
from skywave.net import Config
from test_control import Reno, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skywave.scenario import Transport


FILE = """
name = "from a file"
duration = "2 s"
[dumbbell]
pairs = 1
rate = "4 Mbps"
delay = "20 ms"
access_rate = "1 Gbps"
access_delays = ["1 ms"]
[[flows]]
name = "own"
from = "s1"
to = "d1"
source = { ftp = {} }
transport.tcp = { control = "CONTROL", "CONTROL" = { TABLE } }
"""

MODULE = '''
"""Controls of a test."""

from dataclasses import dataclass

from skywave import Control, run


@dataclass
class Gentle(Control):
    gain: float = 0.5

    def on_ack(self, ack):
        self.cwnd += self.gain * ack.newly_acked / self.cwnd

    def on_loss(self, loss):
        self.cwnd = max(self.cwnd / 2, 1)

    def on_timeout(self, timeout):
        self.cwnd = 1

    def __post_init__(self):
        if self.gain <= 0:
            raise ValueError("gain is above 0")


class Incomplete(Control):
    def on_ack(self, ack):
        pass


class Stranger:
    pass


def other():
    return 1
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "gentle_controls.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("gentle_controls")
    del sys.modules["gentle_controls"]


def text(control: str, table: str) -> str:
    return FILE.replace("CONTROL", control).replace("TABLE", table)


def test_a_file_names_a_class_with_parameters(module: ModuleType) -> None:
    read = Scenario.from_text(text("gentle_controls:Gentle", "gain = 0.25"), "toml")
    [flow] = read.flows
    assert isinstance(flow.transport, Tcp)
    assert flow.transport.control == module.Gentle(gain=0.25)
    built = scenario(Tcp(control=module.Gentle(gain=0.25)))
    form = built.to_dict()["flows"][0]["transport"]["tcp"]
    name = "gentle_controls:Gentle"
    assert form == {"control": name, name: {"gain": 0.25}}
    assert built.normalised()["flows"][0]["transport"]["tcp"][name] == {"gain": 0.25}
    again = Scenario.from_text(read.to_json(), "json")
    assert run(again).fingerprint == run(read).fingerprint


def test_a_class_asks_for_selective_acknowledgements() -> None:
    class Selective(Reno):
        sack = True

    def recovery(**given: Any) -> str:
        [flow] = scenario(Tcp(**given)).inspect().scenario["flows"]
        return str(flow["transport"]["tcp"]["recovery"])

    assert recovery(control=Reno()) == "newreno"
    assert recovery(control=Selective()) == "sack"
    assert recovery(control=Selective(), recovery="reno") == "reno"


def test_a_class_asks_for_marks() -> None:
    class Marked(Reno):
        ecn = "ect0"

    class Counting(Reno):
        ecn = "ect1"

    class Wrong(Reno):
        ecn = "ect2"  # type: ignore[assignment]

    def marks(transport: Transport) -> int:
        queue = CoDel(packets=100, ecn=True)
        made = dumbbell("own", duration="5 s", rate="4 Mbps", delay="20 ms", queue=queue)
        made.add_flow("flow", "s1", "d1", transport)
        return sum(link["marks"] for link in run(made).totals["links"])

    assert marks(Tcp(control=Reno())) == 0
    assert marks(Tcp(control=Marked())) > 0
    assert marks(Dccp(ccid=251, control=Counting())) > 0
    assert marks(Tcp(control=Counting())) > 0
    with pytest.raises(ScenarioError, match=r"only Accurate ECN reports .*: give accurate"):
        marks(Tcp(control=Counting(), ecn_feedback="rfc3168"))
    # A choice of the user's that contradicts the control is not overruled in silence.
    for control in (Marked(), Counting()):
        with pytest.raises(ScenarioError, match=r"ecn: CCID 251 needs the ECN field"):
            marks(Dccp(ccid=251, control=control, ecn=False))
        with pytest.raises(ValueError, match=r"ecn: CCID 251 needs the ECN field"):
            Config(control=control, ecn=False)
    with pytest.raises(ScenarioError, match=r"Wrong\.ecn is 'ect2': give \"ect0\""):
        marks(Dccp(ccid=251, control=Wrong()))


@pytest.mark.parametrize("is_paced", [False, True])
def test_a_class_asks_for_pacing(is_paced: bool) -> None:
    times: list[float] = []

    class Watches(Reno):
        paced = is_paced

        def on_sent(self, sent: Sent) -> None:
            times.append(sent.now_s)

    run(scenario(Tcp(control=Watches(), initial_cwnd=10)))
    assert len(set(times[:10])) == (10 if is_paced else 1)


@pytest.mark.parametrize(
    ("control", "table", "complaint"),
    [
        ("nowhere.at_all:Gentle", "", 'tcp.control: "nowhere.at_all:Gentle" cannot be imported'),
        ("gentle_controls:Absent", "", "tcp.control: .* has no class Absent"),
        ("gentle_controls:Stranger", "", "tcp.control: .* is not a subclass of skywave.Control"),
        ("gentle_controls:other", "", "tcp.control: .* is not a subclass of skywave.Control"),
        ("gentle_controls:Incomplete", "", "Incomplete has no method on_loss nor on_timeout: "),
        ("gentle_controls:Gentle", "gian = 1", "Gentle.gian: Gentle has no such parameter: use"),
        ("gentle_controls:Gentle", "gain = -1", "ValueError: gain is above 0"),
        ("gentle_controls:Gentle", 'gain = "x"', 'Gentle.gain: Gentle takes a number, not "x"'),
        ("gentle_controls:Gentle", "gain = true", "Gentle.gain: Gentle takes a number, not true"),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_name_that_is_wrong_is_one_line_with_its_field(
    control: str, table: str, complaint: str
) -> None:
    with pytest.raises(ScenarioError, match=complaint) as raised:
        Scenario.from_text(text(control, table), "toml")
    assert str(raised.value).startswith("flows[0].transport.tcp.")
    assert "\n" not in str(raised.value)


def test_parameters_that_json_cannot_hold_are_named() -> None:
    with pytest.raises(ValueError, match=r"Reno has <object object at .*>, which JSON cannot hold"):
        scenario(Tcp(control=Reno(factor=object()))).to_dict()  # type: ignore[arg-type]


def test_the_command_imports_from_where_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "gentle_controls.py").write_text(MODULE)
    (tmp_path / "own.toml").write_text(text("gentle_controls:Gentle", "gain = 0.25"))
    command = [sys.executable, "-c", "from skywave.cli import main; main()", "run", "own.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert run_process("check", tmp_path / "own.toml").returncode == 2


def test_the_command_shows_the_traceback_of_a_control(tmp_path: Path) -> None:
    fails = MODULE.replace("self.cwnd = 1", "pass").replace("self.cwnd / 2", "float('nan')")
    (tmp_path / "failing_controls.py").write_text(
        fails.replace("def on_ack(self, ack):", "def on_ack(self, ack):\n        int('no')", 1)
    )
    (tmp_path / "own.toml").write_text(text("failing_controls:Gentle", "gain = 0.25"))
    command = [sys.executable, "-m", "skywave", "run", "own.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "in on_ack\n    int('no')" in done.stderr
    assert done.stderr.endswith('in flow "own" of scenario "from a file"\n')


def test_a_control_is_pickled_with_its_parameters(module: ModuleType) -> None:
    copy = pickle.loads(pickle.dumps(module.Gentle(gain=0.75)))  # noqa: S301
    assert type(copy) is module.Gentle
    assert copy.parameters == {"gain": 0.75}


def test_the_digest_follows_the_source_and_the_parameters(
    module: ModuleType, tmp_path: Path
) -> None:
    def digest(gain: float = 0.5) -> str:
        return scenario(Tcp(control=module.Gentle(gain=gain))).digest()

    before = digest()
    assert digest() == before
    assert digest(gain=0.6) != before
    path = tmp_path / "gentle_controls.py"
    path.write_text(MODULE.replace("return 1", "return 1 \n"))
    importlib.reload(module)
    assert digest() == before
    path.write_text(MODULE.replace("self.cwnd / 2", "self.cwnd / 3"))
    importlib.reload(module)
    assert digest() != before
    assert scenario(Tcp()).digest() != scenario(Tcp(ecn=True)).digest()


def test_a_class_that_was_typed_in_has_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    typed_in = ModuleType("typed_in")
    monkeypatch.setitem(sys.modules, "typed_in", typed_in)
    exec(MODULE, vars(typed_in))  # noqa: S102
    made = scenario(Tcp(control=typed_in.Gentle()))
    assert run(made).totals["flows"][0]["delivered_packets"] > 0
    with pytest.raises(ValueError, match="the source of Gentle cannot be found"):
        made.digest()
