"""Members of scenarios in Python: classes that a scenario names as ``module:Class``.

What controls, queue disciplines, loss models and sources have in common: the parameters of an
object, the name of its class, and the search for the class of a name.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self, TypeVar

from skywave import _core
from skywave._errors import ScenarioError, SkywaveError
from skywave._known import listed

Kind = TypeVar("Kind", bound="Member")


class Member:
    """A part of a scenario that decides in Python.

    Each link or connection gets its own object, created with the arguments of the object that the
    scenario has. These arguments are its parameters: they must be representable in JSON, and the
    constructor must take them by name, as that of a dataclass does.
    """

    _parameters: dict[str, object]

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Create the object and record its arguments as its parameters."""
        member = super().__new__(cls)
        bound = _signature(cls).bind(*args, **kwargs)
        bound.apply_defaults()
        object.__setattr__(member, "_parameters", dict(bound.arguments))
        return member

    def __reduce__(self) -> tuple[Callable[..., Member], tuple[type[Member], dict[str, object]]]:
        return _make, (type(self), self.parameters)

    @property
    def parameters(self) -> dict[str, object]:
        """The arguments that the object was created with, including defaults."""
        return dict(self._parameters)

    @classmethod
    def member_name(cls) -> str:
        """Return the name of the class in scenarios: ``module:Class``."""
        return f"{cls.__module__}:{cls.__qualname__}"

    def source_hash(self) -> str:
        """Return a hash of the class's source, its name and the parameters, in hexadecimal.

        The source is that of the class and of its base classes outside Skywave. Code elsewhere that
        their methods call is not included.

        Raises:
            ValueError: If the source cannot be found, e.g. of a class defined interactively.
        """
        kind = type(self)
        sources = [_source(base) for base in kind.__mro__ if base not in _root(kind).__mro__]
        identity = [self.member_name(), self.parameters, sources]
        text = json.dumps(identity, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def check_class(cls) -> None:
        """Check what the core relies on.

        Raises:
            UnusableMemberError: If the class cannot be used.
        """

    def check_declared(self) -> None:
        """Check what an object declares.

        Raises:
            UnusableMemberError: If it cannot be used.
        """

    @classmethod
    def _require(cls, *methods: str) -> None:
        """Check that the class defines these methods."""
        base = _root(cls)
        missing = [name for name in methods if getattr(cls, name) is getattr(base, name)]
        if missing:
            raise UnusableMemberError(
                f"{cls.__name__} has no method {' nor '.join(missing)}: "
                f"define {'it' if len(missing) == 1 else 'them'}"
            )


class UnusableMemberError(SkywaveError, ValueError):
    """A named member cannot be used; ``field`` is the parameter at fault, if any."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.message = message


PLAIN_TYPES = {
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "float": (int | float, "a number"),
    "str": (str, "text"),
}
"""Types of parameters that a value in a scenario can be held against, and what they are called.

By the name of the annotation. A class with other annotations has to look for itself.
"""


def find(
    base: type[Kind], name: str, parameters: str, live: Mapping[str, type[Member]] | None
) -> tuple[type[Kind], str, Kind]:
    """Return the class called ``name``, its parameters with all defaults as JSON, and an object.

    Called by the core. The class is derived from ``base``. It comes from ``live`` or is imported.

    Raises:
        UnusableMemberError: If there is no such class or its parameters are wrong.
    """
    found = live[name] if live and name in live else _imported(name)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise UnusableMemberError(f'"{name}" is not a subclass of skywave.{base.__name__}')
    kind: type[Kind] = found
    given = json.loads(parameters)
    known = _signature(kind).parameters
    for key in given:
        if key not in known:
            use = f"use {listed(key, known)}" if known else "it has none"
            raise UnusableMemberError(f"{kind.__name__} has no such parameter: {use}", key)
    kind.check_class()
    for key, value in given.items():
        annotation = known[key].annotation
        # It is a string with `from __future__ import annotations`.
        plain, words = PLAIN_TYPES.get(getattr(annotation, "__name__", annotation), (object, ""))
        # A bool is an int, too.
        if not isinstance(value, plain) or (words and (type(value) is bool) is not (plain is bool)):
            message = f"{kind.__name__} takes {words}, not {json.dumps(value)}"
            raise UnusableMemberError(message, key)
    try:
        member = kind(**given)
    except Exception as error:
        raise UnusableMemberError(
            f"{kind.__name__} cannot be created: {type(error).__name__}: {_line(error)}"
        ) from error
    complete = _json(kind, member.parameters)
    member.check_declared()
    return kind, complete, member


def imported(base: type[Kind], name: str, parameters: Mapping[str, Any]) -> Kind:
    """Return a member by the name and parameters that a scenario gives."""
    kind, complete, _ = find(base, name, json.dumps(parameters), None)
    return kind(**json.loads(complete))


def named(member: Member) -> tuple[str, dict[str, object]]:
    """Return the name and the parameters that stand for a member in a scenario."""
    if isinstance(member, type):
        raise TypeError(f"{member.__name__} is a class: give an instance, {member.__name__}()")
    if not isinstance(member, Member):
        raise TypeError(f"{member!r} is not a control, a queue, a loss model or a source")
    _json(type(member), member.parameters)
    return member.member_name(), member.parameters


def least_one(name: str, number: int) -> int:
    """Return a number of repetitions.

    Raises:
        ValueError: If it is below one.
    """
    if number < 1:
        raise ValueError(f"{name} is {number}: give at least 1")
    return number


def live(members: Iterable[Member]) -> dict[str, type[Member]]:
    """Return the classes of members by name.

    Raises:
        ValueError: If two classes have the same name.
    """
    classes: dict[str, type[Member]] = {}
    for member in members:
        name, kind = member.member_name(), type(member)
        if classes.setdefault(name, kind) is not kind:
            raise ValueError(f"two classes are called {name}: give one of them another name")
    return classes


MOST_PARTS = 300
"""The most parts of 32,768 events that a run of a check may take: a flow of 10 s takes a few."""


def check_by_runs(
    member: Member, seeds: int, dumbbell: Mapping[str, Any], source: Mapping[str, Any]
) -> None:
    """Run a UDP flow with a member in Python twice for each seed; the runs must be the same.

    Raises:
        AssertionError: If a run fails, never ends or differs from the one before, or none sends.
        SkywaveError: If the member cannot be used.
        ValueError: If ``seeds`` is below one.
    """
    queue = {"drop-tail": {"packets": 1000}}
    link = {"pairs": 1, "rate": "1 Mbps", "delay": "9 ms", "queue": queue, "access_rate": "9 Mbps"}
    flow = {"name": "flow", "from": "s1", "to": "d1", "transport": {"udp": {}}, "source": source}
    network = {**link, "access_delays": ["1 ms"], **dumbbell}
    scenario = {"name": "check", "duration": "10 s", "dumbbell": network, "flows": [flow]}
    sent = 0
    for seed in range(least_one("seeds", seeds)):
        text, members = json.dumps({**scenario, "seed": seed}), live([member])
        try:
            one, other = (_core.run(text, members=members, progress=_ending()) for _ in range(2))
        except ScenarioError:
            raise
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {_line(error)}") from error
        if one.fingerprint != other.fingerprint:
            raise AssertionError(
                f"seed {seed}: two runs differ: draw from self.random only, keep state in self"
            )
        sent += json.loads(one.summary)["flows"][0]["packets_sent"]
    if not sent:
        raise AssertionError("nothing is sent in the first 10 s, so nothing was checked")


def _ending() -> Callable[[float], None]:
    """Return what is called for each part of a run, and ends one that goes on for ever."""
    parts = itertools.count(1)

    def count(fraction: float) -> None:
        if next(parts) > MOST_PARTS:
            raise RuntimeError(f"too many datagrams by {10 * fraction:.3g} s: let the time grow")

    return count


def _make(kind: type[Member], parameters: dict[str, object]) -> Member:
    """Create a member from its parameters; pickle calls this."""
    return kind(**parameters)


def _imported(name: str) -> object:
    module_name, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and module_name.startswith(
            error.name or "?"
        )
        why = "there is no such module" if missing else f"{type(error).__name__}: {_line(error)}"
        raise UnusableMemberError(
            f'"{name}" cannot be imported: {why}; modules are searched in the current directory '
            "and on PYTHONPATH"
        ) from error
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise UnusableMemberError(f'"{name}": the module {module_name} has no class {path}')
    return found


def _signature(kind: type[Member]) -> inspect.Signature:
    """Return the signature of a class's constructor, which defines its parameters."""
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


def _root(kind: type[Member]) -> type[Member]:
    """Return the class of Skywave that a class is derived from, such as `Control`."""
    return next(base for base in kind.__mro__ if Member in base.__bases__)


def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"the source of {kind.__qualname__} cannot be found ({_line(error)}): "
            "define it in a module"
        ) from error


def _json(kind: type[Member], parameters: dict[str, object]) -> str:
    """Return parameters as JSON.

    Raises:
        UnusableMemberError: If JSON cannot hold one of them; ``field`` is its name.
    """
    for name, value in parameters.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UnusableMemberError(
                f"{kind.__name__} has {value!r}, which JSON cannot hold: {_line(error)}", name
            ) from error
    return json.dumps(parameters)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
