// The framing of AWS event streams.

import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { AwsEventDecoder, failureMember } from "../../src/providers/framing/aws-event-stream.ts";
import { FramingError } from "../../src/providers/framing/framing.ts";
import { toAwsMessage } from "../support/aws-message.ts";

const event = (type: string, value: unknown) => toAwsMessage({ ":message-type": "event", ":event-type": type }, value);

// Documented shapes of events, invented contents.
const stream = Buffer.concat([
  event("messageStart", { role: "assistant", p: "abc" }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "30 °C, 東京 🌡" }, p: "" }),
  event("contentBlockStop", { contentBlockIndex: 0 }),
  event("messageStop", { stopReason: "end_turn" }),
]);
const names = ["messageStart", "contentBlockDelta", "contentBlockStop", "messageStop"];

test("events come out the same however the stream is cut into pieces", () => {
  const whole = new AwsEventDecoder().push(stream);
  expect(whole.map(({ name }) => name)).toEqual(names);
  expect(whole[1]?.value["delta"]).toEqual({ text: "30 °C, 東京 🌡" });

  for (let size = 1; size <= stream.length; size += 1) {
    const decoder = new AwsEventDecoder();
    const events = [];
    for (let at = 0; at < stream.length; at += size) events.push(...decoder.push(stream.subarray(at, at + size)));
    expect(events).toEqual(whole);
    expect(decoder.isMidEvent).toBe(false);
  }
});

test("a stream that is cut inside an event is known to be", () => {
  const borders = new Set([0]);
  for (let at = 0; at < stream.length; at += stream.readUInt32BE(at)) borders.add(at);
  for (let cut = 0; cut < stream.length; cut += 1) {
    const decoder = new AwsEventDecoder();
    decoder.push(stream.subarray(0, cut));
    expect(decoder.isMidEvent).toBe(!borders.has(cut));
  }
});

test("a flipped bit anywhere is not taken for an event", () => {
  const message = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hello" } });
  for (let at = 0; at < message.length; at += 1) {
    const broken = Buffer.from(message);
    broken[at] = (broken[at] ?? 0) ^ 0x01;
    const decoder = new AwsEventDecoder();
    const read = () => decoder.push(broken);
    // A changed length either is impossible, or leaves the message waiting for bytes that do not come.
    if (at < 4) expect(tryTo(read)).toEqual([]);
    else expect(read).toThrow(FramingError);
  }
});

test("lengths that cannot be are refused at once, and not waited for", () => {
  const tooLarge = Buffer.alloc(12);
  tooLarge.writeUInt32BE(24 * 1_048_576 + 1, 0);
  expect(() => new AwsEventDecoder().push(tooLarge)).toThrow("larger than allowed");
  expect(() => new AwsEventDecoder().push(Buffer.from("<html><body>Bad Gateway"))).toThrow(FramingError);
  expect(() => new AwsEventDecoder().push(Buffer.alloc(16))).toThrow(FramingError);
});

test("headers that claim to be longer than their message are refused", () => {
  const message = event("messageStart", {});
  message.writeUInt32BE(message.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4);
  expect(() => new AwsEventDecoder().push(message)).toThrow(FramingError);
});

test("exceptions and errors are events that say what failed", () => {
  const decoder = new AwsEventDecoder();
  const exception = { ":message-type": "exception", ":exception-type": "throttlingException" };
  const error = { ":message-type": "error", ":error-code": "InternalError", ":error-message": "An internal error" };
  expect(decoder.push(toAwsMessage(exception, { message: "Slow down" }))).toEqual([
    { name: "throttlingException", value: { message: "Slow down", [failureMember]: "throttlingException" } },
  ]);
  expect(decoder.push(toAwsMessage(exception, "no JSON here"))).toEqual([
    { name: "throttlingException", value: { message: "no JSON here", [failureMember]: "throttlingException" } },
  ]);
  expect(decoder.push(toAwsMessage(error, ""))).toEqual([
    { name: "InternalError", value: { message: "An internal error", [failureMember]: "InternalError" } },
  ]);
});

test("an event whose payload is not an object is a broken stream; one of an unknown kind is ignored", () => {
  expect(() => new AwsEventDecoder().push(event("messageStart", "[1"))).toThrow(FramingError);
  expect(() => new AwsEventDecoder().push(event("messageStart", [1]))).toThrow(FramingError);
  expect(new AwsEventDecoder().push(toAwsMessage({ ":message-type": "news" }, {}))).toEqual([]);
  expect(new AwsEventDecoder().push(event("messageStart", ""))).toEqual([{ name: "messageStart", value: {} }]);
});

function tryTo(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof FramingError ? [] : error;
  }
}
