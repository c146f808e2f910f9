// The page: one run, or two side by side.

import "./lab.css";
import { packed, unpacked } from "./link";
import { Connection } from "./protocol";
import { Run, type Offered } from "./run";
import type { Schema } from "./schema";

const place = document.querySelector<HTMLElement>("#runs")!;
const status = document.querySelector<HTMLElement>("#connection")!;
const beside = document.querySelector<HTMLButtonElement>("#beside")!;
const runs = new Map<string, Run>();
let schema: Schema = {};
let offered: Offered[] = [];
let used: Run;

const connection = new Connection(
  (message) => {
    if (message.type !== "hello") runs.get(message.run)?.receive(message);
  },
  (frame) => runs.get(frame.run)?.take(frame),
  (isOpen) => {
    status.textContent = isOpen ? "" : "The server is gone. Is skywave lab still running?";
    if (isOpen) for (const run of runs.values()) run.reset();
  },
);

function use(run: Run): void {
  used = run;
  for (const one of runs.values()) one.element.classList.toggle("used", one === run);
}

function add(name: string): Run {
  const run = new Run(name, connection, () => schema, use);
  runs.set(name, run);
  place.append(run.element);
  run.offer(offered);
  return run;
}

/** Shows a second run with the scenario of the first, or takes it away. */
function toggleSecond(): void {
  const second = runs.get("b");
  if (second === undefined) {
    add("b").text = runs.get("a")!.text;
  } else {
    second.stop();
    runs.delete("b");
    second.element.remove();
    use(runs.get("a")!);
  }
  place.classList.toggle("two", second === undefined);
  beside.setAttribute("aria-pressed", String(second === undefined));
}

async function copyLink(button: HTMLButtonElement): Promise<void> {
  const texts = await Promise.all([...runs.values()].map((run) => packed(run.text)));
  history.replaceState(null, "", `#${texts.join("|")}`);
  let copied = true;
  await navigator.clipboard.writeText(location.href).catch(() => (copied = false));
  button.textContent = copied ? "Copied" : "It is in the address";
  setTimeout(() => (button.textContent = "Copy link"), 2000);
}

const KEYS: Record<string, () => void> = {
  " ": () => used.toggle(),
  ".": () => used.step(),
  s: () => used.stop(),
  r: () => used.start(),
  "2": toggleSecond,
};

addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  const writes = target.closest("input, select, textarea, button, a, summary, .cm-editor") !== null;
  const act = KEYS[event.key];
  if (writes || act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const run of runs.values()) run.redraw();
});

function draw(now: number): void {
  for (const run of runs.values()) run.draw(now);
  requestAnimationFrame(draw);
}

async function open(): Promise<void> {
  const first = add("a");
  use(first);
  beside.onclick = toggleSecond;
  const link = document.querySelector<HTMLButtonElement>("#link")!;
  link.onclick = () => void copyLink(link);
  requestAnimationFrame(draw);
  const texts = await Promise.all(location.hash.slice(1).split("|").filter(Boolean).map(unpacked)).catch(() => []);
  first.text = texts[0] ?? (await fetch("/first").then((answer) => answer.text()));
  if (texts[1] !== undefined) {
    toggleSecond();
    runs.get("b")!.text = texts[1];
  }
  schema = (await fetch("/schema").then((answer) => answer.json())) as Schema;
  // The papers take the server some seconds.
  offered = (await fetch("/scenarios").then((answer) => answer.json())) as Offered[];
  for (const run of runs.values()) run.offer(offered);
}

// For measurements of how many frames arrive.
Object.assign(globalThis, { skywaveLab: { runs } });
void open();
