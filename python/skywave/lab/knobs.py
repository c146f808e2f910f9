"""Knobs: values of a scenario that users change during a run, and their edits of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skywave import _core
from skywave.lab.reading import PageError, inspect, schema

MOST = 1e15
"""The largest value of a number."""
MOST_FLOWS = 6
"""The most flows whose controls are knobs."""
FULL_PACKET_B = 1040
"""What a link's buffer is counted in when its queue has no limit: a full packet of the defaults."""
QUEUES = {
    "drop-tail": "{{ drop-tail = {{ packets = {packets} }} }}",
    "red": "{{ red = {{ packets = {packets}, min_threshold = {low}, max_threshold = {high} }} }}",
    "codel": "{{ codel = {{ packets = {packets} }} }}",
    "fq-codel": "{{ fq-codel = {{ packets = {packets} }} }}",
    "pie": "{{ pie = {{ packets = {packets} }} }}",
    "dualpi2": "{{ dualpi2 = {{ packets = {packets} }} }}",
}
CCIDS = ("2", "3", "4")


@dataclass(frozen=True)
class Knob:
    """A value to turn. A number is in bit/s, seconds, packets or, a share, between 0 and 1."""

    field: str
    label: str
    kind: Literal["rate", "duration", "packets", "share", "choice"]
    value: float | str
    choices: tuple[str, ...] = ()
    """Of a choice: what may be chosen."""


def of_scenario(scenario: Mapping[str, Any]) -> list[Knob]:
    """Return the knobs of a scenario with all defaults."""
    return [*_of_bottleneck(scenario), *_of_flows(scenario["flows"])]


def turned(text: str, field: str, value: float | str) -> str:
    """Return a scenario's text with another value of a knob."""
    scenario = inspect(text).scenario
    knobs = {knob.field: knob for knob in of_scenario(scenario)}
    if field not in knobs:
        raise PageError(field, "this scenario has no such knob")
    changed = _written(text, field, _toml(knobs[field], value, scenario))
    inspect(changed)
    return changed


def _bottleneck(scenario: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Return the field and the description of the dumbbell, or else of the slowest link."""
    if scenario.get("dumbbell"):
        return "dumbbell", scenario["dumbbell"]
    links = {f"links[{index}]": link for index, link in enumerate(scenario["links"])}
    return min(links.items(), key=lambda one: _core.Rate(one[1]["rate"]).bps, default=None)


def _of_bottleneck(scenario: Mapping[str, Any]) -> Iterator[Knob]:
    found = _bottleneck(scenario)
    if found is None:
        return
    at, link = found
    yield Knob(f"{at}.rate", "Rate", "rate", _core.Rate(link["rate"]).bps)
    yield Knob(f"{at}.delay", "Delay, one way", "duration", _core.Duration(link["delay"]).seconds)
    queue = link["queue"]
    kind = queue if isinstance(queue, str) else next(iter(queue))
    if kind in (*QUEUES, "unlimited"):
        yield Knob(f"{at}.queue", "Queue", "choice", kind, tuple(dict.fromkeys((kind, *QUEUES))))
    if isinstance(queue, dict) and isinstance(queue[kind].get("packets"), int):
        packets = queue[kind]["packets"]
        yield Knob(f"{at}.queue.{kind}.packets", "Buffer", "packets", packets)
    loss = link.get("loss")
    if loss is None:
        yield Knob(f"{at}.loss", "Loss", "share", 0.0)
    elif isinstance(loss, dict) and "bernoulli" in loss:
        share = loss["bernoulli"]["probability"]
        yield Knob(f"{at}.loss.bernoulli.probability", "Loss", "share", share)


def _of_flows(flows: list[Mapping[str, Any]]) -> Iterator[Knob]:
    tcp = schema()["$defs"]["Tcp"]["properties"]["control"]["anyOf"][0]["enum"]
    # Routers of VCP are a different network.
    controls = tuple(name for name in tcp if name != "vcp")
    for index, flow in enumerate(flows[:MOST_FLOWS]):
        at, label = f"flows[{index}].transport", f"Control of {flow['name']}"
        (kind, transport), *_ = flow["transport"].items()
        if kind == "tcp" and transport["control"] in controls:
            yield Knob(f"{at}.tcp.control", label, "choice", transport["control"], controls)
        elif kind == "dccp" and str(transport["ccid"]) in CCIDS:
            label = f"CCID of {flow['name']}"
            yield Knob(f"{at}.dccp.ccid", label, "choice", str(transport["ccid"]), CCIDS)


def _toml(knob: Knob, value: float | str, scenario: Mapping[str, Any]) -> str:
    """Return the value of a knob as TOML."""
    if knob.kind == "choice":
        return _choice(knob, value, scenario)
    if isinstance(value, str) or not 0 <= value < MOST:
        raise PageError(knob.field, f"{value} is not a number from 0 to {MOST:g}")
    rounded = float(f"{value:.3g}")
    match knob.kind:
        case "rate":
            return f'"{_core.Rate.from_bps(rounded)}"'
        case "duration":
            return f'"{_core.Duration.from_seconds(rounded)}"'
        case "packets":
            return str(max(1, round(value)))
        case "share":
            share = f"{rounded:f}".rstrip("0") + "0" * (rounded == int(rounded))
            inside = knob.field.endswith(".probability")
            return share if inside else f"{{ bernoulli = {{ probability = {share} }} }}"


def _choice(knob: Knob, value: float | str, scenario: Mapping[str, Any]) -> str:
    if value not in knob.choices:
        raise PageError(knob.field, f"{value} is not one of {', '.join(knob.choices)}")
    if knob.field.endswith(".queue"):
        return _queue(str(value), scenario)
    return str(value) if knob.field.endswith(".ccid") else f'"{value}"'


def _queue(kind: str, scenario: Mapping[str, Any]) -> str:
    """Return a queue of another kind with as much room as the one there is."""
    found = _bottleneck(scenario)
    assert found is not None  # noqa: S101  (it has a knob)
    _, link = found
    if kind == "unlimited":
        return '"unlimited"'
    queue = link["queue"]
    packets = None if isinstance(queue, str) else next(iter(queue.values())).get("packets")
    if packets is None:
        round_trip_s = 2 * _core.Duration(link["delay"]).seconds
        packets = max(10, round(_core.Rate(link["rate"]).bps * round_trip_s / 8 / FULL_PACKET_B))
    low = max(1, packets // 10)
    return QUEUES[kind].format(packets=packets, low=low, high=max(low + 1, packets // 3))


def _written(text: str, field: str, toml: str) -> str:
    place = _core.place_of_field(text, field)
    if place is not None and place[3]:
        _, start, end, _ = place
        if toml.startswith("{") and text[start] not in '{"':
            raise PageError(field, "it has a header of its own: change it in the text")
        return text[:start] + toml + text[end:]
    parent, _, key = field.rpartition(".")
    place = _core.place_of_field(text, parent)
    if place is None or not place[3]:
        raise PageError(field, "the text does not have the table that it belongs to")
    _, start, end, _ = place
    if text[end - 1] == "}":
        before = text[start : end - 1].rstrip()
        comma = "" if before == "{" else ","
        return f"{text[:start]}{before}{comma} {key} = {toml} {text[end - 1 :]}"
    line = text.find("\n", end)
    line = len(text) if line < 0 else line
    return f"{text[:line]}\n{key} = {toml}{text[line:]}"
