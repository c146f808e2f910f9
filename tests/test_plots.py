"""Figures of runs and sweeps: what is on their axes, and the files."""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from conftest import ROOT, assert_bad_input, run_cli
from skywave import Dccp, Probes, Results, Scenario, Tcp, Udp, Voice, dumbbell, plots, run
from skywave import sweep as run_sweep
from skywave.plots.files import render
from skywave.plots.names import axis_name, short_labels
from skywave.results.columns import Column, Scale, find, in_units
from skywave.results.emodel import quality
from skywave.results.run import read_tables
from skywave.results.samples import by_name, shares
from skywave.stats import average

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@pytest.fixture(scope="module")
def results() -> Results:
    scenario = dumbbell(
        "duel",
        duration="20 s",
        pairs=2,
        rate="2 Mbps",
        delay="20 ms",
        queue=20,
        probes=Probes(interval="500 ms"),
    )
    scenario.add_flow("dccp", "s1", "d1", Dccp())
    scenario.add_flow("tcp", "s2", "d2", Tcp())
    return run(scenario)


@pytest.fixture(scope="module")
def directory(results: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return results.write(tmp_path_factory.mktemp("plots") / "duel")


def labels(figure: Figure) -> list[str]:
    return [axes.get_ylabel().replace("\n", " ") for axes in figure.axes]


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    return {
        str(line.get_label()): (
            [float(x) for x in np.asarray(line.get_xdata())],
            [float(y) for y in np.asarray(line.get_ydata())],
        )
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def legend(axes: Axes) -> list[str]:
    """Return the names in the legend of a panel or, without one, in that of its figure."""
    figure = axes.get_figure(root=True)
    box = axes.get_legend() or (figure.legends[0] if figure and figure.legends else None)
    return [] if box is None else [text.get_text() for text in box.get_texts()]


def test_a_run_over_time_has_four_panels(results: Results) -> None:
    figure = results.plot()
    assert labels(figure) == [
        "goodput (Mbps)",
        "cwnd (packets)",
        "queue (packets)",
        "mean delay (ms)",
    ]
    goodput, _, queue, delay = figure.axes
    assert legend(goodput) == ["dccp", "tcp"]
    assert legend(queue) == ["r1->r2"]
    assert delay.get_xlabel() == "time (s)"
    tcp = results.flows.to_pandas().query("flow == 'tcp'")
    times, values = lines(goodput)["tcp"]
    assert times == list(tcp["time_s"])
    assert values == pytest.approx(list(tcp["goodput_bps"] / 1e6))
    assert lines(queue)["r1->r2"][1] == [
        float(row["queue_packets"]) for row in results.at_link("r1->r2").to_pylist()
    ]
    # A flow looks the same in all panels, and unlike the other in grey too.
    looks = [(line.get_color(), line.get_linestyle()) for line in goodput.get_lines()]
    assert looks == [(line.get_color(), line.get_linestyle()) for line in delay.get_lines()]
    assert len({style for _, style in looks}) == 2


def test_figures_are_as_wide_as_a_column(results: Results) -> None:
    for kind in ("series", "cdf", "box"):
        assert results.plot(kind).get_figwidth() == 3.5


def test_flows_links_measures_and_times_can_be_chosen(results: Results) -> None:
    figure = results.plot(
        measure=["srtt", "throughput_bps"],
        flows=["tcp"],
        links=["r1->s1", "r2->r1"],
        from_s=5,
        to_s=10,
    )
    assert labels(figure) == ["SRTT (ms)", "throughput (kbps)"]
    assert list(lines(figure.axes[0])) == ["tcp"]
    # In the order of the table.
    assert legend(figure.axes[1]) == list(lines(figure.axes[1])) == ["r2->r1", "r1->s1"]
    times, _ = lines(figure.axes[0])["tcp"]
    assert (times[0], times[-1]) == (5.5, 10)


def test_what_a_sender_does_not_have_is_left_out() -> None:
    scenario = dumbbell("one", duration="3 s", rate="2 Mbps", delay="20 ms", queue=20)
    scenario.add_flow("tfrc", "s1", "d1", Dccp(ccid=3))
    figure = run(scenario).plot()
    assert "cwnd (packets)" not in labels(figure)
    assert "goodput (Mbps)" in labels(figure)
    # One flow needs no name.
    assert legend(figure.axes[0]) == []


def calls(**voice: Any) -> Results:
    """Return a run of two calls beside a file, of which the second call is crowded out."""
    scenario = dumbbell("calls", duration="25 s", pairs=3, rate="1 Mbps", delay="20 ms", queue=40)
    source = Voice(frame="20 B", interval="20 ms", deadline="150 ms", **voice)
    scenario.add_flow("file", "s3", "d3", Tcp(), start="10 s")
    scenario.add_flow("early", "s1", "d1", Udp(), source, stop="9 s")
    scenario.add_flow("late", "s2", "d2", Udp(), source)
    return run(scenario)


def test_calls_are_rated_over_time() -> None:
    results = calls(codec="g711")
    mos, played, goodput = results.plot(measure=["mos", "played", "goodput"]).axes
    assert mos.get_ylabel() == "MOS"
    rated = {
        call: [
            (one.end_s, one.mos, 1 - one.loss_percent / 100) for one in quality(results.voice, call)
        ]
        for call in ("early", "late")
    }
    assert len(rated["early"]) == 1
    assert len(rated["late"]) == 3
    for call, periods in rated.items():
        times, values, fractions = map(list, zip(*periods, strict=True))
        assert lines(mos)[call] == (times, values)
        assert lines(played)[call][0] == times
        assert lines(played)[call][1] == pytest.approx(fractions)
    # A period alone can be seen, and a flow looks the same in all panels.
    assert mos.get_lines()[0].get_marker() == "s"
    assert legend(mos) == ["early", "late"]
    assert legend(played) == []
    assert legend(goodput) == ["file", "early", "late"]
    colours = [
        {str(one.get_label()): one.get_color() for one in each.get_lines()}
        for each in (mos, goodput)
    ]
    assert colours[0].items() <= colours[1].items()
    [alone] = results.plot(measure="mos", flows=["late"]).axes
    assert list(lines(alone)) == ["late"]
    with pytest.raises(ValueError, match="no mos of file: use early, late"):
        results.plot(measure="mos", flows=["file"])


def test_calls_without_a_codec_have_no_rating_to_draw() -> None:
    results = calls()
    with pytest.raises(ValueError, match="mos without values: give the voice source its codec"):
        results.plot(measure="mos")
    assert labels(results.plot(measure="played")) == ["played"]


def test_many_flows_are_thin_lines_around_their_mean() -> None:
    flows = [f"f{index}" for index in range(12)]
    table = pa.table(
        {
            "time_s": [time for _ in flows for time in (1.0, 2.0)],
            "flow": [flow for flow in flows for _ in range(2)],
            "goodput_bps": [1e6 * index for index in range(12) for _ in range(2)],
        }
    )
    [axes] = plots.of_run({"flows": table}).axes
    assert len(axes.get_lines()) == 12 + 2
    assert legend(axes) == ["each", "mean of 12"]
    assert lines(axes)["mean of 12"] == ([1, 2], [5.5, 5.5])


def cut_short() -> dict[str, pa.Table]:
    """Return the samples of a run of 3.001 s: a packet in the last ms is a rate of 12 Mbps."""
    rates = [1e6, 2e6, 1e6, 12e6]
    flows = {"time_s": [1.0, 2.0, 3.0, 3.001], "flow": ["a"] * 4, "goodput_bps": rates}
    return {"flows": pa.table(flows)}


def test_an_interval_that_the_end_cut_short_does_not_set_the_scale() -> None:
    [axes] = plots.of_run(cut_short(), from_s=1).axes
    assert axes.get_ylabel() == "goodput\n(Mbps)"
    assert lines(axes)["a"] == ([2, 3, 3.001], [2, 1, 12])
    assert axes.get_ylim()[1] == pytest.approx(2.1)


def test_an_interval_that_the_end_cut_short_is_not_in_a_distribution() -> None:
    [axes] = plots.of_run(cut_short(), "cdf").axes
    values, _ = lines(axes)["a"]
    assert values[1:] == [1, 1, 2]
    [axes] = plots.of_run({"flows": cut_short()["flows"].slice(3)}, "cdf").axes
    values, _ = lines(axes)["a"]
    assert values[1:] == [12], "a run without a whole interval has this one"


def test_distributions_of_samples(results: Results) -> None:
    delays = results.flows.to_pandas().query("flow == 'dccp' and time_s > 5")["delay_mean_s"]
    [axes] = results.plot("cdf", measure="delay_mean", from_s=5).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mean delay (ms)", "fraction of values")
    values, fractions = lines(axes)["dccp"]
    assert values[1:] == pytest.approx(sorted(1e3 * delays))
    assert fractions[-1] == pytest.approx(1)
    [axes] = results.plot("box", measure="delay_mean", from_s=5).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["dccp", "tcp"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("flow", "mean delay (ms)")
    medians = [line for line in axes.get_lines() if line.get_linewidth() == 1.4]
    assert float(np.asarray(medians[0].get_ydata())[0]) == pytest.approx(1e3 * delays.median())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"kind": "pie"}, "use series, cdf, box"),
        ({"measure": "speed"}, "goodput_bps"),
        ({"flows": ["udp"]}, "use one of dccp, tcp"),
        ({"links": ["a->b"]}, "r1->r2"),
        ({"from_s": 30}, "no samples from 30 s"),
        ({"from_s": 5, "to_s": 5}, "the end must be later"),
        ({"kind": "cdf", "measure": ["srtt", "goodput"]}, "one measure"),
    ],
)
def test_wrong_names_list_what_there_is(
    results: Results, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        results.plot(**arguments)


def sweep(seeds: int = 5, **dimensions: Sequence[object]) -> pa.Table:
    """A table of a sweep whose goodput is the product of the places of values, and the seed."""
    rows = [
        {
            **dict(zip(dimensions, point, strict=True)),
            "seed": seed,
            "run": "",
            "loss": 0.01,
            "goodput_bps": 1e6
            * math.prod(
                1 + list(values).index(value)
                for values, value in zip(dimensions.values(), point, strict=True)
            )
            + 1e4 * seed,
        }
        for point in itertools.product(*dimensions.values())
        for seed in range(seeds)
    ]
    return pa.Table.from_pylist(rows)


MEASURES = ("loss", "goodput_bps")
QUEUES = [10, 20, 50]


def draw(table: pa.Table, **options: Any) -> Figure:
    dimensions = [name for name in table.column_names if name not in {"seed", "run", *MEASURES}]
    return plots.of_sweep(table, dimensions, MEASURES, **options)


def intervals(axes: Axes) -> list[list[tuple[float, float]]]:
    """Return the ends of the error bars of each line."""
    return [
        [(float(bar[0, 1]), float(bar[1, 1])) for bar in map(np.asarray, each.get_segments())]
        for each in axes.collections
        if isinstance(each, LineCollection)
    ]


def points(axes: Axes) -> list[Line2D]:
    """Return the lines through means, without the ends of error bars."""
    return [line for line in axes.get_lines() if line.get_marker() in set("os^DvP")]


def test_lines_of_means_with_intervals() -> None:
    [axes] = draw(sweep(packets=QUEUES, control=["reno", "cubic"])).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("packets", "goodput (Mbps)")
    assert legend(axes) == ["reno", "cubic"]
    mean = average([1e6 + 1e4 * seed for seed in range(5)])
    reno, cubic = points(axes)
    assert list(np.asarray(reno.get_xdata())) == QUEUES
    assert float(np.asarray(reno.get_ydata())[0]) == pytest.approx(mean.value / 1e6)
    assert float(np.asarray(cubic.get_ydata())[2]) == pytest.approx(6.02)
    assert intervals(axes)[0][0] == pytest.approx((mean.low / 1e6, mean.high / 1e6))
    assert axes.get_ylim()[0] == 0


def test_quantities_are_an_axis_to_scale() -> None:
    table = sweep(delay=["1 s", "10 ms", "300 ms"], control=["reno", "cubic"])
    [axes] = draw(table).axes
    assert axes.get_xlabel() == "delay (s)"
    assert axes.get_xscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.01", "0.3", "1"]
    assert list(np.asarray(points(axes)[0].get_xdata())) == [0.01, 0.3, 1]


def test_numbers_with_a_unit_are_an_axis_in_that_unit() -> None:
    [axes] = draw(sweep(delay_s=[0.01, 0.03], control=["reno", "cubic"])).axes
    assert axes.get_xlabel() == "delay (ms)"
    assert list(np.asarray(points(axes)[0].get_xdata())) == pytest.approx([10, 30])


def test_a_dimension_with_one_value_needs_no_place() -> None:
    [axes] = draw(sweep(packets=QUEUES, control=["reno", "cubic"], delay=["1 ms"])).axes
    assert legend(axes) == ["reno", "cubic"]
    assert len(draw(sweep(packets=QUEUES, pairs=[1, 5], delay=["1 ms"])).axes) == 2


@pytest.mark.parametrize("kind", ["line", "box", "heat"])
@pytest.mark.parametrize(
    "names",
    [
        [f"a-rather-long-name-{index}" for index in range(4)],
        ["dccp ccid=3, ecn=true, tos=" + "very " * 20 + str(index) for index in range(2)],
        [f"c{index}" for index in range(10)],
        [f"name{index}" for index in range(40)],
    ],
    ids=["long", "longer", "ten", "forty"],
)
def test_names_on_the_x_axis_do_not_cover_each_other(kind: str, names: list[str]) -> None:
    names = names[:10] if kind == "box" else names
    if kind == "heat":
        figure = draw(sweep(control=names, packets=[1, 2]), kind=kind, x="control")
    else:
        figure = draw(sweep(control=names), kind=kind)
    figure.draw_without_rendering()
    [axes, *_] = figure.axes
    ticks = axes.get_xticklabels()
    assert len(ticks) > 1
    for left, right in itertools.pairwise(ticks):
        one, other = left.get_window_extent(), right.get_window_extent()
        angle = math.radians(left.get_rotation())
        if 0 < angle < math.pi / 2:
            # Inclined, they end at the same height: lines of text are beside each other.
            height = float(left.get_fontsize()) * figure.dpi / 72
            assert (other.x1 - one.x1) * math.sin(angle) >= height
        else:
            assert one.x1 <= other.x0
    assert axes.get_window_extent().height > 0.2 * figure.bbox.height, "there is room left"


TRANSPORTS = ["tcp", "tcp control=cubic", "dccp ccid=2", "dccp ccid=3"]


def test_values_are_shown_by_what_tells_them_apart() -> None:
    [axes] = draw(sweep(transport=TRANSPORTS)).axes
    shown = [tick.get_text() for tick in axes.get_xticklabels()]
    assert shown == ["TCP", "cubic", "CCID 2", "CCID 3"]
    assert {tick.get_rotation() for tick in axes.get_xticklabels()} == {0}
    [axes] = draw(sweep(transport=TRANSPORTS, packets=QUEUES)).axes
    assert legend(axes) == shown
    [axes] = draw(sweep(transport=TRANSPORTS), kind="cdf").axes
    assert legend(axes) == shown


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["cubic", "reno"], ["cubic", "reno"]),
        (["red packets=50", "drop-tail packets=50"], ["red", "drop-tail"]),
        (["red packets=50", "red packets=100"], ["packets 50", "packets 100"]),
        (["tcp control=cubic", "tcp control=cubic, ecn=true"], ["TCP", "ECN true"]),
        (["dccp ccid=2", "tcp control=reno"], ["CCID 2", "reno"]),
        # Both are "x" if only what differs is left.
        (["tcp a=x", "tcp b=x"], ["tcp a=x", "tcp b=x"]),
        (["Aimd(decrease=0.5)", "reno"], ["Aimd(decrease=0.5)", "reno"]),
        (["control=mine:B, recovery=sack", "control=reno, recovery=sack"], ["mine:B", "reno"]),
        (["control=m:Shy", "control=reno"], ["m:Shy", "reno"]),
        # "TCP" alone would be that of the defaults, and "CCID 3" standard TFRC.
        (
            ["tcp control=cubic", "dccp ccid=251, control=cubic", "dccp ccid=2"],
            ["TCP cubic", "CCID 251, cubic", "CCID 2"],
        ),
        (["tcp", "tcp control=cubic", "dccp ccid=3"], ["TCP", "cubic", "CCID 3"]),
        (
            [
                "dccp ccid=3",
                "dccp ccid=3, tfrc.feedback=dynamic",
                "dccp ccid=3, tfrc.feedback=dynamic, tfrc.receiver_rtt=option",
                "dccp ccid=2",
            ],
            [
                "CCID 3",
                "CCID 3, feedback dynamic",
                "CCID 3, feedback dynamic, receiver RTT option",
                "CCID 2",
            ],
        ),
        (
            ["red packets=50", "red packets=9", "drop-tail packets=9"],
            ["red packets 50", "red packets 9", "drop-tail packets 9"],
        ),
        (["10 ms", "tcp segment=1000 B", ""], ["10 ms", "segment 1000 B", ""]),
    ],
)
def test_short_labels(labels: list[str], short: list[str]) -> None:
    assert list(short_labels(labels).values()) == short


