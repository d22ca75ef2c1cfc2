// JSON lines as they come off a socket: in pieces that end anywhere. The lines are invented.

import { expect, test } from "bun:test";
import { FramingError } from "../../src/providers/framing/framing.ts";
import { JsonLineDecoder } from "../../src/providers/framing/json-lines.ts";

const encoder = new TextEncoder();
const lines = ['{"text":"grüße 🌍"}', '{"text":"日本語","list":[1,2]}', '{"done":true}'];

function decode(text: string, pieceBytes: number): unknown[] {
  const decoder = new JsonLineDecoder();
  const bytes = encoder.encode(text);
  const values: unknown[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes)
    for (const event of decoder.push(bytes.subarray(start, start + pieceBytes))) values.push(event.value);
  expect(decoder.isMidEvent).toBe(false);
  return values;
}

test("lines are the same however the bytes are cut, in the middle of a character too", () => {
  const text = `${lines.join("\n")}\n`;
  const whole = lines.map((line) => JSON.parse(line));

  for (let size = 1; size <= encoder.encode(text).length; size += 1) expect(decode(text, size)).toEqual(whole);
});

test("carriage returns, blank lines and blanks around a line do not matter", () => {
  const text = `\r\n\n  ${lines.join("  \r\n\r\n")}\r\n\n`;

  for (let size = 1; size <= text.length; size += 1)
    expect(decode(text, size)).toEqual(lines.map((line) => JSON.parse(line)));
});

test("a last line without a newline waits, and is whole when the stream ends as it was meant to", () => {
  const decoder = new JsonLineDecoder();

  expect(decoder.push(encoder.encode('{"a":1}\n{"done":true}'))).toEqual([{ name: "", value: { a: 1 } }]);
  expect(decoder.isMidEvent).toBe(true);
  expect(decoder.end()).toEqual([{ name: "", value: { done: true } }]);
  expect(decoder.isMidEvent).toBe(false);
  expect(decoder.end()).toEqual([]);
});

test("a line that was cut is not taken for a whole one at the end", () => {
  const decoder = new JsonLineDecoder();
  decoder.push(encoder.encode('{"done":tr'));

  expect(decoder.isMidEvent).toBe(true);
  expect(() => decoder.end()).toThrow(FramingError);
});

test.each(["not json", "[1,2]", '"text"', "null", "12", '{"a":1} {"b":2}'])("%p is no JSON object a line", (line) => {
  expect(() => new JsonLineDecoder().push(encoder.encode(`${line}\n`))).toThrow(FramingError);
});

test("a line of 8 MiB is read, and a larger one is given up before it has ended", () => {
  const decoder = new JsonLineDecoder();
  const padding = "x".repeat(8 * 1_048_576 - '{"t":""}'.length);
  const [event] = decoder.push(encoder.encode(`{"t":"${padding}"}\n`));

  expect(event?.value["t"] === padding).toBe(true);
  const piece = encoder.encode("x".repeat(1_048_576));
  expect(() => {
    for (let count = 0; count < 9; count += 1) decoder.push(piece);
  }).toThrow(FramingError);
});
