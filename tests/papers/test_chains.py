"""Chains of packets over TCP, where the path or the header is unlike that of the paper."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from skywave import Link, Probes, Scenario, ScenarioError, run
from skywave.scenario import Dccp, Ftp, Nat, Vcp
from skywave.scenario.quantities import Duration
from skywave_papers.li2009 import setting
from skywave_papers.li2009.setting import BOTTLENECK, DEFAULT, DPCP, TPCP, Scheme
from skywave_papers.vcp_scripts import TCP

if TYPE_CHECKING:
    import pyarrow as pa

    from skywave import Results
    from skywave.scenario.parts import ChainOrder


def scenario(scheme: Scheme, order: ChainOrder | None = None) -> Scenario:
    """One flow over the paper's dumbbell."""
    plan = setting.dumbbell(scheme)
    plan.duration = Duration("60 s")
    plan.probes = Probes(interval="1 s", links=(BOTTLENECK,), packets=True, tables=("drops",))
    (flow,) = plan.flows
    tcp = setting.tcp_of(scheme, DEFAULT)
    assert tcp.vcp is not None
    plan.flows = [evolve(flow, transport=evolve(tcp, vcp=evolve(tcp.vcp, order=order)))]
    return plan


def sent(packets: pa.Table) -> list[tuple[int, int]]:
    """Sequence and acknowledgement numbers of the data segments sent, as in their headers."""
    rows = packets.select(["event", "kind", "seq", "ack"]).to_pylist()
    data = [row for row in rows if (row["event"], row["kind"]) == ("send", "TCP data")]
    return [(row["seq"], row["ack"]) for row in data]


@pytest.mark.parametrize("scheme", [DPCP, TPCP], ids=lambda scheme: scheme.name)
def test_the_identification_of_ip_orders_chains_as_tcp_numbers_do(scheme: Scheme) -> None:
    """Section 5's order for IPsec: the same run, with the numbers of TCP as TCP wrote them."""
    swapped, plain = (run(scenario(scheme, order)) for order in (None, "ip-identification"))
    assert plain.flows.equals(swapped.flows)
    assert plain.links.equals(swapped.links)
    assert len({ack for _, ack in sent(plain.tables["packets"])}) == 1
    assert len({ack for _, ack in sent(swapped.tables["packets"])}) > 1
    numbers = [seq for seq, _ in sent(plain.tables["packets"])]
    assert all(after > before for before, after in itertools.pairwise(numbers))


def test_the_identification_survives_the_wire() -> None:
    plan = scenario(DPCP, "ip-identification")
    plan.duration = Duration("10 s")
    on_paper = run(plan)
    plan.verify_wire = True
    assert run(plan).flows.equals(on_paper.flows)


def test_over_dccp_the_sequence_number_is_the_order() -> None:
    plan = setting.dumbbell(DPCP)
    plan.flows = []
    plan.add_flow("ftp", "s1", "d1", Dccp(ccid=249, vcp=Vcp(order="tcp-numbers")), Ftp())
    with pytest.raises(ScenarioError, match="sequence number tells its position: omit `order`"):
        run(plan)


def behind(nat: Nat, scheme: Scheme | None, order: ChainOrder | None = None) -> Results:
    """Run one flow through a NAT: plain TCP without a scheme."""
    plan = scenario(scheme or DPCP, order)
    if scheme is None:
        plan.flows = []
        plan.add_flow("ftp1", "s1", "d1", TCP, Ftp())
    assert plan.dumbbell is not None
    plan.dumbbell = evolve(plan.dumbbell, nat=nat)
    return run(plan, verify_physics=True)


def delivered(results: Results) -> int:
    (flow,) = results.totals["flows"]
    return int(flow["delivered_bytes"])


TRACKING = Nat()
ADJUSTING = Nat(tracking=False)
RECOMPUTING = Nat(tracking=False, checksum="recomputed")


def test_a_nat_that_tracks_connections_stops_swapped_numbers() -> None:
    """Section 5: "For NAT [...] MPCP must be aware of their existence"."""
    stopped = behind(TRACKING, DPCP)
    reasons = set(stopped.tables["drops"]["reason"].to_pylist())
    assert reasons == {"nat"}
    assert not stopped.violations
    free = behind(ADJUSTING, DPCP)
    assert "nat" not in free.tables["drops"]["reason"].to_pylist()
    assert delivered(stopped) < 0.01 * delivered(free)


@pytest.mark.parametrize("order", ["ip-identification", None])
def test_a_nat_passes_plain_tcp_and_order_by_identification(order: ChainOrder | None) -> None:
    for nat in (TRACKING, RECOMPUTING):
        through = behind(nat, DPCP if order else None, order)
        assert "nat" not in through.tables["drops"]["reason"].to_pylist()
        assert delivered(through) == delivered(behind(ADJUSTING, DPCP if order else None, order))


def test_a_new_checksum_hides_the_places_of_longer_chains_alone() -> None:
    """Swapped numbers need no other checksum; three places are told by it alone."""
    assert delivered(behind(RECOMPUTING, DPCP)) == delivered(behind(ADJUSTING, DPCP))
    told, hidden = behind(ADJUSTING, TPCP), behind(RECOMPUTING, TPCP)
    assert delivered(hidden) < delivered(told)


def test_a_nat_needs_both_directions() -> None:
    link = Link(from_="a", to="b", rate="1 Mbps", delay="1 ms", one_way=True, nat=Nat())
    plan = Scenario(name="nat", duration="1 s", nodes=["a", "b"], links=[link])
    with pytest.raises(ScenarioError, match="a NAT needs both directions"):
        run(plan)
