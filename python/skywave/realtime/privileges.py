"""The requirements of real time: Linux, and privileges for network namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache

from skywave import _core
from skywave._errors import SkywaveError

_INSIDE = "SKYWAVE_IN_USER_NAMESPACE"
_UNSHARE = ("--user", "--map-root-user", "--net")


class LaunchError(SkywaveError, RuntimeError):
    """The system does not let us create namespaces."""


def require() -> None:
    """Raise ``LaunchError`` if this build of Skywave cannot run in real time."""
    if not hasattr(_core, "run_live"):
        raise LaunchError(
            "runs in real time need Linux, and the extension built with its default features"
        )


def acquire(module: str = "skywave") -> None:
    """Return if network namespaces can be created; otherwise run the command in a user namespace.

    There ``module`` runs again with the same arguments, in the place of this process: read nothing
    from standard input before.

    Raises:
        LaunchError: If the system does not let users create namespaces.
    """
    if os.environ.get(_INSIDE) or os.geteuid() == 0:
        return
    check()
    namespaces = around()
    program = [sys.executable, "-m", module, *sys.argv[1:]]
    environment = {**os.environ, _INSIDE: "1"}
    os.execve(namespaces[0], [*namespaces, "--", *program], environment)  # noqa: S606


def around() -> list[str]:
    """Return the command in which a process can create network namespaces; empty for root."""
    if os.geteuid() == 0:
        return []
    unshare = shutil.which("unshare")
    if unshare is None:
        raise LaunchError("unshare is not installed: it is part of util-linux; or run it as root")
    return [unshare, *_UNSHARE]


@cache
def check() -> None:
    """Check that network namespaces can be created. A success is remembered."""
    is_root = os.geteuid() == 0
    if not is_root:
        check_namespaces(around(), is_root=False)
    elif unshare := shutil.which("unshare"):
        check_namespaces([unshare, "--net"], is_root=True)


def refusal() -> str | None:
    """Return why nothing can run in real time here; None if it can."""
    try:
        require()
        check()
    except LaunchError as error:
        return str(error)
    return None


def check_namespaces(namespaces: list[str], *, is_root: bool) -> None:
    """Raise ``LaunchError`` if such namespaces cannot be created."""
    tried = subprocess.run([*namespaces, "--", "true"], capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        return
    reason = " ".join(tried.stderr.split()).removeprefix("unshare: ")
    if is_root:
        raise LaunchError(f"the system does not let root create namespaces: {reason}")
    raise LaunchError(
        f"the system does not let users create namespaces: {reason}; run it as root, or allow it: "
        "sysctl kernel.unprivileged_userns_clone=1, or on Ubuntu "
        "kernel.apparmor_restrict_unprivileged_userns=0"
    )
