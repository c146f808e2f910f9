"""A congestion control of one's own in Python: simulated, on a socket, and what errors say."""

from __future__ import annotations

import importlib
import importlib.util
import json
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pytest

from conftest import ROOT, run_process
from patience import PATIENCE_S
from skywave import (
    Ack,
    AckedPacket,
    Aimd,
    CoDel,
    Context,
    Control,
    Cubic,
    Dccp,
    Loss,
    LostPacket,
    Mark,
    MarkedPackets,
    Pacing,
    Probes,
    RoundTrip,
    Scenario,
    ScenarioError,
    Sent,
    Tcp,
    Timeout,
    Vcp,
    dumbbell,
    run,
    run_many,
)
from skywave.control import check
from skywave.net import Config, Connection, Endpoint, Listener, ResetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from skywave.scenario import Transport

PORTS = count(5001)


@dataclass
class Reno(Control):
    """RFC 5681 as the control ``reno`` has it."""

    factor: float = 0.5
    timed_out = False
    credit = 0.0

    def on_ack(self, ack: Ack) -> None:
        self.timed_out = False
        if ack.application_limited or ack.ecn_echo:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += 1.0
            return
        self.credit += min(ack.newly_acked, self.cwnd)
        if self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += 1.0

    def on_loss(self, loss: Loss) -> None:
        self.ssthresh = max(min(loss.in_flight, self.cwnd) * self.factor, 2.0)
        self.cwnd = self.ssthresh
        self.credit = 0.0

    def on_timeout(self, timeout: Timeout) -> None:
        if not self.timed_out:
            self.ssthresh = max(min(timeout.in_flight, self.cwnd) * self.factor, 2.0)
        self.cwnd = 1.0
        self.credit = 0.0
        self.timed_out = True

    def on_restart(self, now_s: float) -> None:
        self.cwnd = min(self.cwnd, 4.0)
        self.credit = 0.0


@dataclass
class Fails(Reno):
    """Raises or answers wrongly in one of its methods."""

    method: str = ""
    after: int = 0
    answer: str = "raise"

    def _fails(self, method: str) -> None:
        if method != self.method:
            return
        self.after -= 1
        if self.after < 0 and self.answer == "raise":
            raise ZeroDivisionError(f"in {method}")
        if self.after < 0:
            exec(self.answer)  # noqa: S102  (an answer of a test below)

    def on_start(self, context: Context) -> None:
        self._fails("on_start")

    def on_sent(self, sent: Sent) -> None:
        self._fails("on_sent")

    def on_packet_acked(self, packet: AckedPacket) -> None:
        self._fails("on_packet_acked")

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        self._fails("on_ack")

    def on_loss(self, loss: Loss) -> None:
        super().on_loss(loss)
        self._fails("on_loss")

    def inner_values(self) -> Mapping[str, float]:
        self._fails("inner_values")
        return {"cwnd_packets": self.cwnd}


def scenario(*transports: Transport, duration: str = "10 s") -> Scenario:
    made = dumbbell(
        "own", duration=duration, rate="4 Mbps", delay="20 ms", queue=20, pairs=len(transports)
    )
    for index, transport in enumerate(transports, 1):
        made.add_flow(f"flow {index}", f"s{index}", f"d{index}", transport)
    return made


def example(name: str = "own_control") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_example_shares_a_link_over_tcp_and_ccid_251_and_carries_datagrams() -> None:
    own = example()
    goodput = own.simulated()
    assert all(mbps > 1 for mbps in goodput.values()), goodput
    assert sum(goodput.values()) > 3.5, goodput
    assert own.on_a_socket(200) == 200


def test_the_overhead_is_measured_on_runs_that_send_the_same() -> None:
    rows = example("control_overhead").overhead("2 s", repetitions=1)
    calls = {(transport, called): count for transport, called, count, _python_ns, _rust_ns in rows}
    for transport in ("TCP", "CCID 251"):
        often, seldom = (
            calls[transport, how]
            for how in ("for each acknowledgement", "once in a round-trip time")
        )
        assert often > 10 * seldom > 0
    assert all(min(python_ns, rust_ns) > 0 for *_names, python_ns, rust_ns in rows)


