// Reading an event stream the way its standard says, and judging how it ended.

export interface StreamEvent {
  readonly name: string | null;
  readonly data: string;
}

export interface EventStream {
  readonly events: readonly StreamEvent[];
  readonly comments: readonly string[];
  /** Bytes after the last blank line: an event that was never finished. */
  readonly rest: string;
}

export function readEvents(text: string): EventStream {
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  const frames = text.split(/\r\n\r\n|\n\n|\r\r/);
  const rest = frames.pop() ?? "";
  for (const frame of frames) {
    const data: string[] = [];
    let name: string | null = null;
    for (const line of frame.split(/\r\n|\n|\r/)) {
      if (line.startsWith(":")) comments.push(line.slice(1).trim());
      else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
      else if (line.startsWith("event:")) name = line.slice(6).trim();
    }
    if (data.length > 0) events.push({ name, data: data.join("\n") });
  }
  return { events, comments, rest };
}

export interface ChatStream {
  readonly chunks: readonly ChatStreamChunk[];
  readonly content: string;
  readonly errors: readonly StreamError[];
  readonly done: boolean;
  readonly comments: readonly string[];
}

export interface ChatStreamChunk {
  readonly id?: string;
  readonly object?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly cost?: number | null;
  readonly choices: readonly {
    readonly delta: { role?: string; content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Record<string, unknown> | null;
}

export interface StreamError {
  readonly error: { readonly message: string; readonly type: string; readonly code: string; readonly param: null };
  readonly detail: string;
}

/** A chat stream taken apart. Throws when an event is neither a chunk nor an error nor the end mark. */
export function readChatStream(text: string): ChatStream {
  const { events, comments, rest } = readEvents(text);
  if (rest.trim() !== "") throw new Error(`the stream ends inside an event: ${rest.slice(0, 200)}`);
  const chunks: ChatStreamChunk[] = [];
  const errors: StreamError[] = [];
  let done = false;
  for (const { name, data } of events) {
    if (done || errors.length > 0) throw new Error(`an event after the end: ${data.slice(0, 200)}`);
    if (name !== null) throw new Error(`chat events have no name, this one is ${name}`);
    if (data === "[DONE]") {
      done = true;
      continue;
    }
    const payload: unknown = JSON.parse(data);
    if (isStreamError(payload)) errors.push(payload);
    else if (isChunk(payload)) chunks.push(payload);
    else throw new Error(`neither chunk nor error: ${data.slice(0, 200)}`);
  }
  const content = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  return { chunks, content, errors, done, comments };
}

/** Both error forms at once, with the text the same in both. */
export function isStreamError(payload: unknown): payload is StreamError {
  if (typeof payload !== "object" || payload === null || !("error" in payload) || !("detail" in payload)) return false;
  const { error, detail } = payload;
  if (typeof error !== "object" || error === null || !("message" in error)) return false;
  return typeof detail === "string" && detail !== "" && error.message === detail && "type" in error && "code" in error;
}

function isChunk(payload: unknown): payload is ChatStreamChunk {
  return typeof payload === "object" && payload !== null && "choices" in payload && Array.isArray(payload.choices);
}
