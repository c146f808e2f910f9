"""Cases on virtual time: in one guest whose kernel has DCCP, both ends and what connects them.

Each is a namespace. The guest's kernel answers DCCP in all of them, and would reset connections of
ours. It ignores DCCP in multicast frames, so packets to our end are sent in those.
"""

from __future__ import annotations

import subprocess
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from skywave import Progress
from skywave.realtime.virtual import kernel
from skywave.realtime.virtual.call import call, shared_folder
from validation.linux import capture
from validation.linux.ends import NamespaceEnd, SkywaveEnd
from validation.linux.lab import ATTEMPTS, Lab, Result, result
from validation.linux.namespace import HOST, LabError, Namespace, link_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from validation.linux import emulation
    from validation.linux.cases import Case
    from validation.linux.ends import End
    from validation.linux.lab import Plan
    from validation.linux.outcome import Evidence

KERNEL = {"IPv4": "10.33.0.2", "IPv6": "fd33::2"}
MULTICAST = "03:33:00:00:00:01"
PATIENCE_S = 300.0
"""How long a guest may take for a case."""


def run(cases: Sequence[tuple[int, Case]], plan: Plan) -> Iterator[Result]:
    """Run cases in one guest, each with its port, and yield their results.

    Cases whose final packet the path has lost run again, in another guest.

    Raises:
        LaunchError: If there is no kernel, or it cannot be booted.
        GuestError: If the guest failed.
        LabError: If something could not be set up in it.
    """
    left = list(cases)
    took_s = dict.fromkeys(left, 0.0)
    for attempt in range(1, ATTEMPTS + 1):
        if not left:
            return
        again = []
        with shared_folder() as folder:
            all_said = call(
                connections,
                kernel.find(dccp=True),
                patience_s=PATIENCE_S,
                writable=[folder],
                cases=left,
                command=plan.command,
                folder=folder,
            )
            for one, said in zip(left, all_said, strict=True):
                port, case = one
                took_s[one] += said.took_s
                file = _file(folder, port)
                found = result(case, said, port=port, file=file, attempt=attempt, keep=plan.keep)
                if found is None:
                    again.append(one)
                else:
                    yield replace(found, seconds=took_s[one])
        left = again


def connections(
    progress: Callable[[Progress], None],
    cases: Sequence[tuple[int, Case]],
    command: Sequence[str] | None,
    folder: Path,
) -> list[Evidence]:
    """Make the connections of cases, in a guest. The folder gets their captures."""
    found: list[Evidence] = []
    with _lab(command, folder) as lab:
        for port, case in cases:
            found.append(lab.connect(case, port, _file(folder, port)))
            progress(Progress("cases", len(found), len(cases)))
    return found


def _file(folder: Path, port: int) -> Path:
    return folder / f"{port}.pcap"


class _ProcessNamespace(Namespace):
    """The namespace of a process."""

    def __init__(self, process: int) -> None:
        super().__init__("nsenter", f"--net=/proc/{process}/ns/net")
        self.process = process


class _Bridge:
    """Between the ends: the port of ours is outside of the path that is emulated."""

    def __init__(self, bridge: Namespace, kernel: Namespace) -> None:
        self._bridge = bridge
        self._kernel = kernel

    def emulate(self, path: emulation.Path) -> None:
        for space, device in ((self._bridge, "kernel"), (self._kernel, "eth0")):
            space.run("sh", "-ec", "\n".join(path.egress(device)))

    def capture(self, file: Path) -> AbstractContextManager[None]:
        return capture.capture(self._bridge, "ours", file)


@contextmanager
def _lab(command: Sequence[str] | None, folder: Path) -> Iterator[Lab]:
    with ExitStack() as stack:
        bridge, first, second = (stack.enter_context(_namespace()) for _ in range(3))
        bridge.run("sh", "-ec", _BRIDGE.format(ours=first.process, kernel=second.process))
        first.run("sh", "-ec", _end(link_address(1), HOST, link_address(2), KERNEL))
        ours: End
        if command is None:
            ours = NamespaceEnd(first, folder / "ours", HOST)
            address = link_address(1)
        else:
            ours = SkywaveEnd(first, folder, command)
            address = MULTICAST
        second.run("sh", "-ec", _end(link_address(2), KERNEL, address, HOST))
        theirs = NamespaceEnd(second, folder / "kernel", KERNEL)
        yield Lab(ours, theirs, _Bridge(bridge, second))


_BRIDGE = """\
ip link add br0 type bridge forward_delay 0 mcast_snooping 0
ip link set br0 up
ip link add ours type veth peer name eth0 netns {ours}
ip link add kernel type veth peer name eth0 netns {kernel}
ip link set ours master br0 up
ip link set kernel master br0 up
"""


def _end(link: str, own: dict[str, str], peer_link: str, peer: dict[str, str]) -> str:
    """Return the script that sets up the namespace of an end: its addresses, and its peer's."""
    return "\n".join(
        [
            "ip link set lo up",
            f"ip link set eth0 address {link} up",
            f"ip addr add {own['IPv4']}/24 dev eth0",
            f"ip addr add {own['IPv6']}/64 dev eth0 nodad",
            *(f"ip neigh add {address} lladdr {peer_link} dev eth0" for address in peer.values()),
        ]
    )


@contextmanager
def _namespace() -> Iterator[_ProcessNamespace]:
    """Make a namespace, which ends with the block."""
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        if process.stdout is None or not process.stdout.readline():
            raise LabError("cannot make a network namespace")
        yield _ProcessNamespace(process.pid)
    finally:
        process.kill()
        process.communicate()
