"""The definitions of the scenario's JSON Schema, as classes with fields."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from skywave import _core

Node = dict[str, Any]

QUANTITIES = ("Duration", "Rate", "Bytes")
KEYWORDS = ("from", "class")
RENAMED = {"Loss": "LossModel"}
"""Definitions that have another name here: that of a loss is an event's of controls."""
NOTHING = object()


@dataclass(frozen=True)
class Field:
    """A field of a class, with the key under which it stands in a file."""

    key: str
    name: str
    node: Node
    required: bool

    @property
    def doc(self) -> str:
        """What it is."""
        return str(self.node.get("description", ""))

    @property
    def unit(self) -> str | None:
        """The unit of a number; None where it has none, or the value is no number."""
        unit = self.node.get("x-unit")
        return None if unit in (None, "1") else str(unit)

    @property
    def default(self) -> Any:
        """The value where the key is left out; ``NOTHING`` where that is not one value."""
        return self.node.get("default", NOTHING)


@dataclass(frozen=True)
class Part:
    """A class of the scenario; ``tag`` is its key where it is one of several forms.

    ``base`` is the class whose definition it shares, under another tag.
    """

    name: str
    tag: str | None
    doc: str
    fields: tuple[Field, ...]
    base: str | None = None


@dataclass(frozen=True)
class Form:
    """One form of a value that has several: a word, or a class under its tag."""

    word: str | None
    part: str | None
    doc: str
    python: tuple[str, str] | None = None
    """The module of Skywave and the class that a form in Python extends."""


class Schema:
    """The scenario's JSON Schema."""

    def __init__(self, document: Node | None = None) -> None:
        self.document: Node = document or json.loads(_core.scenario_schema())
        self.definitions: dict[str, Node] = {
            RENAMED.get(name, name): node for name, node in self.document["$defs"].items()
        }

    @cached_property
    def words(self) -> dict[str, list[tuple[str, str]]]:
        """The definitions that are one word out of several, each with its documentation."""
        return {
            name: [(form["const"], form.get("description", "")) for form in node["oneOf"]]
            for name, node in self.definitions.items()
            if "oneOf" in node and all("const" in form for form in node["oneOf"])
        }

    @cached_property
    def unions(self) -> dict[str, list[Form]]:
        """The definitions that have several forms, of which one at least is a class."""
        return {
            name: list(self._forms(name, node))
            for name, node in self.definitions.items()
            if "oneOf" in node and name not in self.words
        }

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The classes, by name: those that others refer to come first."""
        found: dict[str, Part] = {}
        for name, node in self.definitions.items():
            if "oneOf" in node and name not in self.words:
                found.update({part.name: part for part in self._inner(node)})
            elif "properties" in node or node.get("type") == "object":
                tag, doc = self._tags.get(name, (None, ""))
                found[name] = self._part(name, tag, node, doc)
        for name, (definition, tag, doc) in self._shared.items():
            part = self._part(name, tag, self.definitions[definition], doc)
            found[name] = replace(part, base=definition if definition in found else None)
        return found

    def reference(self, node: Node) -> str | None:
        """Return the name of the definition that a node refers to."""
        target = node.get("$ref")
        if target is None:
            return None
        name = str(target).removeprefix("#/$defs/")
        return RENAMED.get(name, name)

    def _variants(self, node: Node) -> list[tuple[str, Node, Node]]:
        """Return the forms of a node that are objects with one key: key, value, form."""
        return [
            (key, value, form)
            for form in node["oneOf"]
            if len(form.get("properties", {})) == 1
            for key, value in form["properties"].items()
        ]

    def _inner(self, node: Node) -> list[Part]:
        """Return the classes of forms whose value is not a definition."""
        return [
            Part(
                form["x-class"],
                None,
                form.get("description", ""),
                (
                    Field(
                        key,
                        key,
                        {"description": form.get("description", ""), **value},
                        required=True,
                    ),
                ),
            )
            for key, value, form in self._variants(node)
            if "x-class" in form
        ]

    def _forms(self, union: str, node: Node) -> list[Form]:
        forms = []
        for form in node["oneOf"]:
            doc = form.get("description", "")
            if "const" in form:
                forms.append(Form(form["const"], None, doc))
            elif "x-class" in form:
                forms.append(Form(None, form["x-class"], doc))
            elif "x-python" in form:
                module, class_ = form["x-python"]
                forms.append(Form(None, None, doc, (module, class_)))
            elif "properties" in form:
                ((key, value),) = form["properties"].items()
                definition = self.reference(value)
                if definition is None:
                    raise ValueError(f"{union}.{key} has neither a definition nor an x-class")
                forms.append(Form(None, self._class_of(definition, key), doc))
        return forms

    @cached_property
    def _users(self) -> dict[str, list[tuple[str, str]]]:
        """The tags under which each definition stands as a form, with their documentation."""
        users: dict[str, list[tuple[str, str]]] = {}
        for node in self.definitions.values():
            for key, value, form in self._variants(node) if "oneOf" in node else []:
                definition = self.reference(value)
                if definition is not None:
                    users.setdefault(definition, []).append((key, form.get("description", "")))
        return users

    @cached_property
    def _tags(self) -> dict[str, tuple[str, str]]:
        """The tag of the class that has its definition's name."""
        return {definition: users[0] for definition, users in self._own.items() if users}

    @cached_property
    def _own(self) -> dict[str, list[tuple[str, str]]]:
        def is_own(definition: str, tag: str) -> bool:
            return self._class_of(definition, tag) == definition

        return {
            definition: [user for user in users if is_own(definition, user[0])]
            for definition, users in self._users.items()
        }

    @cached_property
    def _shared(self) -> dict[str, tuple[str, str, str]]:
        """Further classes of definitions that stand under several tags."""
        return {
            name: (definition, tag, doc)
            for definition, users in self._users.items()
            for tag, doc in users
            if (name := self._class_of(definition, tag)) != definition
        }

    def _class_of(self, definition: str, tag: str) -> str:
        """Return the class for a definition under a tag: its own, if that is the only tag."""
        if len(self._users[definition]) == 1:
            return definition
        return "".join(word.capitalize() for word in re.split(r"[-_]", tag))

    def _part(self, name: str, tag: str | None, node: Node, form_doc: str) -> Part:
        required = node.get("required", [])
        fields = tuple(
            Field(key, f"{key}_" if key in KEYWORDS else key, value, key in required)
            for key, value in node.get("properties", {}).items()
        )
        doc = node.get("description", "") or form_doc
        if form_doc and form_doc != doc and name in self._shared:
            doc = f"{form_doc}\n\n{doc}"
        return Part(name, tag, doc, fields)
