"""Run lien2009.tcl with forty seeds for each setting, and write means and standard deviations.

`python lien2009_average.py DIRECTORY` writes periods.csv and seconds.csv, the answers that
`python/skywave/papers/lien2009/ns2/` holds. It takes some minutes.
"""

import csv
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from skywave._files import replacing

SCRIPT = Path(__file__).parent / "lien2009.tcl"
SEEDS = range(1, 41)
JITTER = "overhead=0.05"
TCPS = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "newreno", "Sack1": "sack", "Vegas": "vegas"}
COLUMNS = (
    "received",
    "ratio_pct",
    "delay_ms",
    "loss_net_pct",
    "loss_app_pct",
    "loss_app_over300",
    "loss_app_over400",
)
DRAWN = [("udp", "Newreno"), ("dccp", "Newreno"), ("dccp", "Vegas")]


def settings() -> dict[str, list[str]]:
    """Return the arguments of each setting."""
    chosen = {}
    for tcp, name in TCPS.items():
        chosen[f"scenario1-dccp-{name}"] = [f"tcp={tcp}", JITTER]
        chosen[f"scenario1-dccp-{name}-nojitter"] = [f"tcp={tcp}"]
        chosen[f"scenario1-udp-{name}"] = [f"tcp={tcp}", "voip=udp", JITTER]
    for tcp in ("Newreno", "Vegas"):
        for voice in ("dccp", "udp"):
            name = f"scenario2-{voice}-{TCPS[tcp]}"
            chosen[name] = [f"tcp={tcp}", f"voip={voice}", "scen=2", JITTER]
    chosen["scenario3-dccp-newreno"] = ["tcp=Newreno", "ntcp=1", "dur=200", JITTER]
    return chosen


def run(arguments: list[str], seed: int, out: Path, tcpout: Path | None = None) -> None:
    """Run ns-2 once."""
    command = ["ns", str(SCRIPT), f"seed={seed}", "jit=0.5", f"out={out}", *arguments]
    if tcpout is not None:
        command.append(f"tcpout={tcpout}")
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def read(path: Path) -> list[dict[str, str]]:
    """Read a CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main(directory: Path) -> None:
    """Write both files; where a run fails, what is there stays."""
    heads = [f"{column}_{what}" for column in COLUMNS for what in ("mean", "sd")]
    with (
        tempfile.TemporaryDirectory() as temporary,
        replacing(directory) as partial,
        (partial / "periods.csv").open("w", encoding="utf-8", newline="") as periods_file,
        (partial / "seconds.csv").open("w", encoding="utf-8", newline="") as seconds_file,
    ):
        out, seconds_out = Path(temporary) / "periods.csv", Path(temporary) / "seconds.csv"
        periods = csv.writer(periods_file, lineterminator="\n")
        periods.writerow(["setting", "period", *heads, "n"])
        for name, arguments in settings().items():
            runs = []
            for seed in SEEDS:
                run(arguments, seed, out)
                runs.append(read(out))
            for rows in zip(*runs, strict=True):
                values = [[float(row[column]) for row in rows] for column in COLUMNS]
                summary = [
                    f(value) for value in values for f in (statistics.mean, statistics.pstdev)
                ]
                periods.writerow(
                    [name, rows[0]["period"], *(f"{value:.2f}" for value in summary), len(rows)]
                )
        seconds = csv.writer(seconds_file, lineterminator="\n")
        seconds.writerow(["setting", "t_s", "voip_kbps", "tcp1_kbps"])
        for scenario in (1, 2):
            for voice, tcp in DRAWN:
                arguments = [f"tcp={tcp}", f"voip={voice}", f"scen={scenario}", JITTER]
                run(arguments, 1, out, seconds_out)
                name = f"scenario{scenario}-{voice}-{TCPS[tcp]}"
                for row in read(seconds_out):
                    seconds.writerow([name, row["t_s"], row["voip_kbps"], row["tcp1_kbps"]])


main(Path(sys.argv[1]))
