// One request, as the endpoints see it.

import type { IncomingBody } from "./incoming-body.ts";
import type { RequestHead, RequestHeaders } from "./request-head.ts";

export class IncomingRequest {
  readonly head: RequestHead;
  readonly body: IncomingBody;
  /** Where it came from. Costs a call of the system. */
  readonly findAddress: () => string;
  #controller: AbortController | null = null;
  #hasLeft = false;

  constructor(head: RequestHead, body: IncomingBody, findAddress: () => string) {
    this.head = head;
    this.body = body;
    this.findAddress = findAddress;
  }

  get method(): string {
    return this.head.method;
  }

  get headers(): RequestHeaders {
    return this.head;
  }

  get url(): string {
    const { target } = this.head;
    return target.startsWith("/") ? `http://${this.head.get("host") ?? "localhost"}${target}` : target;
  }

  /** Fires when the caller leaves before the answer is whole. Made when it is asked for: most requests never need it. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#hasLeft) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** The caller has left. */
  leave(): void {
    this.#hasLeft = true;
    this.body.fail(new Error("the connection was closed"));
    this.#controller?.abort();
  }
}
