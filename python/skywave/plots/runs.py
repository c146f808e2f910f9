"""Figures of one run: samples over time, and their distributions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skywave._known import listed
from skywave._printing import number
from skywave.plots.distributions import box, cdf
from skywave.plots.panels import LINE_IN, MOST_ENTRIES, above, at_size, check_log, column_in
from skywave.plots.style import column_style, series_styles
from skywave.plots.texts import plain
from skywave.results.columns import Scale, find
from skywave.results.emodel import over_time
from skywave.results.samples import HELD, Series, by_name, largest

if TYPE_CHECKING:
    import pyarrow as pa

RunKind = Literal["series", "cdf", "box"]
PANELS = ("goodput_bps", "cwnd_packets", "queue_packets", "delay_mean_s")
"""What a figure of a run shows by default, as far as there is any of it."""
MOST_LINKS = 4
"""How many links are shown unless they are named: those with the longest queues."""
PANEL_IN, AXIS_IN = 1.15, 0.55

_KEYS = {"flows": "flow", "links": "link", "calls": "flow"}
"""What each row of a table is of."""


def of_run(
    tables: Mapping[str, pa.Table],
    kind: RunKind = "series",
    *,
    measure: str | Sequence[str] = (),
    flows: Collection[str] = (),
    links: Collection[str] = (),
    from_s: float = 0.0,
    to_s: float | None = None,
    log: Collection[str] = (),
    size_in: tuple[float, float] | None = None,
) -> Figure:
    """Return a figure of a run, as wide as a column of a paper.

    ``"series"`` has a panel over time for each ``measure``, a name or several: by default goodput,
    cwnd, queue and delay.
    ``"cdf"`` and ``"box"`` have the distribution of the samples of one measure, by default goodput,
    by flow or link. Measures are columns of the tables ``flows`` and ``links``, with or without
    their units, and of voice calls ``played`` and ``mos``, over ten seconds each
    (:func:`skywave.results.emodel.over_time`). Without names, all flows are shown, and the links
    with the longest queues, at most four. The samples are those of intervals between ``from_s`` and
    ``to_s``; cwnd, ssthresh and SRTT are shown from a flow's first data to its last, and not of
    senders that have none. A sample of an interval that the end of the run cut short does not set
    the scale of its axis, and is not in a distribution. A sample of goodput that is more than 1.5
    times what lasts is cut off at the top of its axis, with a mark, and the largest one is told:
    what has waited for a retransmission reaches the application all at once.

    ``log`` has ``"y"`` for logarithmic y axes over time (without the samples that are 0) or of
    boxes, and ``"x"`` for the values of a distribution. ``size_in`` is the width and height in
    inches. By default the figure is as wide as a column, and as high as it takes.

    Of more than ten flows, each is a thin line without a name, and their mean a thick one.

    Raises:
        ValueError: If there is no such kind, measure, flow or link, or nothing between the times;
            the message lists what there is.
    """
    measures = [measure] if isinstance(measure, str) else list(measure)
    if kind not in get_args(RunKind):
        raise ValueError(f"{kind} is not a figure of a run: use {listed(kind, get_args(RunKind))}")
    if to_s is not None and to_s <= from_s:
        raise ValueError(f"no samples from {from_s:g} s to {to_s:g} s: the end must be later")
    tables = {name: table for name, table in tables.items() if table.num_rows}
    if not any(name in tables for name in _KEYS):
        raise ValueError("no samples of flows or links: nothing to plot")
    if "voice" in tables:
        tables = {**tables, "calls": over_time(tables["voice"])}
    shown = {
        "flow": _chosen(tables, "flow", flows),
        "link": _chosen(tables, "link", links) if links else _with_longest_queues(tables),
    }
    places = _places(tables)
    if kind == "series":
        names = [find(measure, places) for measure in measures] or [
            name for name in PANELS if name in places
        ]
    elif len(measures) > 1:
        raise ValueError(f"a figure of the kind {kind} has one measure, not {len(measures)}")
    else:
        names = [find(measures[0] if measures else PANELS[0], places)]
    found = {
        name: _series(tables[places[name]], _KEYS[places[name]], name, shown, from_s, to_s)
        for name in names
    }
    if not any(len(one.times_s) for each in found.values() for one in each.values()):
        raise ValueError(f"no samples from {from_s:g} s{'' if to_s is None else f' to {to_s:g} s'}")
    if not any(np.isfinite(one.values).any() for each in found.values() for one in each.values()):
        advice = "give the voice source its codec" if "mos" in names else "nothing to plot"
        raise ValueError(f"{' and '.join(names)} without values: {advice}")
    check_log(log, "x" if kind == "cdf" else "y", kind)
    draw: Callable[..., Figure]
    if kind == "series":
        if not measures:
            # A sender without a window has none to show.
            found = {
                name: each
                for name, each in found.items()
                if any(np.nan_to_num(one.values).any() for one in each.values())
            } or found
        draw = partial(_over_time, found, places, shown)
    else:
        [(name, each)] = found.items()
        panels = {"": {plain(key): list(one.whole().values) for key, one in each.items()}}
        by = _KEYS[places[name]]
        draw = partial(cdf, panels, name) if kind == "cdf" else partial(box, panels, name, by)
    return at_size(size_in, partial(draw, is_log=bool(log)))


def _places(tables: Mapping[str, pa.Table]) -> dict[str, str]:
    """Return the table of each measure. Where several have it, the flows' is meant."""
    return {
        name: table
        for table, key in reversed(_KEYS.items())
        if table in tables
        for name in tables[table].column_names
        if name not in {"time_s", key}
    }


