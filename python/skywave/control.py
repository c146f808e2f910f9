"""A congestion control of one's own, in Python.

A control is a subclass of :class:`Control`: how much may be in flight, and how fast it may leave.
It runs with every recovery of TCP, with DCCP's CCID 251, and on sockets (:mod:`skywave.net`)::

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

docs/control.md tells the rest: the contract, the two rates of calling, what a call costs.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from skywave._core import (
    Ack,
    AckedPacket,
    Context,
    Loss,
    Mark,
    Pacing,
    RoundTrip,
    Sent,
    Timeout,
    check_control,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "Ack",
    "AckedPacket",
    "Context",
    "Control",
    "Loss",
    "Mark",
    "Pacing",
    "RoundTrip",
    "Sent",
    "Timeout",
    "check",
]


class Control:
    """A congestion control: a subclass decides by setting ``cwnd``, ``ssthresh`` and ``pacing``.

    Each connection has an object of its own, made with the same arguments as the one that was given
    to a transport. These are the control's parameters: JSON must be able to hold them, and the
    constructor takes them by name, as that of a dataclass does.

    The three attributes are read after each call of a method. Windows are in packets (full-size
    segments for TCP), finite and above zero; they need not be integers. Only ``on_ack``,
    ``on_round_trip`` and ``on_packet_acked`` may raise cwnd, except that ``on_spurious_loss`` may
    give back at most what the last loss took. After any other call cwnd is at most the larger of
    its previous value, the packets in flight, and 2. Calls come in any order, at times that never
    decrease. :func:`check` tests that.

    An exception in a method ends the run, which raises it; on a socket it resets the connection,
    whose next call raises it.
    """

    every: ClassVar[Literal["ack", "round-trip"]] = "ack"
    """How often it is called: for every acknowledgement (``on_ack``), or once in a round-trip time
    (``on_round_trip``), which costs much less. Losses, marks and timeouts are told at once."""

    delivery_rate: ClassVar[bool] = False
    """Whether the delivery rate is measured for ``on_ack``; for ``on_round_trip`` it always is."""

    cwnd: float
    """Congestion window, in packets; at first that of the connection's settings."""

    ssthresh: float = math.inf
    """Slow-start threshold, in packets; infinite if unset. Only the control acts on it."""

    pacing: Pacing | None = None
    """How to spread packets over time; ``None`` to send as soon as cwnd permits."""

    _parameters: dict[str, object]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Keep the arguments: they are the parameters."""
        control = super().__new__(cls)
        bound = _signature(cls).bind(*args, **kwargs)
        bound.apply_defaults()
        object.__setattr__(control, "_parameters", dict(bound.arguments))
        return control

    def __reduce__(self) -> tuple[Callable[..., Control], tuple[type[Control], dict[str, object]]]:
        return _make, (type(self), self.parameters)

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments with which it was made, and the defaults of the others."""
        return dict(self._parameters)

    @classmethod
    def control_name(cls) -> str:
        """Return the name by which a scenario has it: ``module:Class``."""
        return f"{cls.__module__}:{cls.__qualname__}"

    def source_hash(self) -> str:
        """Return a hash over the source of its class, its name and its parameters, in hexadecimal.

        The source is that of the class and of those that it inherits from, other than
        :class:`Control`. What their methods call elsewhere is not part of it.

        Raises:
            ValueError: where the source cannot be found, as of a class that was typed in.

        """
        sources = [_source(base) for base in _bases(type(self))]
        identity = [self.control_name(), self.parameters, sources]
        text = json.dumps(identity, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def on_start(self, context: Context) -> None:
        """Begin; ``cwnd`` and ``ssthresh`` have their initial values already."""

    def on_sent(self, sent: Sent) -> None:
        """Take note that a data packet leaves. Not called where a class does not have it."""

    def on_packet_acked(self, packet: AckedPacket) -> None:
        """Take note of a packet acknowledged for the first time.

        Called for each packet of an acknowledgement before ``on_ack``, where a class has it.
        """

    # A subclass defines these; the core refuses a class without those that it calls. They raise for
    # whoever calls them directly, as in a test of a control, where doing nothing would hide it.

    def on_ack(self, ack: Ack) -> None:
        """Act on an acknowledgement; called where ``every`` is ``"ack"``, and required there."""
        raise NotImplementedError(f"{type(self).__name__}.on_ack is missing")

    def on_round_trip(self, report: RoundTrip) -> None:
        """Act on all acknowledgements of a round-trip time.

        Called where ``every`` is ``"round-trip"``, and required there.
        """
        raise NotImplementedError(f"{type(self).__name__}.on_round_trip is missing")

    def on_loss(self, loss: Loss) -> None:
        """Act on lost packets; called at most once in a window of data. Required."""
        raise NotImplementedError(f"{type(self).__name__}.on_loss is missing")

    def on_mark(self, mark: Mark) -> None:
        """Act on marked packets when none was lost; called at most once in a window of data.

        By default like a loss (RFC 3168 section 5) of no packet.
        """
        self.on_loss(Loss(now_s=mark.now_s, in_flight=mark.in_flight, lost=0))

    def on_timeout(self, timeout: Timeout) -> None:
        """Act on an expired retransmission timer (TCP) or timeout of the CCID. Required."""
        raise NotImplementedError(f"{type(self).__name__}.on_timeout is missing")

    def on_spurious_loss(self, now_s: float) -> None:
        """Learn that the last loss was none: all its packets have arrived. TCP cannot tell."""

    def on_restart(self, now_s: float) -> None:
        """Learn that the sender restarts after it was idle (RFC 5681 section 4.1)."""

    def on_receiver_overload(self, now_s: float, dropped: int) -> None:
        """Learn that the receiving host cannot keep up, regardless of the network.

        Leave slow start, and reduce cwnd by the packets ``dropped`` there (RFC 4341 section 5.2).
        """

    def limit_cwnd(self, limit: float) -> None:
        """Lower cwnd to at most ``limit`` packets, or 1 if that is less, and not ssthresh."""
        self.cwnd = min(self.cwnd, max(limit, 1.0))

    def inner_values(self) -> Mapping[str, float]:
        """Return what shall be plotted over time, by names that include units ("queueing_delay_s").

        The table ``controls`` has them.
        """
        return {}


class UnusableControlError(ValueError):
    """A named control cannot be had; ``field`` is the parameter at fault, if any."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def find(
    name: str, parameters: str, live: Mapping[str, type[Control]] | None
) -> tuple[type[Control], str]:
    """Return the class of this name, and its parameters (JSON) with all defaults.

    The core calls it. A class is one of ``live``, or imported.

    Raises:
        UnusableControlError: where there is none, or its parameters are wrong.

    """
    kind = live[name] if live and name in live else _imported(name)
    given = json.loads(parameters)
    known = _signature(kind).parameters
    for key in given:
        if key not in known:
            use = f"use {', '.join(known)}" if known else "it has none"
            raise UnusableControlError(f"{kind.__name__} has no such parameter: {use}", key)
    called = {"ack": "on_ack", "round-trip": "on_round_trip"}
    if kind.every not in called:
        raise UnusableControlError(
            f'{kind.__name__}.every is {kind.every!r}: use "ack" or "round-trip"'
        )
    for method in (called[kind.every], "on_loss", "on_timeout"):
        if getattr(kind, method) is getattr(Control, method):
            raise UnusableControlError(f"{kind.__name__} has no method {method}: define it")
    try:
        complete = kind(**given).parameters
    except Exception as error:
        raise UnusableControlError(
            f"{kind.__name__} cannot be made: {type(error).__name__}: {_line(error)}"
        ) from error
    return kind, _json(kind, complete)


def imported(name: str, parameters: Mapping[str, Any]) -> Control:
    """Return a control by the name and the parameters that a scenario gives.

    Raises:
        UnusableControlError: where there is none, or its parameters are wrong.

    """
    kind, complete = find(name, json.dumps(parameters), None)
    return kind(**json.loads(complete))


def check(control: Control, *, cases: int = 256) -> None:
    """Hold controls like this one to their contract, as each built-in one is held.

    ``cases`` random sequences of up to 200 calls are tried, the same ones each time.

    Raises:
        AssertionError: what is violated, and the shortest calls found that show it; its cause is
            what the control raised, if it did.
        ScenarioError: where the class lacks a method, or its parameters are wrong.

    """
    name, parameters = named(control)
    check_control(name, json.dumps(parameters), live([control]), cases)


def chosen(
    control: str | Mapping[str, Mapping[str, object]] | Control,
) -> tuple[str, str, dict[str, type[Control]] | None]:
    """Return the name, the parameters (JSON) and the class of a socket's control.

    Raises:
        ValueError: where it is none of these.

    """
    if isinstance(control, Control):
        name, parameters = named(control)
        return name, json.dumps(parameters), live([control])
    if isinstance(control, str):
        return control, "{}", None
    if isinstance(control, Mapping) and len(control) == 1:
        ((name, given),) = control.items()
        return name, json.dumps(given), None
    raise ValueError(
        f'control is {control!r}: give a name, {{"name": {{parameters}}}}, or a skywave.Control'
    )


def named(control: Control) -> tuple[str, dict[str, object]]:
    """Return the name and the parameters by which a scenario has a control."""
    _json(type(control), control.parameters)
    return control.control_name(), control.parameters


def live(controls: Iterable[Control]) -> dict[str, type[Control]]:
    """Return the classes of controls by the names of these.

    Raises:
        ValueError: where two classes have one name.

    """
    classes: dict[str, type[Control]] = {}
    for control in controls:
        name, kind = control.control_name(), type(control)
        if classes.setdefault(name, kind) is not kind:
            raise ValueError(f"two classes are called {name}: give one of them another name")
    return classes


def _make(kind: type[Control], parameters: dict[str, object]) -> Control:
    """Make a control again, as pickle does."""
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
            f'"{name}" cannot be imported: {why}; modules are looked for in the current directory '
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
    """Return the signature of a class's constructor: its parameters.

    Raises:
        TypeError: where they cannot be given by name.

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
    """Return the class and those that it inherits from, other than `Control` and its own."""
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
        UnusableControlError: with the one that JSON cannot hold.

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
