"""``docs/scenario.md``: every field of a scenario, its unit and its default."""

from __future__ import annotations

import json
import re
from pathlib import Path

from skywave import _core
from tools.definitions import NOTHING, QUANTITIES, Field, Node, Part, Schema

PATH = Path(__file__).parent.parent / "docs" / "scenario.md"
HEAD = """# Scenario files

A scenario describes an experiment: a network, the flows on it, and what to measure. It is a TOML or
JSON file for `skywave run`, or is built in Python from classes of the same names
(`skywave.scenario`). This page lists every field. `skywave check FILE` prints a scenario with its
defaults, and `skywave schema` the JSON Schema behind this page.

- A default of *required* means that the field has none and must be given. *Absent* means that
  omitting the field has its own meaning, which the description states.
- A **quantity** is text with a unit: `"300 ms"`, `"2 Mbps"`, `"500 B"`. A number without a unit is
  an error.
- An unknown field is an error, and every error names its field.
- A setting that is permitted but probably a mistake causes a warning, which also names its field:
  a link over which nothing arrives before the run ends (by rate, delay, losses or trace), jitter
  longer than the run, a trace that changes nothing during the run, a flow whose data comes too
  late, a route that visits a node twice. `skywave check` and `skywave run` print warnings on
  stderr; `skywave check --json` and `Scenario.inspect().warnings` in Python return them.
- A scenario has at most 100,000 flows and, besides those of its dumbbell, 250,000 nodes and 250,000
  links; its text in TOML has at most 32 MiB. The routes of all flows together have at most 30
  million links. A run keeps at most 30 million counts of a flow on a link, each link from the first
  flow that uses it to the last, and 20 million rows of a sampled table: `probes.flows` and
  `probes.links` select flows and links to sample, `probes.interval` sets how often.
- An editor can complete and check TOML files if the first line of the file is
  `#:schema PATH/scenario.schema.json` (Taplo, Even Better TOML) and `PATH` is this directory or a
  copy of it.

This page is generated from the code's documentation by `make schema`.
"""
TABLES = """## Tables of results

A run returns tables: Arrow record batches in Rust and Python, Parquet and CSV files with
`skywave run --out`. A column's name ends in its unit: `_s` is seconds, `_bps` bits per second,
`_bytes` bytes, `_packets` packets. *Samples* are taken every `probes.interval`, of the `links` and
`flows` that `probes` names. The `voice` and `transfers` tables are omitted in runs without such
flows. `probes.windows`, `probes.rates` and `probes.packets` are short for these names in
`probes.tables`.
"""
FIRST = ("Scenario", "Dumbbell", "Link", "Back", "Flow", "Transport", "Tcp", "Dccp", "Source")
"""The definitions that come first, in this order."""


NOTES = {
    "Transport": "[Congestion controls](controls.md) lists what TCP and DCCP can use.",
}
"""What the page adds to what the code says of a definition."""


