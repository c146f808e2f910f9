"""Statistics of independent runs, against published examples and other programs' results."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from scipy.signal import lfilter

from skywave.results.fairness import jain
from skywave.stats import (
    Target,
    WarmUp,
    adjust,
    average,
    bootstrap,
    compare,
    compare_all,
    compare_table,
    limited_by_receive_window,
    median,
    seeds_without_effect,
    summarise,
    truncation,
    unchanged_by_seeds,
    warm_up_in_mean,
    warm_ups_in_means,
    welch,
)

if TYPE_CHECKING:
    from skywave.stats.comparison import Test

# Student's own data (1908): hours of sleep gained by ten patients with each of two drugs.
DEXTRO = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
LAEVO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_averages_have_students_intervals() -> None:
    """Four values: t(0.975, 3) = 3.182, t(0.995, 3) = 5.841."""
    found = average([1.0, 2.0, 3.0, 4.0])
    assert found.value == 2.5
    assert found.margin == pytest.approx(3.1824 * math.sqrt(5 / 3) / 2, rel=1e-4)
    assert (found.low, found.high) == (2.5 - found.margin, 2.5 + found.margin)
    wider = average([1.0, 2.0, 3.0, 4.0], confidence=0.99)
    assert wider.margin == pytest.approx(5.8409 * math.sqrt(5 / 3) / 2, rel=1e-4)


def test_equal_runs_have_no_margin_and_one_run_has_none_to_tell() -> None:
    equal = average([0.1, 0.1, 0.1])
    assert (equal.value, equal.margin) == (0.1, 0)
    single = average([3.0])
    assert single.value == 3
    assert math.isnan(single.margin)


@pytest.mark.parametrize("place", range(3))
def test_what_is_not_there_has_no_mean(place: int) -> None:
    values = [1.0, 1.0, 1.0]
    values[place] = math.nan
    found = average(values)
    assert math.isnan(found.value)
    assert math.isnan(found.margin)
    for estimate in (median(values * 3), bootstrap(values * 3)):
        assert all(map(math.isnan, (estimate.value, estimate.low, estimate.high)))
    difference = compare(values, [2.0, 3.0, 5.0])
    assert math.isnan(difference.p)
    assert math.isnan(difference.difference.value)


def test_no_runs_and_no_confidence_are_errors() -> None:
    for estimate in (average, median, bootstrap):
        with pytest.raises(ValueError, match="no values"):
            estimate([])
        with pytest.raises(ValueError, match="between 0 and 1"):
            estimate([1.0, 2.0], confidence=95)


def test_intervals_of_medians_are_order_statistics() -> None:
    """Le Boudec 2010, table A.1: of 10 values the 2nd and 9th, of 30 the 10th and 21st."""
    for count, low, high in ((6, 1, 6), (10, 2, 9), (30, 10, 21)):
        found = median([float(rank) for rank in range(count, 0, -1)])
        assert (found.value, found.low, found.high) == ((count + 1) / 2, low, high)
    few = median([1.0, 2.0, 3.0, 4.0, 5.0])
    assert few.value == 3
    assert math.isnan(few.low)


def test_bootstrap_intervals_are_repeatable_and_cover() -> None:
    found = bootstrap(DEXTRO, seed=1)
    assert found == bootstrap(DEXTRO, seed=1)
    assert found != bootstrap(DEXTRO, seed=2)
    assert found.value == pytest.approx(0.75)
    student = average(DEXTRO)
    # Close to Student's, and narrower, as of so few values.
    assert student.low < found.low < found.high < student.high
    of_medians = bootstrap(DEXTRO, np.median)
    assert of_medians.low < of_medians.value == np.median(DEXTRO) < of_medians.high


def test_bootstrap_without_variation() -> None:
    found = bootstrap([0.1, 0.1, 0.1])
    assert (found.value, found.low, found.high) == (0.1, 0.1, 0.1)
    assert math.isnan(bootstrap([1.0]).low)


def test_welchs_t_test() -> None:
    """Student's data: t = 1.8608 at 17.776 degrees of freedom, p = 0.07939."""
    assert welch(DEXTRO, LAEVO) == pytest.approx(0.07939, abs=1e-5)
    assert welch(DEXTRO, LAEVO) == welch(LAEVO, DEXTRO)
    assert welch(DEXTRO, DEXTRO) == pytest.approx(1)
    assert welch([1.0, 1.0], [1.0, 1.0]) == 1
    assert welch([1.0, 1.0], [2.0, 2.0]) == 0


