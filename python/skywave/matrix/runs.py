"""The runs of a cell of the matrix, as scenarios.

- *alone*: as many flows of the control as the network has; another joins at two thirds of the run;
- *beside*: half of the flows are TCP NewReno instead;
- *voice*, if the network has calls: a call beside TCP flows that start one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skywave.matrix.axes import CALLS, CONTROLS, NETWORKS, NEWRENO
from skywave.papers.lent import Control, Network
from skywave.results import emodel
from skywave.scenario import (
    Dccp,
    Ftp,
    Link,
    Probes,
    Queue,
    Scenario,
    Source,
    SubQueue,
    Tcp,
    Transport,
    Udp,
    VcpRouter,
    Voice,
    Weighted,
)

Kind = Literal["alone", "beside", "voice"]

BOTTLENECK = "r1->r2"
SAMPLE_MS = 250
"""Sampling interval. Not a multiple of VCP's t_rho of 200 ms, so that samples cover all phases."""
LATE_SHARE, WARM_SHARE = 2 / 3, 1 / 5
"""Fractions of a run: when the late flow starts, and when measurement of the others starts."""
IP_B, TCP_B, DCCP_B = 20, 20, 16
CONTROLS_CLASS = 1
"""The sub-queue of controls that cannot share the paper's queue."""

CODEC = emodel.G729A
FRAME_B, FRAME_MS = 20, 20
DEADLINE_MS = 200
"""When speech is played: 130 ms after its arrival on an idle network. At 250 ms a G.729A call is
hardly usable even without loss (R of 71)."""
CALL, LATE = "call", "late"


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


def scenario(run: Run) -> Scenario:
    """Return the scenario of a run."""
    control, network = CONTROLS[run.control], NETWORKS[run.network]
    description = _links(run, control, network)
    own_class = 0 if control.chain is None else CONTROLS_CLASS

    def add(
        name: str,
        host: int | str,
        flow: tuple[Transport, Source],
        start: str = "0 s",
        jitter: str = "0 s",
        class_: int = 0,
    ) -> None:
        description.add_flow(
            name, f"s{host}", f"d{host}", *flow, start=start, start_jitter=jitter, class_=class_
        )

    def add_each(names: list[str], flow: tuple[Transport, Source], class_: int = 0) -> None:
        for index, name in enumerate(names):
            add(name, index % network.hosts + 1, flow, jitter="1 s", class_=class_)

    own, newreno = _flow(control, network), _flow(NEWRENO, network)
    match run.kind:
        case "alone":
            add_each(flow_names("control", network.flows), own)
            add(LATE, network.hosts // 2 + 1, own, start=f"{run.late_s:g} s")
        case "beside":
            half = network.flows // 2
            add_each(flow_names("control", half), own, own_class)
            add_each(flow_names("tcp", half), newreno)
        case "voice":
            # The call is over DCCP with the control, or over UDP if the control is one of TCP.
            over_dccp, call = control.kind == "dccp", CALLS[run.network]
            _attach(description, network, CALL, 0, jitter="0 s")
            voice = Voice(
                frame=f"{FRAME_B} B", interval=f"{FRAME_MS} ms", deadline=f"{DEADLINE_MS} ms"
            )
            transport = control.transport if over_dccp else Udp()
            add(CALL, CALL, (transport, voice), class_=own_class if over_dccp else 0)
            tcp = newreno if over_dccp else own
            for number, name in enumerate(flow_names("tcp", call.flows), start=1):
                add(name, number, tcp, start=f"{call.gap_s * number} s", jitter="500 ms")
    if run.kind != "voice":
        webs = [f"web{number + 1}" for number in range(network.web_sources)]
        add_each(webs, (newreno[0], network.web))
    return description


def _links(run: Run, control: Control, network: Network) -> Scenario:
    """Return the scenario of a run without its flows."""
    links = network.links
    description = Scenario(
        name=run.name,
        duration=f"{run.duration_s:g} s",
        seed=run.seed,
        nodes=["r1", "r2"],
        links=[
            Link(
                from_="r1",
                to="r2",
                rate=links.rate,
                delay=links.delay,
                queue=_queue(run.kind, control, network),
                loss=links.loss,
                trace=network.trace and network.trace(run.seed, run.duration_s),
                back=links.back,
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
    sender, receiver, links = f"s{name}", f"d{name}", network.links
    delay = links.access_delays[host % len(links.access_delays)]
    description.nodes += [sender, receiver]
    description.links += [
        Link(from_=sender, to="r1", rate=links.access_rate, delay=delay, jitter=jitter),
        Link(from_="r2", to=receiver, rate=links.access_rate, delay=delay),
    ]


def _queue(kind: Kind, control: Control, network: Network) -> Queue:
    """Return the bottleneck's queue: the paper's, or the router that the control needs."""
    if control.chain is None:
        return network.links.queue
    router = VcpRouter(packets=network.buffer_packets, chain=control.chain)
    shares = kind == "beside" or (kind == "voice" and control.kind == "dccp")
    if not shares:
        return router
    # TCP's routers read the bits of VCP differently, so each kind needs its own sub-queue.
    queues = (network.links.queue, router)
    return Weighted(queues=tuple(SubQueue(weight=1, queue=queue) for queue in queues))


def _flow(control: Control, network: Network) -> tuple[Dccp | Tcp, Ftp]:
    """Return transport and source of a flow that always has data, in full-size packets."""
    if isinstance(control.transport, Tcp):
        segment = f"{network.packet_b - IP_B - TCP_B} B"
        return control.transport.replace(segment=segment), Ftp()
    return control.transport, Ftp(datagram=f"{network.packet_b - IP_B - DCCP_B} B")
