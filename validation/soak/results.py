"""The files that a soak writes: ``samples.parquet`` and ``outcome.json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from skywave import _json
from validation.soak.outcome import passes
from validation.soak.samples import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from validation.soak.outcome import Evidence, Judgement

SAMPLES = "samples.parquet"
OUTCOME = "outcome.json"


def write(
    directory: Path, evidence: Evidence, judgements: Sequence[Judgement], faults: Sequence[str]
) -> dict[str, Any]:
    """Write everything; return what is in ``outcome.json``."""
    rows = (sample for samples in evidence.samples.values() for sample in samples)
    pq.write_table(table(rows), directory / SAMPLES)
    document = {
        "passed": passes(judgements),
        "plan": asdict(evidence.plan) | {"warm_up_s": evidence.plan.warm_up_s},
        "quiet_s": evidence.quiet_s,
        "whole": evidence.is_whole,
        "totals": dict(sorted(evidence.totals.items())),
        "judgements": [asdict(each) for each in judgements],
        "faults": list(faults),
    }
    (directory / OUTCOME).write_text(_json.text(document) + "\n")
    return document
