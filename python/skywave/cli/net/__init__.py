"""The commands that use real networks: listen, send, ping and perf.

In a build without sockets they exist too, but only print an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.sockets import NoSocketsError

try:
    from skywave.cli.net import listen, perf, ping, send
    from skywave.net import NetError
except NoSocketsError:
    HAS_SOCKETS = False
else:
    HAS_SOCKETS = True

if TYPE_CHECKING:
    import typer


def without_sockets() -> None:
    """Not available: this build of Skywave has no sockets."""
    raise NoSocketsError


def add_to(app: typer.Typer) -> None:
    """Add the network commands to ``app``."""
    if HAS_SOCKETS:
        app.command(name="listen")(listen.listen)
        app.command(name="send")(send.send)
        app.command(name="ping")(ping.ping)
        app.command(name="perf")(perf.perf)
        return
    whatever_is_given = {"ignore_unknown_options": True, "allow_extra_args": True}
    for name in ("listen", "send", "ping", "perf"):
        app.command(name=name, context_settings=whatever_is_given)(without_sockets)


FAILURES: tuple[type[Exception], ...] = (
    (NetError, TimeoutError) if HAS_SOCKETS else (NoSocketsError,)
)
"""The exceptions that these commands raise when the network fails."""
