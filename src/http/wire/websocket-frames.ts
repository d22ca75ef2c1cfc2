// The frames of WebSockets (RFC 6455), the server's side: what a client sends is read strictly, what it gets is written here.
// No extensions and no subprotocols: they are agreed in the handshake, and ours agrees to none.

import { createHash } from "node:crypto";

/** What the other side did wrong, with the code to close with: 1002 protocol, 1007 not UTF-8, 1009 too big. */
export class WebSocketError extends Error {
  override readonly name = "WebSocketError";
  readonly closeCode: number;

  constructor(closeCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.closeCode = closeCode;
  }
}

export type WebSocketEvent =
  | { readonly kind: "text"; readonly text: string }
  /** A whole binary message; its content is of no interest and is not kept. */
  | { readonly kind: "binary" }
  | { readonly kind: "ping"; readonly payload: Buffer }
  | { readonly kind: "pong" }
  /** The code is 1005 when none was given. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string };

const closeCodes = { none: 1005, protocol: 1002, notUtf8: 1007, tooBig: 1009 } as const;
const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const knownOpcodes: ReadonlySet<number> = new Set(Object.values(opcodes));

const finalBit = 0x80;
const reservedBits = 0x70;
const opcodeBits = 0x0f;
const maskBit = 0x80;
const lengthBits = 0x7f;
// These values of the seven length bits say that the length follows in 2 or in 8 bytes.
const lengthIn2Bytes = 126;
const lengthIn8Bytes = 127;
const maxControlBytes = 125;
const maxLengthIn2Bytes = 65_535;
const maskBytes = 4;
const shortestHeaderBytes = 2;
const longestHeaderBytes = 14;

// ignoreBOM keeps a leading U+FEFF: it belongs to the message.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const noBytes = new Uint8Array(0);

/**
 * Reads what a client sends, in pieces of any size. Call `next` until it gives undefined after every `feed`: then no more than
 * one unfinished message is held, at most `maxMessageBytes` of it, and only what has really arrived.
 */
export class WebSocketReader {
  readonly #maxMessageBytes: number;
  /** Read, but not yet asked for. Reading stops there, so that a flood of tiny frames does not become a flood of objects. */
  #ready: WebSocketEvent | undefined;
  #failure: WebSocketError | undefined;
  /** A close or an error came: whatever follows means nothing. */
  #isOver = false;
  /** What was fed after the event that is ready. */
  readonly #rest = new GrowingBytes(Number.POSITIVE_INFINITY);

  readonly #header = Buffer.alloc(longestHeaderBytes);
  #headerBytes = 0;
  #headerNeedsBytes = shortestHeaderBytes;
  /** What the frame says of itself; these hold once its header is whole. */
  #opcode: number = opcodes.continuation;
  #isFinal = false;
  #frameBytes = 0;
  #frameBytesRead = 0;
  readonly #mask = new Uint8Array(maskBytes);

