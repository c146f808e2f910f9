"""Li and Yousefi'zadeh 2009: MPCP, a load factor told by a chain of packets, beside VCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.li2009 import (
    cells,
    dumbbell,
    figures,
    loads,
    lossy,
    parking,
    setting,
    variants,
)
from skywave.papers.li2009.cells import Ours
from skywave.papers.li2009.setting import (
    AGGREGATES,
    CARRIERS,
    DPCP,
    DPCP_TCP,
    DUMBBELL_SEEDS,
    FLOWS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    READINGS,
    SCHEMES,
    VCP,
)
from skywave.papers.reproduction import Ns2Source, Paper, Reproduction
from skywave.papers.stages import run_each, stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers import Progress
    from skywave.papers.li2009.parking import Split
    from skywave.papers.li2009.setting import Reading, Scheme
    from skywave.results import Results
    from skywave.scenario import Scenario

PAPER = Paper(
    key="li2009",
    title="MPCP: Multi Packet Congestion-control Protocol",
    authors="X. Li, H. Yousefi'zadeh",
    year=2009,
)
NO_NS2 = Ns2Source("stored", "has neither VCP nor MPCP, so there are no answers of it")
SHOWN_LOSS_PERCENT = 30
"""The transfers whose series are written."""
PUBLISHED_LOTS = (VCP, DPCP)
"""The protocols of Figure 2; TPCP's parking lots are stored with the variants."""


@dataclass(frozen=True)
class _Ran:
    ours: Ours
    vcp_shares: Mapping[int, float | None]
    loads: Mapping[tuple[Scheme, Reading], loads.Loads]
    scenarios: Mapping[str, Scenario]
    results: Mapping[str, Results]


def reproduce(*, live_ns2: bool, progress: Progress | None) -> Reproduction:
    """Run Figures 2 to 5, and judge the published values."""
    del live_ns2
    ran = _run(progress)
    lots = variants.stored_lots()
    return Reproduction(
        paper=PAPER,
        cells=cells.published_cells(ran.ours, lots),
        comparisons=(),
        parameters=setting.PARAMETERS,
        ns2=NO_NS2,
        figures=figures.draw(ran.ours, ran.vcp_shares, lots),
        scenarios=ran.scenarios,
        results=ran.results,
        sections=_sections(ran, lots),
    )


def _run(progress: Progress | None) -> _Ran:
    lots = {
        (scheme, reading): setting.lot(scheme, reading)
        for reading in READINGS
        for scheme in PUBLISHED_LOTS
    }
    lot_results = run_each(lots, stage(progress, "Parking lots"))
    looks = {
        (scheme, reading): setting.lot_by_intervals(scheme, reading)
        for reading in READINGS
        for scheme in PUBLISHED_LOTS
    }
    dumbbells = {
        (scheme, seed): setting.dumbbell(scheme, seed=seed)
        for scheme in SCHEMES
        for seed in DUMBBELL_SEEDS
    }
    dumbbell_results = run_each(dumbbells, stage(progress, "Dumbbells"))
    transfers = {
        (carrier, percent, seed): setting.transfer(carrier, percent, seed)
        for carrier in CARRIERS
        for percent in LOSS_PERCENT
        for seed in LOSS_SEEDS
    }
    transfer_results = run_each(transfers, stage(progress, "Transfers"))
    recorded = run_each(
        {
            percent: setting.transfer(DPCP_TCP, percent, min(LOSS_SEEDS), packets=True)
            for percent in LOSS_PERCENT
        }
    )
    ours = Ours(
        lots={
            key: {link: parking.series(run, link) for link in setting.SHOWN_LINKS}
            for key, run in lot_results.items()
        },
        dumbbells={
            scheme: [dumbbell.course(dumbbell_results[scheme, seed]) for seed in DUMBBELL_SEEDS]
            for scheme in SCHEMES
        },
        transfers={
            carrier: {
                percent: lossy.times(
                    [
                        lossy.transfer(transfer_results[carrier, percent, seed], carrier, percent)
                        for seed in LOSS_SEEDS
                    ]
                )
                for percent in LOSS_PERCENT
            }
            for carrier in CARRIERS
        },
    )
    # One run of each kind; the others differ in their seed or their loss rate.
    shown: dict[str, tuple[Scenario, Results]] = {
        **{
            f"lot-{scheme.name}-{reading.name}": (scenario, lot_results[scheme, reading])
            for (scheme, reading), scenario in lots.items()
        },
        **{
            f"dumbbell-{scheme.name}": (scenario, dumbbell_results[scheme, seed])
            for (scheme, seed), scenario in dumbbells.items()
            if seed == min(DUMBBELL_SEEDS)
        },
        **{
            f"loss{SHOWN_LOSS_PERCENT}-{carrier.name}": (
                scenario,
                transfer_results[carrier, percent, seed],
            )
            for (carrier, percent, seed), scenario in transfers.items()
            if (percent, seed) == (SHOWN_LOSS_PERCENT, min(LOSS_SEEDS))
        },
    }
    return _Ran(
        ours,
        vcp_shares={percent: lossy.vcp_share(run) for percent, run in recorded.items()},
        loads={key: loads.loads(run) for key, run in run_each(looks).items()},
        scenarios={name: scenario for name, (scenario, _) in shown.items()},
        results={name: results for name, (_, results) in shown.items()},
    )


