"""ns-2's stored results for the schemes with RED.

``ns2/averages.csv`` has a line per run, ``ns2/tcp.csv`` and ``ns2/dccp.csv`` have the first runs by
second. ``python -m skywave.papers golden chen2010`` runs ns-2 and stores its results, which takes
minutes.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv

from skywave._files import replacing
from skywave.papers import ns2
from skywave.papers.ns2 import run_all
from skywave_papers.chen2010.setting import (
    DATA_B,
    DCCP_RED,
    PACKET_B,
    TCP_RED,
    UNPUBLISHED,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave_papers.chen2010.setting import Scheme

    Floats = NDArray[np.float64]

STORED = Path(__file__).parent / "ns2"
SEEDS = range(1, 6)
REMARK = f"stored results of ns-2.35, means over {len(SEEDS)} runs of each scheme"
KNOWN = (TCP_RED, DCCP_RED)
"""The schemes that ns-2 has."""
FLAVOURS = {"reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
Measure = Literal[
    "queue_pkts", "drop_pct", "interval_drop_pct", "peak_pct", "rate60_kbps", "utilisation"
]
MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True)
class Seconds:
    """One run of ns-2. A sample at ``time_s`` covers the second before it."""

    time_s: Floats
    queue_packets: Floats
    drop_percent: Floats
    shown_kbps: Floats


def averages(scheme: Scheme) -> dict[Measure, float]:
    """Return the means over ns-2's runs of a scheme in ``KNOWN``."""
    table = pyarrow.csv.read_csv(STORED / "averages.csv")
    rows = table.filter(pc.field("transport") == scheme.transport)
    return {name: float(rows[name].to_numpy().mean()) for name in MEASURES}


def seconds(scheme: Scheme) -> Seconds:
    """Return one run of ns-2 by second, for a scheme in ``KNOWN``."""
    table = pyarrow.csv.read_csv(STORED / f"{scheme.transport}.csv")
    column = {name: table[name].to_numpy().astype(np.float64) for name in table.column_names}
    return Seconds(
        time_s=column["t_s"],
        queue_packets=column["queue_mean_pkts"],
        drop_percent=100 * column["drops"] / column["arrivals"],
        shown_kbps=column["flow1_kbps"],
    )


def command(scheme: Scheme, seed: int, out: Path) -> list[str]:
    """Return the command that runs ns-2 and writes its results by second to ``out``.

    Raises:
        Ns2Error: If ns-2 is not installed.

    """
    # Its DCCP adds 32 B of headers, its TCP none; see the script.
    payload = DATA_B["dccp"] if scheme.transport == "dccp" else PACKET_B
    return ns2.command(
        "chen2010.tcl",
        proto=scheme.transport,
        tcp=FLAVOURS[UNPUBLISHED.flavour],
        psize=payload,
        buf=UNPUBLISHED.buffer,
        bg=UNPUBLISHED.web_sources,
        seed=seed,
        out=out,
    )


def renew() -> None:
    """Run ns-2 and replace the stored results.

    Raises:
        Ns2Error: If ns-2 cannot be run. The stored results stay.

    """
    runs = [(scheme, seed) for scheme in KNOWN for seed in SEEDS]
    with (
        replacing(STORED) as partial,
        tempfile.TemporaryDirectory(prefix="skywave-ns2-") as scratch,
    ):

        def run(given: tuple[Scheme, int]) -> str:
            scheme, seed = given
            first = seed == min(SEEDS)
            name = f"{scheme.transport}.csv"
            out = partial / name if first else Path(scratch) / f"{seed}-{name}"
            # The last line is about the whole run.
            return ns2.run(command(scheme, seed, out)).splitlines()[-1]

        answers = run_all(runs, run, None)
        lines = [f"transport,seed,{','.join(MEASURES)}"]
        lines += [f"{scheme.transport},{seed},{answers[scheme, seed]}" for scheme, seed in runs]
        (partial / "averages.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