@pytest.mark.parametrize(
    ("dimension", "path", "name"),
    [
        ("packets", "dumbbell.queue.drop-tail.packets", "queue (packets)"),
        ("red.packets", "dumbbell.queue.red.packets", "red (packets)"),
        ("packets", "packets", "packets"),
        ("min_threshold", "dumbbell.queue.red.min_threshold", "min threshold"),
        ("flows[voice].start", "flows[voice].start", "start of voice"),
        ("start", "flows[*].start", "start"),
    ],
)
def test_names_of_axes(dimension: str, path: str, name: str) -> None:
    assert axis_name(dimension, path) == name


def test_values_and_axes_have_the_names_that_the_user_gives() -> None:
    table = sweep(transport=TRANSPORTS, packets=QUEUES)
    labels = {"tcp control=cubic": "CUBIC", "packets": "buffer (packets)"}
    [axes] = draw(table, labels=labels).axes
    assert legend(axes) == ["TCP", "CUBIC", "CCID 2", "CCID 3"]
    assert axes.get_xlabel() == "buffer (packets)"
    with pytest.raises(ValueError, match="bbr is no dimension or value: use one of transport, pa"):
        draw(table, labels={"bbr": "BBR"})


def test_the_rows_of_a_heat_map_are_by() -> None:
    table = sweep(packets=QUEUES, control=["reno", "cubic"], delay=["1 ms"])
    panel, _ = draw(table, kind="heat", x="packets", by="control").axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("packets", "control")
    with pytest.raises(
        ValueError, match=r"and 1 have several .* x and by \(--x and --by\), two of"
    ):
        draw(table, kind="heat", x="packets", where={"control": "reno"})


