"""The privileges that network namespaces take."""

from __future__ import annotations

import os
import shutil
import sys

from skywave.emulate.launch import LaunchError, check

_INSIDE = "SKYWAVE_IN_USER_NAMESPACE"
_UNSHARE = ("--user", "--map-root-user", "--net")


def acquire(module: str = "skywave") -> None:
    """Return if network namespaces can be created; otherwise run the command in a user namespace.

    There ``module`` runs again with the same arguments, in the place of this process: read nothing
    from standard input before.

    Raises:
        LaunchError: If the system does not let users create namespaces.

    """
    if os.geteuid() == 0 or os.environ.get(_INSIDE):
        return
    unshare = shutil.which("unshare")
    if unshare is None:
        raise LaunchError("unshare is not installed: it is part of util-linux; or run it as root")
    namespaces = [unshare, *_UNSHARE]
    check(namespaces, is_root=False)
    program = [sys.executable, "-m", module, *sys.argv[1:]]
    os.execve(unshare, [*namespaces, "--", *program], {**os.environ, _INSIDE: "1"})  # noqa: S606