class Writer:
    """Writes the page of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        forms = (form.part for forms in schema.unions.values() for form in forms)
        self.untagged = {name for name in forms if name and schema.parts[name].tag is None}

    def page(self) -> str:
        """Return the text of the page."""
        names = [*self.schema.parts, *self.schema.unions, *self.schema.words]
        rest = sorted(name for name in names if name not in FIRST)
        sections = [self.quantities(), *(self.section(name) for name in (*FIRST, *rest))]
        return HEAD + "\n" + "\n".join([*sections, self.tables()])

    def quantities(self) -> str:
        """Return what the units of quantities are."""
        rows = ["## Quantities", "", "| quantity | units | example |", "|---|---|---|"]
        for name in QUANTITIES:
            node = self.schema.definitions[name]
            units = node["pattern"].rsplit("(", 1)[1].split(")")[0].split("|")
            listed = ", ".join(f"`{unit}`" for unit in units)
            rows.append(f'| {name} | {listed} | `"{node["examples"][0]}"` |')
        return "\n".join([*rows, ""])

    def tables(self) -> str:
        """Return the tables of results."""
        rows = [TABLES]
        for table in json.loads(_core.table_schemas()):
            when = "In every run" if table["is_standard"] else "Only if `probes.tables` names it"
            rows += [f"### {table['name']}", "", f"{table['doc']} {when}.", ""]
            rows += ["| column | type | meaning |", "|---|---|---|"]
            for column in table["columns"]:
                kind = column["kind"] + (" or null" if column["nullable"] else "")
                rows.append(f"| `{column['name']}` | {kind} | {cell(column['doc'])} |")
            rows.append("")
        return "\n".join(rows)

    def section(self, name: str) -> str:
        """Return the section of a definition."""
        if name in self.schema.parts:
            return self.part(self.schema.parts[name])
        doc = self.schema.definitions[name].get("description", "")
        doc = " ".join((doc, NOTES[name])) if name in NOTES else doc
        rows = [f"## {name}", "", doc, "", "| value | meaning |", "|---|---|"]
        if name in self.schema.words:
            rows += [f'| `"{word}"` | {cell(text)} |' for word, text in self.schema.words[name]]
            return "\n".join([*rows, ""])
        for form in self.schema.unions[name]:
            if form.python:
                value = '`{ "module:Class" = .. }`'
            elif form.part is None:
                value = f'`"{form.word}"`'
            else:
                value = f"{self.form(self.schema.parts[form.part])}: {link(form.part)}"
            rows.append(f"| {value} | {cell(form.doc)} |")
        return "\n".join([*rows, ""])

    def form(self, part: Part) -> str:
        """Return how a form of a value that has several is written in a file."""
        if part.tag is not None:
            return f"`{{ {part.tag} = .. }}`"
        # The class has a field for what the file has under the key itself.
        (item,) = part.fields
        value = {"array": "[..]", "string": '".."'}[item.node["type"]]
        return f"`{{ {item.key} = {value} }}`"

    def part(self, part: Part) -> str:
        """Return the section of a class."""
        rows = [f"## {part.name}", "", part.doc, ""]
        if part.name in self.untagged:
            rows += [f"In a file, it is written as {self.form(part)}.", ""]
        if not part.fields:
            return "\n".join([*rows, "No fields.", ""])
        if part.base:
            return "\n".join([*rows, f"The fields are those of {link(part.base)}.", ""])
        rows += ["| field | type | unit | default | meaning |", "|---|---|---|---|---|"]
        for item in part.fields:
            cells = [
                f"`{item.key}`",
                self.type_of(item.node),
                item.unit or "",
                default(item),
                cell(item.doc or self.summary(item.node)),
            ]
            rows.append(f"| {' | '.join(cells)} |")
        return "\n".join([*rows, ""])

    def summary(self, node: Node) -> str:
        """Return the first sentence about the definition that a field has as its type."""
        name = self.schema.reference(node)
        doc = self.schema.definitions[name].get("description", "") if name else ""
        return re.split(r"(?<=\.)\s", doc, maxsplit=1)[0]

    def type_of(self, node: Node) -> str:
        """Return how the type of a value is shown."""
        if (name := self.schema.reference(node)) is not None:
            return "[quantity](#quantities)" if name in QUANTITIES else link(name)
        if node.get("type") == "array":
            return f"list of {self.type_of(node['items'])}"
        if "enum" in node:
            return ", ".join(f"`{json.dumps(value)}`" for value in node["enum"])
        names = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
        return names[node["type"]]


def link(name: str) -> str:
    """Return a link to a definition's section."""
    return f"[{name}](#{name.lower()})"


def default(item: Field) -> str:
    """Return how a field's default is shown."""
    if item.required:
        return "*required*"
    if item.default is NOTHING:
        return "*absent*"
    return f"`{json.dumps(item.default)}`".replace("|", "\\|")


def cell(text: str) -> str:
    """Return a text as a table's cell."""
    return text.replace("\n\n", " ").replace("|", "\\|")


def text() -> str:
    """Return what the file must hold."""
    return Writer(Schema()).page()
