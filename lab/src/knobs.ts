// Knobs: sliders and choices. A slider covers a factor of 16 on both sides of the scenario's value.

import type { Knob } from "./protocol";

const OCTAVES = 4;
const STEPS = 100;
const MOST_LOSS = 0.2;

/** Returns a number in the unit that people read. */
export function shown({ kind }: Knob, value: number): string {
  const digits = (number: number): string => String(Number(number.toPrecision(3)));
  if (kind === "rate") return value >= 1e6 ? `${digits(value / 1e6)} Mbps` : `${digits(value / 1e3)} kbps`;
  if (kind === "duration") return `${digits(value * 1e3)} ms`;
  if (kind === "share") return `${digits(value * 100)} %`;
  return `${Math.max(1, Math.round(value))} packets`;
}

export class Knobs {
  private readonly middles = new Map<string, number>();
  private drawn = "";

  constructor(
    private readonly form: HTMLFormElement,
    private readonly prefix: string,
    private readonly turn: (field: string, value: number | string) => void,
  ) {
    form.onsubmit = (event) => event.preventDefault();
  }

  set isDisabled(isDisabled: boolean) {
    for (const control of this.form.elements) (control as HTMLInputElement | HTMLSelectElement).disabled = isDisabled;
  }

  /** Shows the knobs of a scenario. What has the focus stays as it is. */
  show(knobs: Knob[]): void {
    const shape = JSON.stringify(knobs.map(({ field, label, choices }) => [field, label, choices]));
    if (shape !== this.drawn) {
      this.drawn = shape;
      this.middles.clear();
      this.form.replaceChildren(...knobs.map((knob) => (knob.kind === "choice" ? this.choice(knob) : this.slider(knob))));
    }
    for (const knob of knobs) this.set(knob);
  }

  private set(knob: Knob): void {
    const control = this.form.elements.namedItem(knob.field);
    if (control instanceof HTMLSelectElement) control.value = String(knob.value);
    if (!(control instanceof HTMLInputElement) || document.activeElement === control) return;
    control.value = String(this.position(knob, Number(knob.value)));
    this.say(control, shown(knob, Number(knob.value)));
  }

  private position(knob: Knob, value: number): number {
    if (knob.kind === "share") return Math.sqrt(value / MOST_LOSS) * STEPS;
    const middle = this.middles.get(knob.field) ?? value;
    this.middles.set(knob.field, middle);
    return (Math.log2(value / middle) / OCTAVES) * STEPS;
  }

  private value(knob: Knob, position: number): number {
    if (knob.kind === "share") return (position / STEPS) ** 2 * MOST_LOSS;
    return this.middles.get(knob.field)! * 2 ** ((position / STEPS) * OCTAVES);
  }

  private say(control: HTMLInputElement, text: string): void {
    control.setAttribute("aria-valuetext", text);
    control.parentElement!.querySelector(".value")!.textContent = text;
  }

  private labelled(knob: Knob, control: HTMLElement, ...more: HTMLElement[]): HTMLElement {
    control.id = `${this.prefix}-${knob.field}`;
    const label = document.createElement("label");
    label.htmlFor = control.id;
    label.textContent = knob.label;
    const element = document.createElement("div");
    element.append(label, ...more, control);
    return element;
  }

  private choice(knob: Knob): HTMLElement {
    const select = document.createElement("select");
    select.name = knob.field;
    select.append(...knob.choices.map((choice) => new Option(choice)));
    select.onchange = () => this.turn(knob.field, select.value);
    return this.labelled(knob, select);
  }

  private slider(knob: Knob): HTMLElement {
    const input = document.createElement("input");
    input.type = "range";
    input.name = knob.field;
    input.min = String(knob.kind === "share" ? 0 : -STEPS);
    input.max = String(STEPS);
    input.step = "1";
    const value = () => this.value(knob, Number(input.value));
    input.oninput = () => this.say(input, shown(knob, value()));
    input.onchange = () => this.turn(knob.field, value());
    const text = document.createElement("span");
    text.className = "value";
    // The slider says it itself.
    text.ariaHidden = "true";
    return this.labelled(knob, input, text);
  }
}