def test_reno_in_python_sends_what_reno_sends() -> None:
    here = run(scenario(Tcp(control=Reno())))
    there = run(scenario(Tcp(control="reno")))
    assert here.fingerprint == there.fingerprint
    assert here.totals["flows"][0]["drops"] > 0


def test_aimd_of_1_and_a_half_sends_what_reno_sends() -> None:
    aimd = Aimd(increase=1.0, decrease=0.5)
    for ours, reno in (
        (Tcp(control="aimd", aimd=aimd), Tcp(control="reno")),
        (Tcp(profile="ns2", control="aimd", aimd=aimd), Tcp(profile="ns2", control="reno")),
        (Dccp(ccid=251, control="aimd", aimd=aimd), Dccp(ccid=251, control="reno")),
    ):
        assert run(scenario(ours)).fingerprint == run(scenario(reno)).fingerprint
    gentle = Tcp(control="aimd", aimd=Aimd(increase=0.2, decrease=0.125))
    assert run(scenario(gentle)).fingerprint != run(scenario(Tcp())).fingerprint


def test_many_runs_give_what_one_run_gives() -> None:
    each = [scenario(Tcp(control=Reno(factor))) for factor in (0.3, 0.5, 0.7)]
    alone = [run(one).fingerprint for one in each]
    assert len(set(alone)) == 3
    assert [results.fingerprint for results in run_many(each)] == alone


def test_what_it_is_told_is_what_the_run_measures() -> None:
    seen: list[tuple[str, object]] = []

    class Watches(Reno):
        delivery_rate = True

        def on_start(self, context: Context) -> None:
            seen.append(("start", context))
            assert (self.cwnd, self.ssthresh) == (context.initial_cwnd, context.initial_ssthresh)

        def on_sent(self, sent: Sent) -> None:
            seen.append(("sent", sent))

        def on_packet_acked(self, packet: AckedPacket) -> None:
            seen.append(("packet", packet))

        def on_packet_lost(self, packet: LostPacket) -> None:
            seen.append(("lost", packet))

        def on_ack(self, ack: Ack) -> None:
            seen.append(("ack", ack))
            super().on_ack(ack)

        def on_mark(self, mark: Mark) -> None:
            seen.append(("mark", mark))
            super().on_mark(mark)

        def on_loss(self, loss: Loss) -> None:
            seen.append(("loss", loss))
            super().on_loss(loss)

    results = run(scenario(Dccp(ccid=251, control=Watches())))
    [flow] = results.totals["flows"]
    kinds = [kind for kind, _ in seen]
    acks = [ack for _, ack in seen if isinstance(ack, Ack)]
    # Either end of a DCCP connection may send.
    assert kinds.count("start") == 2
    assert kinds.count("sent") == flow["packets_sent"]
    assert kinds.count("packet") == sum(ack.newly_acked for ack in acks)
    assert kinds.count("loss") > 0
    lost = [packet for _, packet in seen if isinstance(packet, LostPacket)]
    assert len({packet.number for packet in lost}) == len(lost) >= kinds.count("loss")
    assert all(packet.sent_at_s < packet.now_s for packet in lost)
    rates = [ack.delivery_rate_bps for ack in acks if ack.delivery_rate_bps is not None]
    assert max(rates) == pytest.approx(4e6, rel=0.1)
    rtts = [ack.rtt_s for ack in acks if ack.rtt_s is not None]
    assert min(rtts) == pytest.approx(0.046, abs=0.002)
    times = [ack.now_s for ack in acks]
    assert times == sorted(times)


@pytest.mark.parametrize("transport", ["tcp", "dccp"])
def test_each_acknowledgement_that_reports_marks_is_told(transport: str) -> None:
    marks: list[Mark] = []
    told: list[MarkedPackets] = []

    class Watches(Reno):
        def on_packets_marked(self, marked: MarkedPackets) -> None:
            told.append(marked)

        def on_mark(self, mark: Mark) -> None:
            assert told[-1].now_s == mark.now_s
            marks.append(mark)
            super().on_mark(mark)

    marking = CoDel(packets=100, ecn=True)
    made = dumbbell("own", duration="10 s", rate="4 Mbps", delay="20 ms", queue=marking)
    ours: dict[str, Transport] = {
        "tcp": Tcp(control=Watches(), ecn=True),
        "dccp": Dccp(ccid=251, control=Watches()),
    }
    made.add_flow("flow", "s1", "d1", ours[transport])
    results = run(made)
    arrived = sum(link["marks"] for link in results.totals["links"])
    packets = sum(marked.packets for marked in told)
    assert 0 < len(marks) < len(told)
    if transport == "tcp":
        # All until CWR arrives.
        assert packets > arrived
        assert sum(marked.size or 0 for marked in told) == pytest.approx(1000 * packets, abs=1000)
    else:
        assert arrived - 5 <= packets <= arrived
        assert {marked.size for marked in told} == {None}


