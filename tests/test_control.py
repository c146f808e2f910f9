"""A congestion control of one's own in Python: simulated, on a socket, and what errors say."""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import pytest

from conftest import load_example
from skywave import (
    Ack,
    AckedPacket,
    Aimd,
    CoDel,
    Context,
    Control,
    Dccp,
    Loss,
    LostPacket,
    Mark,
    MarkedPackets,
    Pacing,
    Probes,
    RoundTrip,
    Scenario,
    Sent,
    Tcp,
    Timeout,
    dumbbell,
    run,
    run_many,
)
from skywave.control import check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.scenario import Transport


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


def test_the_example_shares_a_link_over_tcp_and_ccid_251_and_carries_datagrams() -> None:
    own = load_example("own_control")
    goodput = own.simulated()
    assert all(mbps > 1 for mbps in goodput.values()), goodput
    assert sum(goodput.values()) > 3.5, goodput
    assert own.on_a_socket(200) == 200


def test_the_overhead_is_measured_on_runs_that_send_the_same() -> None:
    rows = load_example("control_overhead").overhead("2 s", repetitions=1)
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


def test_a_run_on_threads_calls_controls_in_order_and_nothing_waits_for_ever() -> None:
    both = scenario(Tcp(control=Reno()), Dccp(ccid=251, control=Reno()), Tcp())
    alone, shared = run(both), run(both, threads=2)
    assert alone.fingerprint == shared.fingerprint
    assert shared.threads is not None
    assert shared.threads["used"] == 2


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
    check(load_example("own_control").Shy())


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
