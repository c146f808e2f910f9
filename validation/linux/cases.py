"""The matrix as data: the properties of each connection, and its expected end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, Literal

from validation.linux.emulation import PATHS, Path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.linux.guests import Kind

Family = Literal["IPv4", "IPv6"]

SERVICE_CODE = 42
WRONG_SERVICE_CODE = 43
ELSEWHERE = 1_000
"""How far from the port that is asked for the listener is, where that port is to be closed."""

SIZE_BYTES = 500
DATAGRAMS = 40
INTERVAL_MS = 5
"""Time between datagrams that the sending application leaves: 800 kbit/s."""

IDLE_MS = 500
"""How long an end waits for more before it closes, where it cannot know that all has come."""

FIRST_TIMEOUT_MS = 1000
"""How long a sender is silent whose first packets get no acknowledgement: it has no round-trip time
yet (RFC 6298 section 2.1). They or their acknowledgement may be lost; and Linux, which acknowledges
every second packet, does not count the one that completes its handshake (net/dccp/input.c,
dccp_rcv_state_process): data, if it has overtaken the first Ack."""

LEAST_SHARE_OF_LOSSY = 0.5
LEAST_SHARE_OF_REORDERED = 0.9
"""What must arrive at least: a packet overtaken by the Close may come too late."""


class Role(StrEnum):
    """Who connects."""

    CONNECT = "we connect"
    LISTEN = "we listen"


class Ending(StrEnum):
    """How the connection ends."""

    WE_CLOSE = "we close"
    KERNEL_CLOSES = "kernel closes"
    WE_RESET = "we reset"
    KERNEL_RESETS = "kernel resets"
    WRONG_SERVICE = "wrong service code"
    CLOSED_PORT = "closed port"

    @property
    def is_refusal(self) -> bool:
        """Whether who connects is refused, so that there is no connection."""
        return self in (Ending.WRONG_SERVICE, Ending.CLOSED_PORT)

    @property
    def ours(self) -> bool:
        """Whether we are the ones to end it."""
        return self in (Ending.WE_CLOSE, Ending.WE_RESET)

    @property
    def is_reset(self) -> bool:
        """Whether it is torn down rather than closed."""
        return self in (Ending.WE_RESET, Ending.KERNEL_RESETS)


class Flow(StrEnum):
    """Which way datagrams go."""

    TO_KERNEL = "to kernel"
    FROM_KERNEL = "from kernel"
    BOTH = "both ways"


@dataclass(frozen=True)
class Case:
    """One connection of the matrix."""

    guest: Kind
    role: Role
    ccid: int
    family: Family
    path_name: str
    ending: Ending
    flow: Flow
    kernel_insists: bool = True
    """Whether the kernel offers this CCID alone, or all that it has, CCID 2 first."""

    @property
    def path(self) -> Path:
        """The path that it takes."""
        return PATHS[self.path_name]

    @property
    def name(self) -> str:
        """All of it in one line."""
        words = [
            f"{self.role}, CCID {self.ccid}{'' if self.kernel_insists else ' of several'}",
            self.family,
            self.path_name,
            self.flow,
            self.ending,
        ]
        return ", ".join(words)

    def sends(self, ours: bool) -> int:
        """Return how many datagrams an end sends: ours, or the kernel's."""
        if self.ending.is_refusal:
            return 0
        silent = Flow.FROM_KERNEL if ours else Flow.TO_KERNEL
        return 0 if self.flow is silent else DATAGRAMS

    @property
    def idle_ms(self) -> int:
        """How long the end that closes waits after the last datagram.

        We do not wait where we only send and then close: our queue must empty all the same. Linux
        throws away what congestion control holds back at that time (net/dccp/output.c,
        dccp_flush_write_queue).
        """
        at_once = self.ending is Ending.WE_CLOSE and self.sends(ours=False) == 0
        if at_once:
            return 0
        silence = FIRST_TIMEOUT_MS if self.path.loses or self.path.reorders else 0
        return silence + IDLE_MS + 4 * self.path.delay_ms

    @property
    def least_share(self) -> float:
        """The least share of datagrams that must arrive."""
        if self.path.loses:
            return LEAST_SHARE_OF_LOSSY
        return LEAST_SHARE_OF_REORDERED if self.path.reorders else 1.0

    @property
    def in_order(self) -> bool:
        """Whether datagrams arrive as they were sent, all of them."""
        return self.least_share == 1.0


