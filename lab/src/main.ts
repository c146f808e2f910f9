// The page: scenarios that run, or the connections of a socket.

import "./lab.css";
import { Laboratory } from "./laboratory";
import { Connection, type Frame, type Message } from "./protocol";
import { Socket } from "./socket";

export interface View {
  receive(message: Message): void;
  take(frame: Frame): void;
  /** The server is there again, and knows nothing of what is shown. */
  reset(): void;
  /** Draws what has arrived since the last time. */
  draw(now: number): void;
  /** Draws everything anew, in the colours of the page. */
  redraw(): void;
}

const status = document.querySelector<HTMLElement>("#connection")!;
let view: View | undefined;

const connection: Connection = new Connection(
  (message) => view?.receive(message),
  (frame) => view?.take(frame),
  (hello) => {
    status.textContent = "";
    if (view !== undefined) return view.reset();
    document.title = hello.title;
    document.querySelector("h1")!.textContent = hello.title;
    view = hello.shows === "scenarios" ? new Laboratory(connection) : new Socket();
  },
  () => (status.textContent = "The server is gone. Is the command still running?"),
);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view?.redraw());

function draw(now: number): void {
  view?.draw(now);
  requestAnimationFrame(draw);
}
requestAnimationFrame(draw);