def test_once_in_a_round_trip_time_it_gets_a_report() -> None:
    reports: list[RoundTrip] = []

    class Seldom(Reno):
        every: ClassVar[Literal["ack", "round-trip"]] = "round-trip"

        def on_round_trip(self, report: RoundTrip) -> None:
            reports.append(report)
            if self.cwnd < self.ssthresh:
                self.cwnd += report.newly_acked
            else:
                self.cwnd += 1

    results = run(scenario(Tcp(control=Seldom())))
    [flow] = results.totals["flows"]
    acked = sum(report.acked_bytes for report in reports)
    assert flow["bytes_sent"] * 0.95 < acked <= flow["bytes_sent"]
    assert flow["goodput_bps"] > 3e6
    assert sum(report.lost for report in reports) > 0
    # Each covers about a round-trip time, of 46 ms and up to 40 ms in the queue.
    middle = sorted(report.duration_s for report in reports)[len(reports) // 2]
    assert 0.046 < middle < 0.1
    assert len(reports) < 10 / 0.046
    for report in reports:
        if report.rtt_min_s is not None and report.rtt_mean_s is not None:
            assert 0.045 < report.rtt_min_s <= report.rtt_mean_s + 1e-12
        assert report.delivery_rate_bps is not None


def test_pacing_and_inner_values_are_heeded() -> None:
    class Paces(Reno):
        def on_start(self, context: Context) -> None:
            self.cwnd = 1000.0
            self.pacing = Pacing.at_rate(100, quantum=2)

        def on_ack(self, ack: Ack) -> None:
            pass

        def inner_values(self) -> Mapping[str, float]:
            assert self.pacing is not None
            return {"interval_s": self.pacing.interval_s}

    made = scenario(Tcp(control=Paces(), receive_window=1000))
    made.probes = Probes(tables=("controls",))
    results = run(made)
    assert results.totals["flows"][0]["packets_sent"] == pytest.approx(1000, abs=10)
    rows = results.tables["controls"].to_pylist()
    assert {(row["name"], row["value"]) for row in rows} == {("interval_s", 0.02)}


@pytest.mark.parametrize("transport", ["tcp", "dccp"])
@pytest.mark.parametrize("method", ["on_start", "on_sent", "on_ack", "on_loss", "inner_values"])
def test_an_exception_ends_the_run_with_its_traceback(method: str, transport: str) -> None:
    control = Fails(method=method)
    made = scenario(
        Tcp(control=control) if transport == "tcp" else Dccp(ccid=251, control=control),
        duration="100000 s",
    )
    made.probes = Probes(interval="1000 s", tables=("controls",))
    if method == "inner_values":
        made.probes = Probes(interval="1 s", tables=("controls",), links=("r1->r2",))
    with pytest.raises(ZeroDivisionError, match=f"in {method}") as raised:
        run(made)
    assert raised.value.__notes__ == ['in flow "flow 1" of scenario "own"']
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert frames[-2:] == [method, "_fails"]


def test_an_exception_in_one_of_many_runs_names_it() -> None:
    fails = scenario(Tcp(control=Fails(method="on_ack", after=100)))
    fails.name = "the second"
    with pytest.raises(ZeroDivisionError, match="on_ack") as raised:
        list(run_many([scenario(Tcp(control=Reno())), fails, scenario(Tcp())]))
    assert raised.value.__notes__ == ['in flow "flow 1" of scenario "the second"']


def test_an_interrupt_in_a_control_ends_the_run() -> None:
    class Interrupted(Reno):
        def on_loss(self, loss: Loss) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(scenario(Tcp(control=Interrupted())))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("self.cwnd = float('nan')", "Fails.on_ack left cwnd = nan: set self.cwnd to packets"),
        ("self.cwnd = float('inf')", "left cwnd = inf"),
        ("self.cwnd = 0", "left cwnd = 0"),
        ("self.cwnd = '4'", "left cwnd = '4'"),
        ("self.ssthresh = -1.0", "left ssthresh = -1.0: set self.ssthresh to packets, above 0"),
        ("self.ssthresh = float('nan')", "left ssthresh = nan"),
        ("self.pacing = 0.1", r"left pacing = 0.1: set self.pacing to a skywave.Pacing or None"),
        ("Pacing(-1.0)", "interval_s is -1: give seconds"),
        ("Pacing(0.1, quantum=0)", "quantum is 0"),
        ("Pacing.at_rate(0)", "packets_per_s is 0"),
    ],
)
def test_an_answer_that_is_none_names_the_method(answer: str, complaint: str) -> None:
    control = Fails(method="on_ack", answer=answer, after=10)
    with pytest.raises(ValueError, match=complaint):
        run(scenario(Tcp(control=control)))


