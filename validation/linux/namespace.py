"""A network namespace with a bridge: the code under test on the host's side, guests on TAPs.

============== =========== ======== ================
who            IPv4        IPv6     device
============== =========== ======== ================
host           10.33.0.1   fd33::1  ``br0``
guest number n 10.33.0.n   fd33::n  its TAP
============== =========== ======== ================

Neighbours are entered by hand: neither ARP nor neighbour discovery is in the way of packets.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "skywave-lab"
SILENCE = Path(__file__).resolve().with_name("silence.py")
HOST = {"IPv4": "10.33.0.1", "IPv6": "fd33::1"}
NUMBERS = range(2, 6)


class LabError(Exception):
    """Something of the lab could not be set up, and why."""


def link_address(number: int) -> str:
    """Return the Ethernet address of a host or guest."""
    return f"02:33:00:00:00:{number:02x}"


def run(*words: object) -> str:
    """Run a program of the host; its output.

    Raises ``LabError`` where it fails.
    """
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Namespace:
    """A namespace, known by the command that runs others inside."""

    def __init__(self, *enter: str) -> None:
        self._enter = enter

    def command(self, *words: object) -> list[str]:
        """Return the command that runs these words inside."""
        return [*self._enter, *map(str, words)]

    def run(self, *words: object) -> str:
        """Run a program inside; its output."""
        return run(*self.command(*words))


@contextmanager
def namespace(label: str) -> Iterator[Namespace]:
    """Make a namespace that is silent about DCCP, and take it down afterwards."""
    _remove_orphans()
    name = f"{PREFIX}-{os.getpid()}-{label}"
    made = Namespace("ip", "netns", "exec", name)
    run("ip", "netns", "add", name)
    try:
        made.run("sh", "-ec", _setup())
        silencer = subprocess.Popen(
            made.command(sys.executable, "-I", SILENCE),
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            if silencer.stdout is None or not silencer.stdout.readline():
                raise LabError("cannot open raw sockets for DCCP in a namespace")
            yield made
        finally:
            silencer.kill()
            silencer.communicate()
    finally:
        run("ip", "netns", "del", name)


def _setup() -> str:
    neighbours = [
        f"ip neigh add {address} lladdr {link_address(number)} dev br0"
        for number in NUMBERS
        for address in (f"10.33.0.{number}", f"fd33::{number}")
    ]
    bridge = f"br0 address {link_address(1)} type bridge forward_delay 0 mcast_snooping 0"
    return "\n".join(
        [
            "ip link set lo up",
            f"ip link add {bridge}",
            "ip link set br0 up",
            f"ip addr add {HOST['IPv4']}/24 dev br0",
            f"ip -6 addr add {HOST['IPv6']}/64 dev br0 nodad",
            *neighbours,
        ]
    )


def _remove_orphans() -> None:
    """Delete namespaces of runs that were killed before they could."""
    for line in run("ip", "netns", "list").splitlines():
        name = line.split()[0]
        if not name.startswith(PREFIX):
            continue
        owner = name.removeprefix(PREFIX + "-").split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with suppress(LabError):
                run("ip", "netns", "del", name)


def wait_until(path: Path, seconds: float) -> bool:
    """Wait for a file; false if there is none in time."""
    end = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
