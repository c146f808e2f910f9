"""Guests: a Linux kernel with DCCP, booted beside the code under test.

The guest's root is the host's root, read-only, so the host's programs run in it as they are.
Commands reach it over its console and results come back in a shared folder, so nothing but DCCP
passes the interface.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from validation.linux import kernel, registers
from validation.linux.namespace import LabError, link_address, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.linux.namespace import Namespace

Kind = Literal["uml", "qemu", "virtual"]
"""``virtual`` is a guest on virtual time, which has both ends."""

HERE = Path(__file__).resolve().parent
INIT = HERE / "guest" / "init.sh"
PEER = HERE / "guest" / "peer.py"
UML_MODULES = "/usr/lib/uml/modules"

BOOT_S = 60.0
LIFE_S = 1800
"""A guest that nobody took down powers itself off after so long."""

POWER_OFF_S = 4.0
TIMED_OUT = 124
"""Exit status of a job that was not done in time, as timeout(1) has it."""


@dataclass(frozen=True)
class Machine:
    """A guest that can be booted."""

    name: str
    kind: Kind
    number: int

    @property
    def tap(self) -> str:
        """Name of its TAP device in the namespace."""
        return f"tap-{self.name}"

    def address(self, family: str) -> str:
        """Return its address; the family is "IPv4" or "IPv6"."""
        return f"10.33.0.{self.number}" if family == "IPv4" else f"fd33::{self.number}"


MACHINES = {
    each.name: each
    for each in (
        Machine("uml", "uml", 2),
        Machine("qemu", "qemu", 3),
        Machine("uml2", "uml", 4),
        Machine("qemu2", "qemu", 5),
    )
}


@dataclass(frozen=True)
class Done:
    """What a job in a guest left."""

    status: int
    out: str
    err: str


class Job:
    """A command that runs in a guest; its files are in the shared folder."""

    def __init__(self, guest: Guest, base: Path, limit_s: float) -> None:
        self._guest = guest
        self._base = base
        self._limit_s = limit_s

    def _file(self, suffix: str) -> Path:
        return self._base.with_suffix(suffix)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._file(".status").exists()

    @property
    def err(self) -> str:
        """What it has written to stderr so far."""
        return _read(self._file(".err"))

    def end(self) -> None:
        """End it before its limit."""
        self._guest.tell(f"K {self._base.name}")

    def wait(self) -> Done:
        """Wait for it to end; the guest ends it at its limit."""
        ended = wait_until(self._file(".status"), self._limit_s + 5)
        status = int(_read(self._file(".status"))) if ended else TIMED_OUT
        return Done(status, _read(self._file(".out")), self.err)


class Guest:
    """A booted guest, known by the folder that it shares with the host."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.folder = folder

    def start(self, *words: object, limit_s: int = 30) -> Job:
        """Start a command in the guest, which ends it after ``limit_s`` seconds."""
        jobs = self.folder / "jobs"
        number = 1 + len(list(jobs.glob("*.cmd")))
        base = jobs / str(number)
        base.with_suffix(".limit").write_text(f"{limit_s}\n")
        base.with_suffix(".cmd").write_text(f"exec {shlex.join(map(str, words))}\n")
        self.tell(f"J {number}")
        return Job(self, base, limit_s)

    def run(self, *words: object, limit_s: int = 30) -> str:
        """Run a command in the guest; its output.

        Raises ``LabError`` where it fails.
        """
        done = self.start(*words, limit_s=limit_s).wait()
        if done.status:
            raise LabError(f"{self.machine.name}: {shlex.join(map(str, words))}: {done.err}")
        return done.out

    def tell(self, line: str) -> None:
        """Write a line to the guest's console."""
        try:
            console = os.open(self.folder / "console", os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            raise LabError(f"{self.machine.name} is not up") from error
        os.write(console, f"{line}\n".encode())
        os.close(console)


def python() -> str:
    """Return the interpreter for the guest: ours, without the virtual environment."""
    return str(Path(sys.executable).resolve())


@contextmanager
def guest(machine: Machine, space: Namespace, state: Path) -> Iterator[Guest]:
    """Boot a guest in the namespace, and power it off afterwards.

    Raises ``LabError`` where it does not boot, with the end of what it said.
    """
    for path in (HERE, state, kernel.folder()):
        if re.search(r"[\s,=]", str(path)):
            raise LabError(f"{path}: a kernel's command line takes no white space, comma or =")
    folder = state / machine.name
    (folder / "jobs").mkdir(parents=True)
    os.mkfifo(folder / "console")
    tap = f"ip tuntap add dev {machine.tap} mode tap; ip link set {machine.tap} master br0 up"
    space.run("sh", "-ec", tap)
    is_uml = machine.kind == "uml"
    command = _uml(machine, folder) if is_uml else _qemu(machine, folder)
    stdin = os.open(folder / "console", os.O_RDWR)  # open for writing too: never at its end
    environment = os.environ | (registers.environment(folder) if is_uml else {})
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else str(folder)  # noqa: S108 - UML maps it
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            space.command(*command),
            stdin=stdin,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=folder,
            env=environment | {"TMPDIR": memory},
        )
    os.close(stdin)
    booted = Guest(machine, folder)
    try:
        _await_boot(booted, process)
        yield booted
    finally:
        _power_off(booted, process)
        space.run("ip", "link", "del", machine.tap)