def test_an_answer_that_is_returned_is_not_lost() -> None:
    class Returns(Reno):
        def on_ack(self, ack: Ack) -> None:
            return self.cwnd  # type: ignore[return-value]

    with pytest.raises(ValueError, match=r"Returns\.on_ack returned 3.0: return nothing"):
        run(scenario(Tcp(control=Returns(), segment="1460 B")))


@pytest.mark.parametrize("control", [Reno(), Reno(factor=0.7)], ids=str)
def test_a_control_is_held_to_the_contract(control: Control) -> None:
    check(control)


def test_the_example_keeps_the_contract() -> None:
    check(example().Shy())


def test_a_violation_is_told_with_the_calls_that_show_it() -> None:
    class Grows(Reno):
        def on_timeout(self, timeout: Timeout) -> None:
            self.cwnd += 10

    with pytest.raises(AssertionError, match="took cwnd from 4 to 14 packets") as raised:
        check(Grows())
    assert str(raised.value).endswith("the calls:\n  Timeout")
    with pytest.raises(AssertionError, match="ZeroDivisionError: in on_loss after Loss") as raised:
        check(Fails(method="on_loss"))
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


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
    with pytest.raises(ScenarioError, match=r"ECT\(1\).*use it over DCCP, with ccid 251"):
        marks(Tcp(control=Counting()))
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


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    opened = Endpoint.udp("127.0.0.1", 0)
    yield opened
    opened.close()


def connect(endpoint: Endpoint, client: Config, server: Config) -> tuple[Connection, Listener]:
    listener = endpoint.listen(next(PORTS), config=server)
    udp_port = endpoint.local_address[1]
    connection = endpoint.connect("127.0.0.1", listener.port, udp_port=udp_port, config=client)
    return connection, listener


