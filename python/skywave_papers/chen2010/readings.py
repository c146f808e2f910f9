"""What readings come to, over the seeds of the report.

A reading changes the senders (``senders``, from those of ``senders_as``), the ``buffer``, or how
values are judged (``drop_rates``, ``quiet_over_seeds``).
``python -m skywave.papers stored chen2010/readings`` runs and stores the results.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave.papers.readings import ReadingResult
from skywave.papers.stages import measure_each
from skywave.report.tables import Table
from skywave_papers.chen2010 import judge, measures, setting
from skywave_papers.chen2010.ledger import LEDGER
from skywave_papers.chen2010.setting import CODES, FEWER_WORDS, UNPUBLISHED, WORDS, Senders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.entries import Reading
    from skywave_papers.chen2010.judge import DropRate
    from skywave_papers.chen2010.measures import Run
    from skywave_papers.chen2010.setting import Scheme, Unpublished

SENDERS = {"words": WORDS, "fewer-words": FEWER_WORDS, "codes": CODES}
DROP_RATES: Mapping[str, Mapping[str, DropRate]] = {
    "as-said": judge.DROP_RATES,
    "shares": judge.SHARES,
    "means-of-intervals": judge.MEANS_OF_INTERVALS,
}


def senders_of(reading: Reading) -> Senders:
    """Return how senders work under a reading; "rfc" stands for what the paper changes."""
    changes: dict[str, Any] = {
        name: None if value == "rfc" else value
        for name, value in reading.changes.get("senders", {}).items()
    }
    return replace(SENDERS[reading.changes.get("senders_as", "words")], **changes)


def unpublished_of(reading: Reading) -> Unpublished:
    """Return the buffer and the web traffic of a reading."""
    return replace(UNPUBLISHED, buffer=reading.changes.get("buffer", UNPUBLISHED.buffer))


@cache
def _runs(scheme: Scheme, senders: Senders, unpublished: Unpublished) -> list[Run]:
    found = measure_each(
        {
            seed: setting.scenario(scheme, seed, unpublished, senders=senders)
            for seed in setting.SEEDS
        },
        lambda _, results: measures.from_results(results),
    )
    return list(found.values())


def _network(scheme: Scheme, reading: Reading) -> tuple[Any, ...]:
    """Return what a reading makes of a scheme's runs."""
    senders, unpublished = senders_of(reading), unpublished_of(reading)
    return (
        unpublished,
        setting.transport_of(scheme, unpublished, senders),
        setting.web_transport_of(scheme, unpublished, senders),
    )


def _runs_of(scheme: Scheme, reading: Reading) -> list[Run]:
    """Return the runs of the first reading under which they are the same."""
    first = next(
        other for other in LEDGER.reading if _network(scheme, other) == _network(scheme, reading)
    )
    return _runs(scheme, senders_of(first), unpublished_of(first))


def attempt(reading: Reading) -> ReadingResult:
    """Run all schemes under this reading, and judge them."""
    runs = {scheme: _runs_of(scheme, reading) for scheme in setting.SCHEMES}

    def met(seeds: slice) -> list[str]:
        values = judge.published(
            {scheme: of_scheme[seeds] for scheme, of_scheme in runs.items()},
            DROP_RATES[reading.changes.get("drop_rates", "as-said")],
            reading.changes.get("quiet_over_seeds", "median"),
        )
        return LEDGER.met(values)

    singly = [len(met(slice(index, index + 1))) for index in range(len(setting.SEEDS))]
    return ReadingResult.of(reading.label, met(slice(None)), singly)


TABLE = Table(Path(__file__).with_suffix(".csv"), ReadingResult, LEDGER.reading, attempt)
