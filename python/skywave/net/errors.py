"""Network errors. Each message says what to do.

All inherit from :class:`NetError`, and some also from the corresponding built-in exception, so that
``except ConnectionRefusedError`` works as well as ``except RefusedError``.
"""

from __future__ import annotations

from skywave._errors import SkywaveError


class NetError(SkywaveError, OSError):
    """Something failed on the network."""


class RefusedError(NetError, ConnectionRefusedError):
    """Nothing listens on the peer's DCCP port, or the server is too busy."""


class BadServiceCodeError(NetError):
    """The peer's port does not offer the service."""


class ConnectTimeoutError(NetError, TimeoutError):
    """The peer did not answer within ``Config.connect_timeout``."""


class UnreachableError(NetError):
    """There is no route to the peer, or the network reports that it cannot be reached.

    The peer's host also reports it if nothing listens on the UDP port.
    """


class PeerGoneError(NetError):
    """The peer stopped answering for ``Config.silence_timeout``, or while closing."""


class IdleTimeoutError(NetError):
    """The connection carried no data for ``Config.idle_timeout``, and this end ended it."""


class ResetError(NetError, ConnectionResetError):
    """The connection was ended by a Reset other than that of a normal close."""


class AbortedError(ResetError):
    """The connection was aborted by this end."""


class ClosedError(NetError):
    """The connection has been closed normally, by either end, or the listener by this end."""


class DiscardedError(ClosedError):
    """The connection has been closed normally, but some queued datagrams were not sent."""


class EndpointClosedError(NetError):
    """The endpoint has been closed."""


class DatagramTooLargeError(NetError):
    """The datagram is larger than the path allows."""


class NoPermissionError(NetError, PermissionError):
    """Raw sockets need a privilege that this process lacks."""


class AddressInUseError(NetError):
    """Another socket has the address."""


class ForkedError(NetError):
    """The process is a fork, and the socket belongs to its parent."""


__all__ = [
    "AbortedError",
    "AddressInUseError",
    "BadServiceCodeError",
    "ClosedError",
    "ConnectTimeoutError",
    "DatagramTooLargeError",
    "DiscardedError",
    "EndpointClosedError",
    "ForkedError",
    "IdleTimeoutError",
    "NetError",
    "NoPermissionError",
    "PeerGoneError",
    "RefusedError",
    "ResetError",
    "UnreachableError",
]
