// The charts of a run, or of a socket: they grow with the frames that arrive.

import { Chart } from "./chart";
import { innerPanel } from "./inner";
import type { Frame, Meanings } from "./protocol";
import { rowsOf, Series, type Panel } from "./series";

/** The most series in a chart; more cannot be told apart. */
const MOST_SERIES = 20;
/** How often charts are described in words while they move. */
const DESCRIBE_MS = 1000;

interface ChartView {
  panel: Panel;
  chart: Chart;
  series: Series;
  /** Where its own values would have the axis end. */
  top: number;
}

export class Charts {
  private readonly charts = new Map<string, ChartView>();
  /** The colours of the names that are shown, by what they are names of. */
  private readonly shown = { flow: new Map<string, number>(), link: new Map<string, number>(), connection: new Map<string, number>() };
  private dirty = new Set<string>();
  private described = -Infinity;
  private other: Charts | undefined;

  /** `sync` is the name of the cursor that the charts share, `meanings` are those of columns. */
  constructor(
    private readonly place: HTMLElement,
    private readonly sync: string,
    private readonly panels: Panel[],
    private readonly meanings: Meanings,
  ) {
    this.clear();
  }

  get isDirty(): boolean {
    return this.dirty.size > 0;
  }

  get links(): string[] {
    return [...this.shown.link.keys()];
  }

  series(key: string): Series | undefined {
    return this.charts.get(key)?.series;
  }

  /** The charts of another run, if there is one: those that show the same have the same range. */
  set beside(other: Charts | undefined) {
    this.other = other;
    this.touch();
  }

  clear(): void {
    this.charts.clear();
    this.other?.touch();
    this.dirty.clear();
    for (const names of Object.values(this.shown)) names.clear();
    this.place.replaceChildren();
    for (const panel of this.panels) if (panel.always) this.add(panel);
  }

  take(frame: Frame): void {
    for (const [name, table] of frame.tables) {
      const panels = this.panels.filter((panel) => panel.table === name);
      if (name === "controls" || name === "queues") {
        const inner = new Set(table.getChild("name").toArray() as string[]);
        panels.push(...[...inner].map((one) => innerPanel(name, one)));
      }
      for (const panel of panels) {
        const rows = rowsOf(panel, table, (one) => this.isShown(panel.by, one));
        const there = this.charts.get(panel.key) ?? (rows.values.some((value) => value !== null) ? this.add(panel) : undefined);
        there?.series.add(rows);
        if (there !== undefined) this.dirty.add(panel.key);
      }
    }
  }

  /** Forgets what was before a time. Names without values since then make room for others. */
  forget(before: number): void {
    for (const [key, { series }] of this.charts) {
      series.forget(before);
      this.dirty.add(key);
    }
    for (const [by, names] of Object.entries(this.shown)) {
      const drawn = [...this.charts.values()].filter(({ panel }) => panel.by === by);
      for (const name of names.keys()) if (!drawn.some(({ series }) => series.names.includes(name))) names.delete(name);
    }
  }

  /** Draws what has arrived since the last time. */
  draw(now: number, from: number, to: number): void {
    for (const key of this.dirty) {
      const drawn = this.charts.get(key)!;
      const { chart, panel, series } = drawn;
      const top = series.top(panel.isCut ?? false);
      if (top !== drawn.top) this.other?.touch(key);
      drawn.top = top;
      const common = Math.max(top, this.other?.charts.get(key)?.top ?? 0);
      chart.draw(series, (name) => this.shown[panel.by].get(name) ?? 0, from, to, common);
    }
    this.dirty.clear();
    if (now - this.described < DESCRIBE_MS) return;
    this.described = now;
    this.describe();
  }

  /** Says in words what the charts show, for those who do not see them. */
  describe(): void {
    for (const { chart, series } of this.charts.values()) chart.describe(series);
  }

  /** Draws everything anew, in the colours of the page. */
  redraw(): void {
    for (const { chart } of this.charts.values()) chart.redraw();
    this.touch();
  }

  /** Has everything drawn that is there, or one chart. */
  private touch(only?: string): void {
    for (const key of only === undefined ? this.charts.keys() : [only]) if (this.charts.has(key)) this.dirty.add(key);
  }

  private isShown(by: Panel["by"], name: string): boolean {
    const names = this.shown[by];
    if (names.size < MOST_SERIES && !names.has(name) && !isAccess(name, by)) {
      const taken = new Set(names.values());
      names.set(name, Array.from({ length: MOST_SERIES }, (_, colour) => colour).find((colour) => !taken.has(colour))!);
    }
    return names.has(name);
  }

  private add(panel: Panel): ChartView {
    const meaning = this.meanings[panel.table]?.[panel.column] ?? "";
    const drawn = { panel, chart: new Chart(panel, this.sync, meaning), series: new Series(), top: 0 };
    this.charts.set(panel.key, drawn);
    this.place.append(drawn.chart.element);
    return drawn;
  }
}

/** Whether a link leads to a host of a dumbbell, whose queue is of no interest. */
function isAccess(name: string, by: Panel["by"]): boolean {
  return by === "link" && /^([sd]\d+->r[12]|r[12]->[sd]\d+)$/.test(name);
}
