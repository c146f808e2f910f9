"""What readings come to, over the seeds of the report.

A reading changes the senders (``senders``, from those of ``senders_as``), the ``buffer``, or how
values are judged (``drop_rate``, ``quiet_over_seeds``).
``python -m skywave.papers stored chen2010/readings`` runs and stores the results.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave import run_many
from skywave.papers.readings import ReadingResult
from skywave.report.tables import Table
from skywave.scenario import Scenario
from skywave_papers.chen2010 import judge, setting
from skywave_papers.chen2010.ledger import LEDGER
from skywave_papers.chen2010.measures import Run, from_results
from skywave_papers.chen2010.setting import CODES, FEWER_WORDS, UNPUBLISHED, WORDS

if TYPE_CHECKING:
    from skywave.papers.sentences import Reading

SENDERS = {"words": WORDS, "fewer-words": FEWER_WORDS, "codes": CODES}


def scenarios(scheme: setting.Scheme, reading: Reading) -> list[Scenario]:
    """Return a scheme's runs under a reading; "rfc" stands for what the paper changes."""
    given = reading.changes
    changes: dict[str, Any] = {
        name: None if value == "rfc" else value for name, value in given.get("senders", {}).items()
    }
    senders = replace(SENDERS[given.get("senders_as", "words")], **changes)
    unpublished = replace(UNPUBLISHED, buffer=given.get("buffer", UNPUBLISHED.buffer))
    return [setting.scenario(scheme, seed, unpublished, senders=senders) for seed in setting.SEEDS]


@cache
def _runs(*scenarios: str) -> list[Run]:
    """Run scenarios in JSON, once where readings of a scheme do not differ."""
    runs = run_many(Scenario.from_text(scenario, "json") for scenario in scenarios)
    return [from_results(results) for results in runs]


def attempt(reading: Reading) -> ReadingResult:
    """Run all schemes under this reading, and judge them."""
    runs = {
        scheme: _runs(*(one.to_json() for one in scenarios(scheme, reading)))
        for scheme in setting.SCHEMES
    }

    def met(seeds: slice) -> list[str]:
        over = {scheme: of_scheme[seeds] for scheme, of_scheme in runs.items()}
        values = judge.published(
            over,
            reading.changes.get("drop_rate"),
            reading.changes.get("quiet_over_seeds", "median"),
        )
        return LEDGER.met(values)

    singly = [len(met(slice(index, index + 1))) for index in range(len(setting.SEEDS))]
    return ReadingResult.of(reading.label, met(slice(None)), singly)


TABLE = Table(Path(__file__).with_suffix(".csv"), ReadingResult, LEDGER.reading, attempt)
