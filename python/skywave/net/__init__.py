"""DCCP on real networks: datagrams with congestion control, over UDP or as IP protocol 33.

A listener and a client in one process, over UDP on port 6511 (RFC 6773)::

    from skywave.net import Endpoint

    server = Endpoint.udp("127.0.0.1", 6511).listen(5001)
    client = Endpoint.udp("127.0.0.1", 0).connect("127.0.0.1", 5001)
    client.send(b"hello")
    print(server.accept().recv())

These calls block; :mod:`skywave.net.aio` has the same API for asyncio.

A fork of the process (``os.fork``, or ``multiprocessing`` with the start method ``fork``) cannot
use the endpoints and connections that it inherits, and neither closes nor disturbs them: every call
raises :class:`ForkedError`. It can open its own endpoints.

What happens is logged by ``logging.getLogger("skywave.net")`` (:mod:`skywave.net.log`).

If Skywave was built without sockets, importing this module raises
:class:`skywave.NoSocketsError`.
"""

from skywave._errors import NoSocketsError

try:
    from skywave._core import Connection, Endpoint, Listener
except ImportError as error:
    raise NoSocketsError from error
from skywave.net import errors
from skywave.net.config import Config, EndpointConfig
from skywave.net.errors import *  # noqa: F403
from skywave.net.log import TRACE
from skywave.net.protocol import UDP_PORT
from skywave.net.stats import Closed, ConnectionSnapshot, EndpointStats, Snapshot, Stats, Totals

__all__ = [
    "TRACE",
    "UDP_PORT",
    "Closed",
    "Config",
    "Connection",
    "ConnectionSnapshot",
    "Endpoint",
    "EndpointConfig",
    "EndpointStats",
    "Listener",
    "Snapshot",
    "Stats",
    "Totals",
]
__all__ += errors.__all__