def test_comparisons_of_students_data() -> None:
    """By R: t.test(dextro, laevo, paired=), wilcox.test (exact=FALSE, correct=FALSE)."""
    paired = compare(DEXTRO, LAEVO)
    assert paired.p == paired.adjusted_p == pytest.approx(0.002833, abs=1e-6)
    assert paired.difference.value == pytest.approx(-1.58)
    assert paired.difference.low == pytest.approx(-2.4598858, abs=1e-6)
    assert paired.difference.high == pytest.approx(-0.7001142, abs=1e-6)
    assert (paired.effect_name, paired.runs) == ("Cohen's d_z", (10, 10))
    assert paired.effect == pytest.approx(-4.0621 / math.sqrt(10), abs=1e-4)

    unpaired = compare(DEXTRO, LAEVO, test="welch")
    assert unpaired.p == welch(DEXTRO, LAEVO)
    assert unpaired.difference.low == pytest.approx(-3.3654832, abs=1e-6)
    assert unpaired.difference.high == pytest.approx(0.2054832, abs=1e-6)
    assert unpaired.effect == pytest.approx(-0.8321811, abs=1e-6)

    # Nine patients differ, and all in the same direction.
    ranks = compare(DEXTRO, LAEVO, test="wilcoxon")
    assert ranks.effect == -1
    assert ranks.p < 0.01
    assert ranks.difference.low < -1.58 < ranks.difference.high < 0

    delta = compare(DEXTRO, LAEVO, test="mann-whitney")
    greater = sum(one > other for one in DEXTRO for other in LAEVO)
    less = sum(one < other for one in DEXTRO for other in LAEVO)
    assert delta.effect == pytest.approx((greater - less) / 100)
    assert delta.p == pytest.approx(0.0693, abs=0.01)
    assert delta.difference.value == pytest.approx(-1.58)


def test_seeds_pair_runs_in_any_order() -> None:
    one = dict(enumerate(DEXTRO))
    other = {seed: LAEVO[seed] for seed in reversed(range(10))}
    assert compare(one, other).p == compare(DEXTRO, LAEVO).p
    assert compare(one, other, test="wilcoxon").effect == -1
    del other[3]
    with pytest.raises(ValueError, match="cubic has no run with seed 3"):
        compare(one, other, names=("reno", "cubic"))
    with pytest.raises(ValueError, match="paired test needs pairs"):
        compare(DEXTRO, LAEVO[:9])
    with pytest.raises(ValueError, match="fewer than two"):
        compare([1.0], [2.0])


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "welch", "mann-whitney"])
@pytest.mark.parametrize("other", [1.0, 2.0])
def test_where_nothing_varies_nothing_is_tested(test: Test, other: float) -> None:
    found = compare([1.0] * 5, [other] * 5, test=test)
    assert found.difference.value == 1 - other
    absent = (found.difference.low, found.difference.high, found.p, found.adjusted_p, found.effect)
    assert all(map(math.isnan, absent))


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "welch", "mann-whitney"])
def test_one_value_that_varies_is_enough_to_test(test: Test) -> None:
    found = compare([1.0, 1.0, 1.0, 1.0, 1.5], [2.0] * 5, test=test)
    assert 0 < found.p < 0.1
    assert -10 < found.effect < 0
    assert found.difference.low < -0.9 < found.difference.high


def test_pairs_that_differ_alike_are_not_tested_but_their_values_are() -> None:
    raised = [value + 1 for value in (1.0, 2.0, 4.0)]
    paired = compare(raised, [1.0, 2.0, 4.0])
    assert paired.difference.value == 1
    assert math.isnan(paired.p)
    assert 0 < compare(raised, [1.0, 2.0, 4.0], test="welch").p < 1


def test_corrections_are_those_published() -> None:
    """By R's p.adjust; Holm stops at the first that fails."""
    p_values = [0.04, 0.01, 0.03, 0.02]
    assert adjust(p_values) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert adjust(p_values, "benjamini-hochberg") == pytest.approx([0.04] * 4)
    assert adjust(p_values, "none") == p_values
    # A smaller p-value never becomes the larger one, ties stay ties, and none exceeds 1.
    p_values = [0.5, 0.001, 0.04, 0.04, 0.03]
    assert adjust(p_values) == pytest.approx([0.5, 0.005, 0.12, 0.12, 0.12])
    found = adjust(p_values, "benjamini-hochberg")
    assert found == pytest.approx([0.5, 0.005, 0.05, 0.05, 0.05])
    assert adjust([0.9, 0.8]) == [1, 1]
    # One that could not be tested is not counted.
    assert adjust([math.nan, 0.02])[1] == 0.02
    assert adjust([]) == []
    with pytest.raises(ValueError, match="holm"):
        adjust(p_values, "bonferoni")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust([1.5])


