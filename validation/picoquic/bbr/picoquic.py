"""picoquic's BBR, CUBIC and NewReno on its virtual clock, by ``flows.c``."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from validation.picoquic.bbr.networks import CASES, NETWORKS, PAIRED, SEEDS, Network

if TYPE_CHECKING:
    from collections.abc import Mapping

    Rows = list[Mapping[str, object]]

OPTIONS = ("", "ERHLA", "ERHLDA")
"""Options of BBR that turn off what picoquic adds to it.

At this commit they have no effect, since bbr.c defines ``BBRExperiment`` below the macros that test
for it; runs with options use a copy that defines it above them. ``D`` also removes the draft's way
out of ProbeBW_UP, so there is a run with and one without it.
"""
BESIDE = (
    ("cubic", ""),
    ("newreno", ""),
    ("cubic", "ERHLDA"),
    ("newreno", "ERHLDA"),
)
"""What runs beside BBR, and the options of BBR."""
LIBRARIES = ("libpicotls-openssl.a", "libpicotls-minicrypto.a", "libpicotls-core.a")
FLAGS = ("-O3", "-DNDEBUG", "-DDISABLE_DEBUG_PRINTF", "-DPTLS_WITHOUT_FUSION")


@dataclass(frozen=True)
class Programs:
    """The program with bbr.c as it is, and the one in which BBR's options have an effect."""

    picoquic: Path
    picotls: Path
    directory: Path

    def __post_init__(self) -> None:
        """Compile both."""
        self.directory.mkdir(parents=True, exist_ok=True)
        source = (self.picoquic / "picoquic/bbr.c").read_text(encoding="utf-8")
        test = "#ifdef BBRExperiment"
        copy = self.directory / "bbr_options.c"
        copy.write_text(source.replace(test, f"#define BBRExperiment on\n{test}", 1), "utf-8")
        flows = Path(__file__).with_name("flows.c")
        libraries: list[str | Path] = [self.picoquic / "build/libpicoquic-core.a"]
        libraries += [self.picotls / name for name in LIBRARIES]
        linked = [*libraries, "-lssl", "-lcrypto", "-lpthread", "-lm"]
        self._cc(*FLAGS, "-c", "-o", self.directory / "bbr.o", copy)
        self._cc("-Wall", "-o", self.directory / "flows", flows, *linked)
        options = self.directory / "bbr.o"
        self._cc("-Wall", "-o", self.directory / "flows_options", flows, options, *linked)

    def _cc(self, *arguments: str | Path) -> None:
        include = (f"-I{self.picoquic}/picoquic", f"-I{self.picotls}/include")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", *include, *arguments], check=True)

    def run(self, link: Network, **settings: object) -> list[Mapping[str, str]]:
        """Run flows on a network, and return the row of each."""
        changed = settings.get("opt1") or settings.get("opt2")
        program = self.directory / ("flows_options" if changed else "flows")
        all_settings = {
            "rate": link.mbps * 1_000_000,
            "rtt": link.rtt_ms * 1000,
            "queue": link.queue_ms * 1000,
            "loss": link.loss,
            **settings,
        }
        arguments = [f"{name}={value}" for name, value in all_settings.items()]
        header = _output(program, "header")
        lines = _output(program, str(self.picoquic), *arguments)
        return list(csv.DictReader(io.StringIO(header + lines)))


def single(programs: Programs) -> Rows:
    """Run each control alone on each network."""
    controls = [("bbr", options) for options in OPTIONS] + [("cubic", ""), ("newreno", "")]
    return [
        {"network": network, **row}
        for network in NETWORKS
        for cc, options in controls
        for seed in SEEDS
        for row in programs.run(NETWORKS[network], cc1=cc, opt1=options, seed=seed)
    ]


def pairs(programs: Programs) -> Rows:
    """Run BBR beside another control."""
    rows: Rows = []
    for network in PAIRED:
        for other, options in BESIDE:
            for case in CASES:
                for seed in SEEDS:
                    bbr, second = (2, 1) if case == "other_first" else (1, 2)
                    settings: dict[str, object] = {"seed": seed}
                    if case != "together":
                        settings |= {"start2": 10_000_000, "duration": 70, "from": 20}
                    settings |= {f"cc{bbr}": "bbr", f"opt{bbr}": options, f"cc{second}": other}
                    flows = programs.run(NETWORKS[network], **settings)
                    total = sum(float(flow["goodput_mbps"]) for flow in flows)
                    for flow in flows:
                        share = f"{float(flow['goodput_mbps']) / total:.4f}"
                        group = {"network": network, "beside": other, "case": case}
                        rows.append({**group, "share": share, **flow})
    return rows


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