def _sections(ran: _Ran, lots: Sequence[variants.Lot]) -> dict[str, Any]:
    """Return the tables of the report's own sections."""
    return {
        "warm_s": parking.WARM_S,
        "lot_rows": [
            _lot_row(scheme, reading, link, ran.ours)
            for reading in READINGS
            for scheme in PUBLISHED_LOTS
            for link in setting.SHOWN_LINKS
        ],
        "looked_at_s": setting.LOOKED_AT_S,
        "looked_at_from_s": setting.LOOKED_AT_FROM_S,
        "loads": ran.loads,
        "seeds": len(LOSS_SEEDS),
        "file_kb": setting.FILE_B // 1000,
        "carriers": CARRIERS,
        "transfers": [
            {
                "percent": percent,
                "times": [ran.ours.transfers[carrier][percent] for carrier in CARRIERS],
                "vcp_share": ran.vcp_shares[percent],
            }
            for percent in LOSS_PERCENT
        ],
        "lots": lots,
        "dumbbells": variants.stored_dumbbells(),
        "said": _said(lots),
        "labels": {reading.name: reading.label for reading in READINGS},
    }


def _said(lots: Sequence[variants.Lot]) -> dict[str, variants.Lot]:
    """Return the stored parking lots that the text names."""
    return {
        "default": variants.find(lots, DPCP, FLOWS),
        "limits": variants.find(lots, DPCP, FLOWS, variants.LIMITS),
        "limits_alone": variants.find(lots, DPCP, AGGREGATES, variants.LIMITS),
        "waits": variants.find(lots, DPCP, FLOWS, variants.WAITS),
        "waits_alone": variants.find(lots, DPCP, AGGREGATES, variants.WAITS),
        "slow": variants.find(lots, DPCP, FLOWS, variants.SLOW),
        "slow_senders": variants.find(lots, DPCP, FLOWS, variants.SLOW_SENDERS),
        "slow_routers": variants.find(lots, DPCP, FLOWS, variants.SLOW_ROUTERS),
        "slow_vcp": variants.find(lots, VCP, FLOWS, variants.SLOW),
    }


def _lot_row(scheme: Scheme, reading: Reading, link: str, ours: Ours) -> dict[str, Any]:
    """Return the shares of a link before and after L2's Local starts, beside max-min's."""
    splits: list[Split] = [
        ours.lots[scheme, reading][link].split(period) for period in parking.PERIODS
    ]
    return {
        "scheme": scheme,
        "reading": reading,
        "link": link,
        "splits": splits,
        "ideal": [
            parking.ideal(reading.long, reading.local, link, joined=joined)
            for joined in (False, True)
        ],
    }
