"""Messages to a page: greetings, the progress of its runs, errors, and samples as frames of bytes.

A frame is the length of its header in four bytes, little endian, the header in JSON, and for each
of the header's ``tables`` an Arrow IPC stream of the length that stands there.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pyarrow as pa

from skywave import _core
from skywave.lab.reading import PageError

Send = Callable[[bytes | dict[str, object]], Awaitable[None]]
"""Sends a frame as bytes, or a message."""
Clock = Literal["simulated", "real_time"]
Phase = Literal["running", "paused", "again", "ended", "stopped"]
"""``again``: it runs up to the present once more, because its scenario has changed."""
SENDERS = ("srtt_s", "cwnd_packets", "ssthresh_packets")
COLUMNS = {
    "flows": ("time_s", "flow", "goodput_bps", "delay_mean_s", *SENDERS),
    "links": ("time_s", "link", "throughput_bps", "drops", "marks", "queue_packets"),
    "controls": ("time_s", "flow", "name", "value"),
    "queues": ("time_s", "link", "name", "value"),
    "rates": ("time_s", "flow", "allowed_rate_bps", "receive_rate_bps", "loss_event_rate"),
}
"""What the page draws of each table of a run."""


def meanings() -> dict[str, dict[str, str]]:
    """Return the meanings of these columns, by table."""
    return {
        table["name"]: {
            column["name"]: column["doc"]
            for column in table["columns"]
            if column["name"] in COLUMNS[table["name"]]
        }
        for table in json.loads(_core.table_schemas())
        if table["name"] in COLUMNS
    }


def frame(
    run: str, epoch: int, time_s: float, tables: Mapping[str, pa.RecordBatch | pa.Table]
) -> bytes:
    """Return a frame of those tables of a run that have rows."""
    # Without the descriptions of columns, which would be most of a small frame.
    plain = {
        name: pa.Table.from_arrays(
            [batch.column(column) for column in COLUMNS[name]], COLUMNS[name]
        )
        for name, batch in tables.items()
        if batch.num_rows
    }
    return packed({"run": run, "epoch": epoch, "time_s": time_s}, plain)


def packed(header: Mapping[str, Any], tables: Mapping[str, pa.RecordBatch | pa.Table]) -> bytes:
    """Return a frame with this header and these tables."""
    streams = {name: _stream(table) for name, table in tables.items()}
    sizes = [[name, len(stream)] for name, stream in streams.items()]
    text = json.dumps({**header, "tables": sizes}).encode()
    return b"".join([struct.pack("<I", len(text)), text, *streams.values()])


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Return the header and the tables of a frame."""
    (length,) = struct.unpack_from("<I", data)
    at = 4 + length
    header: dict[str, Any] = json.loads(data[4:at])
    tables = {}
    for name, size in header.pop("tables"):
        with pa.ipc.open_stream(data[at : at + size]) as stream:
            tables[name] = stream.read_all()
        at += size
    return header, tables


def _stream(table: pa.RecordBatch | pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


@dataclass(frozen=True)
class State:
    """The state of a run, or of the connections of a socket."""

    run: str
    clock: Clock
    state: Phase
    time_s: float
    end_s: float | None
    """When it ends; None if nobody knows."""
    epoch: int = 0
    """How often it has restarted: frames of other epochs do not belong to it."""
    until_s: float = 0.0
    """Up to when it is run again."""
    kept_s: float | None = None
    """How much of the past is shown; None for all."""
    notes: tuple[str, ...] = ()
    """What else there is to say of it, in lines."""
    inaccuracy: str | None = None
    """Why its timing was too inaccurate; None if it was accurate, or is not known yet."""

    def message(self) -> dict[str, object]:
        """Return it as the page reads it."""
        return {"type": "state", **asdict(self)}


def hello(
    shows: Literal["scenarios", "connections"],
    title: str,
    *,
    session: str = "",
    no_real_time: str | None = None,
    meanings: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, object]:
    """Return the first message to a page.

    ``session`` names it in the addresses of downloads. ``no_real_time`` says why runs in real time
    are unavailable. ``meanings`` has those of columns, by table.
    """
    return {
        "type": "hello",
        "session": session,
        "shows": shows,
        "title": title,
        "no_real_time": no_real_time,
        "meanings": meanings or {},
    }


def error(run: str, fault: PageError) -> dict[str, object]:
    """Return the error of a message, a scenario or a run; ``run`` may be empty."""
    return {
        "type": "error",
        "run": run,
        "field": fault.field,
        "message": fault.message,
        "line": fault.line,
        "column": fault.column,
    }
