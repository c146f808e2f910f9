// What has been received, as columns for charts: one time axis per chart, one column per series.

import type { Table } from "@uwdata/flechette";

/** The series of one chart. All have a value, or null, at every time. */
export class Series {
  readonly times: number[] = [];
  readonly names: string[] = [];
  readonly values: (number | null)[][] = [];
  private readonly index = new Map<string, number>();

  /** Adds the rows of a table: its times, the names of their series, and their values. */
  add(times: ArrayLike<number>, names: ArrayLike<string>, values: ArrayLike<number | null>, scale: number): void {
    for (let row = 0; row < times.length; row++) {
      const time = times[row]!;
      if (this.times.length === 0 || time > this.times[this.times.length - 1]!) {
        this.times.push(time);
        for (const column of this.values) column.push(null);
      }
      const value = values[row];
      this.column(names[row]!)[this.times.length - 1] = value == null ? null : value * scale;
    }
  }

  private column(name: string): (number | null)[] {
    let at = this.index.get(name);
    if (at === undefined) {
      at = this.names.length;
      this.index.set(name, at);
      this.names.push(name);
      this.values.push(new Array<null>(this.times.length).fill(null));
    }
    return this.values[at]!;
  }
}

export interface Panel {
  key: string;
  title: string;
  unit: string;
  table: "flows" | "links" | "controls" | "queues" | "rates";
  by: "flow" | "link";
  column: string;
  scale: number;
  /** The names of inner values that this panel has; it is made when the first arrives. */
  inner?: string;
}

const panel = (key: string, title: string, unit: string, table: Panel["table"], column: string, scale = 1): Panel => ({
  key, title, unit, table, column, scale, by: table === "links" || table === "queues" ? "link" : "flow",
});

/** The panels of every run. */
export const PANELS: Panel[] = [
  panel("cwnd", "Congestion window", "packets", "flows", "cwnd_packets"),
  panel("goodput", "Goodput", "Mbit/s", "flows", "goodput_bps", 1e-6),
  panel("delay", "One-way delay, mean", "ms", "flows", "delay_mean_s", 1e3),
  panel("queue", "Queue", "packets", "links", "queue_packets"),
  panel("drops", "Drops per sample", "packets", "links", "drops"),
];

/** The panels of rate-based controls (TFRC), if the scenario records them. */
export const RATE_PANELS: Panel[] = [
  panel("allowed", "Allowed rate X", "Mbit/s", "rates", "allowed_rate_bps", 1e-6),
  panel("received", "Receive rate X_recv", "Mbit/s", "rates", "receive_rate_bps", 1e-6),
  panel("loss", "Loss event rate p", "", "rates", "loss_event_rate"),
];

/** Returns a panel for an inner value of a control or a queue discipline. */
export function innerPanel(table: "controls" | "queues", name: string): Panel {
  const title = table === "controls" ? `Control: ${name}` : `Queue discipline: ${name}`;
  return { ...panel(`${table}/${name}`, title, "", table, "value"), inner: name };
}

/** Adds what a table has for a panel. Access links are left out: their queues are empty. */
export function addTable(series: Series, panel: Panel, table: Table, keep: (name: string) => boolean): void {
  const times = table.getChild("time_s").toArray() as ArrayLike<number>;
  const names = table.getChild(panel.by).toArray() as string[];
  const values = table.getChild(panel.column).toArray() as ArrayLike<number | null>;
  const inner = panel.inner === undefined ? undefined : (table.getChild("name").toArray() as string[]);
  const rows: number[] = [];
  for (let row = 0; row < names.length; row++) {
    if (keep(names[row]!) && (inner === undefined || inner[row] === panel.inner)) rows.push(row);
  }
  series.add(rows.map((row) => times[row]!), rows.map((row) => names[row]!), rows.map((row) => values[row] ?? null), panel.scale);
}
