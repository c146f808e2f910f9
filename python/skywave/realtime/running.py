"""Runs scenarios in real time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import _core
from skywave._files import replacing_files
from skywave._machine import Shares, Watch
from skywave._members import live
from skywave._progress import Progress
from skywave.realtime.accuracy import RunAccuracy
from skywave.realtime.privileges import LaunchError, require
from skywave.results import Results

if TYPE_CHECKING:
    import pyarrow as pa

    from skywave.scenario import Scenario


@dataclass(frozen=True)
class RealTimeRun:
    """A run in real time."""

    results: Results
    """As those of a simulation. If the run was interrupted, those of the time that it took."""
    accuracy: RunAccuracy
    """How accurate the timing was."""

    @property
    def is_interrupted(self) -> bool:
        """Whether it was interrupted, by Ctrl-C or by ``progress``."""
        return bool(self.accuracy.report["interrupted"])

    @property
    def is_whole(self) -> bool:
        """Whether it ran for the scenario's whole duration, even if interrupted at its end."""
        return bool(self.accuracy.report["whole"])


def run(
    scenario: Scenario,
    *,
    progress: Callable[[Progress], None] | None = None,
    samples: Callable[[float, Mapping[str, pa.RecordBatch]], None] | None = None,
    captures: Mapping[str, str] | None = None,
    qlogs: Mapping[str, str] | None = None,
    dccp_over_udp: bool = False,
    spin: bool = False,
    virtual_time: bool = False,
) -> RealTimeRun:
    """Run a scenario in real time, for its full duration, or on virtual time.

    Ctrl-C ends it early and returns the results so far; during the set-up of the nodes, it raises
    ``KeyboardInterrupt``.

    Args:
        scenario: The scenario, without NAT and Quick-Start.
        progress: Called twenty times a second, or once per second of virtual time. The stages are
            "set-up" and "in real time" (or "on virtual time"), whose total is the duration in
            seconds. An exception that it raises stops the run.
        samples: Called as often once time passes, with the time in seconds and the samples since
            the last call: the tables of ``probes.interval``, and internal variables. It delays
            packets, so it should only pass them on. Not on virtual time.
        captures: pcapng files to write, by link: ``{"r1->r2": "bottleneck.pcapng"}``.
        qlogs: qlog files to write for qvis, by flow: ``{"f1": "f1.sqlog"}``.
        dccp_over_udp: Whether DCCP travels in UDP (RFC 6773) instead of as IP protocol 33.
        spin: Whether to busy-wait on a processor, so that packets leave within microseconds. Not on
            virtual time.
        virtual_time: Whether to run in a guest, a Linux kernel on virtual time. It needs no
            privileges, but a kernel that ``make virtual-kernel`` has built. Members in Python must
            be classes of a module.

    Raises:
        ScenarioError: If the scenario is wrong, can only be simulated, or names a control that the
            kernel does not have.
        LaunchError: If this system is not Linux, the extension was built without it, or a guest
            cannot be booted.
        GuestError: If the guest crashed, ran out of memory, or made no progress for a minute.
        ValueError: If an argument is not for virtual time.
        OSError: If the system refuses namespaces or sockets, a connection of the kernel failed, or
            a file cannot be written.
        Exception: Whatever a control in Python raised, with a note that names the flow.
    """
    require()
    if virtual_time and spin:
        raise ValueError("on virtual time, waiting is exact, and spinning takes much longer")
    if virtual_time and samples is not None:
        raise ValueError("samples during the run are for real time; the results have them all")
    with replacing_files(captures) as capture_files, replacing_files(qlogs) as qlog_files:
        if not virtual_time:
            return _run(
                scenario,
                progress=progress,
                samples=samples,
                captures=capture_files,
                qlogs=qlog_files,
                dccp_over_udp=dccp_over_udp,
                spin=spin,
            )
        from skywave.realtime.virtual.call import call  # noqa: PLC0415  (only for virtual time)
        from skywave.realtime.virtual.kernel import find_for  # noqa: PLC0415

        for member in scenario.members():
            if type(member).__module__ == "__main__":
                name = type(member).__name__
                raise LaunchError(f"{name}: define it in a module, which the guest can import")
        files = [*capture_files.values(), *qlog_files.values()]
        for file in files:
            if not Path(file).is_file():
                raise LaunchError(f"{file} is a device or a pipe: a guest writes files only")
        return call(
            _run,
            find_for(scenario),
            progress=progress,
            writable=[Path(file).absolute().parent for file in files],
            scenario=scenario,
            captures={name: str(Path(file).absolute()) for name, file in capture_files.items()},
            qlogs={name: str(Path(file).absolute()) for name, file in qlog_files.items()},
            dccp_over_udp=dccp_over_udp,
            virtual_time=True,
        )


def _run(
    scenario: Scenario,
    *,
    progress: Callable[[Progress], None] | None,
    samples: Callable[[float, Mapping[str, pa.RecordBatch]], None] | None = None,
    captures: dict[str, str],
    qlogs: dict[str, str],
    dccp_over_udp: bool,
    spin: bool = False,
    virtual_time: bool = False,
) -> RealTimeRun:
    """Run a scenario on this machine, which is a guest if it is for virtual time."""
    duration_s = scenario.duration.seconds

    def told(
        stage: str, fraction: float, time_s: float, tables: Mapping[str, pa.RecordBatch]
    ) -> None:
        if progress is not None:
            progress(Progress(stage, fraction * duration_s, duration_s))
        if samples is not None and tables:
            samples(time_s, tables)

    watch = Watch()
    run, report = _core.run_live(
        scenario.to_json(),
        progress=told,
        captures=captures,
        qlogs=qlogs,
        members=live(scenario.members()),
        dccp_over_udp=dccp_over_udp,
        spin=spin,
        virtual_time=virtual_time,
        samples=samples is not None,
    )
    # Nobody else is in a guest.
    shares = Shares() if virtual_time else watch.shares()
    timing = {**json.loads(report), "virtual_time": virtual_time}
    return RealTimeRun(Results.of_core(run), RunAccuracy(timing, shares))
