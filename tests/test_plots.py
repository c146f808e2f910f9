"""Figures of runs and sweeps: what is on their axes, and the files."""

from __future__ import annotations

import copy
import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from conftest import ROOT, assert_bad_input, run_cli
from skywave import Dccp, Probes, Results, Scenario, Tcp, Udp, Voice, dumbbell, plots, run
from skywave import sweep as run_sweep
from skywave.plots.files import render
from skywave.results.emodel import quality
from skywave.results.run import read_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
