// One socket to the server: asks and answers, events, and coming back after it was lost.
//
// **Invariant:** every ask is answered or refused exactly once; a lost connection refuses those under way.

import { readFrame } from "./frame";
import type { Frame, ServerEvent } from "./protocol";

type Waiting = { resolve: (value: unknown) => void; reject: (why: Error) => void };

export interface Listener {
  event(event: ServerEvent): void;
  result(result: Frame): void;
  /** `again` is false at the first time. */
  connected(again: boolean): void;
  lost(secondsToRetry: number): void;
}

const FIRST_PAUSE = 0.5;
const LONGEST_PAUSE = 5;

export class Connection {
  private socket: WebSocket | null = null;
  private next = 1;
  private waiting = new Map<number, Waiting>();
  private wasConnected = false;
  private pause = FIRST_PAUSE;

  constructor(
    private readonly address: string,
    private readonly listener: Listener,
  ) {
    this.open();
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  ask<T>(what: string, details: object = {}): Promise<T> {
    if (!this.isOpen) return Promise.reject(new Error("the connection to paynter is lost"));
    const id = this.next++;
    this.socket?.send(JSON.stringify({ id, ask: what, ...details }));
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
  }

  private open(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.listener.connected(this.wasConnected);
      this.wasConnected = true;
    };
    socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => this.receive(message.data);
    socket.onclose = () => this.lose();
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      this.listener.result(readFrame(data));
      return;
    }
    const message = JSON.parse(data) as ServerEvent | { id: number; ok?: unknown; error?: string };
    if ("event" in message) {
      this.listener.event(message);
      return;
    }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error !== undefined) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.ok);
  }

  private lose(): void {
    for (const waiting of this.waiting.values()) waiting.reject(new Error("the connection to paynter is lost"));
    this.waiting.clear();
    this.listener.lost(this.pause);
    setTimeout(() => this.open(), this.pause * 1000);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }
}
