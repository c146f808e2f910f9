"""A process that runs a scenario in real time for the page, and writes frames to its output.

``python -m skywave.lab.real_time_process RUN`` reads a scenario from standard input, as JSON on one
line; the run ends early when the input does. It writes frames (:mod:`skywave.lab.messages`), each
after its length in four bytes, little endian. Frames with samples go to the page unchanged. The
last frame has a ``type``: :data:`RESULTS`, with all tables and the accuracy of the timing, or
:data:`ERROR`.
"""

from __future__ import annotations

import struct
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

from skywave import realtime
from skywave.lab.messages import frame, packed
from skywave.realtime.accuracy import STRICT_MS
from skywave.realtime.privileges import LaunchError
from skywave.scenario import Scenario

if TYPE_CHECKING:
    import pyarrow as pa

RESULTS, ERROR = "results", "error"
SWITCH_S = 0.0005
"""How long the thread that writes may keep the one that moves packets waiting."""


class Frames:
    """Frames on a stream. A separate thread writes them: the run must not wait for the reader."""

    def __init__(self, run: str, out: BinaryIO) -> None:
        """Begin to write."""
        self._run = run
        self._out = out
        self._samples: SimpleQueue[tuple[float, Mapping[str, pa.RecordBatch]] | None] = (
            SimpleQueue()
        )
        # If the run fails in a way that nobody expects, the process must end all the same.
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def sampled(self, time_s: float, tables: Mapping[str, pa.RecordBatch]) -> None:
        """Pass on new samples."""
        self._samples.put((time_s, tables))

    def end(self, last: bytes) -> None:
        """Write all frames, and this one last."""
        self._samples.put(None)
        self._thread.join()
        self._send(last)

    def _write(self) -> None:
        while (sample := self._samples.get()) is not None:
            time_s, tables = sample
            if any(batch.num_rows for batch in tables.values()):
                self._send(frame(self._run, 0, time_s, tables))

    def _send(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # then the input has ended too, and with it the run
            self._out.write(struct.pack("<I", len(data)) + data)
            self._out.flush()


def main(name: str) -> None:
    """Run the scenario on standard input."""
    sys.setswitchinterval(SWITCH_S)
    scenario = Scenario.from_text(sys.stdin.readline(), "json")
    is_stopped = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        is_stopped.set()

    def look(_: object) -> None:
        if is_stopped.is_set():
            raise KeyboardInterrupt

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    frames = Frames(name, sys.stdout.buffer)
    try:
        run = realtime.run(scenario, progress=look, samples=frames.sampled)
    except (ValueError, OSError, RuntimeError, LaunchError, KeyboardInterrupt) as error:
        # ScenarioError is a ValueError.
        is_stop = isinstance(error, KeyboardInterrupt)
        message = "stopped before it began" if is_stop else str(error)
        frames.end(packed({"type": ERROR, "message": message}, {}))
        return
    header = {
        "type": RESULTS,
        "time_s": run.results.totals["duration_s"],
        "notes": list(run.accuracy.lines()),
        "inaccuracy": run.accuracy.failure(STRICT_MS),
    }
    frames.end(packed(header, run.results.tables))


if __name__ == "__main__":
    main(sys.argv[1])
