"""Errors: one base for all, and the built-in exception that fits."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import skywave
from skywave import ClusterError, NoSocketsError, SkywaveError, papers, realtime
from skywave.bench import BenchError
from skywave.net import NetError, RefusedError

PROGRAMS = ("skywave.__main__", "skywave.papers.__main__")


def test_every_error_of_the_package_is_a_skywave_error() -> None:
    found = {
        value
        for module in pkgutil.walk_packages(skywave.__path__, "skywave.")
        if module.name not in PROGRAMS
        for value in vars(import_module(module.name)).values()
        if isinstance(value, type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
        and value.__module__.startswith("skywave.")
    }
    assert {BenchError, ClusterError, NetError, papers.PaperError, realtime.LaunchError} < found
    assert [value for value in found if not issubclass(value, SkywaveError)] == []


@pytest.mark.parametrize(
    ("error", "built_in"),
    [
        (skywave.ScenarioError, ValueError),
        (skywave.CaptureError, ValueError),
        (papers.LedgerError, ValueError),
        (NetError, OSError),
        (RefusedError, ConnectionRefusedError),
        (NoSocketsError, ImportError),
        (ClusterError, RuntimeError),
        (realtime.LaunchError, RuntimeError),
    ],
)
def test_an_error_is_the_built_in_one_too(
    error: type[SkywaveError], built_in: type[Exception]
) -> None:
    assert issubclass(error, SkywaveError)
    assert issubclass(error, built_in)


def test_the_core_raises_them() -> None:
    with pytest.raises(SkywaveError, match="name"):
        skywave.Scenario.from_text("{}", "json").inspect()
