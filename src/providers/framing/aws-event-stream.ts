// Reads application/vnd.amazon.eventstream: binary messages that begin with their length. The vendor's own library reads their checksums and
// headers.

import type { EventStreamCodec } from "@smithy/core/event-streams";
import type { JsonObject, ProviderEvent } from "../dialect.ts";
import { type Framing, FramingError, PieceBuffer, parseEvent } from "./framing.ts";

/** The member with the kind of failure, in the value of an event that reports one. */
export const failureMember = ":failure";

// The limit of the vendor's own reader (AWS_EVENT_STREAM_MAX_MESSAGE_SIZE).
const maxMessageBytes = 24 * 1_048_576;
// Two lengths, their checksum, and the checksum of the whole.
const minMessageBytes = 16;
const lengthBytes = 4;

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

export class AwsEventDecoder implements Framing {
  readonly #codec = createCodec();
  readonly #message = new PieceBuffer(Number.POSITIVE_INFINITY);
  /** The number of bytes before which reading on is pointless. */
  #neededBytes = lengthBytes;

  get isMidEvent(): boolean {
    return this.#message.length > 0;
  }

  push(piece: Uint8Array): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    if (this.#message.length + piece.length < this.#neededBytes) {
      this.#message.push(piece);
      return events;
    }
    let bytes = this.#message.takeWith(piece);
    while (bytes.length >= lengthBytes) {
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
    if (bytes.length > 0) this.#message.push(bytes);
    return events;
  }

  end(): ProviderEvent[] {
    return [];
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
      throw new FramingError(`a message is broken: ${reason}`, { cause: error });
    }
  }
}

/** Loads the library with the first such stream: it takes 15 MB, and most processes never need it. */
function createCodec(): EventStreamCodec {
  const library: typeof import("@smithy/core/event-streams") = require("@smithy/core/event-streams");
  return new library.EventStreamCodec(
    (input) => (typeof input === "string" ? input : decoder.decode(input)),
    (input) => encoder.encode(input),
  );
}

function readLength(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset, lengthBytes).getUint32(0);
  if (length < minMessageBytes) throw new FramingError("the bytes are not event stream messages");
  if (length > maxMessageBytes) throw new FramingError("a message is larger than allowed");
  return length;
}

function parseObject(body: Uint8Array): JsonObject {
  return body.length === 0 ? {} : parseEvent(decoder.decode(body));
}

/** The description of a failure may not be JSON. */
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
