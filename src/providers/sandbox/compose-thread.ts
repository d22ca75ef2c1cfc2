// Composes answers to expensive schemas in another thread, one after the other, with a limit on waiting requests.

import { type Answer, invalidSchema, type Question } from "./answer.ts";
import { SandboxRefusal } from "./refusal.ts";

export interface ComposeOrder extends Omit<Question, "request"> {
  readonly id: number;
  /** The request as bytes: copying them to the thread costs much less than copying the parsed request. */
  readonly body: Uint8Array;
}

export type ComposeReport =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly refusal: Refused };

export type Refused = Pick<SandboxRefusal, "status" | "message" | "param" | "code">;

const maxWaiting = 8;
/** A safeguard for a thread that hangs although it counts its work. Other requests may be before this one, and the machine may be busy. */
const timeoutMs = 60_000;
/** An idle thread ends after this time, to free its memory. */
const idleMs = 30_000;

export class ComposeThread {
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #thread: Worker | null = null;
  #idleTimer: ReturnType<typeof setTimeout> | null = null;
  #lastId = 0;

  async compose(order: Omit<ComposeOrder, "id">): Promise<Answer> {
    if (this.#waiting.size >= maxWaiting)
      throw new SandboxRefusal(429, "The sandbox is working on other expensive schemas. Try again later.");
    const id = ++this.#lastId;
    const composed = Promise.withResolvers<Answer>();
    this.#waiting.set(id, composed);
    const timer = setTimeout(() => this.#end("The schema takes too long to apply."), timeoutMs);
    try {
      this.#thread ??= this.#start();
      this.#thread.postMessage({ ...order, id } satisfies ComposeOrder);
      return await composed.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#endWhenIdle();
    }
  }

  #start(): Worker {
    const thread = new Worker(new URL("./compose-worker.ts", import.meta.url).href);
    thread.onmessage = ({ data }: MessageEvent<ComposeReport>) => {
      const composed = this.#waiting.get(data.id);
      if ("answer" in data) composed?.resolve(data.answer);
      else composed?.reject(toRefusal(data.refusal));
    };
    thread.onerror = () => this.#end("The schema could not be applied.");
    // An idle thread must not keep the process alive.
    thread.unref();
    return thread;
  }

  #endWhenIdle(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#waiting.size === 0) this.#end("");
    }, idleMs);
    this.#idleTimer.unref();
  }

  #end(reason: string): void {
    this.#thread?.terminate();
    this.#thread = null;
    for (const { reject } of this.#waiting.values()) reject(invalidSchema(reason));
  }
}

function toRefusal({ status, message, param, code }: Refused): SandboxRefusal {
  return new SandboxRefusal(status, message, { ...(param !== null && { param }), ...(code !== null && { code }) });
}
