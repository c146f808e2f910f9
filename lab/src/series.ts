// What has been received, as columns for charts: one time axis per chart, one column per series.

import type { Table } from "@uwdata/flechette";

/** The rows of a table that belong to one chart. Each has a time, the name of its series, a value. */
export interface Rows {
  times: number[];
  names: string[];
  values: (number | null)[];
}

/** How far an axis goes beyond its largest value. */
const ABOVE = 1.08;
/** A value is unusual if it is more than this many times as large as what lasts: the largest median of values in a row. */
const UNUSUAL = 1.5;
/** Of how many values a median is. Four in a row do not change it. */
const LASTING = 9;

/** The series of one chart. All have a value, or null, at every time. */
export class Series {
  readonly times: number[] = [];
  readonly names: string[] = [];
  readonly values: (number | null)[][] = [];
  /** For each value, the median of it and those before it that are not 0; 0 if they are fewer than LASTING. */
  private readonly medians: number[][] = [];
  /** For each name, its last values that are not 0. */
  private readonly last: number[][] = [];

  add(rows: Rows): void {
    for (const [row, time] of rows.times.entries()) {
      if (this.times.length === 0 || time > this.times[this.times.length - 1]!) {
        this.times.push(time);
        for (const column of this.values) column.push(null);
        for (const column of this.medians) column.push(0);
      }
      const at = this.place(rows.names[row]!);
      const value = rows.values[row]!;
      this.values[at]![this.times.length - 1] = value;
      if (value !== null && value > 0) this.medians[at]![this.times.length - 1] = this.median(at, value);
    }
  }

  /** Returns where an axis from 0 ends: a little above the largest value, or, if `isCut`, at most where values become unusual. */
  top(isCut: boolean): number {
    let top = 0;
    for (const [at, column] of this.values.entries()) {
      const largest = column.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
      const lasting = this.medians[at]!.reduce((most, median) => Math.max(most, median), 0);
      // The first values of a flow grow from one to the next.
      top = Math.max(top, isCut && lasting > 0 ? Math.min(largest, UNUSUAL * lasting) : largest);
    }
    return top * ABOVE;
  }

  /** Forgets what was before a time, and series that have nothing after it. */
  forget(before: number): void {
    const kept = this.times.findIndex((time) => time >= before);
    const first = kept < 0 ? this.times.length : kept;
    if (first === 0) return;
    this.times.splice(0, first);
    for (const column of [...this.values, ...this.medians]) column.splice(0, first);
    for (let at = this.names.length - 1; at >= 0; at--) {
      if (this.values[at]!.some((value) => value !== null)) continue;
      this.names.splice(at, 1);
      this.values.splice(at, 1);
      this.medians.splice(at, 1);
      this.last.splice(at, 1);
    }
  }

  /** Returns the place of a name's columns. */
  private place(name: string): number {
    let at = this.names.indexOf(name);
    if (at < 0) {
      at = this.names.length;
      this.names.push(name);
      this.values.push(new Array<null>(this.times.length).fill(null));
      this.medians.push(new Array<number>(this.times.length).fill(0));
      this.last.push([]);
    }
    return at;
  }

  /** Returns the median of a name's last values and this one; 0 if they are fewer than LASTING. */
  private median(at: number, value: number): number {
    const last = this.last[at]!;
    last.push(value);
    if (last.length < LASTING) return 0;
    if (last.length > LASTING) last.shift();
    return last.toSorted((one, other) => one - other)[(LASTING - 1) / 2]!;
  }
}

