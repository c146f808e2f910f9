"""The commands that put DCCP on a real network: listen, send, ping, perf.

A build without sockets has them as well; all that they do there is say so.
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
    """Not in this build of Skywave, which has no sockets."""
    raise NoSocketsError


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of ``skywave``."""
    if HAS_SOCKETS:
        app.command(name="listen")(listen.listen)
        app.command(name="send")(send.send)
        app.command(name="ping")(ping.ping)
        app.command(name="perf")(perf.perf)
        return
    whatever_is_given = {"ignore_unknown_options": True, "allow_extra_args": True}
    for name in ("listen", "send", "ping", "perf"):
        app.command(name=name, context_settings=whatever_is_given)(without_sockets)


FAILURES: tuple[type[Exception], ...] = (NetError,) if HAS_SOCKETS else (NoSocketsError,)
"""What the commands raise where the network fails them."""