def _chosen(tables: Mapping[str, pa.Table], key: str, given: Collection[str]) -> list[str]:
    known = _names(tables, key)
    for name in given:
        if name not in known:
            raise ValueError(f"{name} is not a known {key}: use one of {listed(name, known)}")
    return [name for name in known if not given or name in given]


def _names(tables: Mapping[str, pa.Table], key: str) -> list[str]:
    found = [
        str(name)
        for table, its_key in _KEYS.items()
        if its_key == key and table in tables
        for name in tables[table][key].unique().to_pylist()
    ]
    return list(dict.fromkeys(found))


def _with_longest_queues(tables: Mapping[str, pa.Table]) -> list[str]:
    longest: dict[str, float] = {}
    if "links" in tables and "queue_packets" in tables["links"].column_names:
        rows = tables["links"].group_by("link").aggregate([("queue_packets", "max")])
        longest = dict(
            zip(rows["link"].to_pylist(), rows["queue_packets_max"].to_pylist(), strict=True)
        )
    known = _names(tables, "link")
    ranked = sorted(known, key=lambda name: -longest.get(name, 0))
    # A queue of a packet is that of any link. If there is nothing else, one link shows that.
    kept = [name for name in ranked[:MOST_LINKS] if longest.get(name, 0) > 1] or ranked[:1]
    return [name for name in known if name in kept]


def _series(
    table: pa.Table,
    key: str,
    measure: str,
    shown: Mapping[str, Sequence[str]],
    from_s: float,
    to_s: float | None,
) -> dict[str, Series]:
    every = by_name(table, key, measure, while_active=measure in HELD)
    chosen = [name for name in shown[key] if name in every]
    if not chosen:
        raise ValueError(f"no {measure} of {', '.join(shown[key])}: use {', '.join(every)}")
    return {name: every[name].between(from_s, to_s) for name in chosen}


def _over_time(
    found: Mapping[str, Mapping[str, Series]],
    places: Mapping[str, str],
    shown: Mapping[str, Sequence[str]],
    *,
    is_log: bool,
) -> Figure:
    # A flow looks the same in all panels, and no link like a flow.
    looks = {
        "flow": dict(zip(shown["flow"], series_styles(), strict=False)),
        "link": dict(zip(shown["link"], series_styles(reverse=True), strict=False)),
    }
    with column_style():
        figure = Figure(
            figsize=(column_in(), AXIS_IN + PANEL_IN * len(found)), layout="constrained"
        )
        panels = figure.subplots(len(found), sharex=True, squeeze=False)[:, 0]
        told: set[tuple[str, str]] = set()
        lines = 0
        for axes, (measure, series) in zip(panels, found.items(), strict=True):
            key = _KEYS[places[measure]]
            noted = _draw(axes, measure, series, looks[key], is_log=is_log)
            lines += noted
            named = {(key, name) for name in series}
            if not named <= told:
                # One flow is the run's, but one link is not its only one.
                is_all = key == "flow" and len(series) == len(shown[key])
                lines += above(axes, least=2 if is_all else 1, gap_lines=noted)
                told |= named
        figure.set_figheight(figure.get_figheight() + LINE_IN * lines)
        figure.align_ylabels(panels)
        panels[-1].set_xlabel("time (s)")
    return figure