def test_cells_of_a_heat_map_have_the_same_decimals() -> None:
    table = sweep(seeds=1, packets=QUEUES, pairs=[1, 5])
    goodputs = pa.array([0.25e6, 0.5e6, 0.98e6, 0.9e6, 0.123456e6, 0.7e6])
    table = table.set_column(table.column_names.index("goodput_bps"), "goodput_bps", goodputs)
    panel, _ = draw(table).axes
    assert sorted(text.get_text() for text in panel.texts) == sorted(
        ["250", "500", "980", "900", "123", "700"]
    )
    table = table.set_column(
        table.column_names.index("loss"), "loss", pa.array([0.9, 1, 0.25, 0.5, 0.0625, 0.875])
    )
    panel, _ = draw(table, measure="loss").axes
    assert {len(text.get_text()) for text in panel.texts} == {len("0.06")}


def test_names_are_points_without_a_line() -> None:
    [axes] = draw(sweep(control=["reno", "cubic"])).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["reno", "cubic"]
    assert points(axes)[0].get_linestyle() == "None"


def test_a_single_run_has_no_interval() -> None:
    [axes] = draw(sweep(seeds=1, packets=QUEUES)).axes
    assert all(low == high for low, high in intervals(axes)[0])


def test_two_numbers_are_a_heat_map() -> None:
    panel, bar = draw(sweep(packets=QUEUES, pairs=[1, 5])).axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("packets", "pairs")
    assert bar.get_ylabel() == "goodput (Mbps)"
    # The largest on top.
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["5", "1"]
    [image] = panel.images
    shown = np.asarray(image.get_array())
    assert shown == pytest.approx(np.array([[2.02, 4.02, 6.02], [1.02, 2.02, 3.02]]))
    assert [text.get_text() for text in panel.texts][:2] == ["2.02", "4.02"]
    # By names, and without the first point.
    table = sweep(packets=QUEUES, control=["reno", "cubic"]).slice(5)
    panel, _ = draw(table, kind="heat", x="control", by="packets").axes
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["cubic", "reno"]
    shown = np.ma.filled(np.asanyarray(panel.images[0].get_array()), np.nan)
    assert shown == pytest.approx(
        np.array([[6.02, 3.02], [4.02, 2.02], [2.02, np.nan]]), nan_ok=True
    )


