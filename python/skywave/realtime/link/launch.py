"""Starting an emulation in namespaces of its own.

util-linux's ``unshare`` creates them. All processes of the emulation are in a process namespace,
whose first process has the network; when it ends, the system kills the others, and the network
disappears with them. It ends when the launching process does, however that ends: it holds a pipe.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Self

from skywave.realtime.privileges import LaunchError, check_namespaces

PATIENCE_S = 15.0
"""How long an emulation that was told to end may take."""

AS_ROOT = ("--pid", "--fork", "--kill-child", "--mount-proc")
AS_USER = ("--user", "--map-root-user", "--net", *AS_ROOT)


@dataclass(frozen=True)
class Request:
    """A link, and the programs at its ends."""

    link: str
    """The description of the link, in TOML."""
    directory: str
    """The folder to which files that the link names are relative."""
    command: tuple[str, ...]
    """The program at the near end, with its arguments."""
    peer: tuple[str, ...] | None
    """The program at the far end. Without one, the far end is this machine."""
    seed: int
    spin: bool
    """Whether the emulator takes a processor to be more exact."""
    strict_ms: float | None
    """The 99th percentile of lateness, in milliseconds, beyond which the emulation has failed."""
    interval_s: float | None
    """How often to print a line; None for never."""
    capture: str | None
    """The pcapng file of what arrives at either end."""
    as_json: bool
    """Whether to print the report as JSON on stdout, and what the programs print on stderr."""

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the request that :meth:`to_json` has written."""
        fields = json.loads(text)
        fields["command"] = tuple(fields["command"])
        if fields["peer"] is not None:
            fields["peer"] = tuple(fields["peer"])
        return cls(**fields)


def launch(request: Request) -> int:
    """Run an emulation; return the status of its command, or 3 if ``strict`` is not met."""
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
