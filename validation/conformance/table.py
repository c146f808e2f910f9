"""Writes docs/conformance.md: the requirements of the RFCs, and the tests that show them.

Requirements are in requirements.toml. A test shows one by naming its id, in the comment above it,
in its body, or at the beginning of its name (``d7_6_1_...``). Where no test can, the reason is in
reasons.toml. ``--check`` writes nothing, and fails if the committed table is stale.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TABLE = ROOT / "docs" / "conformance.md"

ID = re.compile(r"\b(?:D\d+(?:\.\d+)*|C[234]|[TEUSLP])-\d+\b")
RUST_TEST = re.compile(r"\s*#\[(?:\w+::)*test\b")
RUST_FUNCTION = re.compile(r"(\s*)(?:pub(?:\([^)]*\))? )?(?:async )?fn (\w+)")
RUST_COMMENT = re.compile(r"\s*(?://|#!?\[)")
ID_IN_NAME = re.compile(r"([dcteuslp]\d*(?:_\d+)*?)_(\d+)(?:_[a-z]|$)")


class Status(StrEnum):
    """How a requirement stands."""

    SHOWN = "shown"
    ARGUED = "argued"
    NOT_MET = "not met"
    PENDING = "pending"
    OPEN = "open"


INTRODUCTION = """# Conformance

The requirements of the RFCs for DCCP, and the tests that show each one. `make conformance`
generates this page from the requirement ids that tests name; `validation/conformance/` holds the
requirements, and the reasons for those without a test.

Levels: M is MUST, MUST NOT or REQUIRED; S is SHOULD or RECOMMENDED; O is MAY; - is a fact that
other requirements build on. A requirement is *shown* by tests, *argued* where no test can show it,
*not met* or *pending* for the reason given, or *open*: not of level M, and without test or reason.
"""

REASONS = {"argued": Status.ARGUED, "not_met": Status.NOT_MET, "pending": Status.PENDING}


@dataclass(frozen=True, order=True)
class Test:
    """A test, and the file that it stands in, from the root of the project."""

    file: str
    name: str


@dataclass
class Requirement:
    """A row of the table."""

    id: str
    section: str
    level: str
    text: str
    tests: set[Test] = field(default_factory=set)
    reason: str = ""
    given: Status | None = None

    @property
    def status(self) -> Status:
        """Shown where there is a test, unless a reason says that this is not enough."""
        if self.tests and self.given in {None, Status.ARGUED}:
            return Status.SHOWN
        return self.given or Status.OPEN

    @property
    def is_required(self) -> bool:
        """Whether the RFC leaves no choice."""
        return "M" in self.level


def rust_tests(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Names of the tests in a Rust file, each with the ids that it names."""
    above: set[str] = set()
    is_test = False
    name, indent, ids = "", "", set[str]()
    for line in path.read_text().splitlines():
        if name:
            ids |= set(ID.findall(line))
            if line.rstrip() == indent + "}":
                yield name, ids
                name = ""
            continue
        function = RUST_FUNCTION.match(line)
        if RUST_COMMENT.match(line):
            is_test = is_test or RUST_TEST.match(line) is not None
            above |= set(ID.findall(line))
            continue
        if function is not None and is_test:
            indent, name = function[1], function[2]
            ids = above | id_in_name(name)
        above, is_test = set(), False


def python_tests(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Names of the tests in a Python file, each with the ids that it names."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
            "test"
        ):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            while first > 0 and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            ids = set(ID.findall("\n".join(lines[first : node.end_lineno])))
            yield node.name, ids | id_in_name(node.name)


def id_in_name(name: str) -> set[str]:
    """The id that ``d7_6_1_short_numbers`` begins with: D7.6-1."""
    found = ID_IN_NAME.match(name.removeprefix("test_"))
    return {f"{found[1].upper().replace('_', '.')}-{found[2]}"} if found else set()


READERS = (
    ("crates", "*.rs", rust_tests),
    ("fuzz", "*.rs", rust_tests),
    ("tests", "test_*.py", python_tests),
    ("validation", "test_*.py", python_tests),
)
OWN_TESTS = "tests/test_conformance.py"
"""Tests of this script: the ids in them show nothing."""


