"""Your own congestion controls, in Python.

A control is a subclass of :class:`Control`. It decides how much data may be in flight and how fast
to send it. It runs over TCP with any recovery, over DCCP as CCID 251, and on sockets
(:mod:`skywave.net`)::

    from dataclasses import dataclass

    from skywave import Ack, Control, Loss, Tcp, Timeout

    @dataclass
    class Gentle(Control):
        gain: float = 0.5

        def on_ack(self, ack: Ack) -> None:
            self.cwnd += self.gain * ack.newly_acked / self.cwnd

        def on_loss(self, loss: Loss) -> None:
            self.cwnd = max(self.cwnd / 2, 1)

        def on_timeout(self, timeout: Timeout) -> None:
            self.cwnd = 1

    transport = Tcp(control=Gentle(gain=0.25))

docs/control.md has the full contract, the two calling rates, and what a call costs.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from skywave._core import (
    Ack,
    AckedPacket,
    Context,
    Loss,
    LostPacket,
    Mark,
    MarkedPackets,
    Pacing,
    RoundTrip,
    Sent,
    Timeout,
    check_control,
)
from skywave._errors import SkywaveError
from skywave._known import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "Ack",
    "AckedPacket",
    "Context",
    "Control",
    "Loss",
    "LostPacket",
    "Mark",
    "MarkedPackets",
    "Pacing",
    "RoundTrip",
    "Sent",
    "Timeout",
    "check",
]


class Control:
    """A congestion control. A subclass decides by setting ``cwnd``, ``ssthresh`` and ``pacing``.

    Each connection gets its own object, created with the arguments of the object that was given to
    the transport. These arguments are the control's parameters: they must be representable in JSON,
    and the constructor must take them by name, as that of a dataclass does.

    The three attributes are read after each method call. Windows are in packets (full-size segments
    for TCP), finite and above zero, and need not be integers. Only ``on_ack``, ``on_round_trip``
    and ``on_packet_acked`` may raise cwnd, except that ``on_spurious_loss`` may restore at most
    what the last loss took. After any other call cwnd is at most the larger of its previous value
    and 2; the packets in flight may exceed it. Calls come in any order, at times that never
    decrease.
    :func:`check` tests this contract.

    An exception in a method ends the run, and ``run`` raises it. On a socket it resets the
    connection, and the next call on the connection raises it.
    """

    every: ClassVar[Literal["ack", "round-trip"]] = "ack"
    """How often the control is called: ``"ack"`` calls ``on_ack`` for every acknowledgement,
    ``"round-trip"`` calls ``on_round_trip`` once per round-trip time, which costs much less. Either
    way, losses, marks and timeouts are reported at once."""

    delivery_rate: ClassVar[bool] = False
    """Whether to measure the delivery rate for ``on_ack``. ``on_round_trip`` always has it."""

    sack: ClassVar[bool] = False
    """Whether TCP recovers with selective acknowledgements if ``Tcp.recovery`` is absent: ``sack``
    instead of ``newreno``."""

    ecn: ClassVar[Literal["ect0", "ect1"] | None] = None
    """The ECN code point of data, which also switches ECN on: ``"ect0"`` for routers that mark
    where they would drop (RFC 3168), ``"ect1"`` for those that mark early and often (RFC 9331),
    which needs DCCP. ``None`` leaves ECN to the transport's own settings."""

    paced: ClassVar[bool] = False
    """Whether packets are spread over the round trip, 1.25 times as fast as cwnd per smoothed
    round-trip time (RFC 9002 section 7.7), as long as ``pacing`` is ``None``."""

    cwnd: float
    """Congestion window, in packets; initially that of the connection's settings."""

    ssthresh: float = math.inf
    """Slow-start threshold, in packets; infinite if unset. Only the control acts on it."""

    pacing: Pacing | None = None
    """How to spread packets over time; ``None`` to send as soon as cwnd permits."""

    _parameters: dict[str, object]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Create the control and record its arguments as its parameters."""
        control = super().__new__(cls)
        bound = _signature(cls).bind(*args, **kwargs)
        bound.apply_defaults()
        object.__setattr__(control, "_parameters", dict(bound.arguments))
        return control

    def __reduce__(self) -> tuple[Callable[..., Control], tuple[type[Control], dict[str, object]]]:
        return _make, (type(self), self.parameters)

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments that the control was created with, including defaults."""
        return dict(self._parameters)

    @classmethod
    def control_name(cls) -> str:
        """Return the control's name in scenarios: ``module:Class``."""
        return f"{cls.__module__}:{cls.__qualname__}"

    def source_hash(self) -> str:
        """Return a hash of the class's source, its name and the parameters, in hexadecimal.

        The source is that of the class and of its base classes other than :class:`Control`. Code
        elsewhere that their methods call is not included.

        Raises:
            ValueError: If the source cannot be found, e.g. of a class defined interactively.

        """
        sources = [_source(base) for base in _bases(type(self))]
        identity = [self.control_name(), self.parameters, sources]
        text = json.dumps(identity, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def on_start(self, context: Context) -> None:
        """Start the connection. ``cwnd`` and ``ssthresh`` already have their initial values."""

    def on_sent(self, sent: Sent) -> None:
        """Handle the sending of a data packet. Called only if a class defines it."""

    def on_packet_acked(self, packet: AckedPacket) -> None:
        """Handle a packet acknowledged for the first time. Called only if a class defines it.

        The calls for the packets of an acknowledgement precede ``on_ack``.
        """

    def on_packet_lost(self, packet: LostPacket) -> None:
        """Handle a packet found lost. Called only if a class defines it.

        Each transmission is reported at most once, before the ``on_loss`` or ``on_timeout`` that it
        causes. Losses found later in the same window of data cause no such call.
        """

    def on_packets_marked(self, marked: MarkedPackets) -> None:
        """Handle the marks that an acknowledgement reports. Called only if a class defines it.

        Unlike ``on_mark``, it is called each time, before ``on_ack`` and the ``on_mark`` that it
        may cause. DCCP reports each marked packet once. TCP's receivers repeat a mark until the
        sender answers (RFC 3168 section 6.1.3); what they acknowledge until then counts as marked.
        """

    # Subclasses define these. The core rejects a class that lacks one it would call. They raise for
    # direct callers, such as a control's own tests, from which doing nothing would hide the gap.

    def on_ack(self, ack: Ack) -> None:
        """Handle an acknowledgement. Required, and called, if ``every`` is ``"ack"``."""
        raise NotImplementedError(f"{type(self).__name__}.on_ack is missing")

    def on_round_trip(self, report: RoundTrip) -> None:
        """Handle all acknowledgements of a round-trip time.

        Required, and called, if ``every`` is ``"round-trip"``.
        """
        raise NotImplementedError(f"{type(self).__name__}.on_round_trip is missing")

    def on_loss(self, loss: Loss) -> None:
        """Handle lost packets. Required. Called at most once per window of data."""
        raise NotImplementedError(f"{type(self).__name__}.on_loss is missing")

    def on_mark(self, mark: Mark) -> None:
        """Handle marked packets, none of which was lost. Called at most once per window of data.

        By default, calls ``on_loss`` with no packet lost (RFC 3168 section 5).
        """
        self.on_loss(Loss(now_s=mark.now_s, in_flight=mark.in_flight, lost=0))

    def on_timeout(self, timeout: Timeout) -> None:
        """Handle an expired retransmission timer (TCP) or timeout of the CCID. Required."""
        raise NotImplementedError(f"{type(self).__name__}.on_timeout is missing")

    def on_spurious_loss(self, now_s: float) -> None:
        """Handle the finding that all packets of the last loss arrived. Never called over TCP."""

    def on_restart(self, now_s: float) -> None:
        """Handle a restart of the sender after an idle period (RFC 5681 section 4.1)."""

    def on_receiver_overload(self, now_s: float, dropped: int) -> None:
        """Handle overload of the receiving host, which is independent of the network.

        Leave slow start, and reduce cwnd by the packets ``dropped`` there (RFC 4341 section 5.2).
        """

    def limit_cwnd(self, limit: float) -> None:
        """Lower cwnd to at most ``max(limit, 1)`` packets. ssthresh does not change."""
        self.cwnd = min(self.cwnd, max(limit, 1.0))

    def inner_values(self) -> Mapping[str, float]:
        """Return values to record over time, by name with unit, e.g. ``queueing_delay_s``.

        They appear in the table ``controls``.
        """
        return {}


class UnusableControlError(SkywaveError, ValueError):
    """A named control cannot be used; ``field`` is the parameter at fault, if any."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class PlainType(NamedTuple):
    """A type of parameters that a value in a scenario can be held against."""

    types: tuple[type, ...]
    words: str
    is_bool: bool = False


PLAIN_TYPES = {
    "bool": PlainType((bool,), "true or false", is_bool=True),
    "int": PlainType((int,), "a whole number"),
    "float": PlainType((int, float), "a number"),
    "str": PlainType((str,), "text"),
}
"""By the name of the annotation. A class with other annotations has to look for itself."""


def find(
    name: str, parameters: str, live: Mapping[str, type[Control]] | None
) -> tuple[type[Control], str]:
    """Return the class called ``name``, and its parameters with all defaults, as JSON.

    Called by the core. The class comes from ``live`` or is imported.

    Raises:
        UnusableControlError: If there is no such class or its parameters are wrong.

    """
    kind = live[name] if live and name in live else _imported(name)
    given = json.loads(parameters)
    known = _signature(kind).parameters
    for key in given:
        if key not in known:
            use = f"use {listed(key, known)}" if known else "it has none"
            raise UnusableControlError(f"{kind.__name__} has no such parameter: {use}", key)
    called = {"ack": "on_ack", "round-trip": "on_round_trip"}
    if kind.every not in called:
        raise UnusableControlError(
            f'{kind.__name__}.every is {kind.every!r}: use "ack" or "round-trip"'
        )
    needed = (called[kind.every], "on_loss", "on_timeout")
    missing = [method for method in needed if getattr(kind, method) is getattr(Control, method)]
    if missing:
        raise UnusableControlError(
            f"{kind.__name__} has no method {' nor '.join(missing)}: "
            f"define {'it' if len(missing) == 1 else 'them'}"
        )
    for key, value in given.items():
        annotation = known[key].annotation
        # It is a string with `from __future__ import annotations`.
        plain = PLAIN_TYPES.get(getattr(annotation, "__name__", annotation))
        if plain and (
            not isinstance(value, plain.types) or (type(value) is bool) is not plain.is_bool
        ):
            message = f"{kind.__name__} takes {plain.words}, not {json.dumps(value)}"
            raise UnusableControlError(message, key)
    try:
        complete = kind(**given).parameters
    except Exception as error:
        raise UnusableControlError(
            f"{kind.__name__} cannot be created: {type(error).__name__}: {_line(error)}"
        ) from error
    return kind, _json(kind, complete)


def imported(name: str, parameters: Mapping[str, Any]) -> Control:
    """Return a control by the name and parameters that a scenario gives.

    Raises:
        UnusableControlError: If there is no such class or its parameters are wrong.

    """
    kind, complete = find(name, json.dumps(parameters), None)
    return kind(**json.loads(complete))


def check(control: Control, *, cases: int = 256) -> None:
    """Check that controls like this one keep their contract, as the tests do for the built-in ones.

    Tries ``cases`` random sequences of up to 200 calls, the same ones each time.

    Raises:
        AssertionError: If the control violates the contract. The message has the violation and the
            shortest sequence of calls found that reproduces it; the cause is the control's
            exception, if any.
        ScenarioError: If the class lacks a method or its parameters are wrong.

    """
    name, parameters = named(control)
    check_control(name, json.dumps(parameters), live([control]), cases)


def named(control: Control) -> tuple[str, dict[str, object]]:
    """Return the name and the parameters that stand for a control in a scenario."""
    _json(type(control), control.parameters)
    return control.control_name(), control.parameters


def live(controls: Iterable[Control]) -> dict[str, type[Control]]:
    """Return the classes of controls by name.

    Raises:
        ValueError: If two classes have the same name.

    """
    classes: dict[str, type[Control]] = {}
    for control in controls:
        name, kind = control.control_name(), type(control)
        if classes.setdefault(name, kind) is not kind:
            raise ValueError(f"two classes are called {name}: give one of them another name")
    return classes


def _make(kind: type[Control], parameters: dict[str, object]) -> Control:
    """Create a control from its parameters; pickle calls this."""
    return kind(**parameters)


def _imported(name: str) -> type[Control]:
    module_name, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and module_name.startswith(
            error.name or "?"
        )
        why = "there is no such module" if missing else f"{type(error).__name__}: {_line(error)}"
        raise UnusableControlError(
            f'"{name}" cannot be imported: {why}; modules are searched in the current directory '
            "and on PYTHONPATH"
        ) from error
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise UnusableControlError(f'"{name}": the module {module_name} has no class {path}')
    if not (isinstance(found, type) and issubclass(found, Control)):
        raise UnusableControlError(f'"{name}" is not a subclass of skywave.Control')
    return found


def _signature(kind: type[Control]) -> inspect.Signature:
    """Return the signature of a class's constructor, which defines its parameters.

    Raises:
        TypeError: If a parameter cannot be given by name.

    """
    if kind.__init__ is object.__init__:
        return inspect.Signature()
    _self, *parameters = inspect.signature(kind.__init__).parameters.values()
    named_kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for parameter in parameters:
        if parameter.kind not in named_kinds:
            raise TypeError(
                f"the constructor of {kind.__name__} takes {parameter}: name each parameter"
            )
    return inspect.Signature(parameters)


def _bases(kind: type[Control]) -> list[type]:
    """Return the class and its base classes, other than `Control` and its bases."""
    return [base for base in kind.__mro__ if base not in Control.__mro__]


def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"the source of {kind.__qualname__} cannot be found ({_line(error)}): "
            "define it in a module"
        ) from error


def _json(kind: type[Control], parameters: dict[str, object]) -> str:
    """Return parameters as JSON.

    Raises:
        UnusableControlError: If JSON cannot hold one of them; ``field`` is its name.

    """
    for name, value in parameters.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UnusableControlError(
                f"{kind.__name__} has {value!r}, which JSON cannot hold: {_line(error)}", name
            ) from error
    return json.dumps(parameters)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
