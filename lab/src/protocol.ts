// The messages between page and server; python/skywave/lab/session.py and messages.py describe them.

import { tableFromIPC, type Table } from "@uwdata/flechette";

export interface Knob {
  field: string;
  label: string;
  kind: "rate" | "duration" | "packets" | "share" | "choice";
  value: number | string;
  choices: string[];
}

export type Clock = "simulated" | "real_time";
export type State = "running" | "paused" | "again" | "ended" | "stopped";

export interface Hello {
  type: "hello";
  session: string;
  shows: "scenarios" | "connections";
  title: string;
  /** Why there are no runs in real time on this machine, if there are none. */
  no_real_time: string | null;
  meanings: Meanings;
}

/** What columns mean, by table. */
export type Meanings = Record<string, Record<string, string>>;

export type Message =
  | Hello
  | { type: "checked"; run: string; knobs: Knob[]; warnings: string[] }
  | { type: "text"; run: string; text: string }
  | { type: "error"; run: string; field: string; message: string; line: number | null; column: number | null }
  | {
      type: "state";
      run: string;
      clock: Clock;
      state: State;
      epoch: number;
      time_s: number;
      end_s: number | null;
      until_s: number;
      kept_s: number | null;
      notes: string[];
      /** Why its timing was too inaccurate, if it was. */
      inaccuracy: string | null;
    };

export interface Frame {
  run: string;
  epoch: number;
  time_s: number;
  tables: Map<string, Table>;
}

/** Reads a frame: a header, and an Arrow IPC stream for each of its tables. */
export function readFrame(buffer: ArrayBuffer): Frame {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as {
    run: string;
    epoch: number;
    time_s: number;
    tables: [string, number][];
  };
  let at = 4 + length;
  const tables = new Map<string, Table>();
  for (const [name, size] of header.tables) {
    // A copy, because Arrow wants its buffers aligned.
    tables.set(name, tableFromIPC(new Uint8Array(buffer.slice(at, at + size))));
    at += size;
  }
  return { ...header, tables };
}

/** The connection to the server. It is opened again when it breaks. */
export class Connection {
  session = "";
  noRealTime: string | null = null;
  meanings: Meanings = {};
  private socket: WebSocket | undefined;

  constructor(
    private readonly onMessage: (message: Message) => void,
    private readonly onFrame: (frame: Frame) => void,
    private readonly onOpen: (hello: Hello) => void,
    private readonly onClose: () => void,
  ) {
    this.open();
  }

  send(message: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private open(): void {
    const socket = new WebSocket(`ws://${location.host}/session`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data !== "string") return this.onFrame(readFrame(data));
      const message = JSON.parse(data) as Message;
      if (message.type === "hello") {
        this.session = message.session;
        this.noRealTime = message.no_real_time;
        this.meanings = message.meanings;
        this.onOpen(message);
      } else {
        this.onMessage(message);
      }
    };
    socket.onclose = () => {
      this.onClose();
      setTimeout(() => this.open(), 1000);
    };
    this.socket = socket;
  }
}