def test_all_pairs_or_each_against_a_baseline() -> None:
    groups = {"a": DEXTRO, "b": LAEVO, "c": [value + 0.1 for value in LAEVO]}
    pairs = compare_all(groups)
    assert [(each.one, each.other) for each in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [each.adjusted_p for each in pairs] == adjust([each.p for each in pairs])
    assert pairs[0].adjusted_p > pairs[0].p
    against = compare_all(groups, baseline="b")
    assert [(each.one, each.other) for each in against] == [("a", "b"), ("c", "b")]
    with pytest.raises(ValueError, match="use a, b, c"):
        compare_all(groups, baseline="d")


def sweep(scale: float = 1.0) -> pa.Table:
    """Two queues and two controls, five seeds each."""
    rows = [
        {
            "packets": packets,
            "control": control,
            "seed": seed,
            "goodput_bps": 1e6 * (packets + (control == "cubic")) + scale * (seed**2 % 7),
            "drops": 3.0,
        }
        for packets in (10, 50)
        for control in ("reno", "cubic")
        for seed in range(5)
    ]
    return pa.Table.from_pylist(rows)


def test_a_table_is_summarised_point_by_point() -> None:
    rows = summarise(sweep(), ("packets", "control"), ("goodput_bps", "drops")).to_pylist()
    assert len(rows) == 8
    values = [10e6 + seed**2 % 7 for seed in range(5)]
    assert rows[0]["packets"] == 10
    assert rows[0]["control"] == "reno"
    assert rows[0]["measure"] == "goodput_bps"
    assert rows[0]["seeds"] == 5
    assert rows[0]["mean"] == average(values).value
    assert rows[0]["margin"] == average(values).margin
    assert rows[0]["median"] == np.median(values)
    assert rows[-1]["mean"] == 3


def test_a_table_is_compared_at_each_point_and_corrected_over_all() -> None:
    table = sweep(1e6)
    found = compare_table(
        table, ("packets", "control"), "goodput", "control", baseline="reno", test="welch"
    )
    assert found.column_names[:3] == ["packets", "one", "other"]
    ten, fifty = found.to_pylist()
    assert (ten["packets"], ten["one"], ten["other"]) == (10, "cubic", "reno")
    assert ten["difference"] == pytest.approx(1e6)
    assert ten["low"] < ten["difference"] < ten["high"]
    assert (ten["test"], ten["effect_name"]) == ("welch", "Cohen's d")
    assert (ten["runs_of_one"], ten["runs_of_other"]) == (5, 5)
    for row in (ten, fifty):
        assert row["adjusted_p"] == pytest.approx(min(1.0, 2 * row["p"]))
    paired = compare_table(table, ("packets", "control"), "goodput", "packets").to_pylist()
    # The same seeds at both points: the difference is always the same.
    assert [row["control"] for row in paired] == ["reno", "cubic"]
    assert [row["difference"] for row in paired] == [-40e6, -40e6]
    assert all(math.isnan(row["adjusted_p"]) for row in paired)
    assert [row["significant"] for row in paired] == [False, False]
    with pytest.raises(ValueError, match="use packets, control"):
        compare_table(table, ("packets", "control"), "goodput", "queue")
    with pytest.raises(ValueError, match=r"use one of .*goodput_bps"):
        compare_table(table, ("packets", "control"), "godput", "control")
    with pytest.raises(ValueError, match="packets=10: two runs with seed 0"):
        summarise(table, ("packets",), ("drops",))


@pytest.mark.parametrize(
    ("text", "measure", "bound", "relative", "unit", "confidence"),
    [
        ("ci(goodput) < 2 %", "goodput", 0.02, True, "", 0.95),
        ("ci(goodput)<2%", "goodput", 0.02, True, "", 0.95),
        ("ci(loss) < 0.05", "loss", 0.05, False, "", 0.95),
        ("ci(goodput[a b]) < 100 kbps", "goodput[a b]", 1e5, False, "bps", 0.95),
        ("ci(delay_mean, 99 %) < 5 ms", "delay_mean", 0.005, False, "s", 0.99),
        ("ci(queue) < 1 packets", "queue", 1, False, "packets", 0.95),
        ("ci(utilisation[r1->r2]) < 1e-3", "utilisation[r1->r2]", 1e-3, False, "", 0.95),
    ],
)
def test_targets_are_parsed(
    text: str, measure: str, bound: float, relative: bool, unit: str, confidence: float
) -> None:
    assert Target.parse(text) == Target(measure, bound, relative, unit, confidence)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "goodput < 2 %",
        "ci(goodput) > 2 %",
        "ci() < 2 %",
        "ci(goodput) < %",
        "ci(goodput) < 0 %",
        "ci(goodput) < 1.2.3 %",
        "ci(goodput, 100 %) < 2 %",
        "ci(goodput) < 2 parsecs",
        "ci(goodput) < 2 %; rm",
    ],
)
def test_wrong_targets_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        Target.parse(text)


