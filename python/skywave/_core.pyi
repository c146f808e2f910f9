"""The Rust core: scenario schema, simulator, packet decoder, and DCCP on real sockets."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from types import TracebackType
from typing import Literal, Self, TypedDict, final, overload, type_check_only

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from skywave._members import Member
from skywave.net.config import Checked, Config, EndpointConfig
from skywave.net.stats import Closed, EndpointStats, Snapshot, Stats

@type_check_only
class Frame(TypedDict):
    """One decoded frame of a capture."""

    time_s: float
    text: str
    protocol: str
    bytes: int
    wrong_checksum: str | None
    """What the checksum is that does not match."""

@type_check_only
class Frames(Iterator[Frame]):
    """The frames of a capture."""

    def __next__(self) -> Frame: ...
    @property
    def skipped(self) -> list[str]:
        """What was skipped so far although no frame was lost, a warning for each kind of flaw."""

ENGINE: str
"""The version of the simulator and a hash of its sources, which results depend on."""

@final
class Stop:
    """Stops runs in other threads."""

    def set(self) -> None:
        """Stop the runs that were given this; they raise ``KeyboardInterrupt``."""

@final
class Run:
    """The results of one run."""

    @property
    def summary(self) -> str:
        """Totals, as JSON."""
    @property
    def tables(self) -> dict[str, pa.RecordBatch]:
        """One record batch per table."""
    def table(self, name: str) -> Table | None:
        """Return a table; None if the run has none of that name."""
    @property
    def fingerprint(self) -> str:
        """Hash of the event stream, as 16 hexadecimal digits."""
    @property
    def violations(self) -> list[str]:
        """What the physics verifier found; empty if it did not run."""
    @property
    def threads(self) -> str:
        """How the run used threads, as JSON."""

@final
class Table:
    """A table whose columns are read one by one, without pyarrow."""

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
    def numbers(self, column: str) -> bytes:
        """Return a column of numbers, float64 in native byte order. A null is NaN.

        Raises:
            KeyError: If there is no such column.

        """
    def names(self, column: str) -> tuple[list[str], bytes]:
        """Return the names of a column of flows or links, and of each row the index of its name.

        The indices are int32 in native byte order.

        Raises:
            KeyError: If there is no such column.

        """
    def to_arrow(self) -> pa.RecordBatch:
        """Return the whole table."""

@final
class SteppedRun:
    """A run in steps. Controls in Python are not known to it."""

    def __new__(
        cls,
        text: str,
        format: str = "toml",  # noqa: A002
        *,
        captures: dict[str, str] | None = None,
    ) -> Self:
        """Prepare a run, at time zero.

        Raises:
            ScenarioError: If the scenario is wrong, or has no link that is to be captured.
            OSError: If a capture cannot be written.

        """
    @property
    def now_s(self) -> float:
        """The simulated time up to which it has run, in seconds."""
    @property
    def end_s(self) -> float:
        """When the scenario ends, in seconds."""
    def advance(self, to_s: float, stop: Stop | None = None) -> float:
        """Run up to a time, or until ``stop`` is set; return the time reached.

        Raises:
            RuntimeError: If the control of a flow failed.

        """
    def samples(self) -> dict[str, pa.RecordBatch]:
        """Return what has been sampled since the last call.

        The tables are ``flows``, ``links``, ``controls``, ``queues`` and, if the scenario requests
        it, ``rates``; they may have no rows.
        """
    def stop(self) -> None:
        """End the run where it is, so that ``samples`` has the part of an interval that is left."""
    def finish(self) -> Run:
        """End the run; return the results of its time so far."""

def place_of_field(text: str, field: str) -> tuple[int, int, int, bool] | None:
    """Return where a field stands in a scenario in TOML; None if nothing of it does.

    These are the characters at which its key and its value begin, that at which its value ends, and
    whether the field itself is there. Otherwise it is the table around it.
    """

def suggestion(given: str, known: Sequence[str]) -> str:
    """Return what to append to the message that nothing is named ``given``.

    That is ``; did you mean "pairs"?`` with the nearest of the known names, or an empty text.
    """

@final
class Duration:
    """A length of time in whole nanoseconds, e.g. ``Duration("300 ms")``."""

    def __new__(cls, value: str | Duration) -> Self: ...
    @staticmethod
    def from_seconds(seconds: float) -> Duration:
        """Return a duration of ``seconds`` seconds."""
    @property
    def seconds(self) -> float:
        """The duration in seconds."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Duration, /) -> bool: ...
    def __le__(self, other: Duration, /) -> bool: ...
    def __gt__(self, other: Duration, /) -> bool: ...
    def __ge__(self, other: Duration, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __add__(self, other: Duration, /) -> Duration: ...
    def __sub__(self, other: Duration, /) -> Duration: ...
    @overload
    def __mul__(self, other: float, /) -> Duration: ...
    @overload
    def __mul__(self, other: Rate, /) -> Bytes: ...
    def __rmul__(self, other: float, /) -> Duration: ...
    @overload
    def __truediv__(self, other: float, /) -> Duration: ...
    @overload
    def __truediv__(self, other: Duration, /) -> float: ...

@final
class Rate:
    """A rate in whole bits per second, e.g. ``Rate("2 Mbps")``."""

    def __new__(cls, value: str | Rate) -> Self: ...
    @staticmethod
    def from_bps(bits_per_second: float) -> Rate:
        """Return a rate of ``bits_per_second``."""
    @property
    def bps(self) -> int:
        """The rate in bits per second."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Rate, /) -> bool: ...
    def __le__(self, other: Rate, /) -> bool: ...
    def __gt__(self, other: Rate, /) -> bool: ...
    def __ge__(self, other: Rate, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __add__(self, other: Rate, /) -> Rate: ...
    def __sub__(self, other: Rate, /) -> Rate: ...
    @overload
    def __mul__(self, other: float, /) -> Rate: ...
    @overload
    def __mul__(self, other: Duration, /) -> Bytes: ...
    def __rmul__(self, other: float, /) -> Rate: ...
    @overload
    def __truediv__(self, other: float, /) -> Rate: ...
    @overload
    def __truediv__(self, other: Rate, /) -> float: ...

@final
class Bytes:
    """A size in whole bytes, e.g. ``Bytes("500 B")``."""

    def __new__(cls, value: str | Bytes) -> Self: ...
    @staticmethod
    def from_count(count: float) -> Bytes:
        """Return a size of ``count`` bytes."""
    @property
    def count(self) -> int:
        """The number of bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __lt__(self, other: Bytes, /) -> bool: ...
    def __le__(self, other: Bytes, /) -> bool: ...
    def __gt__(self, other: Bytes, /) -> bool: ...
    def __ge__(self, other: Bytes, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __getnewargs__(self) -> tuple[str]: ...
    def __add__(self, other: Bytes, /) -> Bytes: ...
    def __sub__(self, other: Bytes, /) -> Bytes: ...
    def __mul__(self, other: float, /) -> Bytes: ...
    def __rmul__(self, other: float, /) -> Bytes: ...
    @overload
    def __truediv__(self, other: float, /) -> Bytes: ...
    @overload
    def __truediv__(self, other: Bytes, /) -> float: ...
    @overload
    def __truediv__(self, other: Rate, /) -> Duration: ...
    @overload
    def __truediv__(self, other: Duration, /) -> Rate: ...

def inspect_scenario(
    text: str,
    format: str,  # noqa: A002
    directory: str | None = None,
    *,
    members: dict[str, type[Member]] | None = None,
    imports: bool = True,
) -> str:
    """Check a scenario without running it and return what follows from it, as JSON.

    The keys are ``scenario`` (with all defaults), ``routes`` and ``warnings``. Without ``imports``,
    no member in Python is known.
    """

def scenario_schema() -> str:
    """Return the JSON Schema of scenarios, as JSON."""

def socket_schema() -> str:
    """Return the JSON Schema of a socket's ``Config``, as JSON."""

def table_schemas() -> str:
    """Return the tables that a scenario can ask for, with their columns, as JSON."""

def check_scenario(
    text: str,
    format: str,  # noqa: A002
    directory: str | None = None,
    *,
    members: dict[str, type[Member]] | None = None,
) -> str:
    """Validate a scenario in format "toml" or "json" and return it normalised, as JSON.

    Files that it names are read from ``directory``. Members in Python that it names are taken from
    ``members`` or imported.
    """

def run(
    scenario: str,
    *,
    progress: Callable[[float], None] | None = None,
    captures: dict[str, str] | None = None,
    qlogs: dict[str, str] | None = None,
    verify_physics: bool = False,
    threads: int = 1,
    members: dict[str, type[Member]] | None = None,
    stop: Stop | None = None,
    tables: Sequence[str] | None = None,
) -> Run:
    """Run a scenario (JSON). Given ``stop``, it looks at neither ``progress`` nor signals.

    Given ``tables``, the results have only those of them that the run has.
    """

def group_sums(numbers: NDArray[np.int32], count: int, values: NDArray[np.float64]) -> list[float]:
    """Return the sum of each of ``count`` groups; 0 without rows.

    ``numbers`` has the group of each row, here and below.
    """

def group_means(
    numbers: NDArray[np.int32],
    count: int,
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> list[float]:
    """Return the weighted mean of each group, without NaN; NaN without weights."""

def group_largest(
    numbers: NDArray[np.int32], count: int, values: NDArray[np.float64]
) -> list[float]:
    """Return the largest value of each group, without NaN; NaN without rows."""

def group_spans(numbers: NDArray[np.int32], count: int, marked: NDArray[np.uint8]) -> bytes:
    """Return whether each row is from the first marked row of its group to the last, in a byte."""

def bench(
    *,
    flows: int,
    rate: str,
    buffer: int,
    duration: str,
    access: str,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Run the benchmark dumbbell; return its counts and its parameters, as JSON."""

def decode_capture(data: bytes, udp_ports: Sequence[int] = ...) -> Frames:
    """Decode the frames of a pcapng or pcap file, which may be compressed with gzip.

    UDP carries DCCP at port 6511, and at ``udp_ports``. The iterator yields the frames before the
    first fault, and then raises :class:`CaptureError`.
    """

def check_control(
    name: str, parameters: str, controls: dict[str, type[Member]] | None, cases: int
) -> None:
    """Check that the control of this name and these parameters (JSON) keeps the controls' contract.

    Raises:
        AssertionError: If it does not. The message has the violation and the calls that show it.

    """

def check_queue(
    name: str, parameters: str, members: dict[str, type[Member]] | None, seeds: int
) -> None:
    """Check that the queue of this name and these parameters (JSON) keeps the contract of queues.

    Raises:
        AssertionError: If it does not. The message has the violation.

    """

@final
class Head:
    """The head of a link, where its queue is."""

    def __new__(
        cls, *, link: str = ..., rate_bps: int = ..., share_bps: int = ..., delay_s: float = ...
    ) -> Self: ...
    @property
    def link(self) -> str:
        """The link's name, such as ``r1->r2``."""
    @property
    def rate_bps(self) -> int:
        """The link's rate, in bit/s."""
    @property
    def share_bps(self) -> int:
        """The queue's share of that rate while the link's other sub-queues are busy, in bit/s."""
    @property
    def delay_s(self) -> float:
        """The link's propagation delay, in seconds."""

@final
class Packet:
    """A packet at a queue. It describes the packet; the data stays with the link.

    Two packets are equal only if they are the same one.
    """

    def __new__(
        cls,
        *,
        arrived_s: float = ...,
        size: int = ...,
        flow: int = ...,
        traffic_class: int = ...,
        can_be_marked: bool = ...,
        packets_ahead: int = ...,
        bytes_ahead: int = ...,
        idle_since_s: float | None = ...,
    ) -> Self: ...
    @property
    def arrived_s(self) -> float:
        """When it arrived, in seconds since the start of the run."""
    @property
    def size(self) -> int:
        """The bytes that it occupies on the link, headers included."""
    @property
    def flow(self) -> int:
        """A number that the packets of a flow in one direction share, and hardly any others."""
    @property
    def traffic_class(self) -> int:
        """Its traffic class, 0 to 3: the flow's ``class``."""
    @property
    def can_be_marked(self) -> bool:
        """Whether its transport supports Congestion Experienced (RFC 3168 section 5)."""
    @property
    def packets_ahead(self) -> int:
        """The packets that waited when it arrived."""
    @property
    def bytes_ahead(self) -> int:
        """The bytes that waited when it arrived."""
    @property
    def idle_since_s(self) -> float | None:
        """Since when the link had nothing to send when it arrived, in seconds; None if it had."""
    @property
    def waiting(self) -> bool:
        """Whether it is in the queue: accepted, and neither handed out nor dropped."""
    @property
    def marked(self) -> bool:
        """Whether :meth:`mark` has marked it."""
    def mark(self) -> None:
        """Write Congestion Experienced into its ECN field. It must be waiting.

        Raises:
            ValueError: If it does not wait or cannot be marked, or the queue declares no marks.

        """
    def drop(self, reason: Literal["full", "early"]) -> None:
        """Drop it. It must be waiting; in ``enqueue``, return the reason instead for the new one.

        Raises:
            ValueError: If it does not wait.

        """

@final
class Context:
    """What a control knows about its connection at the start."""

    def __new__(
        cls,
        *,
        packet_size: int = ...,
        initial_cwnd: float = ...,
        initial_ssthresh: float = ...,
        ns2: bool = ...,
    ) -> Self: ...
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
        """Whether the connection emulates ns-2 where that deviates from the RFCs."""

@final
class Sent:
    """A data packet that is being sent."""

    def __new__(
        cls,
        *,
        now_s: float = ...,
        number: int = ...,
        size: int = ...,
        in_flight: int = ...,
        application_limited: bool = ...,
    ) -> Self: ...
    @property
    def now_s(self) -> float:
        """The time, in seconds."""
    @property
    def number(self) -> int:
        """The packet's number in sending order.

        For DCCP, the 48-bit sequence number, which wraps to zero. For TCP, the stream offset of
        the first byte, starting at 1; a retransmission has the same number.
        """
    @property
    def size(self) -> int:
        """Bytes of application data."""
    @property
    def in_flight(self) -> int:
        """Data packets in flight, including this one."""
    @property
    def application_limited(self) -> bool:
        """Whether the application has no more data although cwnd has room."""

@final
class AckedPacket:
    """A data packet acknowledged for the first time."""

    def __new__(
        cls,
        *,
        number: int = ...,
        sent_at_s: float = ...,
        transmissions: int = ...,
        ecn: int = ...,
    ) -> Self: ...
    @property
    def number(self) -> int:
        """The packet's number, as in :class:`Sent`."""
    @property
    def sent_at_s(self) -> float:
        """When the packet was sent, in seconds; for TCP, when it was last sent."""
    @property
    def transmissions(self) -> int:
        """How often the packet was sent; can exceed 1 only for TCP."""
    @property
    def ecn(self) -> int:
        """The ECN field on arrival, as far as the protocol reports it; 3 is CE."""

@final
class LostPacket:
    """A data packet found lost. It may turn out to be late; then it is acknowledged as well."""

    def __new__(
        cls,
        *,
        now_s: float = ...,
        number: int = ...,
        sent_at_s: float = ...,
        transmissions: int = ...,
    ) -> Self: ...
    @property
    def now_s(self) -> float:
        """When it was found lost, in seconds."""
    @property
    def number(self) -> int:
        """The packet's number, as in :class:`Sent`."""
    @property
    def sent_at_s(self) -> float:
        """When the packet was sent, in seconds; for TCP, when it was last sent."""
    @property
    def transmissions(self) -> int:
        """How often the packet was sent; can exceed 1 only for TCP."""

@final
class MarkedPackets:
    """Data packets that one acknowledgement reports as marked."""

    def __new__(
        cls,
        *,
        now_s: float = ...,
        packets: int = ...,
        size: int | None = ...,
    ) -> Self: ...
    @property
    def now_s(self) -> float:
        """When the acknowledgement arrived, in seconds."""
    @property
    def packets(self) -> int:
        """How many. For TCP, counted as ``newly_acked`` is: 0 for less than a full segment."""
    @property
    def size(self) -> int | None:
        """Bytes of data in them; None for DCCP, which does not know."""

@final
class Ack:
    """An acknowledgement."""

    def __new__(
        cls,
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
    ) -> Self: ...
    @property
    def now_s(self) -> float:
        """When the acknowledgement arrived, in seconds."""
    @property
    def newly_acked(self) -> int:
        """Data packets acknowledged for the first time."""
    @property
    def marked(self) -> int:
        """How many of them were marked (CE); for TCP see ``ecn_echo``."""
    @property
    def in_flight(self) -> int:
        """Data packets in flight afterwards, as far as the sender knows."""
    @property
    def ack_ratio(self) -> int:
        """The Ack Ratio requested from the receiver, in packets per acknowledgement; 1 for TCP."""
    @property
    def rtt_s(self) -> float | None:
        """A sample of the round-trip time, in seconds, if there is one."""
    @property
    def delivery_rate_bps(self) -> int | None:
        """A sample of the delivery rate, in bit/s, if measured (``Control.delivery_rate``)."""
    @property
    def delivery_limited(self) -> bool:
        """Whether the application limited that sample: the path may be faster."""
    @property
    def application_limited(self) -> bool:
        """Whether cwnd was not full, because of the application or the control's pacing."""
    @property
    def ecn_echo(self) -> bool:
        """Whether it carried TCP's ECN-Echo; if so, cwnd must not grow (RFC 3168 section 6.1.2)."""

@final
class RoundTrip:
    """What was acknowledged, marked and lost in about one round-trip time.

    A round ends with the acknowledgement of a packet sent after the round began.
    """

    def __new__(
        cls,
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
    ) -> Self: ...
    @property
    def now_s(self) -> float:
        """When the round's last acknowledgement arrived, in seconds."""
    @property
    def duration_s(self) -> float:
        """The length of the round, in seconds."""
    @property
    def newly_acked(self) -> int:
        """Data packets acknowledged for the first time."""
    @property
    def acked_bytes(self) -> int:
        """Bytes of application data delivered."""
    @property
    def marked(self) -> int:
        """How many packets were marked (CE); for TCP see ``ecn_echo``."""
    @property
    def lost(self) -> int:
        """How many packets were detected as lost."""
    @property
    def in_flight(self) -> int:
        """Data packets in flight at the end of the round."""
    @property
    def rtt_samples(self) -> int:
        """The number of round-trip time samples."""
    @property
    def rtt_min_s(self) -> float | None:
        """The smallest sample, in seconds."""
    @property
    def rtt_mean_s(self) -> float | None:
        """The mean of the samples, in seconds."""
    @property
    def delivery_rate_bps(self) -> int | None:
        """The last sample of the delivery rate, in bit/s; it covers about a round-trip time."""
    @property
    def delivery_limited(self) -> bool:
        """Whether the application limited that sample: the path may be faster."""
    @property
    def application_limited(self) -> bool:
        """Whether cwnd was not full at any of the acknowledgements."""
    @property
    def ecn_echo(self) -> bool:
        """Whether any acknowledgement carried TCP's ECN-Echo."""

@final
class Loss:
    """Loss of packets: one congestion event."""

    def __new__(
        cls,
        *,
        now_s: float = ...,
        in_flight: int = ...,
        lost: int = ...,
        is_repeated: bool = ...,
    ) -> Self: ...
    @property
    def now_s(self) -> float:
        """When the loss was detected, in seconds."""
    @property
    def in_flight(self) -> int:
        """Data packets outstanding at that time."""
    @property
    def lost(self) -> int:
        """How many packets are known to be lost; 0 if ``on_mark`` calls ``on_loss`` by default."""
    @property
    def is_repeated(self) -> bool:
        """Whether a retransmission was lost too; only some recoveries of TCP can tell."""

@final
class Mark:
    """Marked packets, none of them lost: one congestion event."""

    def __new__(cls, *, now_s: float = ..., in_flight: int = ..., marked: int = ...) -> Self: ...
    @property
    def now_s(self) -> float:
        """When the marks were detected, in seconds."""
    @property
    def in_flight(self) -> int:
        """Data packets outstanding at that time."""
    @property
    def marked(self) -> int:
        """How many packets are known to be marked."""

@final
class Timeout:
    """The retransmission timer (TCP) or the timeout of the CCID expired."""

    def __new__(cls, *, now_s: float = ..., in_flight: int = ...) -> Self: ...
    @property
    def now_s(self) -> float:
        """The time, in seconds."""
    @property
    def in_flight(self) -> int:
        """Data packets outstanding at that time."""

@final
class Pacing:
    """How fast packets may leave: ``quantum`` packets at a time, ``interval_s`` seconds apart.

    Packets here are full ones, as large as the largest that the connection has sent. Smaller
    ones take less of the interval, in proportion to their bytes of data, and more of them leave
    together.

    Raises:
        ValueError: If the interval is not within 0 to 3600 s, or the quantum is 0.
    """

    def __new__(cls, interval_s: float, quantum: int = 1) -> Self: ...
    @staticmethod
    def at_rate(packets_per_s: float, quantum: int = 1) -> Pacing:
        """Return pacing at a rate, in full packets, with an interval of at most an hour.

        Raises:
            ValueError: If the rate is not above 0.
        """
    @property
    def interval_s(self) -> float:
        """The time from one quantum to the next, in seconds."""
    @property
    def quantum(self) -> int:
        """How many full packets may leave together."""

# What follows exists only in a build with sockets.
# (Emulation and check_emulated_link: with emulated links, on Linux.)

@final
class Connection:
    """A DCCP connection: unreliable datagrams under congestion control.

    It can be used from several threads. It is closed when the last reference to it is dropped.
    Where a call may wait, ``timeout_s`` is the most it waits, in seconds; None is no limit.
    """

    def send(self, data: bytes | bytearray | memoryview, timeout_s: float | None = None) -> None:
        """Queue a datagram (bytes, a bytearray or a memoryview), waiting for room if necessary.

        It leaves when congestion control allows, and may be lost on the way.

        Raises:
            DatagramTooLargeError: If it is larger than ``max_datagram_size``.
            ClosedError: If the connection has been closed, by either end.
            ResetError: If the peer or this end aborted it.
            PeerGoneError: If the peer stopped answering.
            NetError: If it has ended in another way.
            TimeoutError: If there is no room within ``timeout_s`` seconds.
        """

    def _send_async(self, data: bytes | bytearray | memoryview) -> Awaitable[None]:
        """Do the same as ``send``, as an awaitable."""

    def recv(self, timeout_s: float | None = None) -> bytes | None:
        """Return the next datagram, or ``None`` if the connection has been closed.

        Raises:
            ResetError: If the peer or this end aborted the connection.
            PeerGoneError: If the peer stopped answering.
            NetError: If the connection ended in another way.
            TimeoutError: If no datagram arrives within ``timeout_s`` seconds.
        """

    def try_recv(self) -> bytes | None:
        """Return the next datagram, or ``None`` if the connection has been closed.

        Raises:
            BlockingIOError: If there is no datagram yet.
            NetError: If the connection ended in another way.
        """

    def _readable_async(self) -> Awaitable[None]:
        """Wait until ``try_recv`` has an answer. Cancelling it loses nothing."""

    def flush(self, timeout_s: float | None = None) -> None:
        """Wait until all queued datagrams have left.

        Raises:
            NetError: If the connection ends first.
            TimeoutError: If some are left after ``timeout_s`` seconds.
        """

    def _flush_async(self) -> Awaitable[None]:
        """Do the same as ``flush``, as an awaitable."""

    def close(self, timeout_s: float | None = None) -> None:
        """Send queued datagrams, close the connection, and wait until the peer confirms.

        Without ``timeout_s``, queued datagrams have the time ``Config.linger`` to leave, and the
        peer then has ``Config.silence_timeout`` to confirm.

        Raises:
            DiscardedError: If not all that was queued has been sent, since ``Config.linger`` was
                over or the peer closed first.
            PeerGoneError: If the peer does not confirm.
            NetError: If the connection ends, or has ended, in another way.
            TimeoutError: If that is not done within ``timeout_s`` seconds. The connection has then
                been aborted; the message says how many queued datagrams were discarded.
        """

    def _close_async(self) -> Awaitable[None]:
        """Do the same as ``close()``, as an awaitable. If cancelled, closing continues."""

    def close_in_background(self) -> None:
        """Close without waiting for the end."""

    def abort(self) -> None:
        """End the connection at once with a Reset. Queued datagrams are discarded."""

    def stats(self) -> Stats:
        """Return counters and the state of congestion control."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close; abort after an exception; close in the background if asked to stop."""

    def __iter__(self) -> Self:
        """Iterate over the datagrams that arrive, until the connection has been closed."""

    def __next__(self) -> bytes: ...
    @property
    def max_datagram_size(self) -> int:
        """The largest size of a datagram, in bytes (RFC 4340 section 14)."""

    @property
    def peer(self) -> tuple[str, int]:
        """The peer's host and DCCP port."""

    @property
    def peer_udp_port(self) -> int | None:
        """The peer's UDP port; None over IP."""

    @property
    def service_code(self) -> str:
        """The Service Code, e.g. "SC:VOIP" or "SC=42"."""

    @property
    def ccids(self) -> tuple[int, int]:
        """The CCIDs of what this end sends and of what it receives, two integers."""

    @property
    def closed(self) -> Closed | None:
        """How the connection ended; None while it is open."""

@final
class Listener:
    """Accepts connections on one DCCP port, until it is closed or nothing refers to it.

    Then later clients are refused, and connections that nobody has accepted are reset. ``with``
    closes it. ``for`` gives one connection after another.
    """

    @property
    def port(self) -> int:
        """The DCCP port."""

    def accept(self, timeout_s: float | None = None) -> Connection:
        """Wait for the next connection whose handshake is complete.

        Raises:
            TimeoutError: If there is none within ``timeout_s`` seconds.
            EndpointClosedError: If the endpoint has been closed.
            ClosedError: If the listener has been closed.
        """

    def try_accept(self) -> Connection:
        """Return the next connection whose handshake is complete.

        Raises:
            BlockingIOError: If there is none yet.
            EndpointClosedError: If the endpoint has been closed.
            ClosedError: If the listener has been closed.
        """

    def __iter__(self) -> Self:
        """Iterate over connections whose handshake is complete, until the endpoint is closed."""

    def __next__(self) -> Connection: ...
    def close(self) -> None:
        """Stop accepting connections. Those that have been accepted stay open."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop accepting connections."""

    def _acceptable_async(self) -> Awaitable[None]:
        """Wait until ``try_accept`` has an answer. Cancelling it loses nothing."""

@final
class Endpoint:
    """A UDP or raw socket and the DCCP connections on it."""

    @staticmethod
    def udp(
        host: str = "", udp_port: int = 6511, *, config: EndpointConfig | None = None
    ) -> Endpoint:
        """Open a UDP socket for DCCP over UDP (RFC 6773). This needs no privileges.

        Without a host, it is at all addresses of IPv4 and IPv6, or of IPv4 where the system has no
        IPv6. With ``udp_port=0`` the system chooses a port, as a client wants.

        Raises:
            AddressInUseError: If another socket has the address.
            NetError: If it cannot be opened for another reason.
            ValueError: If the port is out of range.
        """

    @staticmethod
    def raw(host: str = "0.0.0.0", *, config: EndpointConfig | None = None) -> Endpoint:
        """Open a raw socket for IP protocol 33, for the IP version of the host.

        Raises:
            NoPermissionError: If the process lacks CAP_NET_RAW.
            NetError: If it cannot be opened for another reason.
        """

    @property
    def local_address(self) -> tuple[str, int]:
        """The host and the UDP port of the socket; the port is 0 over IP."""

    def listen(self, port: int, *, config: Config | None = None) -> Listener:
        """Accept connections on a DCCP port from 1 to 65535, for as long as the listener is kept.

        Raises:
            EndpointClosedError: If the endpoint has been closed.
            NetError: If the port has a listener already.
            ValueError: If the port is out of range.
        """

    def connect(
        self, host: str, port: int, *, udp_port: int = 6511, config: Config | None = None
    ) -> Connection:
        """Connect to DCCP port ``port`` of a host, given by name or address.

        If a name has several addresses, an attempt at the next one begins every 250 ms, IPv6 and
        IPv4 in turn, and the first that succeeds wins (Happy Eyeballs, RFC 8305). The endpoint
        should then be one for both IP versions, as without a host.

        Raises:
            RefusedError: If nothing listens there.
            BadServiceCodeError: If the port does not offer the service.
            ConnectTimeoutError: If there is no answer within ``Config.connect_timeout``.
            UnreachableError: If there is no route to the host, or nothing listens on its UDP port
                and it says so.
            NetError: If anything else fails.
            ValueError: If a port is out of range.
        """

    def stats(self) -> EndpointStats:
        """Return the endpoint's own counters."""

    def snapshot(self, most: int = 1000) -> Snapshot:
        """Return what the connections are doing: the ``most`` oldest one by one, and all in sums.

        Traffic continues meanwhile, however many there are.

        Raises:
            ValueError: If ``most`` is negative.
        """

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close; abort after an exception; close in the background if asked to stop."""

    def _connect_async(
        self, host: str, port: int, *, udp_port: int = 6511, config: Config | None = None
    ) -> Awaitable[Connection]:
        """Do the same as ``connect``, as an awaitable."""

    def close(self, timeout_s: float | None = None) -> None:
        """Close all connections and wait until they have ended.

        The system has the socket back, and its port, when nothing refers to the endpoint, its
        listeners and its connections any more.

        Raises:
            TimeoutError: If some have not ended within ``timeout_s`` seconds; these have then been
                aborted.
        """

    def _close_async(self) -> Awaitable[None]:
        """Do the same as ``close()``, as an awaitable. If cancelled, closing continues."""

    def close_in_background(self) -> None:
        """Close without waiting for the end."""

    def abort(self) -> None:
        """End all connections at once with Resets. Queued datagrams are discarded."""

def endpoint_schema() -> str:
    """Return the JSON Schema of ``skywave.net.EndpointConfig``."""

def stats_schema() -> str:
    """Return the JSON Schema of the classes of ``skywave.net.stats``."""

def set_log_level(level: int) -> None:
    """Log events from this level on."""

def next_log(timeout_s: float) -> tuple[int, list[tuple[int, float, str]]] | None:
    """Return how many events were lost, and those that have happened, since the last call.

    It returns at once if there are any, or after ``timeout_s`` seconds, and ``None`` once there
    will be no more. An event is a level, a time since 1970 in seconds, and a text.
    """

def close_log() -> None:
    """End the log: ``next_log`` returns what is left, and then ``None``."""

def check_config(config: Checked) -> None:
    """Raise ``ValueError`` with the first option that is wrong."""

def perf_loopback(
    *,
    duration_s: float,
    datagram: int,
    pings: int,
    idle: int,
    keepalive_s: float,
    progress: Callable[[str, float], None] | None = None,
) -> str:
    """Measure DCCP over loopback, beside plain UDP and, if built in, quinn; return JSON."""

def perf_serve(connection: Connection) -> str:
    """Count what a measuring client sends, and report it to the client; return it as JSON."""

def perf_send(
    connection: Connection,
    *,
    duration_s: float,
    datagram: int,
    rate_bps: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """Send a load to a measuring server and return the outcome, as JSON."""

@final
class Emulation:
    """A link between two hosts, in real time. Its forward direction leads to the second."""

    def __new__(
        cls,
        link: str,
        directory: str,
        *,
        new_peer: bool,
        seed: int,
        spin: bool,
        capture: str | None = None,
    ) -> Self:
        """Start it. The second host is a new namespace, or the one that the caller is in.

        Raises:
            ScenarioError: If the link is described wrongly.
            OSError: If the system refuses it.

        """
    @property
    def addresses(self) -> list[list[str]]:
        """The addresses of both hosts, IPv4 first."""
    def spawn(self, host: int, program: list[str], environment: list[tuple[str, str]]) -> int:
        """Start a program at a host, with more variables in its environment; return its process.

        Raises:
            OSError: If it cannot be started.

        """
    def report(self) -> str:
        """Return what has happened so far, as JSON."""
    def stop(self) -> str:
        """Stop it; return what has happened, as JSON."""

def run_live(
    scenario: str,
    *,
    progress: Callable[[str, float, float, dict[str, pa.RecordBatch]], None] | None = None,
    captures: dict[str, str] | None = None,
    qlogs: dict[str, str] | None = None,
    members: dict[str, type[Member]] | None = None,
    dccp_over_udp: bool = False,
    spin: bool = False,
    virtual_time: bool = False,
    samples: bool = False,
) -> tuple[Run, str]:
    """Run a scenario (JSON) in real time; return the results, and a report as JSON.

    ``virtual_time`` says that this is a guest, whose time passes only while programs wait.
    ``progress`` takes what is being done (``"set-up"``, and then ``"in real time"`` or
    ``"on virtual time"``), the fraction of it
    that is done, the run's time in seconds, and with ``samples`` what has been sampled since the
    last call; the tables are those of ``SteppedRun.samples``.

    Raises:
        ScenarioError: If it is wrong, can only be simulated, or names a control that the kernel
            does not have.
        OSError: If the system refuses it, or a connection of the kernel failed.

    """

def check_emulated_link(link: str, directory: str) -> None:
    """Check the description (TOML) of a link that is to be emulated.

    Raises:
        ScenarioError: If it is wrong.

    """
