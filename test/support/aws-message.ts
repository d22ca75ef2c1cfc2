// Writes a message of AWS's event stream (https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html), independently of the
// code under test.

import { crc32 } from "node:zlib";

/** A string is the payload itself; any other value is written as JSON. */
export function toAwsMessage(headers: Readonly<Record<string, string>>, value: unknown): Buffer {
  const head = Buffer.concat(Object.entries({ ...headers, ":content-type": "application/json" }).map(toHeader));
  const payload = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  const message = Buffer.alloc(16 + head.length + payload.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, 12);
  payload.copy(message, 12 + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4);
  return message;
}

/** The length of the name and the name, the type (7 is a string), the length of the value and the value. */
function toHeader([name, value]: [string, string]): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
}
