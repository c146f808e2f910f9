"""The results of a run, as Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypedDict

from skywave import _core, _json
from skywave._errors import SkywaveError
from skywave._files import replacing
from skywave._folders import Kind, check_folder

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from skywave.plots.runs import RunKind

TOTALS = "totals.json"
"""The file that marks the directory of a run."""
MOST_NAMED = 10
"""The most flows that have a warning of their own."""


class FlowTotals(TypedDict):
    """Totals of one flow."""

    name: str
    transport: str
    """``"tcp"``, ``"dccp"`` or ``"udp"``."""
    packets_sent: int
    """Data packets sent, including retransmissions."""
    bytes_sent: int
    """Bytes of application data in them."""
    delivered_packets: int
    """Data packets received, without duplicates."""
    delivered_bytes: int
    """Bytes of application data delivered, by TCP in order."""
    active_s: float
    """From the flow's start until its application ended and its last data packet arrived, or until
    the end of the run. A flow that then still has data to send, or over TCP to be acknowledged, is
    active until the end of the run. 0 if it never started."""
    goodput_bps: float
    """Delivered bits divided by ``active_s``; 0 if that is 0."""
    drops: int
    """Packets lost on links, in both directions."""
    retransmissions: int
    timeouts: int
    receive_window_limited_s: float
    """How long new data waited only because it did not fit TCP's receive window, until the sender's
    last event and without recoveries with SACK. 0 for other transports."""


class LinkTotals(TypedDict):
    """Totals of one direction of a link."""

    name: str
    """Such as ``"r1->r2"``."""
    rate_bps: int
    """The link's mean rate over the run."""
    arrivals: int
    """Packets that arrived at the link."""
    drops: int
    """Packets lost by the link."""
    delivered: int
    """Packets that reached the far end."""
    delivered_bytes: int
    marks: int
    """Delivered packets that the link's queue marked."""
    utilisation: float
    """The delivered bytes as a fraction of what the link could have carried; 0 if nothing."""
    queue_max_packets: int
    """The longest queue at a time of sampling."""


class Totals(TypedDict):
    """Totals of a run."""

    name: str
    """The scenario's name."""
    seed: int
    duration_s: float
    """Simulated time."""
    events: int
    """Events that the simulator processed."""
    flows: list[FlowTotals]
    links: list[LinkTotals]


class Threads(TypedDict):
    """How a run used threads."""

    used: int
    """How many had a part of the network."""
    shared: float
    """The fraction of events that happened while all of them were at work."""
    obstacle: str | None
    """Why threads did not help, if several were asked for and they did not."""


class NoTableError(SkywaveError, AttributeError):
    """A run has no such table. The message says how to get it."""