def test_distributions_over_seeds() -> None:
    table = sweep(packets=QUEUES, control=["reno", "cubic"])
    [axes] = draw(table, kind="box", where={"packets": "50"}).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["reno", "cubic"]
    assert axes.get_xlabel() == "control"
    panels = draw(table, kind="cdf").axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "packets 10",
        "packets 20",
        "packets 50",
    ]
    assert legend(panels[0]) == ["reno", "cubic"]
    panels = draw(table, kind="cdf", by="packets").axes
    assert legend(panels[0]) == ["packets 10", "packets 20", "packets 50"]
    panels = draw(table, kind="box", by="control").axes
    assert [len(axes.patches) for axes in panels] == [2, 2, 2]
    [axes] = draw(sweep(), measure="loss").axes
    assert axes.get_xlabel() == "loss rate"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "pie"}, "use line, heat, cdf, box"),
        ({"measure": "speed"}, "use one of loss, goodput_bps"),
        ({"x": "queue"}, "use one of packets, control, delay"),
        ({"by": "queue"}, "use one of packets, control, delay"),
        ({"x": "packets", "by": "packets"}, "x axis already"),
        ({"kind": "heat"}, "3 have several values: give x and by"),
        ({"where": {"queue": "1"}}, "queue is not a dimension"),
        ({"where": {"control": "bbr"}}, "control is never bbr: use one of reno, cubic"),
    ],
)
def test_what_a_sweep_does_not_have_is_listed(options: dict[str, Any], says: str) -> None:
    table = sweep(packets=QUEUES, control=["reno", "cubic"], delay=["1 ms", "2 ms"])
    with pytest.raises(ValueError, match=says):
        draw(table, **options)


