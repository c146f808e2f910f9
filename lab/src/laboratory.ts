// The laboratory: one run, or two side by side.

import { packed, unpacked } from "./link";
import type { View } from "./main";
import type { Connection, Frame, Message } from "./protocol";
import { Run, type Offered } from "./run";
import type { Schema } from "./schema";

const find = <E extends HTMLElement>(selector: string): E => document.querySelector<E>(selector)!;

export class Laboratory implements View {
  private readonly runs = new Map<string, Run>();
  private readonly beside = find<HTMLButtonElement>("#beside");
  private schema: Schema = {};
  private offered: Offered[] = [];
  private used: Run;

  constructor(private readonly connection: Connection) {
    find(".tools").hidden = false;
    this.used = this.add("a");
    this.use(this.used);
    this.beside.onclick = () => this.toggleSecond();
    const link = find<HTMLButtonElement>("#link");
    link.onclick = () => void this.copyLink(link);
    addEventListener("keydown", (event) => this.press(event));
    // For measurements of how many frames arrive.
    Object.assign(globalThis, { skywaveLab: { runs: this.runs } });
    void this.open();
  }

  receive(message: Message): void {
    if (message.type !== "hello") this.runs.get(message.run)?.receive(message);
  }

  take(frame: Frame): void {
    this.runs.get(frame.run)?.take(frame);
  }

  reset(): void {
    for (const run of this.runs.values()) run.reset();
  }

  draw(now: number): void {
    for (const run of this.runs.values()) run.draw(now);
  }

  redraw(): void {
    for (const run of this.runs.values()) run.redraw();
  }

  private async open(): Promise<void> {
    const texts = await Promise.all(location.hash.slice(1).split("|").filter(Boolean).map(unpacked)).catch(() => []);
    this.runs.get("a")!.text = texts[0] ?? (await fetch("/first").then((answer) => answer.text()));
    if (texts[1] !== undefined) {
      this.toggleSecond();
      this.runs.get("b")!.text = texts[1];
    }
    this.schema = (await fetch("/schema").then((answer) => answer.json())) as Schema;
    // The papers take the server some seconds.
    this.offered = (await fetch("/scenarios").then((answer) => answer.json())) as Offered[];
    for (const run of this.runs.values()) run.offer(this.offered);
  }

  private use(run: Run): void {
    this.used = run;
    for (const one of this.runs.values()) one.element.classList.toggle("used", one === run);
  }

  private add(name: string): Run {
    const run = new Run(name, this.connection, () => this.schema, (one) => this.use(one));
    this.runs.set(name, run);
    find("#runs").append(run.element);
    run.offer(this.offered);
    return run;
  }

  /** Shows a second run with the scenario of the first, or takes it away. */
  private toggleSecond(): void {
    const second = this.runs.get("b");
    if (second === undefined) {
      const [first, added] = [this.runs.get("a")!, this.add("b")];
      added.text = first.text;
      added.charts.beside = first.charts;
      first.charts.beside = added.charts;
    } else {
      second.stop();
      this.runs.delete("b");
      second.element.remove();
      this.runs.get("a")!.charts.beside = undefined;
      this.use(this.runs.get("a")!);
    }
    find("#runs").classList.toggle("two", second === undefined);
    this.beside.setAttribute("aria-pressed", String(second === undefined));
  }

  private async copyLink(button: HTMLButtonElement): Promise<void> {
    const texts = await Promise.all([...this.runs.values()].map((run) => packed(run.text)));
    history.replaceState(null, "", `#${texts.join("|")}`);
    let copied = true;
    await navigator.clipboard.writeText(location.href).catch(() => (copied = false));
    button.textContent = copied ? "Copied" : "It is in the address";
    setTimeout(() => (button.textContent = "Copy link"), 2000);
  }

  private press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const writes = target.closest("input, select, textarea, button, a, summary, .cm-editor") !== null;
    const acts: Record<string, () => void> = {
      " ": () => this.used.toggle(),
      ".": () => this.used.step(),
      s: () => this.used.stop(),
      r: () => this.used.start(),
      "2": () => this.toggleSecond(),
    };
    const act = acts[event.key];
    if (writes || act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }
}