def test_a_target_finds_its_column() -> None:
    measures = ["goodput_bps", "goodput_bps[file]", "loss", "delay_mean_s"]
    assert Target.parse("ci(goodput) < 2 %").column(measures) == "goodput_bps"
    assert Target.parse("ci(goodput[file]) < 2 %").column(measures) == "goodput_bps[file]"
    assert Target.parse("ci(delay_mean_s) < 5 ms").column(measures) == "delay_mean_s"
    with pytest.raises(ValueError, match="cannot be in s"):
        Target.parse("ci(goodput) < 5 ms").column(measures)
    with pytest.raises(ValueError, match="goodput_bps, goodput_bps\\[file\\], loss"):
        Target.parse("ci(speed) < 2 %").column(measures)


def test_targets_need_ten_seeds_and_a_narrow_interval() -> None:
    target = Target.parse("ci(goodput) < 2 %")
    narrow = [100.0, 100.1] * 5
    assert target.is_met(narrow)
    assert not target.is_met(narrow[:9])
    assert not target.is_met([90.0, 110.0] * 5)
    assert not target.is_met([math.nan, *narrow])
    assert target.is_met([0.0] * 10)
    assert not target.is_met([-1.0, 1.0] * 10)
    assert Target.parse("ci(goodput) < 7.6").is_met([90.0, 110.0] * 5)
    assert not Target.parse("ci(goodput) < 7.5").is_met([90.0, 110.0] * 5)


def test_a_target_says_about_how_many_seeds_it_needs() -> None:
    target = Target.parse("ci(goodput) < 2 %")
    wide = [90.0, 110.0] * 5
    assert target.seeds_needed(wide) == math.ceil(10 * (average(wide).margin / 2) ** 2)
    assert target.seeds_needed([100.0, 100.1]) == 10
    assert target.seeds_needed([100.0]) is None
    assert target.seeds_needed([-1.0, 1.0]) is None


def test_seeds_that_change_nothing_are_told() -> None:
    sentence = unchanged_by_seeds([[5063733.0, math.nan]] * 5)
    assert sentence is not None
    assert sentence.startswith("5 seeds gave the same values: nothing in this scenario is random")
    assert unchanged_by_seeds([[1.0, 2.0], [1.0, 3.0]]) is None
    assert unchanged_by_seeds([[1.0]]) is None

    dimensions, measures = ("packets", "control"), ("goodput_bps", "drops")
    assert seeds_without_effect(sweep(), dimensions, measures) == []
    [everywhere] = seeds_without_effect(sweep(0), dimensions, measures)
    assert everywhere == sentence
    mixed = pa.concat_tables([sweep(0).slice(0, 5), sweep(1).slice(5)])
    [there] = seeds_without_effect(mixed, dimensions, measures)
    assert there == f"packets=10, control=reno: {sentence}"


def test_flows_that_their_receive_window_limits_are_told() -> None:
    limited = {"name": "file", "receive_window_limited_s": 12.0, "active_s": 60.0}
    sentence = limited_by_receive_window(limited)
    assert sentence is not None
    assert sentence.startswith("file was limited by its receive window for 12 of 60 s (20 %)")
    assert limited_by_receive_window({**limited, "receive_window_limited_s": 2.0}) is None
    assert limited_by_receive_window({**limited, "active_s": 0.0}) is None
    assert limited_by_receive_window({"name": "file"}) is None


