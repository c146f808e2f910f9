// A run on the page: its scenario, its buttons, and its charts.

import { Chart } from "./chart";
import { Editor } from "./editor";
import { Knobs } from "./knobs";
import type { Connection, Frame, Message } from "./protocol";
import type { Schema } from "./schema";
import { addTable, innerPanel, PANELS, RATE_PANELS, Series, type Panel } from "./series";

export interface Offered {
  key: string;
  group: string;
  title: string;
}

const CHECK_MS = 250;
/** The most series in a chart; more cannot be told apart. */
const MOST_SERIES = 20;

export class Run {
  readonly element: HTMLElement;
  private readonly editor: Editor;
  private readonly knobs: Knobs;
  private readonly charts = new Map<string, { panel: Panel; chart: Chart; series: Series }>();
  private readonly names = { flow: new Set<string>(), link: new Set<string>() };
  private state: (Message & { type: "state" }) | undefined;
  private checking: number | undefined;
  private turning = false;
  private dirty = new Set<string>();
  private described = 0;
  private time = 0;
  /** How many frames have been taken, and how often they have been drawn. */
  frames = 0;
  draws = 0;

  constructor(
    readonly name: string,
    private readonly connection: Connection,
    schema: () => Schema,
    onUse: (run: Run) => void,
  ) {
    const template = document.querySelector<HTMLTemplateElement>("#run")!;
    this.element = (template.content.cloneNode(true) as DocumentFragment).querySelector<HTMLElement>("section")!;
    this.element.setAttribute("aria-label", `Run ${name.toUpperCase()}`);
    this.editor = new Editor(this.find(".editor"), `Scenario of run ${name.toUpperCase()}, TOML`, schema, () => this.changed());
    this.knobs = new Knobs(this.find<HTMLFormElement>(".knobs"), name, (field, value) => {
      this.turning = true;
      this.send("turn", { text: this.editor.text, field, value });
    });
    this.element.addEventListener("focusin", () => onUse(this));
    this.element.addEventListener("pointerdown", () => onUse(this));
    this.on(".start", () => this.start());
    this.on(".play", () => this.toggle());
    this.on(".step", () => this.step());
    this.on(".stop", () => this.stop());
    this.find(".pace").onchange = () => {
      if (this.state !== undefined) this.send("pace", { pace: this.pace });
    };
    this.find(".scenarios").onchange = () => void this.load(this.find<HTMLSelectElement>(".scenarios").value);
    this.find(".link").onchange = () => this.downloads();
    for (const panel of PANELS) this.add(panel);
  }

  get text(): string {
    return this.editor.text;
  }

  set text(text: string) {
    this.editor.text = text;
  }

  /** Whether it can be played, paused and changed. */
  private get isOn(): boolean {
    return this.state !== undefined && this.state.state !== "ended" && this.state.state !== "stopped";
  }

  private get pace(): number | null {
    const { value } = this.find<HTMLSelectElement>(".pace");
    return value === "" ? null : Number(value);
  }

  offer(offered: Offered[]): void {
    const groups = Map.groupBy(offered, ({ group }) => group);
    const select = this.find<HTMLSelectElement>(".scenarios");
    const { value } = select;
    select.replaceChildren(
      ...[...groups].map(([group, members]) => {
        const element = document.createElement("optgroup");
        element.label = group;
        element.append(...members.map(({ key, title }) => new Option(title, key)));
        return element;
      }),
    );
    if (value) select.value = value;
  }

  async load(key: string): Promise<void> {
    const path = key.split("/").map(encodeURIComponent).join("/");
    const answer = await fetch(`/scenarios/${path}`);
    if (answer.ok) this.text = await answer.text();
  }

  start(paused = false): void {
    this.send("start", { text: this.text, pace: this.pace, paused });
  }

  toggle(): void {
    if (!this.isOn) this.start();
    else this.send(this.state!.state === "paused" ? "play" : "pause");
  }

  step(): void {
    if (this.isOn) this.send("step");
    else {
      this.start(true);
      this.send("step");
    }
  }

  stop(): void {
    if (this.isOn) this.send("stop");
  }

  /** The server is there again, and knows nothing of this run. */
  reset(): void {
    this.state = undefined;
    this.buttons();
    if (this.text) this.send("check", { text: this.text });
  }

  receive(message: Message): void {
    switch (message.type) {
      case "checked":
        this.complain("");
        this.editor.clear();
        this.knobs.show(message.knobs);
        this.find(".state").title = message.warnings.join("\n");
        break;
      case "text":
        this.text = message.text;
        this.check();
        if (this.state !== undefined) this.send("change", { text: message.text });
        break;
      case "error": {
        const at = message.line === null ? "" : `line ${message.line}: `;
        const field = message.field ? `${message.field}: ` : "";
        this.complain(`${at}${field}${message.message}`);
        if (message.line !== null) this.editor.mark(message.message, message.line, message.column ?? 1);
        break;
      }
      case "state":
        if (this.state === undefined || message.epoch !== this.state.epoch || message.time_s < this.time) this.clear();
        this.state = message;
        this.time = message.time_s;
        this.buttons();
        break;
    }
  }