def test_a_third_dimension_has_panels() -> None:
    table = sweep(delay=["1 s", "10 ms"], queue=["red", "pie", "codel"], control=["reno", "cubic"])
    figure = draw(table)
    panels = figure.axes
    assert [axes.get_title(loc="left") for axes in panels] == ["control reno", "control cubic"]
    assert len(figure.legends) == 1
    assert legend(panels[0]) == ["red", "pie", "codel"]
    assert [axes.get_xlabel() for axes in panels] == ["", "delay (s)"]
    looks = [[(line.get_color(), line.get_marker()) for line in points(axes)] for axes in panels]
    assert looks[0] == looks[1]
    assert figure.get_supylabel() == "goodput (Mbps)"
    assert figure.get_figheight() > draw(table, where={"control": "reno"}).get_figheight()
    figure.draw_without_rendering()
    assert all(axes.get_window_extent().height > 0.25 * figure.bbox.height for axes in panels)
    panels = draw(table, x="delay", by="control").axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "queue red",
        "queue pie",
        "queue codel",
    ]
    panels = draw(table, x="queue", by="control").axes
    assert [axes.get_title(loc="left") for axes in panels] == ["delay 10 ms", "delay 1 s"]


def test_a_heat_map_of_three_dimensions_has_panels_with_one_scale() -> None:
    table = sweep(packets=QUEUES, pairs=[1, 5], control=["reno", "cubic"])
    reno, cubic, bar = draw(table, kind="heat", x="packets", by="pairs").axes
    assert [reno.get_title(loc="left"), cubic.get_title(loc="left")] == [
        "control reno",
        "control cubic",
    ]
    assert reno.images[0].get_clim() == cubic.images[0].get_clim()
    assert bar.get_ylabel() == "goodput (Mbps)"


def test_panels_of_like_size_have_the_same_y_axis() -> None:
    alike = draw(sweep(packets=QUEUES, control=["reno", "cubic", "x"], rate=["1 Mbps", "2 Mbps"]))
    assert alike.axes[0].get_ylim() == alike.axes[1].get_ylim()
    table = sweep(packets=QUEUES, control=["reno", "cubic", "x"], rate=["1 Mbps", "2 Mbps"])
    goodputs = [
        value * (0.01 if rate == "1 Mbps" else 1)
        for rate, value in zip(
            *(table[name].to_pylist() for name in ("rate", "goodput_bps")), strict=True
        )
    ]
    place = table.column_names.index("goodput_bps")
    small, large = draw(table.set_column(place, "goodput_bps", pa.array(goodputs))).axes
    assert small.get_ylim()[1] < large.get_ylim()[1] / 10


