"""The base class of descriptions for the core: conversion to and from the core's form."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from os import PathLike, fspath
from typing import Any, ClassVar, Self

import attrs

from skywave._members import Member, imported, live, named
from skywave.control import Control
from skywave.scenario.quantities import Bytes, Duration, Rate

Reader = Callable[[Any], Any]

QUANTITIES = (Bytes, Duration, Rate)


def naming_fields(_kind: type, fields: list[attrs.Attribute[Any]]) -> list[attrs.Attribute[Any]]:
    """Make errors of converters name the field, as a transformer of fields."""
    return [
        item
        if item.converter is None or item.inherited  # type: ignore[attr-defined]
        else item.evolve(converter=_naming(item.converter))
        for item in fields
    ]


def _naming(convert: Any) -> attrs.Converter[Any, Any]:
    def read(value: Any, item: attrs.Attribute[Any]) -> Any:
        try:
            return convert(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{item.name}: {error}") from None

    return attrs.Converter(read, takes_field=True)


class Part:
    """A part of a scenario. ``TAG`` is its key if a value can have several forms."""

    TAG: ClassVar[str | None] = None

    def replace(self, **changes: Any) -> Self:
        """Return a copy with other values of these fields.

        Raises:
            TypeError: If there is no such field.
            ValueError: If a text is not a quantity.
        """
        kind: Any = self
        return attrs.evolve(kind, **changes)  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """Return the part as the core reads it, without fields that have their defaults."""
        kind: type = type(self)
        body: dict[str, Any] = {}
        for name, key, default in _fields(kind):
            value = getattr(self, name)
            # None may replace a default; a field without one is left out.
            if value == default or (value is None and default is attrs.NOTHING):
                continue
            try:
                body[key] = plain(value)
            except TypeError as error:
                raise TypeError(f"{name}: {error}") from error
        if isinstance(control := body.get("control"), Control):
            name, parameters = named(control)
            body |= {"control": name, name: parameters}
        return body if self.TAG is None else {self.TAG: body}

    def to_core(self) -> tuple[str, dict[str, type[Member]]]:
        """Return the part as JSON, and the classes of its members that are written in Python."""
        return json.dumps(self.to_dict()), live(self.members())

    def members(self) -> list[Member]:
        """Return the members that are written in Python: controls, queues, losses and sources."""
        return list(_members(self))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Create a part from the core's output, which has been validated."""
        kind: type = cls
        readers = _readers(kind)
        given: dict[str, Any] = {}
        chosen = document.get("control")
        if isinstance(chosen, str) and ":" in chosen:
            # A class in Python. Its parameters are under its name.
            given["control"] = imported(Control, chosen, document.get(chosen, {}))
            document = {key: document[key] for key in document if key not in ("control", chosen)}
        for key, value in document.items():
            name, read = readers[key]
            given[name] = read(value)
        return cls(**given)


def plain(value: Any) -> Any:
    """Return a value in the form that the core reads."""
    if isinstance(value, Part):
        return value.to_dict()
    if isinstance(value, Member) and not isinstance(value, Control):
        name, parameters = named(value)
        return {name: parameters}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, QUANTITIES):
        return str(value)
    if isinstance(value, type):
        raise TypeError(f"{value.__name__} is a class: give an instance, {value.__name__}()")
    if isinstance(value, PathLike):
        return fspath(value)
    if not isinstance(value, str | int | float | dict | Control | None):
        raise TypeError(f"{value!r} is not a valid field value")
    return value


def _members(value: Member | Part | list[Any] | tuple[Any, ...]) -> Iterator[Member]:
    """Yield the members in Python that a value has."""
    if isinstance(value, Member):
        yield value
        return
    if isinstance(value, Part):
        kind: type = type(value)
        value = [getattr(value, name) for name, _, _ in _fields(kind)]
    for each in value:
        if isinstance(each, Member | Part | list | tuple):
            yield from _members(each)


@cache
def _fields(kind: type) -> tuple[tuple[str, str, Any], ...]:
    """Return name, key and default of each field."""
    return tuple(
        (item.name, item.metadata.get("key", item.name), _default(item))
        for item in attrs.fields(kind)
    )


def _default(item: attrs.Attribute[Any]) -> Any:
    factory = getattr(item.default, "factory", None)
    return item.default if factory is None else factory()


@cache
def _readers(kind: type) -> dict[str, tuple[str, Reader]]:
    """Return, by key, the name of each field and the function that reads its value."""
    hints = typing.get_type_hints(kind)
    return {key: (name, _reader(hints[name])) for name, key, _ in _fields(kind)}


def _has(kind: type, key: Any) -> bool:
    return key in _readers(kind)


def _reader(hint: Any) -> Reader:
    """Return the function that reads a value of this type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (tuple, list):
        read = _reader(arguments[0])
        collect: Callable[[Any], Any] = origin
        return lambda values: collect(read(value) for value in values)
    if origin in (types.UnionType, typing.Union):
        return _form([kind for kind in arguments if kind is not type(None)])
    if isinstance(hint, type) and issubclass(hint, Part):
        return hint.from_dict if hint.TAG is None else _form([hint])
    # The part's constructor converts texts of quantities.
    return lambda value: value


def _form(kinds: list[Any]) -> Reader:
    """Return the function that reads a value with one of these forms."""
    parts = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Part)]
    tagged = {part.TAG: part for part in parts if part.TAG is not None}
    bases = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Member)]
    untagged = [part for part in parts if part.TAG is None]
    if not parts:
        return _reader(kinds[0]) if len(kinds) == 1 else lambda value: value

    def read(value: Any) -> Any:
        if isinstance(value, str):
            if ":" in value and bases:
                return imported(bases[0], value, {})
            return tagged[value]() if value in tagged else value
        tag = next(iter(value), "")
        if ":" in tag and bases:
            return imported(bases[0], tag, value[tag])
        if tag in tagged:
            return tagged[tag].from_dict(value[tag])
        if not untagged:
            # A member of an extension of the user's own has no class here.
            return value
        part = next((part for part in untagged if _has(part, tag)), untagged[0])
        return part.from_dict(value)

    return read
