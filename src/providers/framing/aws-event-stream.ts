// Reads application/vnd.amazon.eventstream: binary messages that arrive in arbitrary pieces. Where a message ends is told by
// the length that stands first in it; its checksums and headers are read by the vendor's own library.

import type { EventStreamCodec } from "@smithy/core/event-streams";
import type { JsonObject, ProviderEvent } from "../dialect.ts";

/** The bytes are not such messages, a checksum is wrong, or a message is larger than allowed. */
export class AwsEventStreamError extends Error {}

/** In the value of an event that is none but the news of a failure: what kind of failure. */
export const failureMember = ":failure";

// The largest that the vendor's own reader takes (AWS_EVENT_STREAM_MAX_MESSAGE_SIZE).
const maxMessageBytes = 24 * 1_048_576;
// Two lengths, their checksum, and the checksum of the whole.
const minMessageBytes = 16;
const lengthBytes = 4;

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

export class AwsEventDecoder {
  readonly #codec = createCodec();
  /** Pieces of a message that has not ended, joined only when it ends: joining at every piece would be quadratic. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  /** How many bytes have to be there before anything more can be told. */
  #neededBytes = lengthBytes;

  /** Whether bytes are waiting for the rest of their message. */
  get isMidEvent(): boolean {
    return this.#pieceBytes > 0;
  }

  /** The events that are complete with this piece. */
  push(piece: Uint8Array): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    let bytes = this.#join(piece);
    while (bytes !== null && bytes.length >= lengthBytes) {
      const messageBytes = readLength(bytes);
      if (bytes.length < messageBytes) {
        this.#neededBytes = messageBytes;
        break;
      }
      const event = this.#decode(bytes.subarray(0, messageBytes));
      if (event !== null) events.push(event);
      bytes = bytes.subarray(messageBytes);
      this.#neededBytes = lengthBytes;
    }
    if (bytes !== null && bytes.length > 0) this.#keep(bytes);
    return events;
  }

  /** Null when it is too early to look. */
  #join(piece: Uint8Array): Uint8Array | null {
    if (this.#pieceBytes === 0) return piece;
    if (this.#pieceBytes + piece.length < this.#neededBytes) {
      this.#keep(piece);
      return null;
    }
    const joined = Buffer.concat([...this.#pieces, piece]);
    this.#pieces = [];
    this.#pieceBytes = 0;
    return joined;
  }

  #keep(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
  }

  #decode(message: Uint8Array): ProviderEvent | null {
    try {
      const { headers, body } = this.#codec.decode(message);
      const header = (name: string) => String(headers[name]?.value ?? "");
      switch (header(":message-type")) {
        case "event":
          return { name: header(":event-type"), value: parseObject(body) };
        case "exception":
          return toFailure(header(":exception-type"), parseFailure(body));
        case "error":
          return toFailure(header(":error-code"), { message: header(":error-message") });
        default:
          return null;
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : "it cannot be read";
      throw new AwsEventStreamError(`a message is broken: ${reason}`, { cause: error });
    }
  }
}

/** The library is loaded with the first such stream: it takes 15 MB of every process, and most never see one. */
function createCodec(): EventStreamCodec {
  const library: typeof import("@smithy/core/event-streams") = require("@smithy/core/event-streams");
  return new library.EventStreamCodec(
    (input) => (typeof input === "string" ? input : decoder.decode(input)),
    (input) => encoder.encode(input),
  );
}

function readLength(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset, lengthBytes).getUint32(0);
  if (length < minMessageBytes) throw new AwsEventStreamError("the bytes are not event stream messages");
  if (length > maxMessageBytes) throw new AwsEventStreamError("a message is larger than allowed");
  return length;
}

function parseObject(body: Uint8Array): JsonObject {
  if (body.length === 0) return {};
  const value: unknown = JSON.parse(decoder.decode(body));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("it is not an object");
  return value as JsonObject;
}

/** What failed may fail to say so in JSON. */
function parseFailure(body: Uint8Array): JsonObject {
  try {
    return parseObject(body);
  } catch {
    return { message: new TextDecoder().decode(body) };
  }
}

function toFailure(name: string, value: JsonObject): ProviderEvent {
  return { name, value: { ...value, [failureMember]: name } };
}
