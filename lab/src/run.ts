// A run on the page: its scenario, its buttons, and its charts.

import { Charts } from "./charts";
import { Editor } from "./editor";
import { Knobs } from "./knobs";
import type { Clock, Connection, Frame, Message } from "./protocol";
import type { Schema } from "./schema";
import { RUN_PANELS } from "./series";

export interface Offered {
  key: string;
  group: string;
  title: string;
}

const CHECK_MS = 250;
const WIDE = matchMedia("(min-width: 901px)");
const REAL =
  "In real time, the scenario runs between sockets on this machine and takes as long as it says. It may be stopped, " +
  "but not paused, stepped or paced, and its knobs are for the next run.";
const REMEDY = "Stop other programs, or use lower rates and fewer flows, and run it again.";

export class Run {
  readonly element: HTMLElement;
  private readonly editor: Editor;
  private readonly knobs: Knobs;
  readonly charts: Charts;
  private state: (Message & { type: "state" }) | undefined;
  private checking: number | undefined;
  private turning = false;
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
    this.charts = new Charts(this.find(".charts"), name, RUN_PANELS, connection.meanings);
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
    this.find(".clock").onchange = () => this.buttons();
    // On a narrow screen, the charts come before it.
    this.find<HTMLDetailsElement>(".turning").open = WIDE.matches;
    this.buttons();
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

  /** The clock of the next run. */
  private get nextClock(): Clock {
    return this.find<HTMLSelectElement>(".clock").value as Clock;
  }

  /** The clock of the run that is on, or else of the next one. */
  private get clock(): Clock {
    return this.isOn ? this.state!.clock : this.nextClock;
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
    // What the last run has ended with is not said of this one.
    this.complain("");
    this.send("start", { text: this.text, clock: this.nextClock, pace: this.pace, paused });
  }

  toggle(): void {
    if (!this.isOn) this.start();
    else if (this.clock === "simulated") this.send(this.state!.state === "paused" ? "play" : "pause");
  }

  step(): void {
    if (this.clock === "real_time") return;
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
        this.buttons();
        this.find(".state").title = message.warnings.join("\n");
        break;
      case "text":
        this.text = message.text;
        this.check();
        // A knob is for the next run if that has another clock than the one which is over.
        if (this.state?.clock === "simulated" && this.clock === "simulated") this.send("change", { text: message.text });
        break;
      case "error": {
        const at = message.line === null ? "" : `line ${message.line}: `;
        const field = message.field ? `${message.field}: ` : "";
        this.complain(`${at}${field}${message.message}`);
        if (message.line !== null) this.find<HTMLDetailsElement>(".text").open = true;
        if (message.line !== null) this.editor.mark(message.message, message.line, message.column ?? 1);
        break;
      }
      case "state":
        if (this.state === undefined || message.epoch !== this.state.epoch || message.time_s < this.time) this.charts.clear();
        this.state = message;
        this.time = message.time_s;
        this.buttons();
        // What has arrived last may have been drawn before it was known to be the last.
        if (!this.isOn) this.charts.describe();
        break;
    }
  }

  take(frame: Frame): void {
    if (this.state === undefined || frame.epoch !== this.state.epoch) return;
    this.frames += 1;
    this.time = frame.time_s;
    this.charts.take(frame);
  }

  /** Draws what has arrived since the last time. */
  draw(now: number): void {
    if (this.state === undefined || !this.charts.isDirty) return;
    this.draws += 1;
    this.charts.draw(now, 0, this.state.end_s ?? this.time);
    this.progress();
    if (this.find<HTMLSelectElement>(".link").options.length !== this.charts.links.length) this.downloads();
  }

  redraw(): void {
    this.charts.redraw();
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
    const isReal = this.clock === "real_time";
    const disabled = {
      ".start": this.nextClock === "real_time" && this.connection.noRealTime !== null,
      ".play": !this.isOn || isReal,
      ".step": isReal,
      ".stop": !this.isOn,
      ".pace": isReal,
    };
    for (const [name, isDisabled] of Object.entries(disabled)) this.find<HTMLButtonElement>(name).disabled = isDisabled;
    this.knobs.isDisabled = this.isOn && isReal;
    const note = this.find(".note");
    note.hidden = !isReal && this.nextClock === "simulated";
    note.textContent = this.connection.noRealTime ?? REAL;
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
    const end = state.end_s ?? this.time;
    const real = state.clock === "real_time" ? " in real time" : "";
    const phase = this.find(".phase");
    const said = `${words[state.state]}${real}:`;
    // Screen readers say what is written here, so it is written once.
    if (phase.textContent !== said) phase.textContent = said;
    this.find(".time").textContent = `${this.time.toFixed(1)} of ${end} s`;
    this.find(".notes").textContent = state.notes.join("\n");
    const warning = this.find(".inaccuracy");
    warning.hidden = state.inaccuracy === null;
    const warned = state.inaccuracy === null ? "" : `Timing was too inaccurate: ${state.inaccuracy}. ${REMEDY}`;
    if (warning.textContent !== warned) warning.textContent = warned;
    const done = this.find<HTMLProgressElement>(".done");
    done.value = end > 0 ? this.time / end : 0;
  }

  private downloads(): void {
    const toml = this.find<HTMLAnchorElement>(".toml");
    URL.revokeObjectURL(toml.href);
    toml.href = URL.createObjectURL(new Blob([this.text], { type: "application/toml" }));
    this.find(".downloads").hidden = this.state === undefined;
    const links = this.find<HTMLSelectElement>(".link");
    const known = this.charts.links;
    if (links.options.length !== known.length) links.replaceChildren(...known.map((link) => new Option(link)));
    this.find(".of-link").hidden = this.state?.clock === "real_time";
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