def noise(count: int) -> list[float]:
    return [float(value) for value in np.random.default_rng(1).normal(0, 0.05, count)]


def test_mser_finds_where_a_warm_up_ends() -> None:
    """A ramp of 50 samples, then a steady mean."""
    ramp = [index / 50 for index in range(50)] + [1.0] * 350
    assert truncation(ramp) == 50
    noisy = [one + other for one, other in zip(ramp, noise(400), strict=True)]
    found = truncation(noisy)
    assert found is not None
    assert 40 <= found <= 60
    # A change of unit or level changes nothing.
    assert truncation([1e9 + 1e3 * value for value in noisy]) == found


def test_mser_of_steady_growing_and_short_runs() -> None:
    assert truncation([1.0] * 100) == 0
    assert truncation(noise(400)) in range(50)
    assert truncation([float(index) for index in range(100)]) is None
    assert truncation([1.0] * 49) is None
    assert truncation([math.nan] * 100) is None
    assert truncation([math.nan] * 5 + [0.0] * 5 + [1.0] * 90) == 10


def test_a_warm_up_in_a_mean_is_found() -> None:
    times = [0.5 * (index + 1) for index in range(400)]
    ramp = [index / 50 for index in range(50)] + [1.0] * 350
    found = warm_up_in_mean(times, ramp)
    assert found is not None
    assert found.end_s == 25
    assert found.shift == pytest.approx(sum(ramp) / 400 - 1)
    assert warm_up_in_mean(times, ramp, from_s=25.0) is None
    assert warm_up_in_mean(times, [1.0] * 400) is None
    assert warm_up_in_mean([], []) is None
    # A rate over a part of an interval may be anything.
    assert warm_up_in_mean([*times, 200.001], [*[1.0] * 400, 1e6]) is None
    assert warm_up_in_mean([*times, 200.001], [*ramp, 1e6]) == found


@pytest.mark.parametrize("seed", range(10))
def test_one_step_leaves_out_the_warm_up_of_all_flows(seed: int) -> None:
    """Of what one flow leaves out, another may have a warm-up only from then on."""
    random = np.random.default_rng(seed)
    times = np.arange(1.0, 601.0)
    ramp = np.interp(times, [0, 20, 600], [0, 1, 1])
    flows = [ramp + lfilter([1], [1, -0.9], random.normal(0, 0.025, 600)) for _ in range(6)]
    found = [warm_up_in_mean(times, flow) for flow in flows]
    advised_s = max(one.end_s for one in found if one is not None)
    for from_s in (advised_s, advised_s + 50):
        assert [warm_up_in_mean(times, flow, from_s=from_s) for flow in flows] == [None] * 6


@pytest.mark.parametrize(
    ("time_s", "said"),
    [(125.0, "125"), (125.1, "126"), (1234.2, "1235"), (0.1, "0.1"), (2.003, "2.01")],
)
def test_an_advised_time_is_not_before_the_end_of_the_warm_up(time_s: float, said: str) -> None:
    sentence = warm_ups_in_means("goodput", {"a": WarmUp(time_s, 0.1)})
    assert sentence is not None
    assert sentence.endswith(f"average from {said} s on")


def test_warm_ups_are_told_in_one_sentence() -> None:
    early, late = WarmUp(4.0, 0.047), WarmUp(20.0, -0.1)
    assert warm_ups_in_means("goodput", {}) is None
    assert warm_ups_in_means("goodput", {"a": early, "b": late}) == (
        "the warm-up is inside the mean goodput of a (4.7 % higher) and b (10 % lower): "
        "average from 20 s on"
    )
    many = warm_ups_in_means("goodput", dict.fromkeys("abcdef", early))
    assert many is not None
    assert "c (4.7 % higher) and 3 more: average from 4 s on" in many


def test_scipy_is_loaded_when_needed_only() -> None:
    """It takes a second, which ``skywave --help`` does not have."""
    code = (
        "import sys, skywave, skywave.cli, skywave.stats; "
        "print([name for name in ('scipy', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("rates", "index"), [([1, 1], 1), ([5, 0, 0, 0], 1 / 4), ([3, 1], 16 / 20), ([2.0], 1)]
)
def test_jains_index(rates: list[float], index: float) -> None:
    assert jain(rates) == pytest.approx(index)


def test_nobody_has_anything() -> None:
    assert math.isnan(jain([0, 0]))
