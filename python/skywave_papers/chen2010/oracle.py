"""ns-2's stored results for the schemes with RED.

``ns2/averages.csv`` has a line per run, ``ns2/tcp.csv`` and ``ns2/dccp.csv`` have the first runs by
second. ``python -m skywave.papers golden chen2010`` runs ns-2 and stores its results, which takes
minutes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave._files import replacing
from skywave.papers import ns2
from skywave.papers.ns2 import run_all
from skywave_papers.chen2010.setting import DATA_B, DCCP_RED, PACKET_B, TCP_RED, UNPUBLISHED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave_papers.chen2010.setting import Scheme

STORED = Path(__file__).parent / "ns2"
SEEDS = range(1, 6)
REMARK = f"stored results of ns-2.35, means over {len(SEEDS)} runs of each scheme"
KNOWN = (TCP_RED, DCCP_RED)
"""The schemes that ns-2 has."""
FLAVOURS = {"reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
MEASURES = "queue_mean,drop_percent,interval_drop_percent,peak_percent,utilisation"
"""What the script measures of a run, with the names of ``Run``."""


def read(name: str) -> NDArray[np.void]:
    """Return the columns of a table: ``averages``, or by transport that of its first run.

    A sample at ``t_s`` covers the second before it.
    """
    return np.genfromtxt(
        STORED / f"{name}.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )


def averages(scheme: Scheme) -> dict[str, float]:
    """Return the means over ns-2's runs of a scheme in ``KNOWN``."""
    rows = read("averages")
    of_scheme = rows[rows["transport"] == scheme.transport]
    return {name: float(of_scheme[name].mean()) for name in MEASURES.split(",")}


def command(scheme: Scheme, seed: int, out: Path | None = None) -> list[str]:
    """Return the command that runs ns-2 and writes its results by second to ``out``, if given.

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
        out=out or "",
    )


def renew() -> None:
    """Run ns-2 and replace the stored results.

    Raises:
        Ns2Error: If ns-2 cannot be run. The stored results stay.

    """
    runs = [(scheme, seed) for scheme in KNOWN for seed in SEEDS]
    with replacing(STORED) as partial:

        def run(given: tuple[Scheme, int]) -> str:
            scheme, seed = given
            out = partial / f"{scheme.transport}.csv" if seed == min(SEEDS) else None
            # The last line is about the whole run.
            return ns2.run(command(scheme, seed, out)).splitlines()[-1]

        answers = run_all(runs, run, None)
        lines = [f"transport,seed,{MEASURES}"]
        lines += [f"{scheme.transport},{seed},{answers[scheme, seed]}" for scheme, seed in runs]
        (partial / "averages.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