@dataclass(eq=False, repr=False)
class Results:
    """The tables and totals of one run.

    Times are seconds of simulated time. A sample at ``time_s`` covers the probe interval that ends
    then. The tables of probes that were off are missing: as attributes they raise
    :class:`NoTableError`.
    """

    tables: dict[str, pa.Table]
    """The tables by name."""
    totals: Totals
    """Totals of the run, of its flows and of its links."""
    fingerprint: str
    """A hash of every event; the same scenario and seed give the same."""
    violations: list[str]
    """What contradicts the laws of the network, one sentence each: for example, a packet that
    leaves a link but never entered it. It is a fault of Skywave, or of a control or queue of
    your own. Empty unless the run was checked: ``run(.., verify_physics=True)``.
    """
    threads: Threads | None = None
    """How the run used threads, on which nothing else here depends. ``None`` if the results were
    read from files."""

    @classmethod
    def of_core(cls, run: _core.Run) -> Self:
        """Return the core's results."""
        import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables to hold)

        tables = {name: pa.Table.from_batches([batch]) for name, batch in run.tables.items()}
        return cls(
            tables,
            json.loads(run.summary),
            run.fingerprint,
            list(run.violations),
            json.loads(run.threads),
        )

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read the results that :meth:`write` or ``skywave run --out`` has written.

        Raises:
            FileNotFoundError: If the directory has no results of a run.
            OSError: If a file cannot be read.
            ValueError: If a file is damaged.
        """
        directory = Path(directory)
        file = directory / TOTALS
        if not file.is_file():
            raise FileNotFoundError(f"{directory} has no results of a run: it has no {TOTALS}")
        document = json.loads(file.read_text(encoding="utf-8"))
        fingerprint, violations = document.pop("fingerprint"), document.pop("violations")
        return cls(read_tables(directory), document, fingerprint, violations)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name}: {table.num_rows}" for name, table in self.tables.items())
        return f"<Results of {self.totals['name']!r}: rows of {rows}>"

    @property
    def flows(self) -> pa.Table:
        """Goodput, delay, srtt, cwnd, ssthresh and pipe of each flow, sampled."""
        return self._table("flows")

    @property
    def links(self) -> pa.Table:
        """Arrivals, drops, deliveries, throughput and queue of each link, sampled."""
        return self._table("links")

    @property
    def link_flows(self) -> pa.Table:
        """Arrivals, drops, deliveries and throughput of each flow at each link, sampled."""
        return self._table("link_flows")

    def at_link(self, link: str) -> pa.Table:
        """Return the samples of one link."""
        return _where(self.links, "link", link)

    def flows_at(self, link: str, flow: str | None = None) -> pa.Table:
        """Return the samples of the flows at one link, or of one of them."""
        rows = _where(self.link_flows, "link", link)
        return rows if flow is None else _where(rows, "flow", flow)

    @property
    def windows(self) -> pa.Table:
        """cwnd, ssthresh and pipe at each change (requires ``Probes(windows=True)``)."""
        return self._probed("windows")

    @property
    def rates(self) -> pa.Table:
        """X, X_recv, p and R of TFRC senders (requires ``Probes(rates=True)``).

        One row per report and per change. ``rate_bps`` is X_inst, the instantaneous sending rate;
        ``allowed_rate_bps`` is X; ``receive_rate_bps`` is X_recv as reported. For the traffic of
        feedback packets, see the flow in ``link_flows`` on the links of the reverse path.
        """
        return self._probed("rates")

    @property
    def voice(self) -> pa.Table:
        """The fate of the frames of each voice call, by the interval in which they were made.

        ``codec`` is that of the scenario, null if it does not say, and ``mouth_to_ear_s`` the time
        from the beginning of a frame's speech until it is played. Both are the same in all rows of
        a call, and with them :mod:`skywave.results.emodel` rates it.

        The codec produced ``frames``. The transport ``refused`` some (no room, or dropped while it
        made the source wait) and ``sent`` others. Links ``lost`` some of the sent frames, some
        arrived too ``late``, and the rest was ``played``. Frames in none of these columns were
        still queued or in flight when the run ended, after their deadline. Intervals whose last
        deadline came after the end of the run are omitted. ``wait_mean_s`` is the time in the
        sender and ``delay_mean_s`` the time until arrival, both since the frame was made.
        ``mode_mean`` is the codec's mode; 0 is the best.
        """
        return self._table(
            "voice",
            "no voice flow (give a flow a Voice source), "
            "or a run that ended before the deadlines of the first interval",
        )

    @property
    def transfers(self) -> pa.Table:
        """Every file of web traffic, in the order in which the transfers began.

        The connection opened at ``start_s``. At ``finish_s``, the sender knew the transfer to be
        complete, and ``arrived_bytes`` of ``bytes`` had arrived. Both are null if the run
        ended before.
        """
        return self._table("transfers", "no web traffic; give a flow a Web source")

    @property
    def drops(self) -> pa.Table:
        """Every dropped packet."""
        return self._table("drops")

    @property
    def packets(self) -> pa.Table:
        """Every packet at every link (requires ``Probes(packets=True)``)."""
        return self._probed("packets")

    def _probed(self, name: str) -> pa.Table:
        return self._table(name, f"not measured; set Probes({name}=True) in the scenario")

    def _table(self, name: str, why_not: str = "the run has no such table") -> pa.Table:
        try:
            return self.tables[name]
        except KeyError:
            raise NoTableError(f"{name}: {why_not}", name=name, obj=self) from None

    def to_pandas(self) -> dict[str, pd.DataFrame]:
        """Return the tables as pandas data frames (requires the extra ``skywave[pandas]``)."""
        return {name: table.to_pandas() for name, table in self.tables.items()}

    def to_polars(self) -> dict[str, pl.DataFrame]:
        """Return the tables as polars data frames (requires the extra ``skywave[polars]``)."""
        import polars as pl  # noqa: PLC0415  (an extra)

        frames = {}
        for name, table in self.tables.items():
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)  # noqa: S101  (a table is never a series)
            frames[name] = frame
        return frames

    def warnings(self) -> list[str]:
        """Return warnings about the results, one sentence each.

        A flow may have been limited by its receive window, and the mean goodput of a flow may have
        its warm-up inside (MSER-5; docs/statistics.md).
        """
        from skywave.results.samples import by_name  # noqa: PLC0415  (loads numpy)
        from skywave.stats import warm_up_in_mean, warm_ups_in_means  # noqa: PLC0415

        found = self.limits()
        samples = by_name(self.flows, "flow", "goodput_bps") if "flows" in self.tables else {}
        active = {flow: one.active() for flow, one in samples.items()}
        warm_ups = {flow: warm_up_in_mean(one.times_s, one.values) for flow, one in active.items()}
        known = {flow: warm_up for flow, warm_up in warm_ups.items() if warm_up is not None}
        warm_up = warm_ups_in_means("goodput", known)
        return found if warm_up is None else [*found, warm_up]

    def limits(self) -> list[str]:
        """Return a warning for each flow limited by its receive window: part of ``warnings``."""
        from skywave.stats import limited_by_receive_window  # noqa: PLC0415  (loads numpy)

        limited = [limited_by_receive_window(flow) for flow in self.totals["flows"]]
        found = [sentence for sentence in limited if sentence is not None]
        if len(found) > MOST_NAMED:
            more = len(found) - MOST_NAMED
            found[MOST_NAMED:] = [f"{more:,} more flows were limited by their receive windows"]
        return found

    def plot(
        self,
        kind: RunKind = "series",
        *,
        measure: str | Sequence[str] = (),
        flows: Collection[str] = (),
        links: Collection[str] = (),
        from_s: float = 0.0,
        to_s: float | None = None,
        log: Collection[str] = (),
        size_in: tuple[float, float] | None = None,
        out: Sequence[str | Path] = (),
    ) -> Figure:
        """Return a figure of the run, and write it to the files ``out`` (PDF, SVG or PNG).

        :func:`skywave.plots.of_run` describes the arguments. :func:`skywave.plots.write` writes
        further files of the figure, with fonts that publishers accept.

        Raises:
            ValueError: If a name is unknown; the message lists those that there are.
            OSError: If a file cannot be written.
        """
        from skywave import plots  # noqa: PLC0415  (loads matplotlib)

        figure = plots.of_run(
            self.tables,
            kind,
            measure=measure,
            flows=flows,
            links=links,
            from_s=from_s,
            to_s=to_s,
            log=log,
            size_in=size_in,
        )
        plots.write(figure, out)
        return figure

    def write(self, directory: str | Path) -> Path:
        """Write each table as Parquet and CSV, and ``totals.json``; return the directory.

        :meth:`load` reads them. Removes files of an earlier run that this run does not write.

        Raises:
            OSError: If the directory cannot be written, or contains anything other than a run's
                results. Its contents then stay.
        """
        check_folder(directory, Kind.RUN)
        with replacing(directory, whole=True) as partial:
            self.write_tables(partial)
            document = {
                **self.totals,
                "fingerprint": self.fingerprint,
                "violations": self.violations,
            }
            text = _json.text(document) + "\n"
            (partial / TOTALS).write_text(text, encoding="utf-8")
        return Path(directory)

    def write_tables(self, directory: Path, prefix: str = "") -> None:
        """Write each table as Parquet and CSV into a directory; without rows, it has columns."""
        import pyarrow.csv  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415

        for name, table in self.tables.items():
            pyarrow.parquet.write_table(table, directory / f"{prefix}{name}.parquet")
            pyarrow.csv.write_csv(table, directory / f"{prefix}{name}.csv")


def read_tables(directory: Path) -> dict[str, pa.Table]:
    """Return the tables that :meth:`Results.write_tables` has written, by name.

    Raises:
        OSError: If a table cannot be read.
        ValueError: If a file is not Parquet.
    """
    import pyarrow.parquet  # noqa: PLC0415  (loaded when there are tables)

    return {
        file.stem: pyarrow.parquet.read_table(file) for file in sorted(directory.glob("*.parquet"))
    }


def _where(table: pa.Table, column: str, name: str) -> pa.Table:
    import pyarrow.compute as pc  # noqa: PLC0415  (loaded when there are tables to search)

    return table.filter(pc.field(column) == name)