@pytest.mark.parametrize(
    ("dimensions", "options", "says"),
    [
        (
            {"n": [1, 2], "a": list("pqrstuv"), "b": list("wxyz")},
            {"by": "b"},
            "7 panels, by a, are more than 6: use --by a, or --where a=p; a is one of p, q, r,",
        ),
        (
            {"n": [1, 2], "a": list("pqrst"), "b": list("wxyz"), "c": list("ijk")},
            {},
            "12 panels, by b and c, are more than 6: use --where b=w or --where c=i; b is one of",
        ),
        (
            {"n": [1, 2], "a": [f"c{index}" for index in range(11)]},
            {},
            "11 lines or groups, by a, are more than 10, .*: use --where a=c0; a is one of c0,",
        ),
    ],
)
def test_what_is_too_much_is_told_with_what_to_choose(
    dimensions: dict[str, list[Any]], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says) as told:
        draw(sweep(5, **dimensions), **options)
    assert "\n" not in str(told.value)


def test_a_logarithmic_axis_has_ticks_between_the_values() -> None:
    [axes] = draw(sweep(delay=["1 s", "10 ms", "300 ms"])).axes
    minor = [float(place) for place in axes.xaxis.get_minorticklocs()]
    assert {0.02, 0.05, 0.5} <= {round(place, 6) for place in minor}
    [axes] = draw(sweep(delay=["1 s", "2 s", "3 s"])).axes
    assert not list(axes.xaxis.get_minorticklocs())


def test_numbers_in_titles_have_their_unit() -> None:
    table = sweep(x=[1, 2], delay_s=[0.01, 0.03], control=["reno", "cubic"])
    panels = draw(table, x="x").axes
    assert [axes.get_title(loc="left") for axes in panels] == ["delay 10 ms", "delay 30 ms"]
    table = sweep(x=[1, 2], packets=[10, 30], control=["reno", "cubic"])
    panels = draw(table, x="x", paths={"packets": "dumbbell.queue.red.packets"}).axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "queue 10 packets",
        "queue 30 packets",
    ]


def test_values_can_be_chosen_as_the_figure_shows_them() -> None:
    table = sweep(transport=TRANSPORTS, packets=QUEUES, control=["reno", "cubic"])
    figure = draw(table, where={"transport": "CCID 2"})
    assert legend(figure.axes[0]) == ["reno", "cubic"]
    chosen = draw(table, where={"transport": "dccp ccid=2"})
    assert [list(np.asarray(line.get_ydata())) for line in points(figure.axes[0])] == [
        list(np.asarray(line.get_ydata())) for line in points(chosen.axes[0])
    ]


def test_the_window_is_drawn_while_a_flow_sends_and_has_one() -> None:
    rows = [
        # time, flow, cwnd, pipe, delivered
        (1.0, "late", 4.0, 0, 0),
        (2.0, "late", 4.0, 4, 0),
        (3.0, "late", 8.0, 0, 0),
        (4.0, "late", 9.0, 0, 5),
        (5.0, "late", 9.0, 0, 0),
        (1.0, "tfrc", 0.0, 1, 1),
        (2.0, "tfrc", 0.0, 1, 1),
        (1.0, "idle", 4.0, 0, 0),
    ]
    names = ("time_s", "flow", "cwnd_packets", "pipe_packets", "delivered_packets")
    columns = zip(*rows, strict=True)
    table = pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})
    [axes] = plots.of_run({"flows": table}, measure="cwnd").axes
    drawn = {
        name: [(x, y) for x, y in zip(*of, strict=True) if not math.isnan(y)]
        for name, of in lines(axes).items()
    }
    # A pause is not an end.
    assert drawn == {"late": [(2, 4), (3, 8), (4, 9)], "tfrc": [], "idle": []}
    [axes] = plots.of_run({"flows": table}, measure="pipe").axes
    assert lines(axes)["late"][1] == [0, 4, 0, 0, 0]


def test_text_in_svg_files_can_be_searched(results: Results, tmp_path: Path) -> None:
    figure = results.plot(out=[tmp_path / "a.svg"])
    assert re.search(r"<text [^>]*>time \(s\)</text>", (tmp_path / "a.svg").read_text())
    # Figures in a report look the same without the font.
    assert b"<text" not in render(figure, "svg")


def test_lines_differ_in_colour_and_dashes_or_markers() -> None:
    table = sweep(packets=QUEUES, flavour=[f"c{index}" for index in range(10)])
    [axes] = draw(table).axes
    looks = {
        (to_hex(line.get_color()), str(line.get_linestyle()), str(line.get_marker()))
        for line in points(axes)
    }
    assert len(looks) == 10


