import { describe, expect, test } from "bun:test";
import { EventSplitter, EventStreamError, isDoneMark, toFrame } from "../../src/lib/event-stream.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function split(pieces: readonly Uint8Array[], maxEventBytes = 1_000_000): string[] {
  const splitter = new EventSplitter(maxEventBytes);
  return pieces.flatMap((piece) => splitter.push(piece)).map((event) => decode(event.data));
}

const stream =
  'data: {"a":1}\n\n: comment\n\nevent: x\r\ndata: {"b":"é😀"}\r\n\r\nid: 7\ndata:{"c":1}\ndata: 2\n\n\n\nretry: 5\n\n' +
  'event: y\ndata: {"d":1}\n\nevent: z\ndata:{"e":1}\n\nevent: w\nid: 3\ndata: {"f":1}\n\nevent: v\ndata: 4\ndata: 5\n\nevent: u\n\ndata: [DONE]\n\n';
const events = ['{"a":1}', '{"b":"é😀"}', '{"c":1}\n2', '{"d":1}', '{"e":1}', '{"f":1}', "4\n5", "[DONE]"];

describe.each([
  ["LF and CRLF", stream],
  ["LF", stream.replace(/\r\n/g, "\n")],
  ["CRLF", stream.replace(/\r?\n/g, "\r\n")],
  ["CR", stream.replace(/\r?\n/g, "\r")],
])("events whose lines end with %s are the same however the bytes arrive", (_, text) => {
  const bytes = encode(text);

  test("cut in three at every pair of bytes", () => {
    const wrong: (readonly [number, number])[] = [];
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        if (!Bun.deepEquals(split(pieces), events)) wrong.push([first, second]);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("byte by byte", () => {
    expect(split(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(events);
  });
});

test("the beginning of an event outlives the piece that it came with", () => {
  const splitter = new EventSplitter(1_000);
  const piece = encode('data: {"a":1}\n\ndata: {"b"');
  expect(splitter.push(piece).length).toBe(1);
  piece.fill(0);
  const [event] = splitter.push(encode(":2}\n\n"));
  expect(event && decode(event.data)).toBe('{"b":2}');
});

test("a frame that is already in our form is handed on as the same bytes, others are not", () => {
  const [plain, named, several] = new EventSplitter(1_000).push(
    encode('data: {"a":1}\n\nevent: e\ndata: {"b":1}\n\ndata: {"c":1\ndata: }\n\n'),
  );
  expect(plain?.frame && decode(plain.frame)).toBe('data: {"a":1}\n\n');
  expect([named?.frame, several?.frame]).toEqual([null, null]);
});

test.each(["\r\n", "\r"])("a frame whose lines end with %j is handed on with line feeds", (lineEnd) => {
  const [event] = new EventSplitter(1_000).push(encode(`data: {"a":"é"}${lineEnd}${lineEnd}`));
  expect(event?.frame && decode(event.frame)).toBe('data: {"a":"é"}\n\n');
});

test("a carriage return that may be half of a line end does not delay its event", () => {
  const splitter = new EventSplitter(1_000);
  const push = (text: string) => splitter.push(encode(text)).map(({ data }) => decode(data));
  expect([push("data: 1\r\n\r"), splitter.isMidEvent]).toEqual([["1"], false]);
  expect([push("\n"), splitter.isMidEvent]).toEqual([[], false]);
  expect([push("data: 2\r\r"), splitter.isMidEvent]).toEqual([["2"], false]);
  expect(push("\ndata: 3\r\n\r\n")).toEqual(["3"]);
});

describe("a frame is valid whatever white space its JSON contains", () => {
  const json = '{\r\n  "a": "b\\nc",\n\r"d": 1\n}';

  test.each([
    ["without a name", toFrame(json), undefined],
    ["with a name", toFrame(json, "delta"), "delta"],
    ["with a name that contains line breaks", toFrame(json, "a\ndata: 1\r\n\r\nb"), "a data: 1 b"],
    ["with an empty name", toFrame(json, ""), undefined],
  ])("%s", (_, frame, name) => {
    const [data, ...others] = split([frame]);
    expect([JSON.parse(data ?? ""), others]).toEqual([{ a: "b\nc", d: 1 }, []]);
    expect(decode(frame).split(/\r\n|[\r\n]/)).toHaveLength(name === undefined ? 3 : 4);
    expect(/^event: (.*)$/m.exec(decode(frame))?.[1]).toBe(name);
  });
});

test.each([
  // Forms that differ from the two usual ones in one place each.
  ["dbta: 1\n\n", []],
  ["dataX 1: \n\n", null],
  ["data:1\n\n", ["1"]],
  ["data:  1\n\n", [" 1"]],
  ["data\n\n", []],
  ["data:\n\n", []],
  ["data: \n\n", []],
  ["data:  \n\n", []],
  ["data:\ndata:\n\n", []],
  ["event: e\ndata:\n\n", []],
  ["event: e\ndata: \n\n", []],
  ["data:\ndata: 1\n\n", ["\n1"]],
  ["data: 1\rdata: 2\n\n", ["1\n2"]],
  ["event: e\rdata: 1\n\n", ["1"]],
  ["event: e\ndata: 1\rdata: 2\n\n", ["1\n2"]],
  ['data: {"a":1,\r"b":2}\n\n', null],
  ["data: 1\r\n\n", ["1"]],
  ["data: 1\n\r\n", ["1"]],
  ["data: 1\ndata:2\ndata: 3\n\n", ["1\n2\n3"]],
  ["event: e\ndata: 1\n\n", ["1"]],
  ["event: e\ndata:1\n\n", ["1"]],
  ["event: e\r\ndata: 1\n\n", ["1"]],
  ["event: e\ndata: 1\r\n\n", ["1"]],
  ["event: e\ndata: 1\r\n\r\n", ["1"]],
  ["event: e\ndbta: 1\n\n", []],
  ["event: e\ndaba: 1\n\n", []],
  ["event: e\ndatb: 1\n\n", []],
  ["event: e\ndata: 1\nid: 2\n\n", ["1"]],
  ["evil: e\ndata: 1\n\n", ["1"]],
  ["event: e\ndatabase: 1\n\n", []],
])("%p has the data %p", (text, data) => {
  if (data === null) expect(() => split([encode(text)])).toThrow(EventStreamError);
  else expect(split([encode(text)])).toEqual(data);
});

describe("a stream that breaks off", () => {
  const after = (...pieces: readonly string[]) => {
    const splitter = new EventSplitter(1_000);
    for (const piece of pieces) splitter.push(encode(piece));
    return [splitter.isMidEvent, splitter.endsWithDone];
  };

  test("is in the middle of an event until a blank line ends it", () => {
    expect(after()).toEqual([false, false]);
    expect(after("d")).toEqual([true, false]);
    expect(after("data: 1\n")).toEqual([true, false]);
    expect(after("data: 1\n", "\n")).toEqual([false, false]);
    expect(after("data: 1\n\nd")).toEqual([true, false]);
    expect(after("data: 1\n\n\n")).toEqual([false, false]);
    expect(after("data: 1\r", "\n\r", "\n", "\r\n")).toEqual([false, false]);
  });

  test("may end with [DONE] without a blank line", () => {
    for (const end of ["data: [DONE]", "data:[DONE]\n", 'data: "[DONE]"\r\n', ` ${"data: [DONE]".padEnd(30)} `])
      expect([end, after("data: 1\n\n", end.slice(0, 3), end.slice(3))]).toEqual([end, [true, true]]);
    for (const end of ["[DONE]", "data: [DONE", "text: [DONE]", "data: [DONE]".padEnd(33), "data: 1\ndata: [DONE]"])
      expect([end, after(end)]).toEqual([end, [true, false]]);
    expect(after("data: [DONE]\n\n")).toEqual([false, false]);
  });
});

test("the mark of the end has no other content", () => {
  for (const text of ["[DONE]", ' "[DONE]" ', "[DONE]".padEnd(16)]) expect(isDoneMark(encode(text))).toBe(true);
  for (const text of ["", "D", "[DONE", "[done]", "'[DONE]'", "[DONE] [DONE]", "[DONE]".padEnd(17)])
    expect(isDoneMark(encode(text))).toBe(false);
});

describe("what is not an event stream is refused", () => {
  for (const [name, text] of [
    ["a page", "<html><body>Bad gateway</body></html>\n\n"],
    ["binary", "\u0000\u0001\u0002data\n\n"],
    ["prose", "something went wrong\n\n"],
  ] as const)
    test(name, () => expect(() => split([encode(text)])).toThrow(EventStreamError));

  test("an event may be as large as allowed", () => {
    const event = encode("data: 0123456789\n\n");
    const pieces = [event.subarray(0, 9), event.subarray(9)];
    const first = event.subarray(0, -1);
    expect([split([event], 18), split(pieces, 18)]).toEqual([["0123456789"], ["0123456789"]]);
    expect(() => split([event], 17)).toThrow(EventStreamError);
    expect(() => split(pieces, 17)).toThrow(EventStreamError);
    expect(split([first], 17)).toEqual([]);
    expect(() => split([first], 16)).toThrow(EventStreamError);
  });

  test("an event that is larger than allowed, whole or in pieces", () => {
    const large = encode(`data: ${"x".repeat(2_000)}\n\n`);
    expect(() => split([large], 1_000)).toThrow(EventStreamError);
    const pieces = Array.from({ length: 30 }, (_, index) => large.subarray(index * 70, index * 70 + 70));
    expect(() => split(pieces, 1_000)).toThrow(EventStreamError);
  });
});
