"""ECT(1) means L4S (RFC 9331), or a low load of VCP's routers: a queue cannot serve both."""

from __future__ import annotations

import re

import pytest

from skywave import Dccp, DropTail, DualPi2, Ftp, Scenario, ScenarioError, Tcp, dumbbell, run
from skywave.scenario import Queue, Transport, Vcp, VcpRouter

L4S: list[Transport] = [Tcp(control="prague"), Dccp(ccid=251, control="prague")]
LOAD_FACTOR: list[Transport] = [
    Tcp(control="vcp", vcp=Vcp(fallback=True)),
    Dccp(ccid=248, vcp=Vcp(fallback=True)),
]
WRITES = [DualPi2(packets=100), VcpRouter(packets=100)]


def described(queue: Queue, transports: list[Transport]) -> Scenario:
    made = dumbbell("codes", duration="100 ms", pairs=2, rate="1 Mbps", delay="1 ms", queue=queue)
    for index, transport in enumerate(transports, start=1):
        made.add_flow(f"flow {index}", f"s{index}", f"d{index}", transport, Ftp())
    return made


@pytest.mark.parametrize("queue", WRITES)
@pytest.mark.parametrize("l4s", L4S)
@pytest.mark.parametrize("load_factor", LOAD_FACTOR)
def test_a_queue_that_writes_codes_has_one_meaning(
    queue: Queue, l4s: Transport, load_factor: Transport
) -> None:
    for transports, (first, second) in [
        ([l4s, load_factor], ("flow 1", "flow 2")),
        ([load_factor, l4s], ("flow 2", "flow 1")),
    ]:
        expected = (
            f'flows[1].transport: "{first}" sends ECT(1) for L4S and "{second}" for load factors, '
            'which the queue of link "r1->r2" cannot tell apart: give them links or traffic classes'
        )
        with pytest.raises(ScenarioError, match=re.escape(expected)):
            run(described(queue, transports))


@pytest.mark.parametrize("queue", WRITES)
@pytest.mark.parametrize("transports", [L4S, LOAD_FACTOR, [L4S[0], Tcp(ecn=True)]])
def test_flows_of_one_meaning_share_a_queue(queue: Queue, transports: list[Transport]) -> None:
    run(described(queue, transports))


def test_a_queue_that_writes_nothing_serves_both() -> None:
    run(described(DropTail(packets=100), [L4S[0], LOAD_FACTOR[0]]))