def test_a_program_may_look_at_a_connection_while_its_control_is_called(
    endpoint: Endpoint,
) -> None:
    class Slow(Reno):
        """Lets other threads have the interpreter in the middle of a call."""

        def on_sent(self, sent: Sent) -> None:
            time.sleep(0)

    client, listener = connect(endpoint, Config(control=Slow()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            assert client.stats().queued >= 0
            assert client.closed is None

    looker = threading.Thread(target=look)
    looker.start()
    for _ in range(100):
        client.send(b"data")
    for _ in range(100):
        assert server.recv(timeout_s=PATIENCE_S) == b"data"
    over.set()
    looker.join()


class Calls(Reno):
    """Does something when its first acknowledgement arrives, and keeps what that raises."""

    act: ClassVar[Callable[[], object]]
    raised: ClassVar[list[RuntimeError]]

    def on_ack(self, ack: Ack) -> None:
        act, Calls.act = Calls.act, lambda: None
        try:
            act()
        except RuntimeError as error:
            Calls.raised.append(error)
        super().on_ack(ack)


def on_first_ack(act: Callable[[], object]) -> list[RuntimeError]:
    Calls.act = staticmethod(act)
    Calls.raised = []
    return Calls.raised


def exchange(client: Connection, server: Connection, count: int = 20) -> None:
    for _ in range(count):
        client.send(b"data", timeout_s=PATIENCE_S)
    for _ in range(count):
        assert server.recv(timeout_s=PATIENCE_S) == b"data"


USES: dict[str, Callable[[Endpoint, Connection, Listener], object]] = {
    "send": lambda _, connection, __: connection.send(b"more", timeout_s=1),
    "recv": lambda _, connection, __: connection.recv(timeout_s=1),
    "try_recv": lambda _, connection, __: connection.try_recv(),
    "flush": lambda _, connection, __: connection.flush(timeout_s=1),
    "close": lambda _, connection, __: connection.close(timeout_s=1),
    "abort": lambda _, connection, __: connection.abort(),
    "stats": lambda _, connection, __: connection.stats(),
    "ccids": lambda _, connection, __: connection.ccids,
    "closed": lambda _, connection, __: connection.closed,
    "Endpoint": lambda _, __, ___: Endpoint.udp("127.0.0.1", 0),
    "Endpoint.stats": lambda endpoint, _, __: endpoint.stats(),
    "Endpoint.snapshot": lambda endpoint, _, __: endpoint.snapshot(),
    "Endpoint.abort": lambda endpoint, _, __: endpoint.abort(),
    "Endpoint.close": lambda endpoint, _, __: endpoint.close(timeout_s=1),
    "accept": lambda _, __, listener: listener.accept(timeout_s=1),
    "Listener.close": lambda _, __, listener: listener.close(),
}


@pytest.mark.parametrize("use", USES)
def test_a_callback_cannot_use_the_network(endpoint: Endpoint, use: str) -> None:
    client, listener = connect(endpoint, Config(control=Calls()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    raised = on_first_ack(lambda: USES[use](endpoint, client, listener))
    exchange(client, server)
    with pytest.raises(RuntimeError, match=r"^Calls\.on_ack called skywave\.net: "):
        raise raised[0]
    # Nothing has happened to it.
    exchange(client, server)
    assert client.closed is None


def test_what_a_callback_does_not_catch_resets_its_connection_alone(endpoint: Endpoint) -> None:
    class Asks(Reno):
        def on_ack(self, ack: Ack) -> None:
            client.stats()

    client, listener = connect(endpoint, Config(control=Asks()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    other, listener = connect(endpoint, Config(), Config())
    witness = listener.accept(timeout_s=PATIENCE_S)
    with pytest.raises(RuntimeError, match=r"^Asks\.on_ack called skywave\.net: "):
        converse(client)
    with pytest.raises(ResetError, match="aborted"):
        converse(server)
    exchange(other, witness)


def test_a_callback_may_print_a_connection_and_drop_it(endpoint: Endpoint) -> None:
    printed: list[str] = []
    held: list[Connection] = []

    def drop() -> None:
        printed.append(repr(held[0]))
        held.clear()

    client, listener = connect(endpoint, Config(control=Calls()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    raised = on_first_ack(drop)
    held.append(client)
    client.send(b"data")
    del client
    assert server.recv(timeout_s=PATIENCE_S) == b"data"
    # The last reference is gone, so the connection is closed.
    assert server.recv(timeout_s=PATIENCE_S) is None
    assert raised == []
    assert printed[0].startswith("<skywave.net.Connection to 127.0.0.1:")


@pytest.mark.parametrize("use", ["stats", "send", "abort", "Endpoint.snapshot"])
def test_a_thread_for_which_a_callback_waits_is_refused(endpoint: Endpoint, use: str) -> None:
    """Otherwise the two would wait for each other for ever."""
    client, listener = connect(endpoint, Config(control=Calls()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    refused: list[RuntimeError] = []
    returned = threading.Event()

    def call() -> None:
        try:
            USES[use](endpoint, client, listener)
        except RuntimeError as error:
            refused.append(error)

    def wait() -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        returned.set()

    raised = on_first_ack(wait)
    client.send(b"data")
    assert server.recv(timeout_s=PATIENCE_S) == b"data"
    assert returned.wait(PATIENCE_S)
    assert raised == []
    with pytest.raises(RuntimeError, match=r"^Calls\.on_ack has kept its connection locked for "):
        raise refused[0]
    # It had no effect.
    exchange(client, server)


def test_a_slow_callback_is_announced_once(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    class Dawdles(Reno):
        def on_ack(self, ack: Ack) -> None:
            time.sleep(0.02)

    for _ in range(2):
        client, listener = connect(endpoint, Config(control=Dawdles()), Config(ccid=251))
        exchange(client, listener.accept(timeout_s=PATIENCE_S))
    end = time.monotonic() + PATIENCE_S
    while not caplog.records and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    (record,) = [one for one in caplog.records if "Dawdles" in one.getMessage()]
    assert record.name == "skywave.control"
    assert record.levelname == "WARNING"
    took = re.search(r"Dawdles.on_ack took (\d+) ms", record.getMessage())
    assert took is not None
    assert int(took[1]) >= 20


def test_a_signal_handler_may_use_the_network(endpoint: Endpoint) -> None:
    """It runs while the call that it interrupts waits."""
    client, listener = connect(endpoint, Config(), Config())
    server = listener.accept(timeout_s=PATIENCE_S)
    before = signal.signal(signal.SIGALRM, lambda _, __: server.close(timeout_s=PATIENCE_S))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert client.recv(timeout_s=PATIENCE_S) is None
    finally:
        signal.signal(signal.SIGALRM, before)


def converse(connection: Connection) -> None:
    """Send a datagram and read all that comes."""
    connection.send(b"data")
    while connection.recv(timeout_s=PATIENCE_S) is not None:
        pass


def test_both_ends_of_a_socket_have_controls_of_their_own(endpoint: Endpoint) -> None:
    ours = Config(control=Reno())
    theirs = Config(control="cubic", cubic=Cubic(beta=0.8))
    client, listener = connect(endpoint, ours, theirs)
    server = listener.accept(timeout_s=PATIENCE_S)
    for sender, receiver in ((client, server), (server, client)):
        for _ in range(50):
            sender.send(b"data")
        for _ in range(50):
            assert receiver.recv(timeout_s=PATIENCE_S) == b"data"
    assert client.ccids == (251, 251)
    client.close(timeout_s=PATIENCE_S)


@pytest.mark.parametrize("method", ["on_start", "on_sent", "on_ack"])
def test_an_exception_resets_the_connection_and_its_next_call_raises_it(
    endpoint: Endpoint, method: str
) -> None:
    config = Config(control=Fails(method=method))
    client, listener = connect(endpoint, config, Config(ccid=251))
    # A server that never saw the end of the handshake has no connection to hand out.
    server = None if method == "on_start" else listener.accept(timeout_s=PATIENCE_S)
    with pytest.raises(ZeroDivisionError, match=f"in {method}") as raised:
        converse(client)
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert frames[-2:] == [method, "_fails"]
    for call in (client.flush, client.close, client.recv, lambda: client.send(b"more")):
        with pytest.raises(ZeroDivisionError):
            call()
    closed = client.closed
    assert closed is not None
    assert closed.name == "aborted"
    if server is None:
        return
    with pytest.raises(ResetError, match="aborted"):
        converse(server)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"control": "cubik"}, "control: .* is not a known control: use aimd, cubic"),
        ({"control": "cubic", "cubic": Cubic(beta=2.0)}, r"cubic\.beta"),
        ({"control": "reno", "cubic": Cubic(beta=0.8)}, "cubic: .*control"),
        ({"cubic": Cubic(beta=0.8)}, "cubic: .*control"),
        ({"ccid": 2, "vcp": Vcp()}, "vcp: .*ccid"),
        ({"control": 7}, "control: invalid type"),
        ({"ccid": 3, "control": "reno"}, "ccid: CCID 3 has a control of its own"),
    ],
)
def test_a_configuration_that_is_wrong_says_so(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Config(**options)


def test_what_it_is_told_can_be_made_and_printed() -> None:
    ack = Ack(newly_acked=4, rtt_s=0.5)
    assert ack == Ack(newly_acked=4, rtt_s=0.5)
    assert repr(Loss(lost=3)) == "Loss(now_s=0.0, in_flight=0, lost=3, is_repeated=False)"
    assert repr(Pacing(0.5, 2)) == "Pacing(interval_s=0.5, quantum=2)"
    with pytest.raises(AttributeError):
        ack.newly_acked = 3  # type: ignore[misc]
    control = Reno()
    control.cwnd = control.ssthresh = 4.0
    control.on_ack(ack)
    assert control.cwnd == 5.0
    assert json.dumps(control.parameters) == '{"factor": 0.5}'
