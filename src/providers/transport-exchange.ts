// An exchange with a provider that answers in this process, with the interface of one over the network.

import type { Exchange } from "./http-client.ts";
import type { Transport } from "./provider.ts";

type PieceReader = ReadableStreamDefaultReader<Uint8Array>;

const encoder = new TextEncoder();

export class TransportExchange implements Exchange {
  readonly isConnected = true;
  readonly wasSent = true;
  readonly connectMs = 0;
  readonly #controller = new AbortController();
  readonly #answer: Promise<Response>;
  #response: Response | null = null;
  #reader: PieceReader | null = null;
  #piece: Uint8Array | null | undefined;
  #failure: { readonly error: unknown } | null = null;

  constructor(transport: Transport, url: string, { method, body }: { method: string; body: string | Uint8Array }) {
    this.#answer = transport(url, {
      method,
      body: typeof body === "string" ? encoder.encode(body) : body,
      signal: this.#controller.signal,
    });
    // An exchange that is aborted before it is opened has no one to handle the rejection.
    this.#answer.catch(() => {});
  }

  get status(): number {
    return this.#response?.status ?? 0;
  }

  header(name: string): string | null {
    return this.#response?.headers.get(name) ?? null;
  }

  async open(): Promise<void> {
    this.#response = await this.#answer;
    this.#reader = (this.#response.body?.getReader() ?? null) as PieceReader | null;
    if (this.#reader === null) this.#piece = null;
  }

  take(): Uint8Array | null | undefined {
    if (this.#failure !== null) throw this.#failure.error;
    const piece = this.#piece;
    if (piece !== null) this.#piece = undefined;
    return piece;
  }

  async wait(): Promise<void> {
    try {
      const result = await this.#reader?.read();
      this.#piece = result?.value ?? null;
    } catch (error) {
      this.#failure = { error };
    }
  }

  release(): void {
    this.abort();
  }

  abort(): void {
    this.#controller.abort();
    // Cancelling an aborted body rejects, which would end the process.
    this.#reader?.cancel().catch(() => {});
  }
}
