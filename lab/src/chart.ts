// A chart of one panel: uPlot, whose colours are those of the page.

import uPlot from "uplot";
import type { Panel, Series } from "./series";

// Okabe and Ito's colours, which differ for people who see colours differently; their blue is too dark
// for a dark page.
const DARK = matchMedia("(prefers-color-scheme: dark)");
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c00", "#999999"];
const DASHES = [[], [6, 4], [2, 3]];
const HEIGHT = 170;

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  readonly element = document.createElement("figure");
  private readonly place = document.createElement("div");
  private readonly summary = document.createElement("figcaption");
  private plot: uPlot | undefined;
  private from = 0;
  private to = 0;
  private top = 0;
  private shown = "";

  /** `meaning` is that of the column which it shows. */
  constructor(
    private readonly panel: Panel,
    private readonly sync: string,
    meaning: string,
  ) {
    this.element.dataset["panel"] = panel.key;
    this.summary.textContent = this.title;
    this.place.setAttribute("role", "img");
    this.element.append(this.summary, this.place);
    if (panel.about === undefined) {
      this.summary.title = meaning;
    } else {
      const about = document.createElement("p");
      about.className = "about";
      about.textContent = panel.about;
      this.summary.append(about);
    }
    new ResizeObserver(() => this.plot?.setSize({ width: this.place.clientWidth, height: HEIGHT })).observe(this.place);
  }

  private get title(): string {
    return this.panel.unit ? `${this.panel.title} (${this.panel.unit})` : this.panel.title;
  }

  /** Draws the series from one time to another, and from 0 to `top`. `colourOf` is the number of a name's colour. */
  draw(series: Series, colourOf: (name: string) => number, from: number, to: number, top: number): void {
    const data = [series.times, ...series.values] as uPlot.AlignedData;
    this.from = from;
    this.to = to;
    this.top = top;
    const shown = series.names.join("\n");
    if (this.plot === undefined || this.shown !== shown) {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(series, colourOf), data, this.place);
      this.shown = shown;
    } else {
      this.plot.setData(data);
    }
  }

  /** Says in words what the chart shows, for those who do not see it. */
  describe(series: Series): void {
    const last = series.names.map((name, at) => {
      const value = series.values[at]!.findLast((value) => value !== null);
      return value == null ? `${name}: none` : `${name}: ${value.toPrecision(3)}`;
    });
    this.place.setAttribute("aria-label", `${this.title}, last values: ${last.slice(0, 12).join(", ") || "none"}`);
  }

  redraw(): void {
    this.plot?.destroy();
    this.plot = undefined;
  }

  private options(series: Series, colourOf: (name: string) => number): uPlot.Options {
    const colours = COLOURS.with(0, DARK.matches ? "#4aa3df" : "#0072b2");
    const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    return {
      width: Math.max(200, this.place.clientWidth),
      height: HEIGHT,
      // The times of a scenario are no dates.
      scales: { x: { time: false, range: () => [this.from, Math.max(this.to, this.from + 0.001)] }, y: { range: () => [0, this.top > 0 ? this.top : 1] } },
      cursor: { sync: { key: this.sync }, drag: { x: false, y: false } },
      legend: { show: true, live: true },
      hooks: { setLegend: [(u) => u.root.classList.toggle("pointed", u.legend.idx != null)] },
      axes: [{ ...axis, size: 28, values: (_u, ticks) => ticks.map((tick) => `${tick} s`) }, { ...axis, size: 54 }],
      series: [
        { label: "time", value: (_u, value) => (value == null ? "" : `${value.toFixed(2)} s`) },
        ...series.names.map((name) => ({
          label: name,
          stroke: colours[colourOf(name) % colours.length]!,
          dash: DASHES[Math.floor(colourOf(name) / COLOURS.length) % DASHES.length]!,
          width: 1.5,
          spanGaps: true,
          points: { show: false },
          value: (_u: uPlot, value: number | null, _series: number, at: number | null) =>
            at === null ? "" : value == null ? "–" : value.toPrecision(4),
        })),
      ],
    };
  }
}
