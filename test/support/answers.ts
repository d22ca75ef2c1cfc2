// What a mock vendor puts on the wire, byte by byte: whole answers, and the pieces from which broken ones are made.

/** One thing that the vendor does with the connection of a request. After the last step the connection stays usable. */
export type Step =
  | { readonly do: "write"; readonly bytes: string | Uint8Array }
  | { readonly do: "wait"; readonly ms: number }
  /** Goes on when the test says so. */
  | { readonly do: "until"; readonly ready: Promise<unknown> }
  /** The same bytes again and again, as fast as the peer takes them. */
  | { readonly do: "flood"; readonly unit: Uint8Array; readonly times: number }
  /** fin: close without a word. rst: reset. hang: silence until the peer leaves. */
  | { readonly do: "fin" | "rst" | "hang" };

export type Script = readonly Step[];

export const fin: Step = { do: "fin" };
export const rst: Step = { do: "rst" };
export const hang: Step = { do: "hang" };

export function write(bytes: string | Uint8Array): Step {
  return { do: "write", bytes };
}

export function wait(ms: number): Step {
  return { do: "wait", ms };
}

export function until(ready: Promise<unknown>): Step {
  return { do: "until", ready };
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens?: number;
  readonly [more: string]: unknown;
}

export const usualUsage: Usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

/** A whole answer with a length. Objects are sent as JSON. */
export function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Script {
  const bytes = toBytes(body);
  const head = headOf(status, {
    "content-type": typeof body === "string" ? "text/plain" : "application/json",
    "content-length": String(bytes.length),
    ...headers,
  });
  return [write(Buffer.concat([Buffer.from(head), bytes]))];
}

export function completion(content: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    id: "chatcmpl-mock-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "echo-2024",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: usualUsage,
    ...more,
  };
}

export function headOf(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n`;
}

/** The head of an event stream. Its body follows in pieces made by `httpChunk` or `event`. */
export function streamHead(headers: Readonly<Record<string, string>> = {}): Step {
  const usual = { "content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked" };
  return write(headOf(200, { ...usual, ...headers }));
}

export function httpChunk(bytes: string | Uint8Array): Step {
  const body = toBytes(bytes);
  return write(Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n")]));
}

/** The end of a chunked body: without it every client knows that the body was cut. */
export const lastHttpChunk: Step = write("0\r\n\r\n");

export function event(payload: unknown): Step {
  return httpChunk(eventText(payload));
}

export function eventText(payload: unknown, lineEnd = "\n"): string {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  return `data: ${text}${lineEnd}${lineEnd}`;
}

export const doneText = "data: [DONE]\n\n";

/** The chunks of a stream: the role, one delta for each piece of content, the finish, and the usage when asked for. */
export function chatChunks(contents: readonly string[], usage: Usage | null = null): Record<string, unknown>[] {
  const chunks = [
    chatChunk({ role: "assistant", content: "" }),
    ...contents.map((content) => chatChunk({ content })),
    chatChunk({}, "stop"),
  ];
  return usage === null ? chunks : [...chunks, { ...chatChunk({}), choices: [], usage }];
}

export function chatChunk(delta: object, finishReason: string | null = null): Record<string, unknown> {
  return {
    id: "chatcmpl-mock-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "echo-2024",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

interface StreamOptions {
  readonly usage?: Usage | null;
  readonly intervalMs?: number;
}

/** A complete and healthy stream. */
export function stream(contents: readonly string[], { usage = null, intervalMs = 0 }: StreamOptions = {}): Script {
  const events = chatChunks(contents, usage).map(event);
  const spaced = intervalMs === 0 ? events : events.flatMap((step) => [step, wait(intervalMs)]);
  return [streamHead(), ...spaced, httpChunk(doneText), lastHttpChunk];
}

function toBytes(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** An error as a vendor of the chat format sends it. */
export function errorBody(message: string): object {
  return { error: { message, type: "vendor_type", code: "vendor_code" } };
}

/** Answers of a provider that fails, and of one that works. */
export const down = answer(500, { error: { message: "down" } });
export const well = answer(200, completion("well"));
