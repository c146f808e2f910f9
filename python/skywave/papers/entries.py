"""The contents of a ledger's tables, and the placeholders in their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from skywave.papers.rules import Expectation

Scalar = str | int | float


@dataclass(frozen=True)
class Citation:
    """A publication and its key: lower-case letters, digits, ``_`` or ``-``.

    ``authors`` are separated by ", ". ``venue`` is the journal or conference, ``doi`` the Digital
    Object Identifier without ``https://doi.org/``; ``url`` is where to read the paper.
    """

    key: str
    title: str
    authors: str
    year: int
    venue: str | None = None
    doi: str | None = None
    url: str | None = None

    @property
    def short(self) -> str:
        """The citation in running text: "Nor et al. 2011"."""
        surnames = [author.split()[-1] for author in self.authors.split(", ")]
        names = " and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al."
        return f"{names} {self.year}"


class Parameter(NamedTuple):
    """A setting of a paper, and who chose it."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Finding:
    """The finding of a reproduction: a sentence for readers outside the field, and a figure.

    ``figure`` is the name of one of the report's figures, which shows published values, ours and,
    where there are any, ns-2's. ``headline`` is a shorter sentence for the list at the top of
    the front page, which also shows the sentence and the figure.
    """

    sentence: str
    figure: str
    headline: str = ""


@dataclass(frozen=True)
class Reading:
    """A choice of what the paper leaves open or says twice.

    ``says`` is what the paper says of it, and what speaks for it or against it. ``changes`` are its
    differences from the reading that the verdicts use, in terms that the paper's code defines.
    """

    label: str
    says: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Test:
    """A published value or a claim: the quantity, and its expected value and rule.

    With ``rows`` it is several tests: each row has the values of ``{placeholders}`` in the other
    fields, and may have a ``reason`` of its own. ``docs/papers.md`` describes the fields.
    """

    id: str
    what: str
    expect: str
    conditions: Mapping[str, Scalar] = field(default_factory=dict)
    reason: str = ""
    rows: tuple[Mapping[str, Scalar], ...] = ()

    @cached_property
    def expectation(self) -> Expectation:
        """The parsed ``expect``."""
        return Expectation.parse(self.expect)

    def each(self) -> Iterator[Test]:
        """Yield the test of each row; a test without rows is one. Raises as :func:`fill`."""
        for row in self.rows or ({},):
            yield Test(
                id=fill(self.id, row),
                what=fill(self.what, row),
                expect=fill(self.expect, row),
                conditions={
                    fill(key, row): _filled(value, row) for key, value in self.conditions.items()
                },
                reason=str(row.get("reason", self.reason)),
            )


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper, or the part of it that can be tested.

    ``claim`` are tests of it alone, counted apart from the published values; ``tested_by`` are
    beginnings of the ids of others. ``remark`` says what else there is to know, or why there is no
    test.
    """

    says: str
    section: str = ""
    claim: tuple[Test, ...] = ()
    tested_by: tuple[str, ...] = ()
    remark: str = ""


def begins(id_: str, begin: str) -> bool:
    """Return whether an id is ``begin``, or begins with that and a slash."""
    return f"{id_}/".startswith(f"{begin}/")


_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}!:.\[\]]+)\}|\{[^{}]*\}|[{}]")
# str.format would do more: it reads attributes, takes positions and pads to any width, so a typo in
# a text raises one of many errors, or fills the memory.


def names(text: str) -> list[str]:
    """Return the names that the placeholders of a text, ``{name}``, have.

    ``{{`` and ``}}`` stand for single braces; a :class:`ValueError` names any other.
    """
    for found in _BRACES.finditer(text):
        if not found["name"] and found[0] not in {"{{", "}}"}:
            raise ValueError(
                f"{found[0]!r} is not a placeholder: write it as '{{name}}', or a brace itself as "
                "'{{' or '}}'"
            )
    return [found["name"] for found in _BRACES.finditer(text) if found["name"]]


def fill(text: str, words: Mapping[str, object]) -> str:
    """Return a text with the words that its placeholders stand for.

    Raises:
        ValueError: If a brace belongs to no placeholder.
        KeyError: If there is no word for one.
    """
    names(text)
    return _BRACES.sub(lambda one: str(words[one["name"]]) if one["name"] else one[0][0], text)


def _filled(value: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """Return a value of a row itself where it stands alone, so that numbers stay numbers."""
    if not isinstance(value, str):
        return value
    alone = value[1:-1] if value.startswith("{") and value.endswith("}") else ""
    return row[alone] if alone in row else fill(value, row)
