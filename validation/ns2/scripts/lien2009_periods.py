"""Read an ns-2 queue trace of the voice flow on stdin, and count by periods.

Used by lien2009.tcl, which traces the first and the last link; its arguments are those of `main`.
Writes a CSV with a row for each period.
"""

import csv
import sys
from pathlib import Path

DATA = ("DCCP_Data", "DCCP_DataAck", "cbr", "udp", "exp", "tfrc")


def main(arguments: list[str]) -> None:
    """Read the trace between nodes `first` and `last` and write `out`."""
    out, interval, length, start, stop, first, last, begins, ends = arguments
    sent: dict[str, float] = {}
    delays: list[tuple[float, float]] = []
    for line in sys.stdin:
        fields = line.split()
        if len(fields) < 12 or fields[7] != "1" or fields[4] not in DATA:
            continue
        time, packet = float(fields[1]), fields[11]
        if fields[0] == "+" and fields[2] == first:
            sent[packet] = time
        elif fields[0] == "r" and fields[3] == last:
            delays.append((time, time - sent[packet]))
    period_s = float(length)
    count = round((float(stop) - float(start)) / period_s)
    made = [
        float(begins) + index * float(interval)
        for index in range(int((float(ends) - float(begins)) / float(interval)) + 1)
    ]
    rows = []
    for period in range(count):
        since = float(start) + period * period_s
        until = since + period_s
        generated = sum(since <= time < until for time in made if time < float(ends))
        arrived = [delay for time, delay in delays if since <= time < until]
        rows.append((f"{since:g}-{until:g}", generated, arrived))
    base = len(rows[0][2]) or 1
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["period", "ratio_percent", "delay_ms", "loss_percent"])
        for name, generated, arrived in rows:
            received = len(arrived)
            ratio, lost = 100 * received / base, 100 * (1 - received / max(generated, 1))
            delay_ms = 1e3 * sum(arrived) / received if received else 0
            table.writerow([name, f"{ratio:.2f}", f"{delay_ms:.1f}", f"{lost:.2f}"])


main(sys.argv[1:])
