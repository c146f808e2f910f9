"""The parking lot: a row of links with flows over all and over each."""

from __future__ import annotations

import pytest

from skywave import Aggregate, Ftp, Hop, Tcp, VcpRouter, parking_lot, run
from skywave.scenario.quantities import Duration


def aggregate(name: str, flows: int, start: str = "0 s") -> Aggregate:
    return Aggregate(name=name, flows=flows, transport=Tcp(), start=start, start_jitter="10 ms")


def test_links_and_flows_stand_in_their_order() -> None:
    lot = parking_lot(
        "lot",
        duration="1 s",
        seed=7,
        hops=[
            Hop(rate="4 Mbps", delay="10 ms", queue=VcpRouter(packets=9), local=aggregate("a", 2)),
            Hop(rate="2 Mbps", delay="20 ms"),
            Hop(rate="3 Mbps", delay="30 ms", local=aggregate("c", 1, "500 ms")),
        ],
        long=aggregate("long", 2),
    )
    document = lot.normalised()
    assert [(link["from"], link["to"]) for link in document["links"]] == [
        ("r1", "r2"),
        ("r2", "r3"),
        ("r3", "r4"),
    ]
    assert [link["rate"] for link in document["links"]] == ["4 Mbps", "2 Mbps", "3 Mbps"]
    assert [link["delay"] for link in document["links"]] == ["10 ms", "20 ms", "30 ms"]
    assert lot.links[0].queue == VcpRouter(packets=9)
    assert [(flow.name, flow.from_, flow.to, flow.start) for flow in lot.flows] == [
        ("long1", "r1", "r4", Duration("0 s")),
        ("long2", "r1", "r4", Duration("0 s")),
        ("a1", "r1", "r2", Duration("0 s")),
        ("a2", "r1", "r2", Duration("0 s")),
        ("c1", "r3", "r4", Duration("500 ms")),
    ]
    assert all(flow.source == Ftp() for flow in lot.flows)


def test_a_local_flow_crosses_its_link_alone() -> None:
    lot = parking_lot(
        "lot",
        duration="5 s",
        hops=[Hop(rate="1 Mbps", delay="5 ms", local=aggregate(name, 1)) for name in "ab"],
        long=aggregate("long", 1),
    )
    seen = run(lot).link_flows.to_pandas()
    carried = seen.groupby(["link", "flow"], observed=True)["delivered"].sum()
    over_first = {flow for flow, packets in carried["r1->r2"].items() if packets}
    over_second = {flow for flow, packets in carried["r2->r3"].items() if packets}
    assert over_first == {"long1", "a1"}
    assert over_second == {"long1", "b1"}


def test_a_parking_lot_without_a_hop_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one hop"):
        parking_lot("lot", duration="1 s", hops=[])
