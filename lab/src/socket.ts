// A socket: what its connections do, for as long as the command runs.

import { Charts } from "./charts";
import type { View } from "./main";
import type { Frame, Message } from "./protocol";
import { SOCKET_PANELS } from "./series";

export class Socket implements View {
  private readonly element: HTMLElement;
  private readonly charts: Charts;
  private state: (Message & { type: "state" }) | undefined;
  private time = 0;

  constructor() {
    const template = document.querySelector<HTMLTemplateElement>("#socket")!;
    this.element = (template.content.cloneNode(true) as DocumentFragment).querySelector<HTMLElement>("section")!;
    this.charts = new Charts(this.element.querySelector<HTMLElement>(".charts")!, "socket", SOCKET_PANELS, {});
    document.querySelector("#runs")!.append(this.element);
    // For tests: what is in a chart.
    Object.assign(globalThis, { skywaveLab: { charts: this.charts } });
  }

  receive(message: Message): void {
    if (message.type !== "state") return;
    this.state = message;
    this.element.querySelector(".state")!.textContent = message.notes.join(" ");
  }

  take(frame: Frame): void {
    this.time = frame.time_s;
    // First, since it makes room for those who have come.
    if (this.state?.kept_s != null) this.charts.forget(this.time - this.state.kept_s);
    this.charts.take(frame);
  }

  reset(): void {
    this.charts.clear();
  }

  draw(now: number): void {
    if (!this.charts.isDirty || this.state === undefined) return;
    this.charts.draw(now, Math.max(0, this.time - (this.state.kept_s ?? this.time)), this.time);
  }

  redraw(): void {
    this.charts.redraw();
  }
}
