"""Readings of what the paper leaves open or says twice, each judged by all published values.

The readings, their sentences and their seeds, those of the report, are fixed here; what they come
to is stored. ``python -m skywave.papers stored chen2010/tried`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.papers.chen2010 import cells, measures, oracle, setting
from skywave.papers.chen2010.setting import CODES, UNPUBLISHED, WORDS, Senders
from skywave.papers.stages import measure_each
from skywave.papers.stored import Table
from skywave.papers.tried import Tried, tried_by_seed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.chen2010.cells import DropRate
    from skywave.papers.chen2010.measures import Run
    from skywave.papers.chen2010.setting import Scheme

SLOW_START = "After a short period when there is no loss event, the VCP controller starts to"
HALVES = "In the TCP and DCCP sources, cwnd halves per loss packet"
ZETA = "zeta cannot be smaller than 2 and cannot exceed cwnd in our operations"
AFTER = "after doing Equation (A5), the cwnd calculation follows AI algorithm for one R"
SHARE = "About 7% of the packets are dropped during the simulated time period"
INTERVALS = "measured in consequence 10 ms time intervals"
"""The sentences that readings follow or not."""


@dataclass(frozen=True)
class Reading:
    """How senders work, and what the drop rates of TCP/RED and DCCP/RED are, by scheme.

    ``sentence`` is what the paper says of it, and what speaks for it or against it.
    """

    label: str
    sentence: str
    senders: Senders = WORDS
    drop_rates: Mapping[str, DropRate] = field(default_factory=lambda: cells.DROP_RATES)


READINGS = (
    Reading(
        "the paper's words",
        f'VCP\'s senders keep slow start: "{SLOW_START} affect the cwnd" (section 4.1). The length '
        f'of the period is not published; here it is one R. "{HALVES}" (section 4.1): other '
        'sections say "in case of a loss event", which a lost packet is as well. TCP has no such '
        f'parameter. "{ZETA}" (section 2): so cwnd of DCCP/VCP is at least 2; cwnd of CCID 2 may '
        f'be 1, and then zeta is. Drop rates: "{SHARE}" for TCP/RED; "the average packet drop '
        f'rate" for DCCP/RED, which is defined as "the average ratio", "{INTERVALS}" (section '
        "4.3).",
    ),
    Reading(
        "codes and RFCs",
        "VCP's authors' code lets the load factor control cwnd from the start, CCID 2 reduces its "
        "window once for all packets lost in it (RFC 4341), and cwnd and zeta may be 1. Drop rates "
        "are shares of packets.",
        CODES,
        cells.SHARES,
    ),
    Reading(
        "codes and RFCs, with slow start",
        "The first of the sentences alone.",
        replace(CODES, start=WORDS.start),
    ),
    Reading(
        "codes and RFCs, halving per lost packet",
        "The second of the sentences alone.",
        replace(CODES, vcp_reductions=WORDS.vcp_reductions, red_reductions=WORDS.red_reductions),
    ),
    Reading(
        "codes and RFCs, cwnd and zeta of at least 2",
        "The third of the sentences alone.",
        replace(CODES, least=WORDS.least),
    ),
    Reading(
        "halving per lost packet with VCP alone",
        "The sentence on halving explains Figures 5c and 5d. CCID 2 behind RED would be that of "
        "RFC 4341, which the paper cites.",
        replace(WORDS, red_reductions="per-window"),
    ),
    Reading(
        "zeta of at least 2 behind RED as well",
        "The sentence on zeta is about DCCP with VCP. Behind RED, cwnd may be 1, which zeta then "
        "exceeds.",
        replace(WORDS, red_least=2),
    ),
    Reading(
        "growth by acknowledgements behind RED",
        'One acknowledgement for zeta packets. Against it: "the cwnd is increased by one for every '
        'received packet" (Figure 2).',
        replace(WORDS, red_growth="per-ack"),
    ),
    Reading(
        "additive increase at once after a decrease",
        f'"{AFTER}" (appendix), to the letter. The verdicts follow the code of VCP\'s authors, of '
        "which the appendix is a summary.",
        replace(WORDS, after_decrease="increases"),
    ),
    Reading(
        "a round-trip time without change after a decrease",
        "This one does nothing for one R and increases additively for another one.",
        replace(WORDS, after_decrease="holds"),
    ),
    Reading(
        "t_rho without change after a decrease",
        "This one does nothing for t_rho and increases additively for one R. That of the verdicts "
        "ignores overload for t_rho.",
        replace(WORDS, after_decrease="freezes"),
    ),
    Reading(
        "drop rates as shares of packets",
        "The sentence on TCP/RED, for both.",
        drop_rates=cells.SHARES,
    ),
    Reading(
        "drop rates as means of intervals",
        "The definition, for both.",
        drop_rates=cells.MEANS_OF_INTERVALS,
    ),
)
"""All readings. The first is the one that the verdicts use: it follows the most sentences."""


@cache
def _runs(scheme: Scheme, senders: Senders) -> list[Run]:
    found = measure_each(
        {seed: setting.scenario(scheme, seed, senders=senders) for seed in setting.SEEDS},
        lambda _, results: measures.from_results(results),
    )
    return list(found.values())


def _first_with(scheme: Scheme, senders: Senders) -> Senders:
    """Return those of the first reading under which the scheme's runs are the same."""
    transport = setting.transport_of(scheme, UNPUBLISHED, senders)
    return next(
        reading.senders
        for reading in READINGS
        if setting.transport_of(scheme, UNPUBLISHED, reading.senders) == transport
    )


def attempt(reading: Reading) -> Tried:
    """Run all schemes under this reading, and judge them."""
    runs = {
        scheme: _runs(scheme, _first_with(scheme, reading.senders)) for scheme in setting.SCHEMES
    }
    ns2 = {scheme: oracle.averages(scheme) for scheme in oracle.KNOWN}
    by_seed = [
        cells.published_cells(
            {scheme: [runs[scheme][index]] for scheme in runs}, ns2, reading.drop_rates
        )
        for index in range(len(setting.SEEDS))
    ]
    return tried_by_seed(reading.label, by_seed)


TABLE = Table(Path(__file__).with_name("tried.csv"), Tried, READINGS, attempt)
"""The stored outcomes of all readings."""
