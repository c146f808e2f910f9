"""The Rust core: the scenario's schema, the simulator, the codecs and DCCP on real sockets."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypedDict, overload

import pyarrow as pa

from skywave.net.config import Config
from skywave.net.stats import Closed, Stats

class ScenarioError(ValueError):
    """A scenario is wrong; the text is one line, ``field: reason``."""

class CaptureError(ValueError):
    """A capture file is cut short or corrupted; the text holds the byte offset."""

class Frame(TypedDict):
    """One decoded frame of a capture."""

    time_s: float
    text: str
    protocol: str
    bytes: int

class Run:
    """What one run measured."""

    @property
    def summary(self) -> str:
        """Totals, as JSON."""
    @property
    def tables(self) -> dict[str, pa.RecordBatch]:
        """One record batch a probe kind."""
    @property
    def fingerprint(self) -> str:
        """Hash of the event stream, 16 hexadecimal digits."""
    @property
    def violations(self) -> list[str]:
        """What the physics verifier found; empty where it was not asked."""

class Duration:
    """A length of time, in whole nanoseconds: ``Duration("300 ms")``."""

    def __new__(cls, value: str | Duration) -> Self: ...
    @staticmethod
    def from_seconds(seconds: float) -> Duration:
        """Make a duration of so many seconds."""
    @property
    def seconds(self) -> float:
        """Seconds."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Duration) -> bool: ...
    def __le__(self, other: Duration) -> bool: ...
    def __gt__(self, other: Duration) -> bool: ...
    def __ge__(self, other: Duration) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __add__(self, other: Duration) -> Duration: ...
    def __sub__(self, other: Duration) -> Duration: ...
    @overload
    def __mul__(self, other: float) -> Duration: ...
    @overload
    def __mul__(self, other: Rate) -> Bytes: ...
    def __rmul__(self, other: float) -> Duration: ...
    @overload
    def __truediv__(self, other: float) -> Duration: ...
    @overload
    def __truediv__(self, other: Duration) -> float: ...

class Rate:
    """A rate, in whole bits per second: ``Rate("2 Mbps")``."""

    def __new__(cls, value: str | Rate) -> Self: ...
    @staticmethod
    def from_bps(bits_per_second: float) -> Rate:
        """Make a rate of so many bits per second."""
    @property
    def bps(self) -> int:
        """Bits per second."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Rate) -> bool: ...
    def __le__(self, other: Rate) -> bool: ...
    def __gt__(self, other: Rate) -> bool: ...
    def __ge__(self, other: Rate) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __add__(self, other: Rate) -> Rate: ...
    def __sub__(self, other: Rate) -> Rate: ...
    @overload
    def __mul__(self, other: float) -> Rate: ...
    @overload
    def __mul__(self, other: Duration) -> Bytes: ...
    def __rmul__(self, other: float) -> Rate: ...
    @overload
    def __truediv__(self, other: float) -> Rate: ...
    @overload
    def __truediv__(self, other: Rate) -> float: ...

class Bytes:
    """A size, in whole bytes: ``Bytes("500 B")``."""

    def __new__(cls, value: str | Bytes) -> Self: ...
    @staticmethod
    def from_count(count: float) -> Bytes:
        """Make a size of so many bytes."""
    @property
    def count(self) -> int:
        """The number of bytes."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Bytes) -> bool: ...
    def __le__(self, other: Bytes) -> bool: ...
    def __gt__(self, other: Bytes) -> bool: ...
    def __ge__(self, other: Bytes) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __add__(self, other: Bytes) -> Bytes: ...
    def __sub__(self, other: Bytes) -> Bytes: ...
    def __mul__(self, other: float) -> Bytes: ...
    def __rmul__(self, other: float) -> Bytes: ...
    @overload
    def __truediv__(self, other: float) -> Bytes: ...
    @overload
    def __truediv__(self, other: Bytes) -> float: ...
    @overload
    def __truediv__(self, other: Rate) -> Duration: ...
    @overload
    def __truediv__(self, other: Duration) -> Rate: ...

def inspect_scenario(text: str) -> str:
    """Return what is known of a scenario (JSON) before it runs, as JSON.

    Its keys are ``scenario``, with every default, ``routes`` and ``warnings``.
    """

def scenario_schema() -> str:
    """Return the JSON Schema of scenarios, as JSON."""

def table_schemas() -> str:
    """Return the tables that a scenario may ask for, with their columns, as JSON."""

def check_scenario(
    text: str,
    format: str,  # noqa: A002
    directory: str | None = None,
) -> str:
    """Validate a scenario, "toml" or "json", and return its normalised JSON.

    Files that it names are read from ``directory``.
    """

def run(
    scenario: str,
    *,
    progress: Callable[[float], None] | None = None,
    captures: dict[str, str] | None = None,
    verify_physics: bool = False,
) -> Run:
    """Run a scenario given as JSON."""

def run_many(
    scenarios: Sequence[str], *, progress: Callable[[int, int], None] | None = None
) -> list[Run]:
    """Run scenarios on all cores; the results are in order."""