def all_tests(root: Path) -> Iterator[tuple[Test, set[str]]]:
    """Every test of the project with the ids that it names."""
    for folder, pattern, read in READERS:
        for path in sorted((root / folder).rglob(pattern)):
            file = path.relative_to(root).as_posix()
            if "target" in path.parts or file == OWN_TESTS:
                continue
            for name, ids in read(path):
                yield Test(file, name), ids


def requirements(folder: Path) -> list[tuple[str, list[Requirement]]]:
    """The rows by group, without what shows them."""
    groups = tomllib.loads((folder / "requirements.toml").read_text())["group"]
    keys = ("id", "section", "level", "text")
    return [
        (group["title"], [Requirement(**{key: row[key] for key in keys}) for row in group["rows"]])
        for group in groups
    ]


def add_tests(rows: dict[str, Requirement], root: Path) -> Iterator[str]:
    """Adds tests to the rows; what is wrong with them."""
    for test, ids in all_tests(root):
        for name in sorted(ids):
            if name in rows:
                rows[name].tests.add(test)
            else:
                yield f"{test.file}: {test.name} names {name}, which is no requirement"


def add_reasons(rows: dict[str, Requirement], folder: Path) -> Iterator[str]:
    """Adds reasons to the rows; what is wrong with them."""
    for kind, reasons in tomllib.loads((folder / "reasons.toml").read_text()).items():
        if kind not in REASONS:
            yield f"reasons.toml: [{kind}] is none of {', '.join(REASONS)}"
            continue
        for name, reason in reasons.items():
            if name not in rows:
                yield f"reasons.toml: {name} is no requirement"
            elif rows[name].given is not None:
                yield f"reasons.toml: {name} has two reasons"
            else:
                rows[name].given, rows[name].reason = REASONS[kind], reason.strip()


def fill(groups: list[tuple[str, list[Requirement]]], root: Path, folder: Path) -> list[str]:
    """Adds tests and reasons to the rows; what is wrong with them, and with rows without."""
    rows = {row.id: row for _, group in groups for row in group}
    wrong = [*add_tests(rows, root), *add_reasons(rows, folder)]
    wrong += [
        f"{row.id} ({row.text}): no test names it and reasons.toml has no reason"
        for row in rows.values()
        if row.status is Status.OPEN and row.is_required
    ]
    return wrong


def render(groups: list[tuple[str, list[Requirement]]]) -> str:
    """The document."""
    out = [INTRODUCTION]
    columns = [
        status for status in Status if any(row.status is status for _, g in groups for row in g)
    ]
    out += [table_row("", "rows", *columns), table_row("---", *["---:"] * (len(columns) + 1))]
    total = Counter[Status]()
    for title, rows in groups:
        count = Counter(row.status for row in rows)
        total += count
        link = "[" + title + "](#" + re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") + ")"
        out.append(table_row(link, len(rows), *(count[status] or "" for status in columns)))
    out.append(table_row("all", total.total(), *(total[status] for status in columns)))
    for title, rows in groups:
        out += ["", f"## {title}", ""]
        out += [table_row("id", "section", "level", "requirement", "status", "tests or reason")]
        out += [table_row(*["---"] * 6)]
        for row in rows:
            tests = [f"[`{test.name}`](../{test.file})" for test in sorted(row.tests)]
            by = ", ".join(tests)
            by = ". ".join(part for part in (by, row.reason) if part)
            out.append(table_row(row.id, row.section, row.level, row.text, row.status, by))
    return "\n".join(out) + "\n"


def table_row(*cells: object) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    """Writes or checks the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="fail if the table is stale")
    check = parser.parse_args().check
    groups = requirements(HERE)
    wrong = fill(groups, ROOT, HERE)
    document = render(groups)
    if not check:
        TABLE.write_text(document)
    elif not TABLE.exists() or TABLE.read_text() != document:
        wrong.append("docs/conformance.md is stale: run `make conformance`")
    for message in wrong:
        sys.stderr.write(f"error: {message}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
