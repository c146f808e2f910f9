"""The E-model against values of the recommendations, and on a run."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from skywave import Udp, Voice, dumbbell, run
from skywave.results import emodel
from skywave.scenario import parts


def test_without_delay_and_loss_r_is_the_default() -> None:
    assert emodel.rating(emodel.G711, 0.0, 0.0) == 93.2
    # G.107 annex B: R = 93.2 is an MOS of 4.41.
    assert emodel.mean_opinion_score(93.2) == pytest.approx(4.41, abs=0.005)
    assert emodel.mean_opinion_score(0) == 1
    assert emodel.mean_opinion_score(100) == 4.5


@pytest.mark.parametrize(
    ("loss_percent", "impairment"), [(0, 11), (1, 15), (2, 19), (3, 23), (4, 26)]
)
def test_g729a_loses_what_is_quoted_from_g113(loss_percent: float, impairment: float) -> None:
    """Ie of G.729A at these rates of random loss, as quoted from G.113 table I.3."""
    measured = emodel.loss_impairment(emodel.G729A, loss_percent)
    assert measured == pytest.approx(impairment, abs=0.6)


@pytest.mark.parametrize(
    ("codec", "without", "with_loss"),
    [(emodel.G711, 0, 7), (emodel.G729A, 11, 19), (emodel.G723_1, 15, 24)],
)
def test_codecs_lose_what_is_printed(codec: emodel.Codec, without: float, with_loss: float) -> None:
    """ICAO ACP WG-I/3 WP-306 table B-1: Ie without loss and at 2 %, in whole numbers."""
    assert emodel.loss_impairment(codec, 0) == without
    assert emodel.loss_impairment(codec, 2) == pytest.approx(with_loss, abs=0.5)


def test_delay_costs_little_at_first_and_then_much() -> None:
    assert emodel.delay_impairment(0.1) == 0
    assert emodel.delay_impairment(0.15) == pytest.approx(0.16, abs=0.01)
    # G.114 figure 1: at 400 ms R is about 69.
    assert 93.2 - emodel.delay_impairment(0.4) == pytest.approx(69, abs=0.5)


def test_a_call_is_rated_by_period() -> None:
    scenario = dumbbell("call", duration="25 s", rate="1 Mbps", delay="50 ms")
    voice = Voice(frame="20 B", interval="20 ms", deadline="150 ms", codec="g729a")
    scenario.add_flow("call", "s1", "d1", Udp(), voice, stop="20 s")
    results = run(scenario)
    ratings = emodel.quality(results.voice, "call")
    assert [(rating.start_s, rating.end_s) for rating in ratings] == [(0, 10), (10, 20)]
    for rating in ratings:
        assert rating.loss_percent == 0
        assert rating.r == pytest.approx(93.2 - 11 - emodel.delay_impairment(0.17))
        assert rating.usable
        assert rating.mos == emodel.mean_opinion_score(rating.r)
    table = emodel.over_time(results.voice).to_pydict()
    assert table["time_s"] == [10, 20]
    assert table["flow"] == ["call", "call"]
    assert table["played"] == [1, 1]
    assert table["mos"] == [rating.mos for rating in ratings]


def test_a_packet_of_several_frames_delays_no_frame_by_more_than_its_own_speech() -> None:
    """The deadline is from when each frame was made; those that wait for others arrive later."""
    scenario = dumbbell("call", duration="12 s", rate="1 Mbps", delay="50 ms")
    voice = Voice(frame="10 B", interval="10 ms", frames=3, deadline="150 ms", codec="g711")
    scenario.add_flow("call", "s1", "d1", Udp(), voice)
    assert emodel.quality(run(scenario).voice, "call")[0].delay_s == pytest.approx(0.16)


def test_a_call_without_a_codec_needs_one() -> None:
    scenario = dumbbell("call", duration="5 s", rate="1 Mbps", delay="50 ms")
    scenario.add_flow("call", "s1", "d1", Udp(), Voice(frame="20 B", interval="20 ms"))
    results = run(scenario)
    with pytest.raises(ValueError, match="the codec of call is not known"):
        emodel.quality(results.voice, "call")
    assert math.isnan(emodel.over_time(results.voice)["mos"][0].as_py())
    [rating] = emodel.quality(results.voice, "call", emodel.G711)
    assert (
        rating.mos < emodel.quality(results.voice, "call", emodel.Codec("perfect", -5, 30))[0].mos
    )


def test_scenarios_and_the_model_know_the_same_codecs() -> None:
    assert set(emodel.CODECS) == set(get_args(parts.Codec))


def test_a_call_that_lasts_as_long_as_the_run_is_rated_without_its_last_frames() -> None:
    """Whether these are in time, nobody knows at the end of the run."""
    scenario = dumbbell("call", duration="25 s", rate="10 Mbps", delay="20 ms")
    voice = Voice(frame="20 B", interval="20 ms", deadline="150 ms")
    scenario.add_flow("call", "s1", "d1", Udp(), voice)
    results = run(scenario)
    ratings = emodel.quality(results.voice, "call", emodel.G711)
    assert [(rating.start_s, rating.end_s) for rating in ratings] == [(0, 10), (10, 20), (20, 24)]
    assert [rating.loss_percent for rating in ratings] == [0, 0, 0]
    assert results.voice["time_s"].to_pylist()[-1] == 24


def test_who_does_not_talk_has_no_rating() -> None:
    scenario = dumbbell("quiet", duration="2 s", rate="1 Mbps", delay="1 ms")
    scenario.add_flow("call", "s1", "d1", Udp(), Voice(frame="20 B", interval="20 ms"))
    results = run(scenario)
    with pytest.raises(KeyError, match="file is not a voice flow"):
        emodel.quality(results.voice, "file", emodel.G711)