def bench(
    *,
    flows: int,
    rate: str,
    buffer: int,
    duration: str,
    access: str,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Run the benchmark dumbbell on one core and return its counts and plain numbers, as JSON."""

def decode_capture(data: bytes) -> list[Frame]:
    """Decode the frames of a pcapng file."""

def duration_s(text: str) -> float:
    """Read a duration, as "10 s", in seconds."""

# From here on: what only a build with sockets has.

class NetError(OSError):
    """Something failed on the network; the text says what to do."""

class RefusedError(NetError):
    """Nobody listens on the peer's DCCP port, or the server is too busy."""

class BadServiceCodeError(NetError):
    """The peer's port does not offer the service."""

class ConnectTimeoutError(NetError):
    """The peer does not answer."""

class ResetError(NetError):
    """The connection was ended by a Reset other than a normal close."""

class DatagramTooLargeError(NetError):
    """The datagram is larger than the path takes."""

class NoPermissionError(NetError):
    """Raw sockets need a privilege that this process does not have."""

class Connection:
    """A DCCP connection: unreliable datagrams under congestion control.

    It can be used from several threads. When nobody holds it any more it is closed.
    """

    def send(self, data: bytes, timeout_s: float | None = None) -> None:
        """Queue a datagram, once there is room for it.

        It leaves when congestion control allows, and may be lost on its way.

        Raises:
            DatagramTooLargeError: see ``max_datagram_size``.
            NetError: the connection is over.
            TimeoutError: no room within ``timeout_s`` seconds.

        """

    def send_async(self, data: bytes) -> Awaitable[None]:
        """Return ``send`` as an awaitable."""

    def recv(self, timeout_s: float | None = None) -> bytes | None:
        """Return the next datagram, or ``None`` once the connection has been closed.

        Raises:
            NetError: the connection ended in another way.
            TimeoutError: no datagram within ``timeout_s`` seconds.

        """

    def recv_async(self) -> Awaitable[bytes | None]:
        """Return ``recv`` as an awaitable."""

    def flush(self, timeout_s: float | None = None) -> None:
        """Wait until everything queued has left."""

    def close(self, timeout_s: float | None = None) -> None:
        """Send what waits, close, and wait until the peer has agreed."""

    def close_async(self) -> Awaitable[None]:
        """Return ``close`` as an awaitable."""

    def abort(self) -> None:
        """End the connection at once with a Reset; what waits to be sent is discarded."""

    def stats(self) -> Stats:
        """Return counters and the state of congestion control."""

    @property
    def max_datagram_size(self) -> int:
        """The most bytes that one datagram can have (RFC 4340 section 14)."""

    @property
    def peer(self) -> str:
        """The peer's address and DCCP port."""

    @property
    def service_code(self) -> str:
        """The Service Code, as "SC:VOIP" or "SC=42"."""

    @property
    def ccids(self) -> tuple[int, int]:
        """The CCID of what this end sends, and of what it receives."""

    @property
    def closed(self) -> Closed | None:
        """How the connection ended; ``None`` while it has not."""

class Listener:
    """Takes connections on one DCCP port."""

    @property
    def port(self) -> int:
        """The DCCP port."""

    def accept(self, timeout_s: float | None = None) -> Connection:
        """Wait for the next connection whose handshake is complete.

        Raises:
            TimeoutError: none within ``timeout_s`` seconds.
            NetError: the endpoint has been closed.

        """

    def accept_async(self) -> Awaitable[Connection]:
        """Return ``accept`` as an awaitable."""

class Endpoint:
    """One UDP or raw socket with the DCCP connections over it."""

    @staticmethod
    def udp(address: str = "0.0.0.0:6511") -> Endpoint:
        """Open a UDP socket for DCCP over UDP (RFC 6773); it needs no privilege."""

    @staticmethod
    def raw(address: str = "0.0.0.0") -> Endpoint:
        """Open a raw socket for IP protocol 33.

        Raises:
            NoPermissionError: it needs CAP_NET_RAW.

        """

    @property
    def local_address(self) -> str:
        """The address of the socket."""

    def listen(self, port: int, *, config: Config | None = None) -> Listener:
        """Take connections on DCCP port ``port``."""

    def connect(
        self, host: str, port: int, *, udp_port: int = 6511, config: Config | None = None
    ) -> Connection:
        """Connect to DCCP port ``port`` of a host, by name or address.

        Raises:
            RefusedError: nobody listens there.
            BadServiceCodeError: the port does not offer the service.
            ConnectTimeoutError: no answer within the configuration's time.
            NetError: anything else.

        """

    def connect_async(
        self, host: str, port: int, *, udp_port: int = 6511, config: Config | None = None
    ) -> Awaitable[Connection]:
        """Return ``connect`` as an awaitable."""

    def close(self) -> None:
        """Close all connections, wait for their ends, and close the socket."""

    def close_async(self) -> Awaitable[None]:
        """Return ``close`` as an awaitable."""

def config_defaults() -> dict[str, object]:
    """What a connection without a configuration has, by the names of ``Config``."""

def perf_loopback(
    *,
    duration_s: float,
    datagram: int,
    pings: int,
    idle: int,
    progress: Callable[[str, float], None] | None = None,
) -> str:
    """Measure DCCP over loopback beside plain UDP, and quinn where built in; return JSON."""

def perf_serve(connection: Connection) -> str:
    """Count what a measuring client sends, and tell it; return the counts as JSON."""

def perf_send(
    connection: Connection,
    *,
    duration_s: float,
    datagram: int,
    rate_bps: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """Send a load to a measuring server and return what came of it, as JSON."""