  take(frame: Frame): void {
    if (this.state === undefined || frame.epoch !== this.state.epoch) return;
    this.frames += 1;
    this.time = frame.time_s;
    for (const [name, table] of frame.tables) {
      if (name === "rates") for (const panel of RATE_PANELS) if (!this.charts.has(panel.key)) this.add(panel);
      for (const { panel, series } of this.charts.values()) {
        if (panel.table !== name) continue;
        addTable(series, panel, table, (one) => this.isShown(panel.by, one));
        this.dirty.add(panel.key);
      }
      if (name !== "controls" && name !== "queues") continue;
      for (const inner of new Set(table.getChild("name").toArray() as string[])) {
        const panel = innerPanel(name, inner);
        if (this.charts.has(panel.key)) continue;
        addTable(this.add(panel), panel, table, (one) => this.isShown(panel.by, one));
        this.dirty.add(panel.key);
      }
    }
  }

  /** Draws what has arrived since the last time. */
  draw(now: number): void {
    if (this.state === undefined || this.dirty.size === 0) return;
    const describes = now - this.described > 1000 || !this.isOn;
    if (describes) this.described = now;
    this.draws += 1;
    for (const key of this.dirty) {
      const { chart, series } = this.charts.get(key)!;
      chart.draw(series, this.state.end_s);
      if (describes) chart.describe(series);
    }
    this.dirty.clear();
    this.progress();
    if (this.find<HTMLSelectElement>(".link").options.length !== this.names.link.size) this.downloads();
  }

  redraw(): void {
    for (const [key, { chart }] of this.charts) {
      chart.redraw();
      this.dirty.add(key);
    }
  }

  private isShown(by: "flow" | "link", name: string): boolean {
    if (this.names[by].size < MOST_SERIES && !isAccess(name, by)) this.names[by].add(name);
    return this.names[by].has(name);
  }

  private clear(): void {
    this.charts.clear();
    this.dirty.clear();
    this.names.flow.clear();
    this.names.link.clear();
    this.find(".charts").replaceChildren();
    for (const panel of PANELS) this.add(panel);
  }

  private add(panel: Panel): Series {
    const chart = new Chart(panel, this.name);
    const series = new Series();
    this.charts.set(panel.key, { panel, chart, series });
    this.find(".charts").append(chart.element);
    return series;
  }

  private changed(): void {
    clearTimeout(this.checking);
    this.checking = setTimeout(() => this.check(), this.turning ? 0 : CHECK_MS);
    this.turning = false;
  }

  private check(): void {
    clearTimeout(this.checking);
    this.send("check", { text: this.text });
    this.downloads();
  }

  private complain(message: string): void {
    const place = this.find(".error");
    place.textContent = message;
    place.hidden = message === "";
  }

  private buttons(): void {
    const state = this.state?.state;
    this.find(".play").textContent = state === "paused" ? "Play" : "Pause";
    for (const name of [".play", ".stop"]) this.find<HTMLButtonElement>(name).disabled = !this.isOn;
    this.find<HTMLButtonElement>(".step").disabled = false;
    this.element.dataset["state"] = state ?? "";
    this.progress();
    this.downloads();
  }

  private progress(): void {
    const { state } = this;
    if (state === undefined) return;
    const words = {
      running: "Running",
      paused: "Paused",
      again: `The scenario has changed: running it again up to ${state.until_s.toFixed(1)} s`,
      ended: "Ended",
      stopped: "Stopped",
    };
    this.find(".state").textContent = `${words[state.state]}: ${this.time.toFixed(1)} of ${state.end_s} s`;
    this.find<HTMLProgressElement>(".done").value = this.time / state.end_s;
  }

  private downloads(): void {
    const toml = this.find<HTMLAnchorElement>(".toml");
    URL.revokeObjectURL(toml.href);
    toml.href = URL.createObjectURL(new Blob([this.text], { type: "application/toml" }));
    this.find(".downloads").hidden = this.state === undefined;
    const links = this.find<HTMLSelectElement>(".link");
    const known = [...this.names.link];
    if (links.options.length !== known.length) links.replaceChildren(...known.map((link) => new Option(link)));
    const base = `/runs/${this.connection.session}/${this.name}`;
    this.find<HTMLAnchorElement>(".tables").href = `${base}/tables.zip`;
    this.find<HTMLAnchorElement>(".figure").href = `${base}/run.svg`;
    this.find<HTMLAnchorElement>(".packets").href = `${base}/packets.pcapng?link=${encodeURIComponent(links.value)}`;
  }

  private send(type: string, more: Record<string, unknown> = {}): void {
    this.connection.send({ type, run: this.name, ...more });
  }

  private on(selector: string, act: () => void): void {
    this.find(selector).onclick = act;
  }

  private find<E extends HTMLElement = HTMLElement>(selector: string): E {
    return this.element.querySelector<E>(selector)!;
  }
}

/** Whether a link leads to a host of a dumbbell, whose queue is of no interest. */
function isAccess(name: string, by: "flow" | "link"): boolean {
  return by === "link" && /^([sd]\d+->r[12]|r[12]->[sd]\d+)$/.test(name);
}
