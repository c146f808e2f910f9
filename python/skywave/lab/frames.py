"""Frames: what was sampled, as bytes for the page.

A frame is the length of its header in four bytes, little endian, the header in JSON, and for each
of the header's ``tables`` an Arrow IPC stream of the length that stands there.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = {
    "flows": (
        "time_s",
        "flow",
        "goodput_bps",
        "delay_mean_s",
        "srtt_s",
        "cwnd_packets",
        "ssthresh_packets",
    ),
    "links": ("time_s", "link", "throughput_bps", "drops", "marks", "queue_packets"),
    "controls": ("time_s", "flow", "name", "value"),
    "queues": ("time_s", "link", "name", "value"),
    "rates": ("time_s", "flow", "allowed_rate_bps", "receive_rate_bps", "loss_event_rate"),
}
"""What the page draws of each table."""


def frame(run: str, epoch: int, time_s: float, tables: Mapping[str, pa.RecordBatch]) -> bytes:
    """Return a frame of those tables that have rows."""
    streams = {name: _stream(name, batch) for name, batch in tables.items() if batch.num_rows}
    header = {
        "run": run,
        "epoch": epoch,
        "time_s": time_s,
        "tables": [[name, len(stream)] for name, stream in streams.items()],
    }
    text = json.dumps(header).encode()
    return b"".join([struct.pack("<I", len(text)), text, *streams.values()])


def _stream(name: str, batch: pa.RecordBatch) -> bytes:
    columns = COLUMNS[name]
    # Without the descriptions of columns, which would be most of a small frame.
    plain = pa.RecordBatch.from_arrays([batch.column(column) for column in columns], columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_batch(plain)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream
