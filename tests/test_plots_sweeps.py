"""Figures of sweeps."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

from skywave import plots
from skywave.plots.names import axis_name, short_labels
from skywave.stats import average
from test_plots import legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


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


def test_lines_differ_in_colour_and_dashes_or_markers() -> None:
    table = sweep(packets=QUEUES, flavour=[f"c{index}" for index in range(10)])
    [axes] = draw(table).axes
    looks = {
        (to_hex(line.get_color()), str(line.get_linestyle()), str(line.get_marker()))
        for line in points(axes)
    }
    assert len(looks) == 10
