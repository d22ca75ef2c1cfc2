// A list of JSON objects whose end has not come yet, as it comes off a socket: in pieces that end anywhere. The list is invented;
// its form is the one that Google documents for streams without `alt=sse`.

import { expect, test } from "bun:test";
import { createFraming } from "../../src/providers/framing/create-framing.ts";
import { FramingError } from "../../src/providers/framing/framing.ts";
import { JsonValueDecoder } from "../../src/providers/framing/json-values.ts";

const encoder = new TextEncoder();
const values = [{ text: 'grüße } 🌍 ] \\"{' }, { list: [[{ deep: {} }], "[", "\\"] }, {}, { done: true }];
const text = `[${values.map((value) => JSON.stringify(value, null, 2)).join("\r\n,\r\n")}\n]\n`;

function decode(given: string, pieceBytes: number) {
  const decoder = new JsonValueDecoder();
  const bytes = encoder.encode(given);
  const found: unknown[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes)
    for (const event of decoder.push(bytes.subarray(start, start + pieceBytes))) found.push(event.value);
  return { found, isMidEvent: decoder.isMidEvent };
}

test("the elements of a list are the same however the bytes are cut", () => {
  for (let size = 1; size <= encoder.encode(text).length; size += 1)
    expect(decode(text, size)).toEqual({ found: values, isMidEvent: false });
});

test("an element is reported when it is complete, and a list that was cut is detected", () => {
  const decoder = new JsonValueDecoder();

  expect(decoder.push(encoder.encode('[{"a":1}'))).toEqual([{ name: "", value: { a: 1 } }]);
  expect(decoder.isMidEvent).toBe(true);
  expect(decoder.push(encoder.encode(',\n{"b":'))).toEqual([]);
  expect(decoder.push(encoder.encode("2}]"))).toEqual([{ name: "", value: { b: 2 } }]);
  expect(decoder.isMidEvent).toBe(false);
});

test("what is not JSON, or has no end, is refused", () => {
  expect(() => decode("[{broken}]", 4)).toThrow(FramingError);
  const decoder = new JsonValueDecoder();
  decoder.push(encoder.encode('[{"a":"'));
  const filling = new Uint8Array(1_048_576).fill(0x61);
  expect(() => {
    for (let count = 0; count < 9; count += 1) decoder.push(filling);
  }).toThrow(FramingError);
});

test("an answer that calls itself JSON is read as a list or as events, and refused when it is one whole answer", () => {
  const type = "application/json; charset=UTF-8";

  expect(createFraming(type, "event-stream").push(encoder.encode(' \n[{"a":1}]'))).toHaveLength(1);
  expect(createFraming(type, "event-stream").push(encoder.encode('data: {"a":1}\n\n'))).toHaveLength(1);
  expect(() => createFraming(type, "event-stream").push(encoder.encode('{"a":1}'))).toThrow(FramingError);
});
