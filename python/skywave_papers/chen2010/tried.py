"""Readings of open or contradictory points of the paper, each judged by all published values.

The readings, their sentences and their seeds, those of the report, are fixed here, before any of
these seeds is run; what they come to is stored. ``python -m skywave.papers stored chen2010/tried``
runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave.papers.stages import measure_each
from skywave.papers.tried import Tried
from skywave.report.tables import Table
from skywave_papers.chen2010 import judge, measures, setting
from skywave_papers.chen2010.further import DELAYED_ACK
from skywave_papers.chen2010.ledger import LEDGER
from skywave_papers.chen2010.setting import CODES, FEWER_WORDS, UNPUBLISHED, WORDS, Senders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave_papers.chen2010.judge import DropRate, OverSeeds
    from skywave_papers.chen2010.measures import Run
    from skywave_papers.chen2010.setting import Scheme, Unpublished

SLOW_START = "After a short period when there is no loss event, the VCP controller starts to"
HALVES = "In the TCP and DCCP sources, cwnd halves per loss packet"
ZETA = "zeta cannot be smaller than 2 and cannot exceed cwnd in our operations"
AFTER = "after doing Equation (A5), the cwnd calculation follows AI algorithm for one R"
APART = "VCP controlled traffic and TCP/RED controlled traffic can not share the same queue"
NOISE = "A short-lived TCP source works as the background noise to interfere the whole network"
RATIO = "cooperate with the ACK ratio mechanism to limit the number of dropped packets"
SHARE = "About 7% of the packets are dropped during the simulated time period"
INTERVALS = "measured in consequence 10 ms time intervals"
"""The sentences that readings follow or not."""


@dataclass(frozen=True)
class Reading:
    """How senders work, what is not published, and how values are judged.

    ``drop_rates`` says what the drop rates of TCP/RED and DCCP/RED are, by scheme. ``sentence`` is
    what the paper says of the reading, and what speaks for it or against it.
    """

    label: str
    sentence: str
    senders: Senders = WORDS
    unpublished: Unpublished = UNPUBLISHED
    drop_rates: Mapping[str, DropRate] = field(default_factory=lambda: judge.DROP_RATES)
    quiet_over_seeds: OverSeeds = "median"


READINGS = (
    Reading(
        "the paper's words",
        f'VCP\'s long-lived senders keep slow start: "{SLOW_START} affect the cwnd" (section 4.1). '
        "The length of the period is not published; here it is one R. "
        f'"{AFTER}" (appendix): whatever the code. "{APART}" (section 4.4), and "{NOISE}" (section '
        "4): so with VCP this is TCP/VCP. How it starts is not said; here the load factor controls "
        'it from the start, as in the code of VCP\'s authors. "In the beginning of simulation" '
        f'(section 4.1) is about the long-lived ones. "{HALVES}" (section 4.1): other sections say '
        '"in case of a loss event", which a lost packet is as well. TCP has no such parameter. '
        f'"{ZETA}" (section 2): so cwnd of DCCP/VCP is at least 2; cwnd of CCID 2 may be 1, and '
        f'then zeta is. CCID 2 and "{RATIO}" (section 4.3), and section 4.2 has the Ack Ratio as a '
        "reason for the shorter queue of DCCP/RED: so its window grows for each acknowledgement, "
        'of which there is one for zeta packets. Against it: "the cwnd is increased by one for '
        f'every received packet" (Figure 2). Drop rates: "{SHARE}" for TCP/RED; "the average '
        f'packet drop rate" for DCCP/RED, which is defined as "the average ratio", "{INTERVALS}" '
        "(section 4.3).",
    ),
    Reading(
        "without three of its sentences",
        "Web traffic over TCP without VCP; after a decrease, overload is ignored for t_rho and "
        "then answered with additive increase for one R, as in the code of VCP's authors; and "
        "growth by packets behind RED.",
        FEWER_WORDS,
    ),
    Reading(
        "without them, web traffic over VCP",
        "The first of the three sentences alone.",
        replace(FEWER_WORDS, web=WORDS.web),
    ),
    Reading(
        "without them, additive increase for one R",
        "The second of the three sentences alone.",
        replace(FEWER_WORDS, after_decrease=WORDS.after_decrease),
    ),
    Reading(
        "without them, growth by acknowledgements behind RED",
        "The third of the three sentences alone.",
        replace(FEWER_WORDS, red_growth=WORDS.red_growth),
    ),
    Reading(
        "codes and RFCs",
        "VCP's authors' code lets the load factor control cwnd from the start, CCID 2 reduces its "
        "window once for all packets lost in it (RFC 4341), and cwnd and zeta may be 1. Web "
        "traffic is over TCP without VCP. Drop rates are shares of packets.",
        CODES,
        drop_rates=judge.SHARES,
    ),
    Reading(
        "the load factor controls cwnd from the start",
        "As in the code of VCP's authors.",
        replace(WORDS, start="by-load-factor"),
    ),
    Reading(
        "fitted: the same, with initial windows of 6 packets",
        "Fitted: one number that is not published, the initial window of all long-lived senders, "
        'was chosen by the two published peaks of VCP, on seeds 1 to 20. "All the sources send '
        'packets aggressively in the beginning of simulation" (section 4.1) allows it. The '
        f'sentence on slow start speaks against it: "{SLOW_START} affect the cwnd".',
        replace(WORDS, start="by-load-factor", initial_cwnd=6),
    ),
    Reading(
        "one reduction for all losses of a window behind RED",
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
        "cwnd and zeta of 1 with VCP",
        "As in the RFCs, and equation A5: cwnd is at least 1.",
        replace(WORDS, least=None),
    ),
    Reading(
        "delayed acknowledgements of TCP",
        f"TCP acknowledges every other packet, or one after {DELAYED_ACK}, and grows for each "
        "acknowledgement (RFC 5681). The paper does not say whether it does.",
        replace(WORDS, delayed_ack=DELAYED_ACK),
    ),
    Reading(
        "VCP grows by acknowledgements",
        "Equations A3 and A4 would be for an acknowledgement, as the growth of DCCP/RED. TCP/VCP "
        "does not change, since it has an acknowledgement for each packet.",
        replace(WORDS, vcp_growth="per-ack"),
    ),
    Reading(
        "VCP grows by acknowledgements, which TCP delays",
        "The two before together.",
        replace(WORDS, vcp_growth="per-ack", delayed_ack=DELAYED_ACK),
    ),
    Reading(
        "the same, in a buffer of 1000 packets",
        "Beyond RED's maximum threshold of 700 packets.",
        replace(WORDS, vcp_growth="per-ack", delayed_ack=DELAYED_ACK),
        replace(UNPUBLISHED, buffer=1000),
    ),
    Reading(
        "drop rates as shares of packets",
        "The sentence on TCP/RED, for both.",
        drop_rates=judge.SHARES,
    ),
    Reading(
        "drop rates as means of intervals",
        "The definition, for both.",
        drop_rates=judge.MEANS_OF_INTERVALS,
    ),
    Reading(
        "times without drops as means over seeds",
        "In the verdicts these times are medians: the paper shows one run of each scheme, and one "
        "late packet in a few of ours decides a mean.",
        quiet_over_seeds="mean",
    ),
)
"""All readings. The first is the one that the verdicts use: it follows the most sentences."""


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
    senders, unpublished = reading.senders, reading.unpublished
    return (
        unpublished,
        setting.transport_of(scheme, unpublished, senders),
        setting.web_transport_of(scheme, unpublished, senders),
    )


def _runs_of(scheme: Scheme, reading: Reading) -> list[Run]:
    """Return the runs of the first reading under which they are the same."""
    first = next(
        other for other in READINGS if _network(scheme, other) == _network(scheme, reading)
    )
    return _runs(scheme, first.senders, first.unpublished)


def attempt(reading: Reading) -> Tried:
    """Run all schemes under this reading, and judge them."""
    runs = {scheme: _runs_of(scheme, reading) for scheme in setting.SCHEMES}

    def met(seeds: slice) -> list[str]:
        values = judge.published(
            {scheme: of_scheme[seeds] for scheme, of_scheme in runs.items()},
            reading.drop_rates,
            reading.quiet_over_seeds,
        )
        found = LEDGER.met(values)
        # Scheme by scheme.
        return [value for value in values if value in found]

    singly = [len(met(slice(index, index + 1))) for index in range(len(setting.SEEDS))]
    return replace(Tried.of(reading.label, met(slice(None))), fewest=min(singly), most=max(singly))


TABLE = Table(Path(__file__).with_name("tried.csv"), Tried, READINGS, attempt)
"""The stored outcomes of all readings."""