  /** What the fragments belong to: text, binary, or null between messages. */
  #messageOpcode: number | null = null;
  #messageBytes = 0;
  readonly #text: GrowingBytes;
  readonly #control = new GrowingBytes(maxControlBytes);

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
    this.#text = new GrowingBytes(maxMessageBytes);
  }

  /** The bytes may be changed by their owner afterwards; they are not changed here. */
  feed(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const isWaiting = this.#ready !== undefined || this.#rest.length > 0;
    const usedBytes = isWaiting ? 0 : this.#read(bytes);
    if (usedBytes < bytes.length) this.#rest.append(bytes.subarray(usedBytes));
  }

  /** The next event, or undefined when more has to be fed. Throws WebSocketError. */
  next(): WebSocketEvent | undefined {
    if (this.#ready === undefined && this.#rest.length > 0) this.#rest.drop(this.#read(this.#rest.view()));
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    const ready = this.#ready;
    this.#ready = undefined;
    return ready;
  }

  /** Reads up to the next event and says how many bytes are done with: all of them when nothing may follow. */
  #read(bytes: Uint8Array): number {
    try {
      const usedBytes = this.#readFrames(bytes);
      if (this.#ready?.kind !== "close") return usedBytes;
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.#failure = error;
    }
    this.#isOver = true;
    this.#text.clear();
    this.#control.clear();
    return bytes.length;
  }

  #readFrames(bytes: Uint8Array): number {
    let at = 0;
    while (this.#ready === undefined) {
      while (this.#headerBytes < this.#headerNeedsBytes) {
        if (at === bytes.length) return at;
        this.#header[this.#headerBytes] = bytes[at] ?? 0;
        this.#headerBytes += 1;
        at += 1;
        if (this.#headerBytes === shortestHeaderBytes) this.#readHeaderStart();
        if (this.#headerBytes === this.#headerNeedsBytes) this.#readHeaderEnd();
      }
      const partBytes = Math.min(bytes.length - at, this.#frameBytes - this.#frameBytesRead);
      if (partBytes > 0) this.#readPayload(bytes.subarray(at, at + partBytes));
      at += partBytes;
      if (this.#frameBytesRead < this.#frameBytes) return at;
      this.#headerBytes = 0;
      this.#headerNeedsBytes = shortestHeaderBytes;
      this.#ready = this.#finishFrame();
    }
    return at;
  }

  /** The first two bytes: what the frame is, and how much header it has. */
  #readHeaderStart(): void {
    const first = this.#header.readUInt8(0);
    const second = this.#header.readUInt8(1);
    this.#opcode = first & opcodeBits;
    this.#isFinal = (first & finalBit) !== 0;
    const length = second & lengthBits;

    if ((first & reservedBits) !== 0) refuse("a reserved bit is set, but no extension was agreed on");
    if (!knownOpcodes.has(this.#opcode)) refuse(`there is no opcode ${this.#opcode}`);
    if ((second & maskBit) === 0) refuse("frames of a client must be masked");
    if (isControl(this.#opcode)) {
      if (!this.#isFinal) refuse("control frames must not be fragmented");
      if (length > maxControlBytes) refuse(`control frames carry at most ${maxControlBytes} bytes`);
    } else if (this.#opcode === opcodes.continuation) {
      if (this.#messageOpcode === null) refuse("there is no message to continue");
    } else if (this.#messageOpcode !== null) {
      refuse("a message began before the one before it had ended");
    }
    this.#headerNeedsBytes = shortestHeaderBytes + countLengthBytes(length) + maskBytes;
  }

  #readHeaderEnd(): void {
    this.#frameBytes = this.#readLength();
    this.#frameBytesRead = 0;
    this.#mask.set(this.#header.subarray(this.#headerNeedsBytes - maskBytes, this.#headerNeedsBytes));
    if (isControl(this.#opcode)) return;

    if (this.#opcode !== opcodes.continuation) this.#messageOpcode = this.#opcode;
    this.#messageBytes += this.#frameBytes;
    if (this.#messageBytes <= this.#maxMessageBytes) return;
    throw new WebSocketError(closeCodes.tooBig, `a message may have at most ${this.#maxMessageBytes} bytes`);
  }

  #readLength(): number {
    const length = this.#header.readUInt8(1) & lengthBits;
    if (length < lengthIn2Bytes) return length;
    if (length === lengthIn2Bytes) {
      const longer = this.#header.readUInt16BE(2);
      return longer >= lengthIn2Bytes ? longer : refuse("the length is not in its shortest form");
    }
    const high = this.#header.readUInt32BE(2);
    if (high > 0x7fff_ffff) refuse("the first bit of a length must be 0");
    const longest = high * 2 ** 32 + this.#header.readUInt32BE(6);
    return longest > maxLengthIn2Bytes ? longest : refuse("the length is not in its shortest form");
  }

  #readPayload(part: Uint8Array): void {
    const maskAt = this.#frameBytesRead % maskBytes;
    this.#frameBytesRead += part.length;
    if (isControl(this.#opcode)) unmask(this.#control.append(part), this.#mask, maskAt);
    else if (this.#messageOpcode === opcodes.text) unmask(this.#text.append(part), this.#mask, maskAt);
  }

  #finishFrame(): WebSocketEvent | undefined {
    if (isControl(this.#opcode)) return this.#finishControl();
    if (!this.#isFinal) return undefined;
    const isText = this.#messageOpcode === opcodes.text;
    this.#messageOpcode = null;
    this.#messageBytes = 0;
    if (!isText) return { kind: "binary" };
    const text = decode(this.#text.view(), "a text message");
    this.#text.clear();
    return { kind: "text", text };
  }

  #finishControl(): WebSocketEvent {
    const payload = Buffer.from(this.#control.view());
    this.#control.clear();
    if (this.#opcode === opcodes.ping) return { kind: "ping", payload };
    if (this.#opcode === opcodes.pong) return { kind: "pong" };
    if (payload.length === 0) return { kind: "close", code: closeCodes.none, reason: "" };
    if (payload.length === 1) refuse("a close code has two bytes");
    const code = payload.readUInt16BE(0);
    if (!mayCloseWith(code)) refuse(`${code} is not a code to close with`);
    return { kind: "close", code, reason: decode(payload.subarray(2), "the reason of a close") };
  }
}

export function toTextFrame(text: string): Buffer {
  const textBytes = Buffer.byteLength(text);
  const { frame, headerBytes } = startFrame(opcodes.text, textBytes);
  frame.write(text, headerBytes);
  return frame;
}

/** Code 1005 stands for none and is never sent: its frame is empty. A long reason is cut after a whole character. */
export function toCloseFrame(code: number, reason: string): Buffer {
  if (code === closeCodes.none) return startFrame(opcodes.close, 0).frame;
  const payload = Buffer.alloc(maxControlBytes);
  payload.writeUInt16BE(code, 0);
  const { written } = encoder.encodeInto(reason, payload.subarray(2));
  return toControlFrame(opcodes.close, payload.subarray(0, 2 + written));
}

export function toPingFrame(): Buffer {
  return startFrame(opcodes.ping, 0).frame;
}

/** The payload is that of the ping it answers. */
export function toPongFrame(payload: Uint8Array): Buffer {
  return toControlFrame(opcodes.pong, payload);
}

/** The value of Sec-WebSocket-Accept. */
export function toAcceptKey(key: string): string {
  // The same for everyone, by RFC 6455, section 1.3: it shows that the server knows the protocol.
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

/** Whether the value of Sec-WebSocket-Key is 16 bytes in base64. */
export function isWebSocketKey(key: string): boolean {
  return /^[A-Za-z0-9+/]{22}==$/.test(key);
}

/** Bytes that come at the end and go at the start; room is made by doubling, so that a byte is moved but a few times. */
class GrowingBytes {
  readonly #mostBytes: number;
  #store: Uint8Array = noBytes;
  #start = 0;
  #end = 0;

  /** More than `mostBytes` never arrive, and no room beyond them is taken. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Valid until the next change. */
  view(): Uint8Array {
    return this.#store.subarray(this.#start, this.#end);
  }

  /** Copies the bytes and gives the copy, to be changed in place. */
  append(bytes: Uint8Array): Uint8Array {
    this.#makeRoom(bytes.length);
    const place = this.#store.subarray(this.#end, this.#end + bytes.length);
    place.set(bytes);
    this.#end += bytes.length;
    return place;
  }

  drop(count: number): void {
    this.#start += count;
    if (this.#start === this.#end) this.clear();
  }

  /** Gives the memory back, too: most connections are idle most of the time. */
  clear(): void {
    this.#store = noBytes;
    this.#start = 0;
    this.#end = 0;
  }

  #makeRoom(count: number): void {
    if (this.#end + count <= this.#store.length) return;
    const neededBytes = this.length + count;
    const kept = this.view();
    // Moving down pays only when much was dropped: else every few bytes would move all the others.
    const hasRoomInFront = neededBytes <= this.#store.length / 2;
    if (!hasRoomInFront) {
      const doubled = Math.min(2 * this.#store.length, this.#mostBytes);
      this.#store = Buffer.allocUnsafe(Math.max(neededBytes, doubled));
    }
    this.#store.set(kept, 0);
    this.#end = kept.length;
    this.#start = 0;
  }
}

/** Word by word where there are many: a large message holds up every other connection while it is unmasked. */
function unmask(bytes: Uint8Array, mask: Uint8Array, maskAt: number): void {
  // For so few bytes, making the view of words takes longer than it saves.
  if (bytes.length < 64) {
    unmaskEach(bytes, mask, maskAt);
    return;
  }
  // A view of words can begin only at a multiple of four.
  const headBytes = -bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + headBytes, (bytes.length - headBytes) >>> 2);
  const wordMask = toWord(mask, maskAt + headBytes);
  for (let at = 0; at < words.length; at += 1) words[at] = (words[at] ?? 0) ^ wordMask;

  const tailAt = headBytes + words.byteLength;
  unmaskEach(bytes.subarray(0, headBytes), mask, maskAt);
  unmaskEach(bytes.subarray(tailAt), mask, maskAt + tailAt);
}

function unmaskEach(bytes: Uint8Array, mask: Uint8Array, maskAt: number): void {
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (bytes[at] ?? 0) ^ (mask[(maskAt + at) & 3] ?? 0);
}

/** The mask as this machine would read it from memory, whichever end of a word it puts first. */
function toWord(mask: Uint8Array, maskAt: number): number {
  const turned = Uint8Array.from(mask, (_byte, at) => mask[(maskAt + at) & 3] ?? 0);
  return new Int32Array(turned.buffer)[0] ?? 0;
}

/** A frame of the right size with its header written; the payload belongs after it. */
function startFrame(opcode: number, payloadBytes: number): { frame: Buffer; headerBytes: number } {
  const length = toLengthBits(payloadBytes);
  const headerBytes = shortestHeaderBytes + countLengthBytes(length);
  const frame = Buffer.allocUnsafe(headerBytes + payloadBytes);
  frame.writeUInt8(finalBit | opcode, 0);
  frame.writeUInt8(length, 1);
  if (length === lengthIn2Bytes) frame.writeUInt16BE(payloadBytes, 2);
  if (length === lengthIn8Bytes) frame.writeBigUInt64BE(BigInt(payloadBytes), 2);
  return { frame, headerBytes };
}

function toControlFrame(opcode: number, payload: Uint8Array): Buffer {
  const { frame, headerBytes } = startFrame(opcode, payload.length);
  frame.set(payload, headerBytes);
  return frame;
}

function toLengthBits(payloadBytes: number): number {
  if (payloadBytes < lengthIn2Bytes) return payloadBytes;
  return payloadBytes <= maxLengthIn2Bytes ? lengthIn2Bytes : lengthIn8Bytes;
}

/** How many bytes of length follow these seven bits. */
function countLengthBytes(length: number): number {
  if (length < lengthIn2Bytes) return 0;
  return length === lengthIn2Bytes ? 2 : 8;
}

function isControl(opcode: number): boolean {
  return opcode >= opcodes.close;
}

/** The codes of RFC 6455, section 7.4, and of its registry; the others are reserved, or say that no code was sent. */
function mayCloseWith(code: number): boolean {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new WebSocketError(closeCodes.notUtf8, `${what} is not UTF-8`, { cause });
  }
}

function refuse(message: string): never {
  throw new WebSocketError(closeCodes.protocol, message);
}
