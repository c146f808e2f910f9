"""Figures fit for a paper as they are: nothing is cut or covered, whatever there is to show."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.text import Text

from skywave import plots
from skywave.plots.runs import RunKind
from skywave.plots.style import column_style
from skywave.plots.texts import width_in, wrapped
from skywave.realtime import report as comparison_figures
from test_plots import legend
from test_plots_sweeps import QUEUES, draw, intervals, points, sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONG = [f"dccp ccid=3, tfrc.feedback=a-rather-long-name-of-{kind}" for kind in "abcdef"]
UNBREAKABLE = ["W" * 90 + kind for kind in "ab"]
SPOKEN = [
    "a name of very many short words, as a user would say it in a sentence " + k for k in "ab"
]
TEN = [f"{name}, tos={tos}" for name, tos in itertools.product(LONG[:5], (1, 2))]
NAMES = {"long": LONG, "unbreakable": UNBREAKABLE, "spoken": SPOKEN, "ten": TEN}


def texts(figure: Figure) -> list[Text]:
    figure.draw_without_rendering()
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_text() and text.get_visible()
    ]


def assert_nothing_is_cut(figure: Figure) -> None:
    shown = texts(figure)
    # Half a pixel, as matplotlib rounds.
    whole = figure.bbox.padded(0.5)
    for each in shown:
        box = each.get_window_extent()
        # Ticks beyond the ends of an axis are not drawn.
        if each in ticks(figure) and not is_within_its_axis(each, figure):
            continue
        is_inside = box.x0 >= whole.x0 and box.x1 <= whole.x1
        is_inside &= box.y0 >= whole.y0 and box.y1 <= whole.y1
        assert is_inside, f"{each.get_text()!r} leaves the figure"
        assert "…" not in each.get_text()
    for legends in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        if legends is None:
            continue
        covers = legends.get_window_extent()
        assert whole.x0 <= covers.x0
        assert covers.x1 <= whole.x1
        for axes in figure.axes:
            assert not covers.padded(-1).overlaps(axes.get_window_extent()), "it covers data"


def ticks(figure: Figure) -> list[Text]:
    return [
        text
        for axes in figure.axes
        for text in [*axes.get_xticklabels(which="both"), *axes.get_yticklabels(which="both")]
    ]


def is_within_its_axis(tick: Text, figure: Figure) -> bool:
    for axes in figure.axes:
        x, y = tick.get_position()
        if tick in axes.get_xticklabels(which="both"):
            return min(axes.get_xlim()) <= x <= max(axes.get_xlim())
        if tick in axes.get_yticklabels(which="both"):
            return min(axes.get_ylim()) <= y <= max(axes.get_ylim())
    return True


def assert_axes_have_room(figure: Figure, least_in: float = 1.0) -> None:
    [axes, *_] = figure.axes
    assert axes.get_window_extent().height / figure.dpi >= least_in
    assert axes.get_window_extent().width / figure.dpi >= least_in


@pytest.mark.parametrize("kind", ["line", "cdf", "box"])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_long_names_in_a_legend_are_whole(kind: str, names: Sequence[str]) -> None:
    figure = draw(sweep(packets=[10, 50], way=names), kind=kind, by="way")
    assert_nothing_is_cut(figure)
    assert_axes_have_room(figure, 0.7)
    if kind != "box":
        assert len({name.replace("\n", "") for name in legend(figure.axes[0])}) == len(names)


@pytest.mark.parametrize("kind", ["line", "box", "heat"])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_long_names_along_an_axis_are_whole(kind: str, names: Sequence[str]) -> None:
    others: dict[str, Any] = {"packets": [10, 50]} if kind == "heat" else {}
    figure = draw(sweep(way=names, **others), kind=kind, **({"x": "way"} if others else {}))
    assert_nothing_is_cut(figure)
    assert_axes_have_room(figure, 0.5 if kind == "heat" else 1.2)
    shown = {text.get_text().replace("\n", "") for text in figure.axes[0].get_xticklabels()}
    assert len(shown) == len(names)
    if others:
        figure = draw(sweep(way=names, **others), kind=kind, x="packets")
        assert_nothing_is_cut(figure)
        assert_axes_have_room(figure, 0.5)


def test_long_titles_and_labels_of_axes_are_whole() -> None:
    table = sweep(delay=["1 ms", "2 ms"], way=LONG[:2], queue=LONG[2:4], control=["a", "b"])
    label = "a label of an axis that is far longer than any axis of a column of a paper could be"
    figure = draw(table, by="control", labels={"delay": label, "control": label})
    assert len(figure.axes) == 4
    assert_nothing_is_cut(figure)
    short = draw(table, by="control", labels={LONG[0]: "p", LONG[2]: "q"} | {
        name: name[-1] for name in (LONG[1], LONG[3])
    })  # fmt: skip
    short.draw_without_rendering()
    for one, other in zip(figure.axes, short.axes, strict=True):
        least = 0.85 * other.get_window_extent().height
        assert one.get_window_extent().height > least, "the figure grows by the titles"
    table = sweep(way=["a", "b"]).rename_columns(["way", "seed", "run", "loss", "goodput_bps"])
    name = f"goodput_bps[{SPOKEN[0]}]"
    table = table.rename_columns([*table.column_names[:-1], name])
    for kind in ("line", "cdf", "box"):
        figure = plots.of_sweep(table, ["way"], [name], kind)
        assert_nothing_is_cut(figure)
        assert_axes_have_room(figure)


def of_flows(names: Sequence[str], rates: Sequence[float] = (1e6, 2e6, 1.5e6)) -> dict[str, Any]:
    rows = [
        {"time_s": 1.0 + index, "flow": name, "goodput_bps": rate, "delay_mean_s": rate * 1e-8}
        for name in names
        for index, rate in enumerate(rates)
    ]
    return {"flows": pa.Table.from_pylist(rows)}


@pytest.mark.parametrize("count", [2, 10, 12, 40])
def test_flows_with_long_names_fit(count: int) -> None:
    names = [f"the-flow-from-a-host-with-a-rather-long-name-to-{index}" for index in range(count)]
    for kind in ("series", "cdf", "box"):
        if kind != "series" and count > 10:
            continue
        figure = plots.of_run(of_flows(names), kind)
        assert_nothing_is_cut(figure)
        assert_axes_have_room(figure, 0.6)
    assert_nothing_is_cut(plots.of_run(of_flows(UNBREAKABLE)))


def test_a_legend_of_wide_letters_has_fewer_columns() -> None:
    names = ["W" * 9 + letter for letter in "abcdef"]
    for figure in (plots.of_run(of_flows(names)), draw(sweep(packets=[1, 2], way=names))):
        assert_nothing_is_cut(figure)
        assert_axes_have_room(figure, 0.7)
        [axes, *_] = figure.axes
        assert axes.get_window_extent().width > 0.7 * figure.bbox.width


def test_lines_of_text_leave_nothing_out() -> None:
    with column_style():
        for text in [*LONG, *UNBREAKABLE, *SPOKEN, "", "a", "a=b,c=d", "ends. ", "r1->r2"]:
            lines = wrapped(text, 1.0, "legend.fontsize").split("\n")
            assert "".join(lines).replace(" ", "") == text.replace(" ", "")
            assert all(width_in(line, "legend.fontsize") <= 1.0 for line in lines)
        assert wrapped("CCID 3, feedback dynamic", 1.0, "legend.fontsize") == (
            "CCID 3, feedback\ndynamic"
        )


def with_goodputs(table: pa.Table, goodputs: Sequence[float]) -> pa.Table:
    place = table.column_names.index("goodput_bps")
    return table.set_column(place, "goodput_bps", pa.array(goodputs))


def assert_marks_are_whole(axes: Axes) -> None:
    """Marks are 3.5 points wide, and neither they nor bars leave the axes."""
    box = axes.get_window_extent().padded(-1.75 * axes.figure.dpi / 72)
    for line in points(axes):
        data = np.column_stack([line.get_xdata(), line.get_ydata()]).astype(np.float64)
        ends = axes.transData.transform(data)
        assert all(box.y0 <= y <= box.y1 and box.x0 <= x <= box.x1 for x, y in ends)
    low, high = axes.get_ylim()
    assert all(low <= bar[0] and bar[1] <= high for bars in intervals(axes) for bar in bars)


@pytest.mark.parametrize(
    "goodputs",
    [
        (9.48e6, 9.40e6),
        (9.48e6, 9.48e6),
        (1e6, 900e6),
        (0, 5e6),
        (0, 0),
        (-1e6, 2e6),
        (-2e6, -2.01e6),
    ],
)
def test_marks_of_means_are_whole(goodputs: tuple[float, float]) -> None:
    table = sweep(seeds=2, control=["reno", "cubic"])
    values = [mean + noise for mean in goodputs for noise in (-300.0, 300.0)]
    for scale in (1, 1e-3):
        figure = draw(with_goodputs(table, [scale * value for value in values]))
        figure.draw_without_rendering()
        assert_marks_are_whole(figure.axes[0])


def test_means_close_to_each_other_can_be_told_apart() -> None:
    table = sweep(seeds=2, control=["reno", "cubic"])
    [axes] = draw(with_goodputs(table, [9.481e6, 9.479e6, 9.401e6, 9.399e6])).axes
    [line] = points(axes)
    reno, cubic = np.asarray(line.get_ydata())
    low, high = axes.get_ylim()
    assert reno - cubic > 0.3 * (high - low)
    # Equal ones have an axis from 0, as have others.
    for goodputs in ([9.48e6] * 4, [9.4e6, 9.4e6, 5e6, 5e6]):
        [axes] = draw(with_goodputs(table, goodputs)).axes
        assert axes.get_ylim()[0] == 0


def test_panels_with_one_axis_show_the_marks_of_all() -> None:
    figure = draw(sweep(packets=QUEUES, control=["reno", "cubic", "x"], rate=["1 Mbps", "2 Mbps"]))
    figure.draw_without_rendering()
    for axes in figure.axes:
        assert_marks_are_whole(axes)


STEADY = [1e6 * (1 + 0.01 * (index % 7)) for index in range(60)]
BURST = [*STEADY[:20], 88e6, *STEADY[20:40], 1.9e6, 0, *STEADY[40:]]


def marks(axes: Axes) -> list[float]:
    """Return the times of the samples that are marked as cut off."""
    return [
        float(x)
        for each in axes.collections
        if each.get_label() == "_beyond"
        for x, _ in np.asarray(each.get_offsets())
    ]


@pytest.mark.parametrize("count", [1, 2, 12])
def test_a_burst_of_goodput_leaves_room_for_the_others(count: int) -> None:
    names = [f"f{index}" for index in range(count)]
    figure = plots.of_run(of_flows(names, BURST))
    goodput, delay = figure.axes
    _, top = goodput.get_ylim()
    assert 1.06 < top < 2, "in Mbps"
    assert set(marks(goodput)) == {21.0, 42.0}
    assert goodput.get_title(loc="right") == "▲ cut off, up to 88 Mbps"
    assert goodput.get_ylabel() == "goodput\n(Mbps)"
    # Delays are shown whole: their largest is what a reader looks for.
    assert delay.get_ylim()[1] >= 880
    assert marks(delay) == []
    assert_nothing_is_cut(figure)
    note = next(text for text in texts(figure) if text.get_text().startswith("▲"))
    if box := goodput.get_legend():
        assert not box.get_window_extent().overlaps(note.get_window_extent())
    # From later on, it is not there.
    assert marks(plots.of_run(of_flows(names, BURST), from_s=45).axes[0]) == []


def test_a_burst_on_either_clock_is_cut_and_marked() -> None:
    runs: Any = [
        SimpleNamespace(tables=of_flows(["a", "b"], rates), summary={"links": []})
        for rates in (STEADY, BURST)
    ]
    figure = comparison_figures._draw(runs, [("flows", "goodput_bps")], "in real time")  # noqa: SLF001  (needs no sockets)
    [axes] = figure.axes
    assert axes.get_ylim()[1] < 2
    assert set(marks(axes)) == {21.0, 42.0}
    assert axes.get_title(loc="right") == "▲ cut off, up to 88 Mbps"
    assert_nothing_is_cut(figure)


def test_what_grows_or_is_short_is_not_cut() -> None:
    for rates in (STEADY, [1e6 * index for index in range(60)], [1e6, 1e6, 1e6, 88e6]):
        [goodput, _] = plots.of_run(of_flows(["f"], rates)).axes
        assert marks(goodput) == []
        assert goodput.get_title(loc="right") == ""
        assert goodput.get_ylim()[1] >= max(rates) / 1e6
    # The first flow lasts at a higher rate than the second one's burst.
    table = pa.concat_tables([
        of_flows(["a"], [100e6] * 60)["flows"], of_flows(["b"], BURST)["flows"]
    ])  # fmt: skip
    [goodput, _] = plots.of_run({"flows": table}).axes
    assert marks(goodput) == []


def test_points_of_a_name_do_not_cover_each_other() -> None:
    table = with_goodputs(sweep(seeds=1, way=["a", "b"], control=list("pqrstuvwxy")), [1e6] * 20)
    figure = draw(table, x="way")
    figure.draw_without_rendering()
    [axes] = figure.axes
    places = sorted(float(x) for line in points(axes) for x in np.asarray(line.get_xdata()))
    assert len(places) == 20
    pixels = [float(axes.transData.transform((x, 0))[0]) for x in places]
    # Half of a mark at least is free.
    assert min(np.diff(pixels)) > 1.7 * figure.dpi / 72
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b"]
    assert all(abs(x - round(x)) < 0.4 for x in places), "each is nearest to its own name"
    # One group is where its name is.
    [line] = points(draw(sweep(way=["a", "b"])).axes[0])
    assert list(np.asarray(line.get_xdata())) == [0, 1]


@pytest.mark.parametrize("size_in", [(7.16, 3.0), (2.0, 2.0), (3.5, 6.0)])
def test_figures_have_the_size_that_is_asked_for(size_in: tuple[float, float]) -> None:
    table = sweep(packets=[10, 50], way=["a", "b"])
    figures = [draw(table, kind=kind, x=x, size_in=size_in) for kind, x in (
        ("line", "packets"), ("line", "way"), ("box", None), ("cdf", None), ("heat", "packets")
    )]  # fmt: skip
    flows = of_flows(["a", "b"])
    figures += [plots.of_run(flows, kind, size_in=size_in) for kind in get_args(RunKind)]
    for figure in figures:
        assert tuple(figure.get_size_inches()) == size_in
        assert_nothing_is_cut(figure)
    # A wider one has more room for names in a line.
    wide, narrow = (
        draw(sweep(packets=[1, 2], way=LONG), size_in=(width, 4.0)).legends[0] for width in (7, 2.5)
    )
    assert wide.get_window_extent().height < narrow.get_window_extent().height
    assert draw(table).get_figwidth() == 3.5


def test_a_size_without_room_for_the_axes_is_refused() -> None:
    table = sweep(packets=[1, 2], way=TEN)
    with pytest.raises(ValueError, match=r"of 3 x 1 inches has no room .* such as 3 x \d\.\d inch"):
        draw(table, size_in=(3.0, 1.0))
    for size_in in ((0.5, 3.0), (3.0, 400.0), (float("nan"), 1.0)):
        with pytest.raises(ValueError, match="from 1 to 40 inches"):
            draw(table, size_in=size_in)


def test_axes_can_be_logarithmic() -> None:
    table = sweep(packets=QUEUES, control=["reno", "cubic"])
    wide = with_goodputs(table, [10.0 ** (3 + index // 5) for index in range(30)])
    assert draw(wide).axes[0].get_yscale() == "linear"
    figure = draw(wide, log=["x", "y"])
    [axes] = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert_nothing_is_cut(figure)
    assert_marks_are_whole(axes)
    # A bar that reaches below 0 is drawn down to the bottom.
    assert np.isfinite(axes.transData.transform((10, -1))).all()
    assert draw(wide, kind="cdf", log=["x"]).axes[0].get_xscale() == "log"
    assert draw(wide, kind="box", log=["y"]).axes[0].get_yscale() == "log"
    run = of_flows(["a"], [1e3, 0, 1e6, 1e8])
    axes_of: dict[RunKind, str] = {"series": "y", "box": "y", "cdf": "x"}
    for kind, axis in axes_of.items():
        rates = run if kind == "series" else of_flows(["a"], [1e3, 1e6, 1e8])
        [axes, *_] = plots.of_run(rates, kind, measure="goodput", log=[axis]).axes
        assert {"x": axes.get_xscale, "y": axes.get_yscale}[axis]() == "log"
    # All samples are in the figure: none is cut.
    [axes] = plots.of_run(run, measure="goodput", log=["y"]).axes
    low, high = axes.get_ylim()
    assert low < 1e-3
    assert high > 100


def test_a_logarithmic_axis_hides_no_value() -> None:
    table = with_goodputs(sweep(seeds=1, packets=QUEUES), [0, 1e6, 2e6])
    for options in ({"log": ["y"]}, {"kind": "cdf", "by": "packets", "log": ["x"]}):
        with pytest.raises(ValueError, match="1 values of goodput_bps are not above 0"):
            draw(table, **options)
    with pytest.raises(ValueError, match="control is not numbers above 0"):
        draw(sweep(control=["reno", "cubic"]), log=["x"])
    with pytest.raises(ValueError, match="y cannot be logarithmic in a figure of the kind heat"):
        draw(sweep(packets=QUEUES, pairs=[1, 5]), log=["y"])
    with pytest.raises(ValueError, match="z cannot be logarithmic in a figure of the kind line"):
        draw(table, log=["z"])


def test_several_values_of_a_dimension_can_be_kept() -> None:
    table = sweep(packets=QUEUES, way=["tcp", "tcp control=cubic", "dccp ccid=3"])
    [axes] = draw(table, where={"way": ["CCID 3", "tcp"]}).axes
    assert legend(axes) == ["TCP", "CCID 3"]
    [axes] = draw(table, where={"way": ["CCID 3"]}).axes
    assert legend(axes) == []
    with pytest.raises(ValueError, match="way is never bbr"):
        draw(table, where={"way": ["tcp", "bbr"]})


def test_any_name_is_in_the_legend_as_it_is() -> None:
    names = ["_first", "$second", r"a $\frac$ of b", "b"]
    figures = [
        plots.of_run(of_flows(names)),
        plots.of_run(of_flows(names), "cdf"),
        draw(sweep(way=names, packets=[1, 2])),
    ]
    for figure in figures:
        assert_nothing_is_cut(figure)
        shown = [name.strip().replace(r"\$", "$") for name in legend(figure.axes[0])]
        assert shown == names
    for kind in ("line", "box"):
        assert_nothing_is_cut(draw(sweep(way=names), kind=kind))
    # A label of the user's may be a formula.
    table = sweep(way=["a", "b"], packets=[1, 2])
    assert legend(draw(table, labels={"a": r"$\alpha$"}).axes[0]) == [r"$\alpha$", "b"]
