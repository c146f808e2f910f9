"""The runs of a cell of the matrix, as scenarios.

- *alone*: as many flows of the control as the network has; another joins at two thirds of the run;
- *beside*: half of the flows are TCP NewReno instead;
- *voice*, if the network has calls: a call beside TCP flows that start one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from attrs import evolve

from skywave.matrix.controls import CONTROLS, NEWRENO
from skywave.matrix.networks import CALLS, NETWORKS
from skywave.results import emodel
from skywave.scenario import (
    Dccp,
    Ftp,
    Link,
    Probes,
    Queue,
    Scenario,
    SubQueue,
    Tcp,
    Udp,
    VcpRouter,
    Voice,
    Weighted,
)

if TYPE_CHECKING:
    from skywave.papers.lent import Call, Control, Network

Kind = Literal["alone", "beside", "voice"]

BOTTLENECK = "r1->r2"
SAMPLE_MS = 250
"""Sampling interval. Not a multiple of VCP's t_rho of 200 ms, so that samples cover all phases."""
LATE_SHARE, WARM_SHARE = 2 / 3, 1 / 5
"""Fractions of a run: when the late flow starts, and when measurement of the others starts."""
IP_B, TCP_B, DCCP_B = 20, 20, 16
PAPERS_CLASS, CONTROLS_CLASS = 0, 1
"""Sub-queues, for controls that cannot share the paper's queue."""

CODEC = emodel.G729A
FRAME_B, FRAME_MS = 20, 20
DEADLINE_MS = 200
"""When speech is played: 130 ms after its arrival on an idle network. At 250 ms a G.729A call is
hardly usable even without loss (R of 71)."""
CALL = "call"


@dataclass(frozen=True)
class Run:
    """One run of a cell. ``duration_s`` is that of the network unless the user sets another."""

    kind: Kind
    control: str
    network: str
    seed: int
    duration_s: float

    @property
    def name(self) -> str:
        """The name for files."""
        return f"{self.network}-{self.control}-{self.kind}-{self.seed}"

    @property
    def late_s(self) -> float:
        """When the late flow starts and measurement of the others ends, in seconds."""
        return round(self.duration_s * LATE_SHARE)

    @property
    def warm_s(self) -> float:
        """When measurement starts, in seconds."""
        return round(self.duration_s * WARM_SHARE)


def flow_names(kind: Literal["control", "tcp"], number: int) -> list[str]:
    """Return the names of ``number`` flows of the control, or of TCP beside it."""
    return [f"{kind}{index + 1}" for index in range(number)]


LATE = "late"


def scenario(run: Run) -> Scenario:
    """Return the scenario of a run."""
    control, network = CONTROLS[run.control], NETWORKS[run.network]
    description = _network(run, control, network)
    match run.kind:
        case "alone":
            _add_flows(description, network, control, "control", network.flows)
            middle = f"{network.hosts // 2 + 1}"
            transport, source = _flow(control, network)
            description.add_flow(
                LATE, f"s{middle}", f"d{middle}", transport, source, start=f"{run.late_s:g} s"
            )
        case "beside":
            half = network.flows // 2
            own = 0 if control.chain is None else CONTROLS_CLASS
            _add_flows(description, network, control, "control", half, class_=own)
            _add_flows(description, network, NEWRENO, "tcp", half)
        case "voice":
            _add_call(description, network, CALLS[run.network], control)
    for number in range(network.web_sources if run.kind != "voice" else 0):
        host = number % network.hosts + 1
        tcp, _ = _flow(NEWRENO, network)
        description.add_flow(
            f"web{number + 1}", f"s{host}", f"d{host}", tcp, network.web, start_jitter="1 s"
        )
    return description


def _network(run: Run, control: Control, network: Network) -> Scenario:
    trace = network.trace and network.trace(run.seed, run.duration_s)
    description = Scenario(
        name=run.name,
        duration=f"{run.duration_s:g} s",
        seed=run.seed,
        nodes=["r1", "r2"],
        links=[
            Link(
                from_="r1",
                to="r2",
                rate=network.rate,
                delay=network.delay,
                queue=_queue(run.kind, control, network),
                loss=network.loss,
                trace=trace,
                back=network.back,
            )
        ],
        probes=Probes(interval=f"{SAMPLE_MS} ms", links=(BOTTLENECK,)),
    )
    for host in range(network.hosts):
        # Random extra delay of up to a packet time at each sender breaks phase effects (Floyd and
        # Jacobson 1992).
        _attach(description, network, f"{host + 1}", host, jitter=f"{network.packet_time_us} us")
    return description


def _attach(description: Scenario, network: Network, name: str, host: int, jitter: str) -> None:
    sender, receiver = f"s{name}", f"d{name}"
    delay = network.access_delays[host % len(network.access_delays)]
    description.nodes += [sender, receiver]
    description.links += [
        Link(from_=sender, to="r1", rate=network.access_rate, delay=delay, jitter=jitter),
        Link(from_="r2", to=receiver, rate=network.access_rate, delay=delay),
    ]


def _queue(kind: Kind, control: Control, network: Network) -> Queue:
    """Return the bottleneck's queue: the paper's, or the router that the control needs."""
    if control.chain is None:
        return network.queue
    router = VcpRouter(packets=network.buffer_packets, chain=control.chain)
    shares = kind == "beside" or (kind == "voice" and control.kind == "dccp")
    if not shares:
        return router
    # TCP's routers read the bits of VCP differently, so each kind needs its own sub-queue.
    return Weighted(
        queues=(SubQueue(weight=1, queue=network.queue), SubQueue(weight=1, queue=router))
    )


def _flow(control: Control, network: Network) -> tuple[Dccp | Tcp, Ftp]:
    """Return transport and source of a flow that always has data, in full-size packets."""
    if isinstance(control.transport, Tcp):
        segment = f"{network.packet_b - IP_B - TCP_B} B"
        return evolve(control.transport, segment=segment), Ftp()
    return control.transport, Ftp(datagram=f"{network.packet_b - IP_B - DCCP_B} B")


def _add_flows(
    description: Scenario,
    network: Network,
    control: Control,
    kind: Literal["control", "tcp"],
    number: int,
    class_: int = 0,
) -> None:
    transport, source = _flow(control, network)
    for index, name in enumerate(flow_names(kind, number)):
        host = index % network.hosts + 1
        description.add_flow(
            name,
            f"s{host}",
            f"d{host}",
            transport,
            source,
            start_jitter="1 s",
            class_=class_,
        )


def _add_call(description: Scenario, network: Network, call: Call, control: Control) -> None:
    """Add a call over DCCP with the control, or over UDP if the control is one of TCP.

    TCP flows beside it start one after the other.
    """
    over_dccp = control.kind == "dccp"
    _attach(description, network, CALL, 0, jitter="0 s")
    description.add_flow(
        CALL,
        f"s{CALL}",
        f"d{CALL}",
        control.transport if over_dccp else Udp(),
        Voice(frame=f"{FRAME_B} B", interval=f"{FRAME_MS} ms", deadline=f"{DEADLINE_MS} ms"),
        class_=CONTROLS_CLASS if over_dccp and control.chain is not None else 0,
    )
    transport, source = _flow(NEWRENO if over_dccp else control, network)
    for index, name in enumerate(flow_names("tcp", call.flows)):
        description.add_flow(
            name,
            f"s{index + 1}",
            f"d{index + 1}",
            transport,
            source,
            start=f"{call.gap_s * (index + 1)} s",
            start_jitter="500 ms",
        )
