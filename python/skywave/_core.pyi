"""The Rust core: the scenario's schema, the simulator, the codecs and DCCP on real sockets."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Self, TypedDict, overload

import pyarrow as pa

from skywave.control import Control
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

def inspect_scenario(text: str, *, controls: dict[str, type[Control]] | None = None) -> str:
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
    *,
    controls: dict[str, type[Control]] | None = None,
) -> str:
    """Validate a scenario, "toml" or "json", and return its normalised JSON.

    Files that it names are read from ``directory``. Controls in Python that it names are those in
    ``controls``, or imported.
    """

def run(
    scenario: str,
    *,
    progress: Callable[[float], None] | None = None,
    captures: dict[str, str] | None = None,
    verify_physics: bool = False,
    controls: dict[str, type[Control]] | None = None,
) -> Run:
    """Run a scenario given as JSON."""

def run_many(
    scenarios: Sequence[str],
    *,
    progress: Callable[[int, int], None] | None = None,
    controls: dict[str, type[Control]] | None = None,
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

def check_control(
    name: str, parameters: str, controls: dict[str, type[Control]] | None, cases: int
) -> None:
    """Hold the control of this name and these parameters (JSON) to the contract of controls.

    Raises:
        AssertionError: what is violated, and the calls that show it.

    """

class Context:
    """What is known of a connection when it begins."""

    def __init__(
        self,
        *,
        packet_size: int = ...,
        initial_cwnd: float = ...,
        initial_ssthresh: float = ...,
        ns2: bool = ...,
    ) -> None: ...
    @property
    def packet_size(self) -> int:
        """Bytes of application data in a full packet."""
    @property
    def initial_cwnd(self) -> float:
        """The initial cwnd, and the upper bound of cwnd after an idle period, in packets."""
    @property
    def initial_ssthresh(self) -> float:
        """The initial ssthresh, in packets; infinite for "arbitrarily high"."""
    @property
    def ns2(self) -> bool:
        """Whether the connection emulates ns-2 where it deviates from the RFCs."""

class Sent:
    """A data packet that leaves."""

    def __init__(
        self,
        *,
        now_s: float = ...,
        number: int = ...,
        size: int = ...,
        in_flight: int = ...,
        application_limited: bool = ...,
    ) -> None: ...
    @property
    def now_s(self) -> float:
        """When, in seconds."""
    @property
    def number(self) -> int:
        """Its number in sending order.

        For DCCP the 48-bit sequence number, which wraps to zero. For TCP the stream offset of the
        first byte, from 1; a retransmission has the same number.
        """
    @property
    def size(self) -> int:
        """Bytes of application data."""
    @property
    def in_flight(self) -> int:
        """Data packets in flight, including this one."""
    @property
    def application_limited(self) -> bool:
        """Whether the application has nothing more to send although cwnd has room."""

class AckedPacket:
    """A data packet acknowledged for the first time."""

    def __init__(
        self,
        *,
        number: int = ...,
        sent_at_s: float = ...,
        transmissions: int = ...,
        ecn: int = ...,
    ) -> None: ...
    @property
    def number(self) -> int:
        """Its number, as in :class:`Sent`."""
    @property
    def sent_at_s(self) -> float:
        """When it was sent, in seconds; for TCP, last sent."""
    @property
    def transmissions(self) -> int:
        """How often it was sent; more than once only for TCP."""
    @property
    def ecn(self) -> int:
        """The ECN field with which it arrived, as far as the protocol tells: 3 is CE."""

class Ack:
    """An acknowledgement."""

    def __init__(
        self,
        *,
        now_s: float = ...,
        newly_acked: int = ...,
        marked: int = ...,
        in_flight: int = ...,
        ack_ratio: int = ...,
        rtt_s: float | None = ...,
        delivery_rate_bps: int | None = ...,
        delivery_limited: bool = ...,
        application_limited: bool = ...,
        ecn_echo: bool = ...,
    ) -> None: ...
    @property
    def now_s(self) -> float:
        """When it arrived, in seconds."""
    @property
    def newly_acked(self) -> int:
        """Data packets acknowledged for the first time."""
    @property
    def marked(self) -> int:
        """How many of them were marked (CE); over TCP see ``ecn_echo``."""
    @property
    def in_flight(self) -> int:
        """Data packets in flight after it, as far as the sender knows."""
    @property
    def ack_ratio(self) -> int:
        """The Ack Ratio asked of the receiver, in packets per acknowledgement; 1 for TCP."""
    @property
    def rtt_s(self) -> float | None:
        """A sample of the round-trip time, in seconds, if it gives one."""
    @property
    def delivery_rate_bps(self) -> int | None:
        """A sample of the delivery rate, in bit/s, if measured (``Control.delivery_rate``)."""
    @property
    def delivery_limited(self) -> bool:
        """Whether the application limited that sample, so that the path may be faster."""
    @property
    def application_limited(self) -> bool:
        """Whether cwnd was not full, because of the application or of the control's pacing."""
    @property
    def ecn_echo(self) -> bool:
        """Whether it carried TCP's ECN-Echo; cwnd must not grow then (RFC 3168 section 6.1.2)."""

