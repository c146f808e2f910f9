"""The contents of a ledger's tables."""

# ruff: noqa: TC001 (annotations are read when a ledger is)

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from skywave.papers.citation import Citation
from skywave.papers.digits import PrintedTable
from skywave.papers.expectation import Expectation
from skywave.papers.placeholders import fill
from skywave.papers.reasons import Reason
from skywave.papers.reproduction import Finding, Parameter
from skywave.papers.sentences import Reading

Scalar = str | int | float


@dataclass(frozen=True)
class Test:
    """A published value or a claim: the quantity, and its expected value and rule.

    Attributes:
        id: A unique name that begins with the place in the paper: ``table1/ssthresh=20``.
        what: What is measured, as the report says it.
        expect: The value, its unit and the rule (:class:`Expectation`).
        conditions: The conditions that the report shows, with units in their names.
        reason: The name of the reason why the value may not match.
        rows: Several tests in one: each row has the values of ``{placeholders}`` in the other
            fields. A row's ``reason`` takes the place of the test's.

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
        """Yield the test of each row; a test without rows is one.

        Raises:
            KeyError: If a row has no value for a placeholder.
            ValueError: If a brace belongs to no placeholder.

        """
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
class Quotation:
    """A sentence of the paper, and its tests.

    Attributes:
        says: The sentence, or the part of it that can be tested.
        section: Where it is.
        claim: Tests of this sentence, counted apart from the published values.
        tested_by: Beginnings of the ids of other tests of it.
        remark: What else there is to know, or why the sentence is not tested.

    """

    says: str
    section: str = ""
    claim: tuple[Test, ...] = ()
    tested_by: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Contents:
    """The tables of a ledger by their names.

    Texts of reasons, remarks and the finding have ``{placeholders}`` for numbers of the runs
    (``Measures.words``), and for other reasons.
    """

    paper: Citation
    parameters: tuple[Parameter, ...]
    value: tuple[Test, ...]
    sentence: tuple[Quotation, ...] = ()
    reason: Mapping[str, Reason] = field(default_factory=dict)
    reading: tuple[Reading, ...] = ()
    printed: tuple[PrintedTable, ...] = ()
    finding: Finding | None = None

    def entries(self) -> Iterator[tuple[str, Test]]:
        """Yield the values and claims as they are written, with rows in them, each with its field.

        ``"sentence[3].claim[0]"`` is a field.
        """
        for index, each in enumerate(self.value):
            yield f"value[{index}]", each
        for index, quotation in enumerate(self.sentence):
            for number, each in enumerate(quotation.claim):
                yield f"sentence[{index}].claim[{number}]", each


def _filled(value: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """Return a value of a row itself where it stands alone, so that numbers stay numbers."""
    if not isinstance(value, str):
        return value
    alone = value[1:-1] if value.startswith("{") and value.endswith("}") else ""
    return row[alone] if alone in row else fill(value, row)