/** Returns the rows of a table that a panel shows: those of some names, and of its inner value. */
export function rowsOf(panel: Panel, table: Table, isShown: (name: string) => boolean): Rows {
  const times = table.getChild("time_s").toArray() as ArrayLike<number>;
  const names = table.getChild(panel.by).toArray() as string[];
  const values = table.getChild(panel.column).toArray() as ArrayLike<number | null>;
  const inner = panel.inner === undefined ? undefined : (table.getChild("name").toArray() as string[]);
  const known = panel.since === undefined ? undefined : (table.getChild(panel.since).toArray() as ArrayLike<number | null>);
  const rows: Rows = { times: [], names: [], values: [] };
  for (let row = 0; row < names.length; row++) {
    if (!isShown(names[row]!) || (inner !== undefined && inner[row] !== panel.inner)) continue;
    const value = values[row];
    const isNone = value == null || (value === 0 && panel.zeroIsNone) || (known !== undefined && known[row] == null);
    rows.times.push(times[row]!);
    rows.names.push(names[row]!);
    rows.values.push(isNone ? null : value * panel.scale);
  }
  return rows;
}

export interface Panel {
  key: string;
  title: string;
  unit: string;
  table: "flows" | "links" | "controls" | "queues" | "rates" | "connections";
  by: "flow" | "link" | "connection";
  column: string;
  scale: number;
  /** Whether it is there from the beginning; others are when their first value is. */
  always: boolean;
  /** The name of the inner value that it shows, if it shows one. */
  inner?: string;
  /** Whether 0 means that there is no such value: a sender with a rate has no window. */
  zeroIsNone?: boolean;
  /** The column that has no value before this one means something: a flow that has not started has a window. */
  since?: string;
  /** Whether unusual values may be beyond the axis. */
  isCut?: boolean;
  /** What it shows, in a sentence, if its title does not say. */
  about?: string;
}

const BY = { flows: "flow", links: "link", controls: "flow", queues: "link", rates: "flow", connections: "connection" } as const;

const panel = (key: string, title: string, unit: string, table: Panel["table"], column: string, scale = 1, always = true): Panel => ({
  key, title, unit, table, column, scale, by: BY[table], always,
});
const later = (key: string, title: string, unit: string, table: Panel["table"], column: string, scale = 1): Panel =>
  panel(key, title, unit, table, column, scale, false);

/** The panels of a run. Those of rate-based controls (TFRC) are shown if the scenario records rates. */
export const RUN_PANELS: Panel[] = [
  { ...panel("cwnd", "Congestion window", "packets", "flows", "cwnd_packets"), zeroIsNone: true, since: "srtt_s" },
  { ...panel("goodput", "Goodput", "Mbps", "flows", "goodput_bps", 1e-6), isCut: true },
  panel("delay", "One-way delay, mean", "ms", "flows", "delay_mean_s", 1e3),
  panel("queue", "Queue", "packets", "links", "queue_packets"),
  panel("drops", "Drops per sample", "packets", "links", "drops"),
  later("allowed", "Allowed rate X", "Mbps", "rates", "allowed_rate_bps", 1e-6),
  later("received", "Receive rate X_recv", "Mbps", "rates", "receive_rate_bps", 1e-6),
  later("loss", "Loss event rate p", "", "rates", "loss_event_rate"),
];

/** The panels of a socket. A connection has a window or a rate. */
export const SOCKET_PANELS: Panel[] = [
  { ...panel("goodput", "Goodput, received", "Mbps", "connections", "goodput_bps", 1e-6), isCut: true },
  panel("sent", "Data sent", "Mbps", "connections", "sent_bps", 1e-6),
  panel("rtt", "Round-trip time, smoothed", "ms", "connections", "srtt_s", 1e3),
  later("cwnd", "Congestion window", "packets", "connections", "cwnd_packets"),
  later("ssthresh", "Slow-start threshold", "packets", "connections", "ssthresh_packets"),
  later("pipe", "Pipe: packets outstanding", "packets", "connections", "pipe_packets"),
  later("lost", "Lost per sample", "packets", "connections", "lost_packets"),
  later("marked", "Marked per sample", "packets", "connections", "marked_packets"),
  later("allowed", "Allowed rate X", "Mbps", "connections", "allowed_rate_bps", 1e-6),
  later("received", "Receive rate X_recv", "Mbps", "connections", "receive_rate_bps", 1e-6),
  later("loss", "Loss event rate p", "", "connections", "loss_event_rate"),
];
