"""What a control in Python costs: the table of docs/control.md.

python examples/control_overhead.py
"""

from __future__ import annotations

from collections import Counter
from time import process_time_ns

from skywave import Ack, Control, Dccp, Loss, RoundTrip, Tcp, Timeout, dumbbell, run

CALLS: Counter[str] = Counter()


class EachAck(Control):
    """The control ``reno`` (RFC 5681), for each acknowledgement."""

    credit = 0.0

    def on_ack(self, ack: Ack) -> None:
        if ack.application_limited:
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += 1.0
            return
        self.credit += ack.newly_acked
        if self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += 1.0

    def on_loss(self, loss: Loss) -> None:
        self.cwnd = self.ssthresh = max(min(loss.in_flight, self.cwnd) / 2, 2.0)
        self.credit = 0.0

    def on_timeout(self, timeout: Timeout) -> None:
        self.ssthresh = max(min(timeout.in_flight, self.cwnd) / 2, 2.0)
        self.cwnd = 1.0
        self.credit = 0.0


class EachRoundTrip(EachAck):
    """About the same once in a round-trip time."""

    every = "round-trip"

    def on_round_trip(self, report: RoundTrip) -> None:
        if not report.application_limited:
            self.cwnd += report.newly_acked if self.cwnd < self.ssthresh else 1.0


class CountsAcks(EachAck):
    """Counts how often it is called."""

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        CALLS["for each acknowledgement"] += 1


class CountsRoundTrips(EachRoundTrip):
    """Counts how often it is called."""

    def on_round_trip(self, report: RoundTrip) -> None:
        super().on_round_trip(report)
        CALLS["once in a round-trip time"] += 1


def measured(transport: Tcp | Dccp, duration: str) -> float:
    """Return the processor time of a run, in ns for each packet that arrived."""
    scenario = dumbbell("overhead", duration=duration, rate="50 Mbps", delay="20 ms", queue=100)
    scenario.add_flow("flow", "s1", "d1", transport)
    began = process_time_ns()
    results = run(scenario)
    return (process_time_ns() - began) / results.totals["flows"][0]["delivered_packets"]


def overhead(duration: str, repetitions: int) -> list[tuple[str, str, int, float, float]]:
    """Return transport, rate of calling, calls, and ns for each packet: with it, with Rust's."""
    rows = []
    for name in ("TCP", "CCID 251"):

        def transport(control: str | Control, name: str = name) -> Tcp | Dccp:
            return Tcp(control=control) if name == "TCP" else Dccp(ccid=251, control=control)

        CALLS.clear()
        for control in (CountsAcks(), CountsRoundTrips()):
            measured(transport(control), duration)
        rust, acks, round_trips = (
            # Whatever else the machine does only adds; in turns, so that it does so to all.
            min(times)
            for times in zip(
                *(
                    [
                        measured(transport(control), duration)
                        for control in ("reno", EachAck(), EachRoundTrip())
                    ]
                    for _ in range(repetitions)
                ),
                strict=True,
            )
        )
        for (called, calls), python in zip(CALLS.items(), (acks, round_trips), strict=True):
            rows.append((name, called, calls, python, rust))
    return rows


if __name__ == "__main__":
    print("| transport | called | calls | ns for a packet | with `reno` in Rust | ratio |")
    print("|---|---|---|---|---|---|")
    for name, called, calls, python_ns, rust_ns in overhead("60 s", 10):
        ratio = python_ns / rust_ns
        print(f"| {name} | {called} | {calls:,} | {python_ns:.0f} | {rust_ns:.0f} | {ratio:.2f} |")
