"""Papers whose values, claims and sentences are still Python: a ledger's interface for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave.papers.cells import Cell
    from skywave.papers.digits import Printed
    from skywave.papers.ledger import Ledger
    from skywave.papers.measures import Measures
    from skywave.papers.reproduction import Citation, Finding, Parameter
    from skywave.papers.sentences import Sentence


@dataclass(frozen=True)
class _Unconverted:
    paper: Citation
    settings: Sequence[Parameter]
    cells: Callable[[Any], Sequence[Cell]]
    claims: Callable[[Any], Sequence[Cell]]
    found: Callable[[Any], Finding | None]
    every_sentence: Sequence[Sentence]
    printed: Sequence[Printed]

    def judge(self, measured: object) -> tuple[Sequence[Cell], Sequence[Cell]]:
        return self.cells(measured), self.claims(measured)

    def sentences(self, _measured: object) -> Sequence[Sentence]:
        return self.every_sentence


def ledger_of(
    citation: Citation,
    parameters: Sequence[Parameter],
    cells: Callable[[Any], Sequence[Cell]],
    claims: Callable[[Any], Sequence[Cell]],
    finding: Callable[[Any], Finding | None],
    sentences: Sequence[Sentence],
    printed: Sequence[Printed] = (),
) -> Ledger:
    """Return what the protocol needs of a ledger, from functions of the measurements."""
    made = _Unconverted(citation, parameters, cells, claims, finding, sentences, printed)
    return cast("Ledger", made)


def as_they_are(measured: object) -> Measures:
    """Return the measurements."""
    return cast("Measures", measured)
