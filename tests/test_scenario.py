"""The Python builders say what the files say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from conftest import EXAMPLES, ROOT, run_cli
from skywave import (
    AdaptiveRed,
    Cbr,
    CoDel,
    Cubic,
    Dccp,
    DropTail,
    DynamicFeedback,
    FileSize,
    Flow,
    FqCoDel,
    Ftp,
    Link,
    PacketLoss,
    PerRoundTrip,
    Pie,
    Probes,
    Red,
    Reno,
    Scenario,
    ScenarioError,
    SubQueue,
    Tcp,
    Tfrc,
    Think,
    Udp,
    Vcp,
    VcpRouter,
    Vegas,
    Web,
    Weighted,
    dumbbell,
)
from skywave.scenario.paths import with_field

if TYPE_CHECKING:
    from pathlib import Path

    from skywave.scenario import Queue


def everything() -> Scenario:
    """Use every parameter that there is."""
    tcp = Tcp(
        profile="ns2",
        control="cubic",
        recovery="sack",
        segment="1 kB",
        initial_cwnd=3,
        initial_ssthresh=30,
        receive_window=64,
        delayed_ack="40 ms",
        limited_transmit=False,
        send_jitter="5 ms",
        tick="10 ms",
        tick_phase="4 ms",
        initial_rto="2 s",
        min_rto="300 ms",
    )
    dccp = Dccp(
        ccid=2,
        profile="ns2",
        initial_cwnd=3,
        initial_ssthresh=50,
        growth="ns2-tcplike",
        send_queue=7,
        short_seqnos=True,
        ecn=False,
        ack_ratio=3,
        immediate_acks=False,
        delayed_ack="100 ms",
        initial_rto="2 s",
        min_rto="500 ms",
    )
    scenario = dumbbell(
        "everything",
        duration="5 s",
        rate="2 Mbps",
        delay="10 ms",
        pairs=2,
        queue=DropTail(bytes="30 kB"),
        loss=PacketLoss(packets=(3, 5)),
        access_delays=("1 ms", "2 ms"),
        seed=7,
        probes=Probes(
            interval="500 ms",
            links=("r1->r2",),
            flows=("web",),
            windows=True,
            rates=True,
            packets=True,
        ),
    )
    scenario.description = "every parameter"
    scenario.verify_wire = True
    scenario.nodes.append("x")
    loss = PacketLoss(packets=(9,))
    scenario.links.append(
        Link(
            from_="x",
            to="r1",
            rate="1 Mbps",
            delay="3 ms",
            queue=DropTail(packets=4),
            loss=loss,
            one_way=True,
        )
    )
    red = Red(
        packets=9,
        min_threshold=5.0,
        max_threshold=9.0,
        target_delay="1 ms",
        max_p=0.2,
        weight=0.5,
        mean_packet="1 kB",
        gentle=False,
        wait=False,
        queue_in_bytes=True,
        drop_by_bytes=True,
        ecn=True,
        mark_p=0.5,
    )
    adaptive = AdaptiveRed(
        bytes="9 kB",
        min_threshold=5.0,
        max_threshold=9.0,
        target_delay="1 ms",
        max_p=0.2,
        time_constant="1 s",
        mean_packet="1 kB",
        gentle=False,
        wait=False,
        queue_in_bytes=True,
        drop_by_bytes=True,
        ecn=True,
        mark_p=0.5,
    )
    codel = CoDel(packets=9, target="4 ms", interval="80 ms", ecn=True)
    fq_codel = FqCoDel(
        packets=9, flows=8, quantum="300 B", target="4 ms", interval="80 ms", ecn=False
    )
    pie = Pie(
        bytes="9 kB",
        target="20 ms",
        update="10 ms",
        max_burst="100 ms",
        mean_packet="500 B",
        ecn=True,
        derandomise=True,
        cap=True,
    )
    weighted = Weighted(queues=(SubQueue(weight=1, queue=red), SubQueue(weight=2, queue=codel)))
    vcp_router = VcpRouter(
        packets=9,
        interval="100 ms",
        sampling="5 ms",
        queue_share=0.25,
        target_utilisation=0.9,
        average="means",
        chain=2,
        flows=16,
    )
    queues: list[Queue] = [red, adaptive, codel, fq_codel, pie, weighted, vcp_router]
    for node, queue in zip("abcdefg", queues, strict=True):
        scenario.nodes.append(node)
        scenario.links.append(
            Link(from_=node, to="r1", rate="1 Mbps", delay="1 ms", queue=queue, one_way=True)
        )
    scenario.add_flow("tcp", "s1", "d1", tcp, Ftp(size="20 kB", datagram="700 B"), start="1 s")
    tfrc = Tfrc(
        rules="rfc3448",
        segment_size="80 B",
        oscillation_prevention=False,
        smoothing="per-round-trip",
        feedback=DynamicFeedback(rtt_ref="50 ms", window="round-trip"),
        receiver_rtt="option",
    )
    rate = evolve(dccp, ccid=3, tfrc=tfrc)
    scenario.add_flow("rate", "s1", "d2", rate)
    vcp = Vcp(
        rules="xia2005",
        chain=2,
        limits=True,
        acts="when-complete",
        after_decrease="freezes",
        on_loss="decreases",
        interval="100 ms",
        paces=False,
        fallback=True,
    )
    scenario.add_flow("vcp", "s1", "d1", Tcp(control="vcp", vcp=vcp, ecn=True))
    scenario.add_flow("load", "s1", "d1", Dccp(ccid=249, vcp=vcp))
    cubic, vegas = Cubic(c=0.3, beta=0.8, fast_convergence=False), Vegas(alpha=2, beta=4, gamma=2)
    scenario.add_flow("cubic", "s1", "d1", Tcp(control="cubic", cubic=cubic, ecn=True))
    scenario.add_flow("vegas", "s1", "d1", Dccp(ccid=251, control="vegas", vegas=vegas))
    scenario.add_flow("reno", "s1", "d1", Dccp(ccid=251, control="reno", reno=Reno()))
    several = Dccp(ccid=4, tfrc=Tfrc(feedback=PerRoundTrip(reports=4)))
    scenario.add_flow("several", "s1", "d2", several)
    web = Web(
        think=(
            Think(probability=0.25, median="2 s", shape=1.5),
            Think(probability=0.75, median="30 ms", shape=3.0),
        ),
        size=FileSize(median="3 kB", shape=1.2),
        datagram="700 B",
    )
    scenario.add_flow("web", "s2", "d1", tcp, web)
    scenario.add_flow(
        "dccp", "s2", "d2", dccp, Cbr(rate="1 Mbps", datagram="500 B"), stop="4 s", class_=1
    )
    return scenario


def test_a_scenario_survives_being_written_and_read() -> None:
    scenario = everything()
    again = Scenario.from_text(scenario.to_json(), "json")
    assert again.normalised() == scenario.normalised()
    assert Scenario.from_text(again.to_json(), "json").to_json() == again.to_json()


def test_every_parameter_reaches_the_core() -> None:
    """The core gets every key that is given, and gives back what it got."""

    def keys(document: object, path: str = "") -> set[str]:
        if isinstance(document, dict):
            below = {key: keys(value, f"{path}.{key}") for key, value in document.items()}
            return {f"{path}.{key}" for key in document}.union(*below.values())
        if isinstance(document, list):
            return set().union(*(keys(item, path) for item in document))
        return set()

    given = everything()
    assert keys(given.to_dict()) <= keys(given.normalised())
    assert Scenario.from_dict(given.normalised()) == given


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_reads_the_same_as_toml_and_json(example: Path, tmp_path: Path) -> None:
    scenario = Scenario.from_file(example)
    path = tmp_path / "again.json"
    path.write_text(scenario.to_json())
    assert Scenario.from_file(path).normalised() == scenario.normalised()


def test_check_prints_the_defaults_too() -> None:
    example = next(path for path in EXAMPLES if path.stem == "tcp")
    done = run_cli("check", example, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    tcp = document["scenario"]["flows"][0]["transport"]["tcp"]
    # Of the type, of the profile and of the control.
    assert tcp["max_receive_window"] == "33554.432 kB"
    assert (tcp["limited_transmit"], tcp["initial_rto"], tcp["recovery"]) == (
        True,
        "1 s",
        "newreno",
    )
    assert document["routes"]["file"][0] == ["s1", "r1", "r2", "d1"]
    assert document["warnings"] == []
    shown = run_cli("check", example)
    assert shown.returncode == 0
    assert '"recovery": "newreno"' in shown.stdout
    assert "file: s1 -> r1 -> r2 -> d1; back d1 -> r2 -> r1 -> s1" in shown.stdout


@pytest.mark.parametrize(
    ("field", "value", "warning"),
    [
        ("flows[0].start", "2 s", "2 s is not before the end"),
        ("dumbbell.rate", "1 bps", "r1->r2 takes 320.001 s for a packet of 40 B, longer than"),
        ("dumbbell.trace", {"opportunities": [60_000]}, "r1->r2 delivers no packet of 40 B in"),
    ],
)
def test_what_is_hardly_meant_is_said_and_runs(
    field: str, value: object, warning: str, tmp_path: Path
) -> None:
    scenario = dumbbell("hardly meant", duration="1 s", rate="1 Mbps", delay="1 ms")
    scenario.add_flow("file", "s1", "d1", Tcp())
    scenario = with_field(scenario, field, value)
    path = tmp_path / "scenario.json"
    path.write_text(scenario.to_json())
    for command in ("check", "run"):
        done = run_cli(command, path)
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith(f"warning: {field}: {warning}"), command
    [said] = json.loads(run_cli("check", path, "--json").stdout)["warnings"]
    assert said.startswith(f"{field}: {warning}")
    assert scenario.inspect().warnings == (said,)


def test_errors_name_the_file(tmp_path: Path) -> None:
    for name, text, message in (
        ("a.toml", "name = ", f"{tmp_path}/a.toml is not TOML: line 1, column 8: "),
        ("a.json", "name = 1", f"{tmp_path}/a.json is not JSON: line 1, column 2: "),
        ("a.yaml", "name: x", f"{tmp_path}/a.yaml is YAML: "),
        ("b.json", '{ "name": 1 }', f"{tmp_path}/b.json: name: invalid type: integer `1`, "),
        ("c.toml", 'name = "x"', f"{tmp_path}/c.toml: missing field `duration`"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(ScenarioError) as error:
            Scenario.from_file(tmp_path / name)
        assert str(error.value).startswith(message)
        assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("pairs = 1\n", "pairs = 99999999999999999999\n", "is too large: no integer may exceed"),
        ("pairs = 1\n", "pairs = 9223372036854775807\n", "expected 4294967295 or less"),
        ('"60 s"', '"1e300 s"', "write the number without an exponent"),
        ('"2 Mbps"', '"2,5 Mbps"', "decimals follow a point"),
        ('"2 Mbps"', '"99999999999 Gbps"', "it is above 18446744073 Gbps"),
        ("{ dccp = {", "{ udp = {}, dccp = {", "transport: give one of its forms, not several"),
        ("{ dccp = {", "{ dccp = { cid = 2,", "unknown field `cid`, expected one of `ccid`, "),
    ],
)
def test_errors_say_what_to_do(before: str, after: str, message: str) -> None:
    text = (ROOT / "examples/dccp.toml").read_text()
    assert before in text
    with pytest.raises(ScenarioError) as error:
        Scenario.from_text(text.replace(before, after, 1), "toml")
    assert message in str(error.value)


def test_a_flow_needs_no_source_to_have_data() -> None:
    scenario = dumbbell("x", duration="1 s", rate="1 Mbps", delay="1 ms")
    scenario.add_flow("f", "s1", "d1", Tcp())
    assert scenario.flows == [Flow(name="f", from_="s1", to="d1", transport=Tcp(), source=Ftp())]


def test_a_control_and_its_parameters_run_from_a_file(tmp_path: Path) -> None:
    """Over TCP and under CCID 251, with what they tell of their inside."""
    scenario = dumbbell(
        "controls",
        duration="2 s",
        rate="4 Mbps",
        delay="10 ms",
        probes=Probes(tables=("controls",)),
    )
    cubic = Cubic(beta=0.8)
    scenario.add_flow("tcp", "s1", "d1", Tcp(control="cubic", cubic=cubic))
    scenario.add_flow("dccp", "s1", "d1", Dccp(ccid=251, control="cubic", cubic=cubic))
    path = tmp_path / "controls.json"
    path.write_text(scenario.to_json())
    done = run_cli("run", path, "--json")
    assert done.returncode == 0, done.stderr
    goodput = [flow["goodput_bps"] for flow in json.loads(done.stdout)["flows"]]
    assert len(goodput) == 2
    assert all(bps > 1e5 for bps in goodput)


def test_a_copy_has_flows_of_its_own() -> None:
    scenario = dumbbell("one", duration="1 s", rate="1 Mbps", delay="1 ms")
    scenario.add_flow("file", "s1", "d1", Tcp())
    longer = scenario.replace(name="two", duration="2 s")
    longer.add_flow("call", "s1", "d1", Udp(), Cbr(rate="64 kbps", datagram="200 B"))
    assert [flow.name for flow in scenario.flows] == ["file"]
    assert (longer.name, longer.duration.seconds, len(longer.flows)) == ("two", 2, 2)
    assert longer.flows[0].replace(start="1 s").start.seconds == 1
    with pytest.raises(TypeError, match="'length'"):
        scenario.replace(length="2 s")
    with pytest.raises(ValueError, match="duration: "):
        scenario.replace(duration="2")
