// Reads a text/event-stream that arrives in arbitrary pieces, in one pass and without intermediate strings. An event has the bytes of its
// data, and the bytes of its whole frame when the frame already has our own form. The standard:
// https://html.spec.whatwg.org/multipage/server-sent-events.html

/** Its bytes are views of the piece that it arrived in, and valid as long as that piece. */
export interface StreamEvent {
  /** What follows `data:`, lines joined by a newline. Never empty. */
  readonly data: Uint8Array;
  /** `data: …\n\n`, or null when the event arrived in another form (with a name, or with several lines). */
  readonly frame: Uint8Array | null;
}

/** The bytes are not an event stream, or an event is larger than allowed. */
export class EventStreamError extends Error {}

const newline = 0x0a;
const carriageReturn = 0x0d;
const fieldLine = /^(?:data|event|id|retry|[A-Za-z-]+)?(?::|$)/;
const longestDoneMark = 16;
const longestDoneLine = 32;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class EventSplitter {
  readonly #maxEventBytes: number;
  /** A newline at the beginning of the next piece belongs to the last line end of this one. */
  #endsWithReturn = false;
  /** Pieces of an incomplete event, joined only at its end: joining at every piece would take quadratic time. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Whether there is an incomplete event. */
  get isMidEvent(): boolean {
    return this.#pieceBytes > 0;
  }

  /** Whether the incomplete event is `[DONE]`, which some vendors send without the blank line that ends an event. */
  get endsWithDone(): boolean {
    if (this.#pieceBytes === 0 || this.#pieceBytes > longestDoneLine) return false;
    const line = Buffer.concat(this.#pieces).toString("latin1").trim();
    return line.startsWith("data:") && isDoneMark(Buffer.from(line.slice("data:".length)));
  }

  /** The events that this piece completes. */
  push(piece: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    // Most vendors send no carriage return at all.
    let bytes = this.#endsWithReturn || piece.indexOf(carriageReturn) >= 0 ? this.#toLineFeeds(piece) : piece;
    if (this.#pieceBytes > 0) {
      if (!this.#isCompletedBy(bytes)) {
        this.#keep(bytes);
        return events;
      }
      bytes = Buffer.concat([...this.#pieces, bytes]);
      this.#pieces = [];
      this.#pieceBytes = 0;
    }
    let start = 0;
    for (;;) {
      // Blank lines before an event are not part of it.
      while (bytes[start] === newline) start += 1;
      const end = endOfEvent(bytes, start);
      if (end < 0) break;
      if (end - start > this.#maxEventBytes) throw new EventStreamError("an event is larger than allowed");
      const event = readEvent(bytes.subarray(start, end));
      if (event !== null) events.push(event);
      start = end;
    }
    if (start < bytes.length) this.#keep(start === 0 ? bytes : bytes.subarray(start));
    return events;
  }

  /** Lines may end with LF, CRLF or CR. From here on they end with LF. */
  #toLineFeeds(piece: Uint8Array): Uint8Array {
    const text = Buffer.from(piece).toString("latin1");
    const rest = this.#endsWithReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#endsWithReturn = text.endsWith("\r");
    return Buffer.from(rest.replace(/\r\n?/g, "\n"), "latin1");
  }

  /** Keeps a copy: the piece may be part of a large buffer, and its owner may release it. */
  #keep(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.#pieces.push(new Uint8Array(piece));
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > this.#maxEventBytes) throw new EventStreamError("an event is larger than allowed");
  }

  /** The end of the event may be in the new piece, or begin in the previous one. */
  #isCompletedBy(piece: Uint8Array): boolean {
    return (piece[0] === newline && this.#pieces.at(-1)?.at(-1) === newline) || endOfEvent(piece, 0) >= 0;
  }
}

/** The index after the blank line that ends the event, or -1. */
function endOfEvent(bytes: Uint8Array, from: number): number {
  for (let index = bytes.indexOf(newline, from); index >= 0; index = bytes.indexOf(newline, index + 1)) {
    if (bytes[index + 1] === newline) return index + 2;
  }
  return -1;
}

/** Null without data: some vendors send such events to keep the connection alive. */
function readEvent(block: Uint8Array): StreamEvent | null {
  const length = block.length;
  // `data: {…}\n\n`, one line: nearly every event of nearly every vendor.
  if (block[0] === 0x64 && block[4] === 0x3a && block[5] === 0x20 && block.indexOf(newline) === length - 2) {
    if (block[1] === 0x61 && block[2] === 0x74 && block[3] === 0x61 && isVisible(block[6]))
      return { data: block.subarray(6, length - 2), frame: block };
  }
  const named = dataAfterName(block);
  if (named !== null) return { data: named, frame: null };
  const data: string[] = [];
  for (const line of decoder.decode(block).split("\n")) {
    if (!fieldLine.test(line)) throw new EventStreamError("a line does not belong to an event stream");
    if (!line.startsWith("data")) continue;
    const value = line.slice(4);
    if (value === "") data.push("");
    else if (value.startsWith(": ")) data.push(value.slice(2));
    else if (value.startsWith(":")) data.push(value.slice(1));
  }
  const text = data.join("\n");
  return text.trim() === "" ? null : { data: encoder.encode(text), frame: null };
}

/** `event: …\ndata: {…}\n\n`: nearly every event of the vendors that name events. Null for any other form. */
function dataAfterName(block: Uint8Array): Uint8Array | null {
  // `event:`
  if (block[0] !== 0x65 || block[1] !== 0x76 || block[5] !== 0x3a) return null;
  const start = block.indexOf(newline) + 1;
  const length = block.length;
  // `data: `
  if (block[start] !== 0x64 || block[start + 1] !== 0x61 || block[start + 2] !== 0x74 || block[start + 3] !== 0x61)
    return null;
  if (block[start + 4] !== 0x3a || block[start + 5] !== 0x20) return null;
  if (block.indexOf(newline, start) !== length - 2 || !isVisible(block[start + 6])) return null;
  return block.subarray(start + 6, length - 2);
}

/** Neither white space nor a line end, so the data is not empty. */
function isVisible(byte: number | undefined): boolean {
  return byte !== undefined && byte > 0x20;
}

/** `[DONE]`, which ends a stream of the chat format, with or without space or quotes around it. */
export function isDoneMark(data: Uint8Array): boolean {
  // `D`: nearly every event differs by its length, the others by this byte.
  if (data.length > longestDoneMark || data.indexOf(0x44) < 0) return false;
  const text = Buffer.from(data).toString("latin1").trim();
  return text === "[DONE]" || text === '"[DONE]"';
}

/** Frames JSON text as an event, with a name if `type` is not empty. */
export function toFrame(json: string, type = ""): Uint8Array {
  const data = `data: ${toOneLine(json)}\n\n`;
  return encoder.encode(type === "" ? data : `event: ${toOneLine(type)}\n${data}`);
}

/** A line break between two members is white space in JSON, but would end the `data` line of the event. */
function toOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]+/g, " ") : text;
}

export const doneFrame = encoder.encode("data: [DONE]\n\n");
export const heartbeatFrame = encoder.encode(": keep-alive\n\n");
