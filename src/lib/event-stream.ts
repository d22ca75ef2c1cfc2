// Reads a text/event-stream that arrives in arbitrary pieces. One pass, no intermediate strings: an event is handed on
// as the bytes of its data, and with the bytes of its whole frame when that frame is already in our own form.

/** Its bytes are those of the piece that it came with, and good for as long as they are. */
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
const decoder = new TextDecoder();

export class EventSplitter {
  readonly #maxEventBytes: number;
  #carry: Uint8Array = empty;
  /** Pieces of an event that has not ended, joined only when it ends: joining at every piece would be quadratic. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Whether bytes are waiting for the rest of their event. */
  get isMidEvent(): boolean {
    return this.#pieceBytes > 0;
  }

  /** Whether what is waiting is the mark of the end, which some vendors send without the blank line that ends an event. */
  get endsWithDone(): boolean {
    if (this.#pieceBytes === 0 || this.#pieceBytes > longestDoneLine) return false;
    const line = Buffer.concat(this.#pieces).toString("latin1").trim();
    return line.startsWith("data:") && isDoneMark(Buffer.from(line.slice("data:".length)));
  }

  /** The events that are complete with this piece. */
  push(piece: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    let bytes = piece;
    if (this.#pieceBytes > 0) {
      const boundary = this.#firstEndWith(piece);
      if (boundary < 0) {
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

  /** Kept as a copy: the piece may be the end of a large buffer, and its owner may free it. */
  #keep(piece: Uint8Array): void {
    this.#pieces.push(new Uint8Array(piece));
    this.#pieceBytes += piece.length;
    // The last bytes of what is kept decide whether the next piece completes an event.
    const tail = Buffer.concat([this.#carry, piece.subarray(-3)]);
    this.#carry = tail.subarray(-3);
    if (this.#pieceBytes > this.#maxEventBytes) throw new EventStreamError("an event is larger than allowed");
  }

  /** Looks for an event's end in the new piece, or across its border with what is kept. */
  #firstEndWith(piece: Uint8Array): number {
    const border = Buffer.concat([this.#carry, piece.subarray(0, 3)]);
    if (endOfEvent(border, 0) >= 0) return 0;
    return endOfEvent(piece, 0);
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
    if (!fieldLine.test(line)) throw new EventStreamError("a line is not of an event stream");
    if (!line.startsWith("data")) continue;
    const value = line.slice(4);
    if (value === "") data.push("");
    else if (value.startsWith(": ")) data.push(value.slice(2));
    else if (value.startsWith(":")) data.push(value.slice(1));
  }
  if (data.length === 0) return null;
  return { data: encoder.encode(data.join("\n")), frame: null };
}

/** `event: …\ndata: {…}\n\n`: nearly every event of the vendors that name theirs. Null when it is of another form. */
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

const encoder = new TextEncoder();
const longestDoneMark = 16;
const longestDoneLine = 32;

/** `[DONE]`, the data that end a stream of the chat format, with or without space or quotes around it. */
export function isDoneMark(data: Uint8Array): boolean {
  // `D`: nearly every event is told apart by its length alone, the others by this.
  if (data.length > longestDoneMark || data.indexOf(0x44) < 0) return false;
  const text = Buffer.from(data).toString("latin1").trim();
  return text === "[DONE]" || text === '"[DONE]"';
}

/** A frame around JSON text. JSON holds no raw line break, so one line is always enough. */
export function toFrame(json: string): Uint8Array {
  return encoder.encode(`data: ${json}\n\n`);
}

export const doneFrame = encoder.encode("data: [DONE]\n\n");
export const heartbeatFrame = encoder.encode(": keep-alive\n\n");
