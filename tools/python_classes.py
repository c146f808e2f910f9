"""``skywave/scenario/parts.py``: the scenario's classes, written from the core's schema."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.definitions import NOTHING, QUANTITIES, Field, Node, Part, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = Path(__file__).parent.parent / "python" / "skywave" / "scenario" / "parts.py"
MUTABLE = ("Scenario",)
"""Classes whose lists can be added to; a hand-written class with methods takes their place."""
HEAD = '''"""The parts of a scenario, one class for each definition of its schema.

Written by ``make schema`` from the core's types and their documentation: do not edit.

A quantity is given as a text with its unit (``"300 ms"``, ``"2 Mbps"``, ``"500 B"``) or as an
object of :mod:`skywave.scenario.quantities`; the attribute holds the object. An attribute that is
None is left out of the scenario: its documentation says what then holds. Nothing is validated here:
the core does that, and names the field that is wrong. ``from`` and ``class`` are keywords of
Python, so they are ``from_`` and ``class_`` here.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from attrs import Factory, converters, define, field, frozen

from skywave import losses, queue, source
from skywave.control import Control
from skywave.scenario.quantities import Bytes, Duration, Rate, durations, sizes
from skywave.scenario.part import Part, naming_fields

'''
WIDTH = 100
QUOTES = 3
SENTENCE = re.compile(r".*?\.(?=\s+[A-Z]|$)", re.DOTALL)


def formatted(text: str, path: Path) -> str:
    """Return the text of a module as ruff formats it, without unused imports."""
    for argument in ("check --quiet --fix --select I,F401,RUF022", "format --quiet"):
        command = [sys.executable, "-m", "ruff", *argument.split()]
        command += ["--stdin-filename", str(path), "-"]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout
    return text


class Writer:
    """Writes classes of a schema, which inherit from ``base``."""

    def __init__(self, schema: Schema, base: str = "Part", *, decorator: str | None = None) -> None:
        self.schema = schema
        self.base = base
        self.decorator = decorator

    def module(self) -> str:
        """Return the text of the module, as ruff formats it."""
        blocks = [self.words(name) for name in self.schema.words]
        blocks += self.classes()
        blocks += [self.union(name) for name in self.schema.unions]
        listed = "".join(f'"{name}", ' for name in sorted(self.schema.parts) if name not in MUTABLE)
        blocks.append(f"__all__ = [{listed}]")
        return formatted(HEAD + "\n\n".join(blocks) + "\n", PATH)

    def classes(self) -> list[str]:
        """Return all classes; those that are in defaults of others come before them."""
        waiting = {name: self.part(part) for name, part in self.schema.parts.items()}
        written: list[str] = []

        def write(name: str) -> None:
            text = waiting.pop(name)
            for needed in [other for other in waiting if re.search(rf"\b{other}\(", text)]:
                if needed in waiting:
                    write(needed)
            written.append(text)

        while waiting:
            write(next(iter(waiting)))
        return written

    def words(self, name: str) -> str:
        """Return the alias of one word out of several."""
        words = self.schema.words[name]
        listed = ", ".join(f'"{word}"' for word, _ in words)
        lines = [self.schema.definitions[name].get("description", "")]
        lines += [f"- ``{word}``: {doc}" for word, doc in words]
        return f"{name}: TypeAlias = Literal[{listed}]\n{docstring(lines, '')}"

    def union(self, name: str) -> str:
        """Return the alias of a value that has several forms."""
        forms = self.schema.unions[name]
        listed = [
            ".".join(form.python) if form.python else form.part or f'Literal["{form.word}"]'
            for form in forms
        ]
        doc = self.schema.definitions[name].get("description", "")
        return f"{name}: TypeAlias = {' | '.join(listed)}\n{docstring([doc], '')}"

    def part(self, part: Part) -> str:
        """Return a class."""
        is_mutable = part.name in MUTABLE
        kind = "define" if is_mutable else "frozen"
        decorator = self.decorator or f"@{kind}(kw_only=True, field_transformer=naming_fields)"
        lines = [decorator]
        fields = () if part.base else part.fields
        described = [(item.name, self.described(item)) for item in fields]
        # What the only field says need not be said twice.
        doc = first_sentence(part.doc) if part.doc in dict(described).values() else part.doc
        doc = docstring([doc], "    ", attributes(described))
        lines += [f"class {part.name}({part.base or self.base}):", doc]
        if part.tag is not None:
            lines.append(f'    TAG: ClassVar[str] = "{part.tag}"')
        for item in fields:
            lines.append(f"    {item.name}: {self.annotation(item, is_mutable)}")
            value = self.value(item, is_mutable)
            if value is not None:
                lines[-1] += f" = {value}"
        return "\n".join(lines) + "\n"

    def described(self, item: Field) -> str:
        """Return a field's documentation, with the unit of a number where it does not say it."""
        if not item.doc:
            part = self.schema.parts.get(self.schema.reference(item.node) or "")
            return first_sentence(part.doc) if part is not None else ""
        if item.unit is None or item.unit.split("/")[0] in item.doc:
            return item.doc
        return f"{item.doc} In {item.unit}."

    def annotation(self, item: Field, is_mutable: bool) -> str:
        """Return the type of a field."""
        name = self.type_of(item.node, is_mutable)
        is_optional = not item.required and item.default is NOTHING
        return f"{name} | None" if is_optional else name

    def type_of(self, node: Node, is_mutable: bool = False) -> str:
        """Return the type of a value."""
        if reference := self.schema.reference(node):
            return reference
        if inner := self.collection_of(node, is_mutable):
            return inner
        if (present := nullable(node)) is not None:
            return f"{self.type_of(present)} | None"
        if any("pattern" in form for form in node.get("anyOf", [])):
            # A name out of a list, or a class in Python.
            return "str | Control"
        names = {
            "string": "str | PathLike[str]" if node.get("format") == "path" else "str",
            "integer": "int",
            "number": "float",
            "boolean": "bool",
            "null": "None",
        }
        kinds = node["type"]
        return " | ".join(names[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))

    def collection_of(self, node: Node, is_mutable: bool) -> str | None:
        """Return the type of several values; None if it is one."""
        if "prefixItems" in node:
            return f"tuple[{', '.join(self.type_of(item) for item in node['prefixItems'])}]"
        if "additionalProperties" in node:
            return f"dict[str, {self.type_of(node['additionalProperties'])}]"
        if node.get("type") != "array":
            return None
        inner = self.type_of(node["items"])
        return f"list[{inner}]" if is_mutable else f"tuple[{inner}, ...]"

    def value(self, item: Field, is_mutable: bool) -> str | None:
        """Return what stands behind a field's equals sign; None where nothing does."""
        options = []
        default = None
        if is_mutable and item.node.get("type") == "array":
            return "Factory(list)"
        if not item.required:
            default = "None"
            if item.default is not NOTHING:
                default = self.literal(item.node, item.default)
            options.append(f"default={default}")
        if (converter := self.converter(item)) is not None:
            options.append(f"converter={converter}")
        if item.key != item.name:
            options.append(f'metadata={{"key": "{item.key}"}}')
        if options[:1] == [f"default={default}"] and len(options) == 1:
            return default
        return f"field({', '.join(options)})" if options else None

    def converter(self, item: Field) -> str | None:
        """Return what reads a quantity that is given as a text."""
        inner = nullable(item.node)
        name = self.schema.reference(inner or item.node)
        is_optional = inner is not None or (not item.required and item.default is NOTHING)
        if name in QUANTITIES:
            return f"converters.optional({name})" if is_optional else name
        if item.node.get("type") == "array":
            of = self.schema.reference(item.node.get("items", {}))
            return {"Duration": "durations", "Bytes": "sizes"}.get(of or "")
        return None

    def literal(self, node: Node, value: Any) -> str:
        """Return a value of the schema as Python writes it."""
        node = nullable(node) or node
        name = None if value is None else self.schema.reference(node)
        if name in QUANTITIES:
            return f'{name}("{value}")'
        if name in self.schema.parts:
            return self.instance(self.schema.parts[name], value)
        if name in self.schema.unions:
            return self.variant(name, value)
        if isinstance(value, list):
            inner = [self.literal(node["items"], item) for item in value]
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        return repr(value) if not isinstance(value, str) else f'"{value}"'

    def variant(self, union: str, value: Any) -> str:
        """Return one of several forms as Python writes it."""
        tag, body = (value, {}) if isinstance(value, str) else next(iter(value.items()))
        for form in self.schema.unions[union]:
            if form.word == tag:
                return f'"{tag}"'
            if form.part is not None and self.schema.parts[form.part].tag == tag:
                return self.instance(self.schema.parts[form.part], body)
        raise ValueError(f"{union} has no form {value}")

    def instance(self, part: Part, body: Node) -> str:
        """Return a part with what differs from its defaults."""
        given = {
            item.name: self.literal(item.node, body[item.key])
            for item in part.fields
            if item.key in body and body[item.key] != item.default
        }
        listed = ", ".join(f"{name}={value}" for name, value in given.items())
        return f"{part.name}({listed})"


def nullable(node: Node) -> Node | None:
    """Return what a value is if it is not null; None where it may not be null."""
    forms = node.get("anyOf", [])
    others = [form for form in forms if form.get("type") != "null"]
    return others[0] if len(others) == 1 < len(forms) else None


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    found = SENTENCE.match(text)
    return found[0] if found else text


def attributes(fields: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines of a docstring that describe a class's fields, each a name and a text.

    They are in the docstring of the class, which ``help`` shows. It shows none of a field.
    """
    lines = ["Attributes:"] if fields else []
    for name, text in fields:
        first, *others = text.split("\n\n")
        paragraphs = [f"{name}: {first}", *others]
        for paragraph in paragraphs:
            lines += textwrap.wrap(
                " ".join(paragraph.split()),
                WIDTH - 4,
                initial_indent="    " if paragraph is paragraphs[0] else "        ",
                subsequent_indent="        ",
                break_on_hyphens=False,
            )
            lines += [""] if paragraph is not paragraphs[-1] else []
    return lines


def docstring(paragraphs: list[str], indent: str, section: Sequence[str] = ()) -> str:
    """Return a docstring of these paragraphs, followed by the lines of a section."""
    blocks = [block for text in paragraphs for block in text.split("\n\n") if block]
    width = WIDTH - len(indent)
    is_one_line = not section and len(blocks) == 1 and len(blocks[0]) + 2 * QUOTES <= width
    lines: list[str] = []
    for block in blocks:
        if block.startswith("```"):
            inner = block.splitlines()[1:-1]
            lines += ["::", "", *(f"    {line}" for line in inner), ""]
        else:
            following = "  " if block.startswith("- ") else ""
            begin = " " * QUOTES if not lines and not is_one_line else ""
            wrapped = textwrap.wrap(
                block,
                width,
                initial_indent=begin,
                subsequent_indent=following,
                break_on_hyphens=False,
            )
            wrapped[0] = wrapped[0].removeprefix(begin)
            lines += wrapped if following else [*wrapped, ""]
    while lines and not lines[-1]:
        lines.pop()
    lines += ["", *section] if section else []
    text = f"\n{indent}".join(lines)
    text = "\n".join(line.rstrip() for line in text.splitlines())
    quotes = 'r"""' if "\\" in text else '"""'
    closing = f'\n{indent}"""' if "\n" in text else '"""'
    return f"{indent}{quotes}{text}{closing}"


def text() -> str:
    """Return what the file must hold."""
    return Writer(Schema()).module()