def test_files_are_whole_and_repeatable(results: Results, tmp_path: Path) -> None:
    figure = results.plot()
    names = ["a.pdf", "a.svg", "a.png"]
    first = plots.write(figure, [tmp_path / "one" / name for name in names])
    second = plots.write(results.plot(), [tmp_path / "two" / name for name in names])
    for one, other, begins in zip(first, second, (b"%PDF", b"<?xml", b"\x89PNG"), strict=True):
        assert one.read_bytes().startswith(begins)
        assert one.stat().st_size > 5000
        assert one.read_bytes() == other.read_bytes()
    pdf = first[0].read_bytes()
    assert b"/Type3" not in pdf
    assert b"/FontFile2" in pdf
    assert b"Date" not in pdf


def test_results_write_what_they_plot(results: Results, tmp_path: Path) -> None:
    results.plot(out=[tmp_path / "a.svg"])
    assert (tmp_path / "a.svg").stat().st_size > 5000
    with pytest.raises(ValueError, match=r"a\.gif: .*\.pdf, \.png, \.svg"):
        results.plot(out=[tmp_path / "b.svg", tmp_path / "a.gif"])
    assert not (tmp_path / "b.svg").exists()


def test_the_command_draws_a_run(directory: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.pdf", "a.png")]
    done = run_cli(
        "plot", "run", directory, "--from", "5 s", "--to", "10 s", "--measure", "goodput",
        "--flow", "tcp",
        "--output", files[0], "--output", files[1], "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"files": [str(file) for file in files]}
    assert all(file.stat().st_size > 3000 for file in files)
    done = run_cli("plot", "run", directory, "--kind", "cdf", "--measure", "delay_mean")
    assert done.stdout == f"Figure: {directory / 'plot.pdf'}\n"
    assert (directory / "plot.pdf").stat().st_size > 3000


def test_the_directory_has_the_tables_of_the_run(results: Results, directory: Path) -> None:
    assert read_tables(directory)["flows"].to_pylist() == results.flows.to_pylist()


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--kind", "heat"], ["heat", "series, cdf, box"]),
        (["--measure", "speed"], ["speed", "goodput_bps"]),
        (["--flow", "udp"], ["udp", "dccp, tcp"]),
        (["--link", "a->b"], ["a->b", "r1->r2"]),
        (["--log-axis", "x"], ["x cannot be logarithmic in a figure of the kind series: y"]),
        (["--figure-size", "7x3"], ["7x3", "WIDTHxHEIGHT with a unit"]),
        (["--figure-size", "9x9 mm"], ["0.354331 x 0.354331 inches", "from 1 to 40 inches"]),
        (["--from", "5"], ["5", "unit"]),
        (["--output", "a.gif"], ["a.gif", ".pdf"]),
    ],
)
def test_wrong_options_are_one_line(
    directory: Path, arguments: list[str], names: list[str], tmp_path: Path
) -> None:
    if "--output" not in arguments:
        arguments = [*arguments, "--output", str(tmp_path / "a.pdf")]
    assert_bad_input(run_cli("plot", "run", directory, *arguments), *names)
    assert not (tmp_path / "a.pdf").exists()


def test_directories_without_results_are_named(tmp_path: Path) -> None:
    for kind in ("run", "sweep"):
        assert_bad_input(run_cli("plot", kind, tmp_path / "absent"), "absent", f"skywave {kind}")
    (tmp_path / "totals.json").write_text("{}")
    says = "neither of its tables flows.parquet and links.parquet: run it again with --out"
    assert_bad_input(run_cli("plot", "run", tmp_path), says)
    assert_bad_input(run_cli("plot", "sweep", tmp_path), "skywave plot run")
    (tmp_path / "flows.parquet").write_bytes(b"not Parquet")
    assert_bad_input(run_cli("plot", "run", tmp_path), "arquet")


def test_a_run_on_both_clocks_has_runs_to_draw(results: Results, tmp_path: Path) -> None:
    (tmp_path / "comparison.json").write_text("{}")
    assert_bad_input(run_cli("plot", "run", tmp_path), "simulated-1")
    (tmp_path / "simulated-1").mkdir()
    results.write_tables(tmp_path / "simulated-1")
    done = run_cli("plot", "run", tmp_path / "simulated-1")
    assert done.returncode == 0, done.stderr