def _await_boot(booted: Guest, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + BOOT_S
    while not (booted.folder / "ready").exists():
        if process.poll() is not None or time.monotonic() > end:
            said = _read(booted.folder / "log")[-2000:]
            raise LabError(f"{booted.machine.name} did not boot; it said:\n{said}")
        time.sleep(0.02)


def _power_off(booted: Guest, process: subprocess.Popen[bytes]) -> None:
    try:
        if process.poll() is None and (booted.folder / "ready").exists():
            booted.tell("Q")
            process.wait(POWER_OFF_S)
    except subprocess.TimeoutExpired:
        pass  # killed below
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment(machine: Machine) -> list[str]:
    """Return what the kernel hands to the guest's init."""
    return [
        f"GUEST_KIND={machine.kind}",
        f"GUEST_NUMBER={machine.number}",
        f"GUEST_LIFE={LIFE_S}",
    ]


def _uml(machine: Machine, folder: Path) -> list[str]:
    tap = f"ifname={machine.tap},depth=64,gro=0,mac={link_address(machine.number)}"
    return [
        "linux.uml",
        "mem=256M",
        "umid=guest",
        f"uml_dir={folder}",
        *("rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
        *("con=null", "ssl=null", "con0=fd:0,fd:1"),
        *(f"init={INIT}", "panic=-1", "noreboot"),
        # 2.5 s of the boot are a RAID benchmark, 512 legacy ptys and zswap.
        *("initcall_blacklist=raid6_select_algo", "pty.legacy_count=0", "zswap.enabled=0"),
        f"vec0:transport=tap,{tap}",
        *_environment(machine),
        f"GUEST_FOLDER={folder}",
        f"GUEST_MODULES={UML_MODULES}",
    ]


def _qemu(machine: Machine, folder: Path) -> list[str]:
    try:
        booted = kernel.fetch()
    except kernel.KernelError as error:
        raise LabError(str(error)) from error
    boot = "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on"
    share = "local,id={},path={},security_model=none,multidevs=remap"
    return [
        "qemu-system-x86_64",
        *("-M", "q35", "-accel", "tcg", "-m", "256"),
        *("-nodefaults", "-display", "none", "-no-reboot"),
        *("-kernel", str(booted.vmlinux), "-initrd", str(booted.initramfs)),
        *("-append", f"{boot} {' '.join(_environment(machine))} GUEST_INIT={INIT}"),
        *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        *("-netdev", f"tap,id=net,ifname={machine.tap},script=no,downscript=no"),
        *("-device", f"virtio-net-pci,netdev=net,romfile=,mac={link_address(machine.number)}"),
        *("-fsdev", share.format("root", "/") + ",readonly=on"),
        *("-device", "virtio-9p-pci,fsdev=root,mount_tag=root"),
        *("-fsdev", share.format("jobs", folder)),
        *("-device", "virtio-9p-pci,fsdev=jobs,mount_tag=jobs"),
    ]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
