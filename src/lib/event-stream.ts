// Reads a text/event-stream that arrives in arbitrary pieces, in one pass and without intermediate strings. An event has the bytes of its
// data, and the bytes of its whole frame when the frame already has our own form.

/** Its bytes are views of the piece that it arrived in, and valid as long as that piece. */
export interface StreamEvent {
  /** What follows `data:`, lines joined by a newline. */
  readonly data: Uint8Array;
  /** `data: …\n\n` as it arrived, or null when it arrived in another form (event names, CRLF, several lines). */
  readonly frame: Uint8Array | null;
}

/** The bytes are not an event stream, or an event is larger than allowed. */
export class EventStreamError extends Error {}

const newline = 0x0a;
const carriageReturn = 0x0d;
const empty = new Uint8Array(0);
const fieldLine = /^(?:data|event|id|retry|[A-Za-z-]+)?(?::|$)/;
const longestDoneMark = 16;
const longestDoneLine = 32;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class EventSplitter {
  readonly #maxEventBytes: number;
  /** The last bytes before the next piece, which may hold the beginning of a blank line. */
  #tail: Uint8Array = empty;
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
    let bytes = piece;
    if (this.#pieceBytes > 0) {
      if (!this.#isCompletedBy(piece)) {
        this.#keep(piece);
        return events;
      }
      bytes = Buffer.concat([...this.#pieces, piece]);
      this.#pieces = [];
      this.#pieceBytes = 0;
    }
    let start = 0;
    for (;;) {
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

  /** Keeps a copy: the piece may be part of a large buffer, and its owner may release it. */
  #keep(piece: Uint8Array): void {
    this.#pieces.push(new Uint8Array(piece));
    this.#pieceBytes += piece.length;
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-3)]).subarray(-3);
    if (this.#pieceBytes > this.#maxEventBytes) throw new EventStreamError("an event is larger than allowed");
  }

  /** The end of the event may be in the new piece, or begin in the previous ones. */
  #isCompletedBy(piece: Uint8Array): boolean {
    const border = Buffer.concat([this.#tail, piece.subarray(0, 3)]);
    return endOfEvent(border, 0) >= 0 || endOfEvent(piece, 0) >= 0;
  }
}

/** The index after the blank line that ends the event, or -1. Lines end with LF or CRLF. */
function endOfEvent(bytes: Uint8Array, from: number): number {
  for (let index = bytes.indexOf(newline, from); index >= 0; index = bytes.indexOf(newline, index + 1)) {
    const next = bytes[index + 1];
    if (next === newline) return index + 2;
    if (next === carriageReturn && bytes[index + 2] === newline) return index + 3;
  }
  return -1;
}

function readEvent(block: Uint8Array): StreamEvent | null {
  const length = block.length;
  // `data: {…}\n\n`, one line: nearly every event of nearly every vendor.
  if (block[0] === 0x64 && block[4] === 0x3a && block[5] === 0x20 && block.indexOf(newline) === length - 2) {
    if (block[1] === 0x61 && block[2] === 0x74 && block[3] === 0x61 && block[length - 3] !== carriageReturn)
      return { data: block.subarray(6, length - 2), frame: block };
  }
  const named = dataAfterName(block);
  if (named !== null) return { data: named, frame: null };
  const data: string[] = [];
  for (const line of decoder.decode(block).split(/\r?\n/)) {
    if (!fieldLine.test(line)) throw new EventStreamError("a line does not belong to an event stream");
    if (!line.startsWith("data")) continue;
    const value = line.slice(4);
    if (value === "") data.push("");
    else if (value.startsWith(": ")) data.push(value.slice(2));
    else if (value.startsWith(":")) data.push(value.slice(1));
  }
  if (data.length === 0) return null;
  return { data: encoder.encode(data.join("\n")), frame: null };
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
  if (block.indexOf(newline, start) !== length - 2 || block[length - 3] === carriageReturn) return null;
  return block[start - 2] === carriageReturn ? null : block.subarray(start + 6, length - 2);
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
