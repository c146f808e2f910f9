"""A congestion control of one's own: over TCP and DCCP (CCID 251), simulated, and on a socket.

python examples/own_control.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from skywave import Ack, Control, Dccp, Loss, Tcp, Timeout, dumbbell, run
from skywave.net import Config, Endpoint


@dataclass
class Shy(Control):
    """Grows while it sees less delay in queues than its target, and shrinks while it sees more."""

    target_ms: float = 20.0
    base_rtt_s = math.inf

    def on_ack(self, ack: Ack) -> None:
        if ack.rtt_s is None or ack.application_limited:
            return
        self.base_rtt_s = min(self.base_rtt_s, ack.rtt_s)
        room = 1 - (ack.rtt_s - self.base_rtt_s) * 1000 / self.target_ms
        self.cwnd = max(self.cwnd + max(room, -1) * ack.newly_acked / self.cwnd, 2)

    def on_loss(self, loss: Loss) -> None:
        self.cwnd = max(self.cwnd / 2, 2)

    def on_timeout(self, timeout: Timeout) -> None:
        self.cwnd = min(self.cwnd, 1)


def simulated() -> dict[str, float]:
    """Return the goodput over TCP and over DCCP, in Mbit/s, where they share 4 Mbit/s."""
    scenario = dumbbell(
        "a control of one's own", duration="30 s", rate="4 Mbps", delay="20 ms", queue=200, pairs=2
    )
    scenario.add_flow("tcp", "s1", "d1", Tcp(control=Shy(target_ms=10)))
    scenario.add_flow("dccp", "s2", "d2", Dccp(ccid=251, control=Shy(target_ms=10)))
    return {flow["name"]: flow["goodput_bps"] / 1e6 for flow in run(scenario).totals["flows"]}


def on_a_socket(datagrams: int) -> int:
    """Send datagrams over a socket of this host; return how many arrived."""
    endpoint = Endpoint.udp("127.0.0.1", 0)
    udp_port = endpoint.local_address[1]
    listener = endpoint.listen(5001, config=Config(ccid=251))
    client = endpoint.connect(
        "127.0.0.1", listener.port, udp_port=udp_port, config=Config(control=Shy())
    )
    server = listener.accept(timeout_s=10)
    for index in range(datagrams):
        client.send(index.to_bytes(1000))
    arrived = sum(server.recv(timeout_s=10) is not None for _ in range(datagrams))
    endpoint.close()
    return arrived


if __name__ == "__main__":
    print("simulated, Mbit/s:", simulated())
    print("on a socket, datagrams:", on_a_socket(100), "of 100")
