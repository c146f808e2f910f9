"""Debian's kernel for QEMU: fetched once by apt into a cache, unpacked, and given an initramfs."""

from __future__ import annotations

import fcntl
import lzma
import os
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

META_PACKAGE = "linux-image-amd64"

MODULES = (
    "virtio_pci",
    "virtio_net",
    "9pnet_virtio",
    "9p",
    "dccp_ipv4",
    "dccp_ipv6",
    "sch_netem",
    "sch_tbf",
    "sch_ingress",
    "cls_matchall",
    "act_mirred",
    "ifb",
)
"""What the initramfs loads, with what these depend on."""

INIT = """#!/bin/sh
# Mounts the host's root (9p, read-only) and becomes the guest's init in it.
b=/bin/busybox
fail() { echo "guest: $*"; $b poweroff -f; }
$b mkdir -p /proc /r
$b mount -t proc proc /proc
for m in $($b cat /modules); do
    $b insmod /m/$m $([ $m = ifb.ko ] && echo numifbs=1) || echo "guest: cannot load $m"
done
share=trans=virtio,version=9p2000.L,msize=262144
$b mount -t 9p -o $share,ro,cache=loose root /r || fail "cannot mount the host's root"
$b mount -t proc proc /r/proc
$b mount -t sysfs sys /r/sys
$b mount -t devtmpfs dev /r/dev
$b mount -t tmpfs tmpfs /r/run
$b mkdir -p /r/run/guest
$b mount -t 9p -o $share,cache=none jobs /r/run/guest || fail "cannot mount the folder of jobs"
exec $b chroot /r "$GUEST_INIT"
"""


class KernelError(Exception):
    """There is no kernel to boot, and why."""


@dataclass(frozen=True)
class Kernel:
    """Files that QEMU boots."""

    version: str
    vmlinux: Path
    initramfs: Path


def folder() -> Path:
    """Return where the kernel is kept: ``SKYWAVE_KERNEL_CACHE``, or the user's cache."""
    named = os.environ.get("SKYWAVE_KERNEL_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(named) if named else Path(home) / "skywave" / "linux-dccp"


def cached() -> bool:
    """Return whether the kernel has been fetched."""
    return (folder() / "version").exists()


def candidate() -> str:
    """Return the package that apt would fetch.

    Raises ``KernelError`` where apt has none.
    """
    if not all(map(shutil.which, ("apt-get", "apt-cache", "dpkg-deb"))):
        raise KernelError("no apt to fetch Debian's kernel with")
    found = subprocess.run(
        ["apt-cache", "depends", "--important", META_PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    name = re.search(r"Depends: (linux-image-\d\S*)", found.stdout)
    if not name:
        raise KernelError(f"apt knows no {META_PACKAGE} (apt-get update?)")
    return name.group(1)


def fetch() -> Kernel:
    """Return the kernel, fetched and unpacked where it is not in the cache yet.

    Raises ``KernelError`` where it cannot be had, or has no DCCP.
    """
    cache = folder()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if not cached():
                _download(cache)
            version = (cache / "version").read_text().strip()
            initramfs = cache / "initramfs.gz"
            if not initramfs.exists() or initramfs.stat().st_mtime < Path(__file__).stat().st_mtime:
                _pack(cache, version, initramfs)
        except subprocess.CalledProcessError as error:
            raise KernelError(f"{error.cmd[0]}: {' '.join(error.stderr.split())}") from error
    return Kernel(version, cache / "vmlinux", initramfs)


def _run(*words: object, cwd: Path | None = None) -> str:
    command = [str(word) for word in words]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd).stdout


def _download(cache: Path) -> None:
    with TemporaryDirectory(dir=cache) as name:
        work = Path(name)
        _run("apt-get", "download", candidate(), cwd=work)
        root = work / "root"
        _run("dpkg-deb", "-x", next(work.glob("linux-image-*.deb")), root)
        modules = next((root / "lib" / "modules").iterdir())
        version = modules.name
        if not list(modules.glob("kernel/net/dccp/dccp.ko*")):
            raise KernelError(f"Linux {version} has no DCCP (Debian 12's 6.1 has it)")
        _prune(modules / "kernel")
        _run("depmod", "-b", root, version)
        _unpack((root / "boot" / f"vmlinuz-{version}").read_bytes(), cache / "vmlinux")
        shutil.rmtree(cache / "lib", ignore_errors=True)
        (root / "lib").rename(cache / "lib")
        (cache / "version").write_text(version + "\n")


def _prune(kernel: Path) -> None:
    """Remove most of 300 MB of modules that no guest loads."""
    keep = {"virtio", "net", "9p", "netfs", "fscache"}
    for pattern in ("sound", "drivers/*", "fs/*", "arch", "drivers/net/*/"):
        for found in kernel.glob(pattern):
            if found.name not in keep and found.is_dir():
                shutil.rmtree(found)


def _unpack(image: bytes, vmlinux: Path) -> None:
    """Unpack a bzImage, which costs a guest without KVM five of eight seconds of its boot.

    QEMU boots an ELF kernel by its PVH entry. The fields are those of Linux's x86 boot protocol:
    setup_sects at 0x1f1, payload_offset and payload_length at 0x248.
    """
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (image[0x1F1] + 1) * 512 + offset
    payload = image[start : start + length]
    if not payload.startswith(b"\xfd7zXZ\0"):
        raise KernelError("the kernel is not packed with xz, as Debian's is")
    vmlinux.write_bytes(lzma.LZMADecompressor().decompress(payload))


def _pack(cache: Path, version: str, initramfs: Path) -> None:
    """Make the initramfs: busybox, the modules in the order of loading, and ``INIT``."""
    with TemporaryDirectory(dir=cache) as name:
        root = Path(name) / "root"
        for inner in ("m", "dev", "bin"):
            (root / inner).mkdir(parents=True)
        order: list[str] = []
        for module in MODULES:
            shown = _run("modprobe", "-d", cache, "-S", version, "--show-depends", module)
            for line in shown.splitlines():
                path = Path(line.split()[1])
                if path.name not in order:
                    order.append(path.name)
                    shutil.copy(path, root / "m")
        (root / "modules").write_text("\n".join(order) + "\n")
        shutil.copy(shutil.which("busybox") or "busybox", root / "bin" / "busybox")
        (root / "bin" / "sh").symlink_to("busybox")
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        packed = Path(name) / "initramfs.gz"
        _run("sh", "-c", f"find . | cpio -o -H newc -R 0:0 | gzip -1 > {packed}", cwd=root)
        packed.replace(initramfs)
