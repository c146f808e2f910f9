"""The Linux kernels that run on virtual time, which ``make virtual-kernel`` builds."""

from __future__ import annotations

import os
from pathlib import Path

from skywave.realtime.privileges import LaunchError
from skywave.scenario import KernelDccp, Scenario

VARIABLE = "SKYWAVE_VIRTUAL_KERNEL"
"""The environment variable that names a kernel, or a directory of kernels."""
NAME = "linux"
"""The kernel without DCCP, which leaves IP protocol 33 to the raw sockets of programs."""
WITH_DCCP = "linux-dccp"
"""The kernel with DCCP, which resets connections of such sockets."""
HOW = "build it with `make virtual-kernel` in a clone of Skywave (docs/virtual-time.md)"


def find(*, dccp: bool = False) -> Path:
    """Return the kernel, or with ``dccp`` the one that has DCCP.

    ``SKYWAVE_VIRTUAL_KERNEL`` names it, or the directory that has it. Without the variable,
    the directory is that in which ``make virtual-kernel`` leaves it.

    Raises:
        LaunchError: If there is no such kernel. The message says how to get one.
    """
    given = os.environ.get(VARIABLE)
    place = Path(given) if given else cache()
    kernel = place / (WITH_DCCP if dccp else NAME) if place.is_dir() else place
    if not os.access(kernel, os.X_OK) or not kernel.is_file():
        if given:
            raise LaunchError(f"{VARIABLE}: {kernel} is not an executable file: {HOW}")
        raise LaunchError(f"there is no kernel {kernel}: {HOW}")
    return kernel.absolute()


def find_for(scenario: Scenario) -> Path:
    """Return the kernel that a scenario needs: with DCCP if flows of it use the kernel's.

    Raises:
        LaunchError: If there is no such kernel.
    """
    return find(dccp=any(isinstance(flow.transport, KernelDccp) for flow in scenario.flows))


def cache() -> Path:
    """Return the directory in which ``make virtual-kernel`` leaves kernels."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "skywave" / "virtual-kernel"


def missing(*, dccp: bool = False) -> str | None:
    """Return why there is no such kernel as :func:`find` returns; None if there is."""
    try:
        find(dccp=dccp)
    except LaunchError as error:
        return str(error)
    return None
