"""Runs the controls that ours are compared with."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave import realtime
from validation.controls.cases import CASES, DURATION_S, LINUX, MBPS, PICOQUIC, QUEUE, RTT_MS
from validation.controls.curves import Curve
from validation.picoquic.bbr.networks import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave import Progress
    from validation.picoquic.bbr.picoquic import Programs

PACKET = 1440
"""A full packet of picoquic on the wire."""


def linux(progress: Callable[[Progress], None]) -> Mapping[str, Curve]:
    """Run Linux's controls on virtual time, and return their curves."""
    found = {}
    for control in _of(LINUX):
        done = realtime.run(CASES[control].scenario(), progress=progress, virtual_time=True)
        if not done.is_whole:
            raise KeyboardInterrupt
        found[control] = Curve.of(done.results)
    return found


def picoquic(programs: Programs) -> Mapping[str, Curve]:
    """Run picoquic's controls on its virtual clock, and return their curves."""
    # A packet finds at most QUEUE packets of its size.
    network = Network(MBPS, RTT_MS, int(QUEUE * PACKET * 8e-3 / MBPS))
    found = {}
    for control in _of(PICOQUIC):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.csv"
            programs.run(network, cc1=control, duration=DURATION_S, trace=trace)
            rows = np.genfromtxt(trace, delimiter=",", names=True)
        found[control] = Curve(rows["flow1_cwnd_bytes"] / PACKET, rows["flow1_goodput_mbps"])
    return found


def _of(reference: str) -> list[str]:
    return [case.control for case in CASES.values() if case.reference == reference]
