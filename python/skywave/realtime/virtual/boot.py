"""The first program of a guest, which runs another program and switches the guest off.

It calls the system itself: the host's ``mount`` belongs to the host's root, who need not be the
guest's.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import socket
import struct
import subprocess
from pathlib import Path

ORDER = "order.json"
"""The file that says what to do."""
STATUS = "status"
"""The file with the program's exit status, which is negative if a signal ended it."""
STDOUT, STDERR = "stdout", "stderr"
"""The files of the program's output."""
FAULT = "fault"
"""The file that says why the program could not be started."""

SCRATCH = "/dev/shm"  # noqa: S108  (nobody else is there)
"""The directory that a program may write to, in the guest's memory."""
FILES = {"/proc": "proc", "/sys": "sysfs", SCRATCH: "tmpfs"}
"""What is mounted where."""
HOST_FILES = "hostfs"
"""The type of file system that is a directory of the host."""
POWER_OFF = 0x4321FEDC
"""The command of reboot(2)."""
SIOCSIFFLAGS = 0x8914
"""The request of ioctl(2) that sets an interface's flags."""
IFF_UP = 1
"""The flag of an interface that is up."""
MOST_FILES = 1 << 20
"""How many files a program may have open."""


def main(folder: Path) -> None:
    """Do what the order in a folder says, and switch the guest off."""
    order = json.loads((folder / ORDER).read_text(encoding="utf-8"))
    _mount(HOST_FILES, str(folder), str(folder))
    try:
        _prepare(order["writable"])
        with (folder / STDOUT).open("wb") as out, (folder / STDERR).open("wb") as err:
            done = subprocess.run(
                order["program"],
                stdout=out,
                stderr=err,
                env=order["environment"],
                cwd=order["directory"],
                check=False,
            )
        (folder / STATUS).write_text(str(done.returncode), encoding="ascii")
    except OSError as error:
        (folder / FAULT).write_text(str(error), encoding="utf-8")
    _system("reboot", POWER_OFF)


def _prepare(writable: list[str]) -> None:
    for place, kind in FILES.items():
        Path(place).mkdir(exist_ok=True)
        _mount(kind, place, "")
    for directory in writable:
        _mount(HOST_FILES, directory, directory)
    _bring_up("lo")
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))


def _bring_up(interface: str) -> None:
    """Set the flag of an interface that it is up (netdevice(7))."""
    request = struct.pack("16sh", interface.encode(), IFF_UP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)


def _mount(kind: str, place: str, source: str) -> None:
    _system("mount", b"none", place.encode(), kind.encode(), 0, os.fsencode(source))


def _system(name: str, *arguments: bytes | int) -> None:
    """Call a function of the C library that fails with -1."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{arguments}: {os.strerror(number)}")
