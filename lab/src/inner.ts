// The inner values of controls and queue disciplines: what they are called, their units, what they mean.

import type { Panel } from "./series";

interface Inner {
  title: string;
  unit: string;
  about: string;
}

const inner = (title: string, unit: string, about: string): Inner => ({ title, unit, about });

const KNOWN: Record<"controls" | "queues", Record<string, Inner>> = {
  controls: {
    w_max_packets: inner("W_max", "packets", "CUBIC: the window before its last reduction, or less with fast convergence."),
    k_s: inner("K", "s", "CUBIC: how long the window takes to grow back to W_max."),
    w_est_packets: inner("W_est", "packets", "CUBIC: the window that Reno would have; CUBIC's is at least as large."),
    base_rtt_s: inner("BaseRTT", "s", "Vegas: the smallest round-trip time so far."),
    queued_packets: inner("Packets queued", "packets", "Vegas: the flow's packets in queues, as the last round found."),
    load_zone: inner("Load zone", "", "VCP and MPCP: the load that routers report. 0: low, 1: high, 2: overload."),
    falls_back: inner("Falls back", "", "VCP and MPCP: 1 while the sender uses the window of RFC 5681, since reports contradict VCP."),
  },
  queues: {
    count: inner("Count", "packets", "CoDel: packets dropped or marked in this drop state. The more, the sooner the next."),
    dropping: inner("Dropping", "", "CoDel: 1 in the drop state, otherwise 0."),
    new_queues: inner("New queues", "", "FQ-CoDel: queues that have become active and have not had a full round."),
    old_queues: inner("Old queues", "", "FQ-CoDel: the other active queues."),
    drop_probability: inner("Drop probability", "", "PIE: the probability with which an arriving packet is dropped or marked."),
    delay_s: inner("Queueing delay", "s", "PIE: how long the last packet that left has waited."),
    average_packets: inner("Average queue", "packets", "RED: the moving average that decides on drops."),
    average_bytes: inner("Average queue", "bytes", "RED: the moving average that decides on drops."),
    max_p: inner("max_p", "", "RED: the drop probability at the maximum threshold."),
    load_factor: inner("Load factor", "", "VCP and MPCP: the router's load; 1 is the target utilisation."),
  },
};

/** Returns a panel for an inner value. Those of sub-queues are called `queues[0].count` and so on. */
export function innerPanel(table: "controls" | "queues", name: string): Panel {
  const [, of, index, own] = /^(queues\[(\d+)\]\.)?(.*)$/s.exec(name)!;
  const { title, unit, about } = KNOWN[table][own!] ?? unknown(table, own!);
  return {
    key: `${table}/${name}`,
    title: of === undefined ? title : `Sub-queue ${index}: ${title}`,
    unit,
    about,
    table,
    by: table === "controls" ? "flow" : "link",
    column: "value",
    scale: 1,
    always: false,
    inner: name,
  };
}

/** A name ends in its unit, if it has one. */
function unknown(table: "controls" | "queues", name: string): Inner {
  const [, title, unit] = /^(.+?)(?:_(bps|bytes|packets|s))?$/s.exec(name)!;
  return inner(title!, unit ?? "", table === "controls" ? "A value of the control." : "A value of the queue discipline.");
}
