// Bounds the work that clients without a key can cause: public routes and refusals. Requests with a valid key are never delayed here.

// A connection that sends many requests at once is served in one turn of the event loop. After this many, other connections come first;
// Bun closes a connection whose next request arrives while one is waiting.
const maxPerTurn = 16;
// At 50 to 200 µs each, this is at most a fifth of a process.
const maxPerSecond = 1_000;
/** Before its refusal closes the connection, the kernel and Bun have taken about half a megabyte of a long body. */
const requestsPerLongBody = 20;
// A client that waits for each answer sends four requests per second on each connection.
const delayMs = 250;

export class KeylessBudget {
  readonly #now: () => number;
  #inTurn = 0;
  #inSecond = 0;
  #second = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts one request, and a request with a long body that is refused as several. A promise when the request has to wait. */
  spend(hasLongBody = false): Promise<void> | undefined {
    const second = Math.floor(this.#now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond += hasLongBody ? requestsPerLongBody : 1;
    return this.#inSecond > maxPerSecond ? Bun.sleep(delayMs) : this.spendInTurn();
  }

  /** The same for health checks, which are cheap and must be answered during a flood. */
  spendInTurn(): Promise<void> | undefined {
    if (this.#inTurn === 0)
      setImmediate(() => {
        this.#inTurn = 0;
      });
    this.#inTurn += 1;
    return this.#inTurn > maxPerTurn ? new Promise((resolve) => setImmediate(resolve)) : undefined;
  }
}
