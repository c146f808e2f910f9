"""The requirements for running the kernel's DCCP, and which of them a machine lacks."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from skywave.realtime.virtual import kernel as virtual_kernel
from validation.linux import kernel, registers

PACKAGES = {
    "ip": "iproute2",
    "busybox": "busybox-static",
    "modprobe": "kmod",
    "tcpdump": "tcpdump",
    "tshark": "tshark",
    "linux.uml": "user-mode-linux",
    "qemu-system-x86_64": "qemu-system-x86",
    "cpio": "cpio",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    registers.COMPILER: "gcc",
}
"""Debian's package of each program."""

COMMON = ("ip", "busybox", "modprobe", "tcpdump", "tshark")
PROGRAMS = {
    "uml": (*COMMON, "linux.uml"),
    "qemu": (*COMMON, "qemu-system-x86_64", "cpio"),
    "virtual": ("ip", "tcpdump", "tshark", "unshare", "nsenter"),
}
"""The programs that each kind of guest needs."""


def find_system_programs() -> None:
    """Let programs be found that Debian keeps from users' PATH."""
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"


def lacking(kind: str) -> str | None:
    """Return why guests of this kind cannot run here, or None."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return f"the guests are x86_64 Linux, this is {platform.system()} on {platform.machine()}"
    if os.geteuid() != 0 and kind != "virtual":
        return "needs root, for a network namespace (try make interop)"
    programs = list(PROGRAMS[kind])
    if kind == "uml" and registers.are_too_many():
        programs.append(registers.COMPILER)
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        packages = " ".join(sorted({PACKAGES[program] for program in missing}))
        return f"{', '.join(missing)} missing (apt-get install {packages})"
    if kind == "virtual":
        return virtual_kernel.missing(dccp=True)
    return _no_device(kind)


def _no_device(kind: str) -> str | None:
    if not Path("/dev/net/tun").exists():
        return "no /dev/net/tun (modprobe tun)"
    if kind == "qemu":
        try:
            kernel.fetch()
        except kernel.KernelError as error:
            return str(error)
    return _no_namespace()


def _no_namespace() -> str | None:
    name = f"skywave-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"no network namespaces: {' '.join(made.stderr.split())}"
    tap = ["ip", "netns", "exec", name, "ip", "tuntap", "add", "dev", "tap0", "mode", "tap"]
    tapped = subprocess.run(tap, capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    return f"no TAP devices: {' '.join(tapped.stderr.split())}" if tapped.returncode else None


def missing_packages() -> list[str]:
    """Return the packages of the programs that are not here."""
    return sorted({PACKAGES[program] for program in PACKAGES if not shutil.which(program)})


def install(packages: list[str]) -> None:
    """Install packages by apt; with none, only learn what apt has. Needs root.

    Raises ``CalledProcessError`` where apt fails, ``OSError`` where there is none.
    """
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    steps = [["update"]]
    if packages:
        steps.append(["install", "-y", "--no-install-recommends", *packages])
    for words in steps:
        subprocess.run(
            [*apt, *words],
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