def _draw(
    axes: Axes,
    measure: str,
    series: Mapping[str, Series],
    looks: Mapping[str, dict[str, Any]],
    *,
    is_log: bool,
) -> int:
    """Draw a panel, and return how many lines of text are above it."""
    everything = np.concatenate([one.values for one in series.values()] or [np.zeros(0)])
    most = reach(measure, series.values())
    scale = Scale.of(measure, most)
    if len(series) > MOST_ENTRIES:
        _draw_many(axes, series, scale.factor)
    else:
        for name, one in series.items():
            look = {key: looks[name][key] for key in ("color", "linestyle", "zorder")}
            if len(one.values) == 1:
                look["marker"] = looks[name]["marker"]
            values = one.values / scale.factor
            axes.plot(one.times_s, values, label=plain(name), linewidth=0.9, **look)
    axes.set_ylabel(scale.label.replace(" (", "\n("))
    if is_log and (everything > 0).any():
        axes.set_yscale("log", nonpositive="mask")
        axes.margins(x=0.01)
        return 0
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if (everything < 0).any() else 0)
    if 0 < most < np.nanmax(everything, initial=0.0):
        axes.set_ylim(top=1.05 * most / scale.factor)
    axes.margins(x=0.01)
    is_many = len(series) > MOST_ENTRIES
    colours = {name: "0.6" if is_many else looks[name]["color"] for name in series}
    return mark_cut(axes, series, colours, scale)


def _draw_many(axes: Axes, series: Mapping[str, Series], factor: float) -> None:
    for one in series.values():
        axes.plot(one.times_s, one.values / factor, color="0.6", linewidth=0.3)
    times = np.unique(np.concatenate([one.times_s for one in series.values()]))
    total, count = np.zeros(len(times)), np.zeros(len(times))
    for one in series.values():
        known = np.isfinite(one.values)
        at = np.searchsorted(times, one.times_s[known])
        np.add.at(total, at, one.values[known])
        np.add.at(count, at, 1)
    with np.errstate(invalid="ignore"):
        mean = total / count / factor
    axes.plot([], [], color="0.6", linewidth=0.3, label="each")
    axes.plot(times, mean, color="black", label=f"mean of {len(series)}", zorder=3)


CUT = ("goodput_bps",)
"""What may go beyond its axis, where it would flatten the other samples.

Data that has waited for a retransmission reaches the application all at once, so goodput may be
many times the rate of the link for one sample. Of other measures, the largest samples are what a
reader looks for.
"""
UNUSUAL = 1.5
"""A sample is cut if it is more than this many times as large as what lasts."""
LASTING = 9
"""Of how many samples in a row a median is. Four in a row do not change it."""
MARK_PT, NOTE_PT = 2.5, 6


def reach(measure: str, series: Collection[Series]) -> float:
    """Return the largest size of a sample that an axis shows, as the laboratory's charts do.

    That is the largest one of whole intervals, but of goodput at most 1.5 times what lasts: the
    largest median of nine samples in a row that are not 0.
    """
    if measure not in CUT:
        return largest(series)
    return max((_reach(one) for one in series), default=0.0)


def _reach(one: Series) -> float:
    values = one.whole().values
    known = values[np.isfinite(values) & (values > 0)]
    most = largest([one])
    if known.size < LASTING:
        return most
    medians = np.median(np.lib.stride_tricks.sliding_window_view(known, LASTING), axis=1)
    return min(most, UNUSUAL * float(medians.max()))


def mark_cut(
    axes: Axes, series: Mapping[str, Series], colours: Mapping[str, str], scale: Scale
) -> int:
    """Mark the samples beyond the top of an axis, and say how large they are, above the axes.

    Returns how many lines of text are there: one, or none if nothing is cut. A sample of an
    interval that the end of the run cut short is not marked.
    """
    top = axes.get_ylim()[1] * scale.factor
    most = 0.0
    for name, one in series.items():
        whole = one.whole()
        beyond = np.nan_to_num(whole.values) > top
        if not beyond.any():
            continue
        most = max(most, float(whole.values[beyond].max()))
        axes.scatter(
            whole.times_s[beyond],
            np.ones(np.count_nonzero(beyond)),
            MARK_PT**2,
            marker="^",
            color=colours[name],
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            zorder=4,
            label="_beyond",
        )
    if not most:
        return 0
    _, parenthesis, unit = scale.label.rpartition(" (")
    text = f"{number(most / scale.factor, 3)} {unit.removesuffix(')') if parenthesis else ''}"
    axes.set_title(f"▲ cut off, up to {text.strip()}", loc="right", fontsize=NOTE_PT)
    return 1