def test_a_sweep_is_drawn_from_its_directory(tmp_path: Path) -> None:
    base = dumbbell("x", duration="2 s", rate="2 Mbps", delay="20 ms", queue=20)
    base.add_flow("tcp", "s1", "d1", Tcp())
    over: Mapping[str, Sequence[object]] = {
        "dumbbell.queue.drop-tail.packets": [5, 10],
        "flows[*].transport.tcp.control": ["reno", "cubic"],
    }
    run_sweep(base, over, out=tmp_path)
    file = tmp_path / "a.svg"
    # One that the sweep has not asked for, but stored.
    done = run_cli(
        "plot", "sweep", tmp_path, "--by", "control", "--measure", "delay_max", "--output", file
    )
    assert done.returncode == 0, done.stderr
    assert file.stat().st_size > 5000
    done = run_cli("plot", "sweep", tmp_path, "--label", "cubic=CUBIC", "--output", file)
    assert done.returncode == 0, done.stderr
    kept = ("--where", "packets=5", "--where", "packets=10", "--where", "control=reno")
    done = run_cli(
        "plot",
        "sweep",
        tmp_path,
        *kept,
        "--log-axis",
        "y",
        "--figure-size",
        "10.16 x 5.08 cm",
        "--output",
        file,
    )
    assert done.returncode == 0, done.stderr
    # In points.
    assert 'viewBox="0 0 288 144"' in file.read_text()
    assert_bad_input(
        run_cli("plot", "sweep", tmp_path, "--label", "bbr=B"), "use one of packets, control, 5"
    )
    assert_bad_input(run_cli("plot", "sweep", tmp_path, "--label", "cubic"), "VALUE=TEXT")
    assert_bad_input(run_cli("plot", "sweep", tmp_path, "--where", "packets"), "DIMENSION=VALUE")
    assert_bad_input(run_cli("plot", "run", tmp_path), "skywave plot sweep")


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("goodput_bps", Column("goodput", "bps", "")),
        ("goodput_bps[a_s b]", Column("goodput", "bps", "a_s b")),
        ("utilisation[r1->r2]", Column("utilisation", "", "r1->r2")),
        ("queue_max_packets", Column("queue_max", "packets", "")),
        ("loss", Column("loss", "", "")),
    ],
)
def test_names_of_columns_are_taken_apart(name: str, column: Column) -> None:
    assert Column.of_name(name) == column
    assert find(column.short, ["x", name]) == name


def test_names_that_could_be_two_are_errors() -> None:
    with pytest.raises(ValueError, match="queue_packets or queue_bytes"):
        find("queue", ["queue_packets", "queue_bytes"])


@pytest.mark.parametrize(
    ("name", "largest", "label", "factor"),
    [
        ("goodput_bps", 2.5e6, "goodput (Mbps)", 1e6),
        ("goodput_bps[file]", 999, "goodput of file (bps)", 1),
        ("delay_mean_s", 0.02, "mean delay (ms)", 1e-3),
        ("delay_mean_s", 0.0, "mean delay (µs)", 1e-6),
        ("delivered_bytes", 5e9, "delivered (GB)", 1e9),
        ("queue_packets", 5, "queue (packets)", 1),
        ("loss", 0.01, "loss rate", 1),
    ],
)
def test_axes_have_units_of_the_size_of_their_values(
    name: str, largest: float, label: str, factor: float
) -> None:
    assert Scale.of(name, largest) == Scale(label, factor)


def test_quantities_in_the_units_of_columns() -> None:
    assert in_units("100 kbps") == (1e5, "bps")
    assert in_units("5 ms") == (0.005, "s")
    assert in_units("2 kB") == (2000, "bytes")
    assert in_units("3 packets") == (3, "packets")
    for text in ("5", "five ms", "many packets", ""):
        with pytest.raises(ValueError, match=r"."):
            in_units(text)


def test_samples_by_name_in_the_order_of_the_table() -> None:
    names = ["b", "a", "b", "a"]
    values = [1, None, 3, 4]
    for column in (pa.array(names), pa.array(names).dictionary_encode()):
        table = pa.table({"time_s": [1.0, 1.0, 2.0, 2.0], "flow": column, "value": values})
        found = by_name(pa.concat_tables([table, table.slice(0, 1)]), "flow", "value")
        assert list(found) == ["b", "a"]
        assert list(found["b"].values) == [1, 3, 1]
        assert list(found["b"].times_s) == [1, 2, 1]
        assert np.isnan(found["a"].values[0])
    assert by_name(table.slice(0, 0), "flow", "value") == {}


def test_the_last_sample_of_a_run_may_be_of_a_shorter_interval() -> None:
    def of(*times_s: float) -> list[float]:
        return list(shares(np.array(times_s)))

    assert of() == []
    assert of(0.7, 0.7) == [1, 1]
    assert of(1, 1, 2, 2) == [1, 1, 1, 1]
    assert of(1, 2, 2.25, 2.25) == [1, 1, 0.25, 0.25]
    assert of(1, 1.5) == [1, 0.5]
    # 0.1 has no exact form in floating point.
    assert of(*(0.1 * number for number in range(1, 1000))) == [1] * 999


def test_results_tell_what_to_doubt(results: Results) -> None:
    assert results.warnings() == [], "too few samples to tell"
    sampled = run(Scenario.from_file(ROOT / "examples" / "dumbbell-mix.toml"))
    [warm_up] = sampled.warnings()
    assert warm_up.startswith("the warm-up is inside the mean goodput of tcp-near (")
    late = run(Scenario.from_file(ROOT / "examples" / "dccp.toml"))
    assert late.warnings() == [], "goodput is over the time from a flow's start"
    changed = copy.copy(results)
    changed.totals = copy.deepcopy(results.totals)
    tcp: Any = changed.totals["flows"][1]
    tcp |= {"receive_window_limited_s": 15.0, "active_s": 20.0}
    [limited] = changed.warnings()
    assert limited.startswith("tcp was limited by its receive window for 15 of 20 s (75 %)")
