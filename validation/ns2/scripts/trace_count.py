"""Count the trace-all events of DCCP data packets on stdin, as an awk script over the file would.

Used by nor2011.tcl with traceall=1.
"""

import sys
from collections import Counter

whole: Counter[str] = Counter()
window: Counter[str] = Counter()
for line in sys.stdin:
    event, time, _, _, kind = line.split(" ", 5)[:5]
    if kind in ("DCCP_Data", "DCCP_DataAck"):
        whole[event] += 1
        if 20 <= float(time) <= 180:
            window[event] += 1
for name, count in (("whole", whole), ("20-180 s", window)):
    percent = 100 * count["d"] / max(count["r"], 1)
    events = " ".join(f"{event} {count[event]}" for event in "+-rd")
    sys.stdout.write(f"traceall {name}: {events}  d/r {percent:.4f}%\n")
