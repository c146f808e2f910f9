"""Starting an emulation in namespaces of its own.

util-linux's ``unshare`` creates them. All processes of the emulation are in a process namespace,
whose first process has the network; when it ends, the system kills the others, and the network
disappears with them. It ends when the launching process does, however that ends: it holds a pipe.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skywave.realtime.privileges import LaunchError, check_namespaces

if TYPE_CHECKING:
    from skywave.realtime.link.request import Request

PATIENCE_S = 15.0
"""How long an emulation that was told to end may take."""

AS_ROOT = ("--pid", "--fork", "--kill-child", "--mount-proc")
AS_USER = ("--user", "--map-root-user", "--net", *AS_ROOT)


def launch(request: Request) -> int:
    """Run an emulation; return the status of its command, or 3 if it was too late for ``strict``.

    Raises:
        LaunchError: If the system does not let us create namespaces.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        raise LaunchError("unshare is not installed: it is part of util-linux")
    is_root = os.geteuid() == 0
    if not is_root and request.peer is None:
        raise LaunchError(
            "only root can connect this machine to a link: name the program at its far end with "
            "--peer, or run it as root"
        )
    namespaces = [unshare, *(AS_ROOT if is_root else AS_USER)]
    check_namespaces(namespaces, is_root=is_root)
    inner, outer = os.pipe()
    try:
        program = [
            sys.executable,
            "-m",
            "skywave.realtime.link.inside",
            str(inner),
            request.to_json(),
        ]
        with _signals_left_to_the_command():
            process = subprocess.Popen([*namespaces, "--", *program], pass_fds=[inner])
            os.close(inner)
            try:
                return process.wait()
            except KeyboardInterrupt:
                os.close(outer)
                outer = -1
                process.wait(timeout=PATIENCE_S)
                raise
    finally:
        if outer >= 0:
            os.close(outer)


@contextmanager
def _signals_left_to_the_command() -> Iterator[None]:
    """Leave Ctrl-C to the command, which gets it too; SIGTERM ends the emulation as always."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
