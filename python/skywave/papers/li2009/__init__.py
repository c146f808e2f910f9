"""Li and Yousefi'zadeh 2009: MPCP, a load factor told by a chain of packets, beside VCP."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    DEFAULT,
    DPCP,
    DPCP_TCP,
    DUMBBELL_SEEDS,
    FLOWS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    PAPER_NETWORK,
    READINGS,
    SCHEMES,
    VCP,
)
from skywave.papers.reproduction import Ns2Source, Paper, Reproduction
from skywave.papers.stages import stage
from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers import Progress
    from skywave.papers.li2009.parking import Split
    from skywave.papers.li2009.setting import Choices, Reading, Scheme
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
    lots, dumbbells = variants.stored_lots(), variants.stored_dumbbells()
    return Reproduction(
        paper=PAPER,
        cells=cells.published_cells(ran.ours, lots, dumbbells),
        comparisons=(),
        parameters=setting.PARAMETERS,
        ns2=NO_NS2,
        figures=figures.draw(ran.ours, ran.vcp_shares, lots),
        scenarios=ran.scenarios,
        results=ran.results,
        sections=_sections(ran, lots, dumbbells),
    )


def _run(progress: Progress | None) -> _Ran:
    lots, looks = (
        {
            (scheme, reading): of(scheme, reading)
            for reading in READINGS
            for scheme in PUBLISHED_LOTS
        }
        for of in (setting.lot, setting.lot_by_intervals)
    )
    dumbbells = {
        (scheme, seed): setting.dumbbell(scheme, seed=seed)
        for scheme in SCHEMES
        for seed in DUMBBELL_SEEDS
    }
    transfers = {
        (carrier, percent, seed): setting.transfer(
            carrier, percent, seed, packets=(carrier, seed) == (DPCP_TCP, min(LOSS_SEEDS))
        )
        for carrier in CARRIERS
        for percent in LOSS_PERCENT
        for seed in LOSS_SEEDS
    }
    # The longest first, and all in one go: else cores wait for the last of each kind.
    plans = (lots, looks, dumbbells, transfers)
    every = [scenario for plan in plans for scenario in plan.values()]
    runs = iter(run_many(every, progress=stage(progress, "Skywave")))
    lot_results = dict(zip(lots, runs, strict=False))
    look_results = dict(zip(looks, runs, strict=False))
    dumbbell_results = dict(zip(dumbbells, runs, strict=False))
    transfer_results = dict(zip(transfers, runs, strict=True))
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
        vcp_shares={
            percent: lossy.vcp_share(transfer_results[DPCP_TCP, percent, min(LOSS_SEEDS)])
            for percent in LOSS_PERCENT
        },
        loads={key: loads.loads(run) for key, run in look_results.items()},
        scenarios={name: scenario for name, (scenario, _) in shown.items()},
        results={name: results for name, (_, results) in shown.items()},
    )


def _sections(
    ran: _Ran, lots: Sequence[variants.Lot], dumbbells: Sequence[variants.Bottleneck]
) -> dict[str, Any]:
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
        "dumbbells": dumbbells,
        "said": _said(lots),
        "said_of_dumbbells": _said_of_dumbbells(dumbbells),
        "mostly_vcp_percent": mostly_vcp_percent(ran.vcp_shares),
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


def mostly_vcp_percent(shares: Mapping[int, float | None]) -> int | None:
    """Return the loss rate from which on more than half of the segments leave in VCP's mode."""
    others = [percent for percent, share in shares.items() if share is None or share <= 0.5]
    return next((percent for percent in shares if percent > max(others, default=-1)), None)


FEW_FLOWS = 2


def _said_of_dumbbells(dumbbells: Sequence[variants.Bottleneck]) -> dict[str, Any]:
    """Return what the text says of the stored dumbbells."""

    def find(scheme: Scheme, choices: Choices = DEFAULT, **network: Any) -> variants.Bottleneck:
        return variants.find_dumbbell(dumbbells, scheme, replace(PAPER_NETWORK, **network), choices)

    quicker = {
        network: variants.find_dumbbell(dumbbells, VCP, network).transition_s
        / variants.find_dumbbell(dumbbells, DPCP, network).transition_s
        for network in variants.NETWORKS
    }
    few = [ratio for network, ratio in quicker.items() if network.flows <= FEW_FLOWS]
    many = [ratio for network, ratio in quicker.items() if network.flows > FEW_FLOWS]
    return {
        "quicker_few": (min(few), max(few)),
        "quicker_many": (min(many), max(many)),
        "near": {scheme.name: find(scheme, rtt_ms=200) for scheme in (VCP, DPCP)},
        "usual": {scheme.name: find(scheme) for scheme in (VCP, DPCP)},
        "far": find(DPCP, rtt_ms=1000),
        "ten": {scheme.name: find(scheme, flows=10) for scheme in (VCP, DPCP)},
        "slow": find(DPCP, variants.SLOW),
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