class RoundTrip:
    """What was acknowledged, marked and lost since the last report, about a round-trip time ago.

    It ends with the acknowledgement of a packet sent after it began.
    """

    def __init__(
        self,
        *,
        now_s: float = ...,
        duration_s: float = ...,
        newly_acked: int = ...,
        acked_bytes: int = ...,
        marked: int = ...,
        lost: int = ...,
        in_flight: int = ...,
        rtt_samples: int = ...,
        rtt_min_s: float | None = ...,
        rtt_mean_s: float | None = ...,
        delivery_rate_bps: int | None = ...,
        delivery_limited: bool = ...,
        application_limited: bool = ...,
        ecn_echo: bool = ...,
    ) -> None: ...
    @property
    def now_s(self) -> float:
        """When its last acknowledgement arrived, in seconds."""
    @property
    def duration_s(self) -> float:
        """How long it was, in seconds."""
    @property
    def newly_acked(self) -> int:
        """Data packets acknowledged for the first time."""
    @property
    def acked_bytes(self) -> int:
        """Bytes of application data delivered."""
    @property
    def marked(self) -> int:
        """How many packets were marked (CE); over TCP see ``ecn_echo``."""
    @property
    def lost(self) -> int:
        """How many packets are known to have been lost."""
    @property
    def in_flight(self) -> int:
        """Data packets in flight at its end."""
    @property
    def rtt_samples(self) -> int:
        """How many samples of the round-trip time there were."""
    @property
    def rtt_min_s(self) -> float | None:
        """The least of them, in seconds."""
    @property
    def rtt_mean_s(self) -> float | None:
        """Their mean, in seconds."""
    @property
    def delivery_rate_bps(self) -> int | None:
        """The last sample of the delivery rate, in bit/s; it covers about a round-trip time."""
    @property
    def delivery_limited(self) -> bool:
        """Whether the application limited that sample, so that the path may be faster."""
    @property
    def application_limited(self) -> bool:
        """Whether cwnd was full at none of the acknowledgements."""
    @property
    def ecn_echo(self) -> bool:
        """Whether any acknowledgement carried TCP's ECN-Echo."""

class Loss:
    """Packets were lost: one congestion event."""

    def __init__(
        self,
        *,
        now_s: float = ...,
        in_flight: int = ...,
        lost: int = ...,
        is_repeated: bool = ...,
    ) -> None: ...
    @property
    def now_s(self) -> float:
        """When it was detected, in seconds."""
    @property
    def in_flight(self) -> int:
        """Data packets outstanding at that time."""
    @property
    def lost(self) -> int:
        """How many are known to be lost; 0 where the default ``on_mark`` passes on a mark."""
    @property
    def is_repeated(self) -> bool:
        """Whether a retransmission was lost too; only some of TCP's recoveries can tell."""

class Mark:
    """Packets were marked, and none was lost: one congestion event."""

    def __init__(self, *, now_s: float = ..., in_flight: int = ..., marked: int = ...) -> None: ...
    @property
    def now_s(self) -> float:
        """When it was detected, in seconds."""
    @property
    def in_flight(self) -> int:
        """Data packets outstanding at that time."""
    @property
    def marked(self) -> int:
        """How many are known to be marked."""

class Timeout:
    """The retransmission timer (TCP) or the timeout of the CCID has expired."""

    def __init__(self, *, now_s: float = ..., in_flight: int = ...) -> None: ...
    @property
    def now_s(self) -> float:
        """When, in seconds."""
    @property
    def in_flight(self) -> int:
        """Data packets outstanding at that time."""

class Pacing:
    """How fast packets may leave: ``quantum`` packets together, ``interval_s`` seconds apart.

    Raises:
        ValueError: the interval is not from 0 to 3600 s, or the quantum is 0.

    """

    def __init__(self, interval_s: float, quantum: int = 1) -> None: ...
    @staticmethod
    def at_rate(packets_per_s: float, quantum: int = 1) -> Pacing:
        """Return the pacing of a rate, at least a quantum in an hour.

        Raises:
            ValueError: the rate is not above 0.

        """
    @property
    def interval_s(self) -> float:
        """The time from one quantum to the next, in seconds."""
    @property
    def quantum(self) -> int:
        """How many packets may leave together."""

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