GUEST_OF_CCID: dict[int, Kind] = {2: "uml", 3: "qemu"}
FAMILIES: tuple[Family, ...] = ("IPv4", "IPv6")


def matrix() -> list[Case]:
    """Return every case, those of one guest and path together."""
    cases = [*_product(), *_flows(), *_negotiation(), *_refusals()]
    return sorted(cases, key=lambda case: (case.guest, list(PATHS).index(case.path_name)))


def on_virtual_time(cases: list[Case]) -> list[Case]:
    """Return the same cases for guests on virtual time, whose kernel has both CCIDs."""
    return [replace(case, guest="virtual") for case in cases]


def _product() -> Iterator[Case]:
    """{connect, listen} x {CCID} x {IP} x {path} x {ending}; who connects sends."""
    endings = [ending for ending in Ending if not ending.is_refusal]
    for ccid, path, role, family, ending in product(GUEST_OF_CCID, PATHS, Role, FAMILIES, endings):
        flow = Flow.TO_KERNEL if role is Role.CONNECT else Flow.FROM_KERNEL
        yield Case(GUEST_OF_CCID[ccid], role, ccid, family, path, ending, flow)


def _flows() -> Iterator[Case]:
    """Who listens sends, and both send: on a clean path and on one that loses."""
    for ccid, path, role in product(GUEST_OF_CCID, ("clean", "loss"), Role):
        guest = GUEST_OF_CCID[ccid]
        back = Flow.FROM_KERNEL if role is Role.CONNECT else Flow.TO_KERNEL
        yield Case(guest, role, ccid, "IPv4", path, Ending.WE_CLOSE, back)
        yield Case(guest, role, ccid, "IPv4", path, Ending.WE_CLOSE, Flow.BOTH)
        yield Case(guest, role, ccid, "IPv6", path, Ending.KERNEL_CLOSES, Flow.BOTH)


def _negotiation() -> Iterator[Case]:
    """A kernel that offers CCIDs 2 and 3 negotiates otherwise than one that insists on 2."""
    for role, family in product(Role, FAMILIES):
        for ending in (Ending.WE_CLOSE, Ending.KERNEL_CLOSES):
            yield Case("qemu", role, 2, family, "clean", ending, Flow.BOTH, kernel_insists=False)


def _refusals() -> Iterator[Case]:
    """Who connects asks for another service, or at a port where nobody listens."""
    for ccid, role, family in product(GUEST_OF_CCID, Role, FAMILIES):
        flow = Flow.TO_KERNEL if role is Role.CONNECT else Flow.FROM_KERNEL
        for ending in (Ending.WRONG_SERVICE, Ending.CLOSED_PORT):
            yield Case(GUEST_OF_CCID[ccid], role, ccid, family, "clean", ending, flow)


def short() -> list[Case]:
    """Return a handful that shows the essentials: CCID 2, User Mode Linux."""
    rows: list[tuple[str, Role, Family, Ending, Flow]] = [
        ("clean", Role.CONNECT, "IPv4", Ending.WE_CLOSE, Flow.BOTH),
        ("clean", Role.CONNECT, "IPv6", Ending.KERNEL_CLOSES, Flow.TO_KERNEL),
        ("clean", Role.LISTEN, "IPv4", Ending.WE_CLOSE, Flow.BOTH),
        ("clean", Role.LISTEN, "IPv6", Ending.KERNEL_CLOSES, Flow.FROM_KERNEL),
        ("clean", Role.CONNECT, "IPv4", Ending.WE_RESET, Flow.TO_KERNEL),
        ("clean", Role.LISTEN, "IPv4", Ending.KERNEL_RESETS, Flow.FROM_KERNEL),
        ("clean", Role.CONNECT, "IPv4", Ending.WRONG_SERVICE, Flow.TO_KERNEL),
        ("clean", Role.LISTEN, "IPv4", Ending.CLOSED_PORT, Flow.FROM_KERNEL),
        ("loss", Role.CONNECT, "IPv4", Ending.WE_CLOSE, Flow.TO_KERNEL),
        ("loss", Role.LISTEN, "IPv4", Ending.KERNEL_CLOSES, Flow.FROM_KERNEL),
    ]
    return [
        Case("uml", role, 2, family, path, ending, flow)
        for path, role, family, ending, flow in rows
    ]
