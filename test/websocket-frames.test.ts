// The frames of WebSockets (RFC 6455). A client's frames are written here by hand, and by Bun's WebSocket, which also reads ours.

import { afterAll, describe, expect, test } from "bun:test";
import {
  isWebSocketKey,
  toAcceptKey,
  toCloseFrame,
  toPingFrame,
  toPongFrame,
  toTextFrame,
  WebSocketError,
  type WebSocketEvent,
  WebSocketReader,
} from "../src/http/wire/websocket-frames.ts";
import { waitFor, within } from "./support/wait.ts";

/** What a stream comes to: its events, and the code to close with if it ends in an error. */
interface Outcome {
  readonly events: readonly WebSocketEvent[];
  readonly closeCode?: number;
}

const limitBytes = 70_000;
const text = (value: string): WebSocketEvent => ({ kind: "text", text: value });
const binary: WebSocketEvent = { kind: "binary" };
const ping = (payload: string): WebSocketEvent => ({ kind: "ping", payload: Buffer.from(payload) });
const pong: WebSocketEvent = { kind: "pong" };
const close = (code: number, reason = ""): WebSocketEvent => ({ kind: "close", code, reason });

// The first byte of a frame: the final bit, and the opcode.
const first = {
  text: 0x81,
  textStart: 0x01,
  binary: 0x82,
  binaryStart: 0x02,
  more: 0x00,
  last: 0x80,
  close: 0x88,
  ping: 0x89,
  pong: 0x8a,
};

const emojiBytes = Buffer.from("🌡");

const goodStreams: Record<string, { readonly bytes: Buffer; readonly events: readonly WebSocketEvent[] }> = {
  "nothing at all": { bytes: Buffer.alloc(0), events: [] },
  // Section 5.7 of the RFC.
  "the RFC's masked hello": { bytes: fromHex("81 85 37fa213d 7f9f4d5158"), events: [text("Hello")] },
  "the RFC's masked pong": { bytes: fromHex("8a 85 37fa213d 7f9f4d5158"), events: [pong] },
  "an empty text": { bytes: frame(first.text, ""), events: [text("")] },
  "text beyond ASCII": { bytes: frame(first.text, "30 °C, 東京 🌡"), events: [text("30 °C, 東京 🌡")] },
  "a text that begins with U+FEFF": { bytes: frame(first.text, "\ufeffa\ufeff"), events: [text("\ufeffa\ufeff")] },
  "a text with a NUL": { bytes: frame(first.text, "a\0b"), events: [text("a\0b")] },
  "a mask of zeros": { bytes: frame(first.text, "Hello", Buffer.alloc(4)), events: [text("Hello")] },
  "two messages in a row": {
    bytes: join(frame(first.text, "a"), frame(first.text, "b")),
    events: [text("a"), text("b")],
  },
  "fragments, one cutting a character": {
    bytes: join(
      frame(first.textStart, emojiBytes.subarray(0, 1)),
      frame(first.more, emojiBytes.subarray(1, 3)),
      frame(first.last, emojiBytes.subarray(3)),
    ),
    events: [text("🌡")],
  },
  "empty fragments": {
    bytes: join(frame(first.textStart, ""), frame(first.more, ""), frame(first.more, "x"), frame(first.last, "")),
    events: [text("x")],
  },
  "control frames between fragments": {
    bytes: join(
      frame(first.textStart, "He"),
      frame(first.ping, "there?"),
      frame(first.more, "l"),
      frame(first.pong, "unasked"),
      frame(first.last, "lo"),
      frame(first.ping, ""),
    ),
    events: [ping("there?"), pong, text("Hello"), ping("")],
  },
  "a close between fragments": {
    bytes: join(frame(first.textStart, "He"), frame(first.close, "")),
    events: [close(1005)],
  },
  "binary, whole and in fragments, and text after it": {
    bytes: join(
      frame(first.binary, fromHex("ff00")),
      frame(first.binaryStart, fromHex("fe")),
      frame(first.ping, "p"),
      frame(first.last, fromHex("ff")),
      frame(first.text, "t"),
    ),
    events: [binary, ping("p"), binary, text("t")],
  },
  "a ping of 125 bytes": { bytes: frame(first.ping, "p".repeat(125)), events: [ping("p".repeat(125))] },
  "a close without a code": { bytes: frame(first.close, ""), events: [close(1005)] },
  "a close with a code": { bytes: frame(first.close, closePayload(1000)), events: [close(1000)] },
  "a close with a reason": {
    bytes: frame(first.close, closePayload(4001, "genug, 東京")),
    events: [close(4001, "genug, 東京")],
  },
  "a close with the longest reason": {
    bytes: frame(first.close, closePayload(1001, "r".repeat(123))),
    events: [close(1001, "r".repeat(123))],
  },
  "nonsense after a close": { bytes: join(frame(first.close, ""), fromHex("ffffffffff")), events: [close(1005)] },
  "a text after a close": { bytes: join(frame(first.close, ""), frame(first.text, "late")), events: [close(1005)] },
};

const badStreams: Record<
  string,
  { readonly bytes: Buffer; readonly closeCode: number; readonly before?: WebSocketEvent[] }
> = {
  "a reserved bit (1)": { bytes: frame(0xc1, "a"), closeCode: 1002 },
  "a reserved bit (2)": { bytes: frame(0xa1, "a"), closeCode: 1002 },
  "a reserved bit (3)": { bytes: frame(0x91, "a"), closeCode: 1002 },
  "a reserved bit on a control frame": { bytes: frame(0xc9, "a"), closeCode: 1002 },
  "a reserved bit on a continuation": {
    bytes: join(frame(first.textStart, "a"), frame(0xc0, "b")),
    closeCode: 1002,
  },
  "a frame without a mask": { bytes: fromHex("81 05 48656c6c6f"), closeCode: 1002 },
  "a ping without a mask": { bytes: fromHex("89 00"), closeCode: 1002 },
  "a ping in fragments": { bytes: frame(0x09, "a"), closeCode: 1002 },
  "a close in fragments": { bytes: frame(0x08, ""), closeCode: 1002 },
  "a ping of 126 bytes": { bytes: frame(first.ping, "p".repeat(126)), closeCode: 1002 },
  "a ping with its length in 8 bytes": { bytes: fromHex("89 ff 0000000000000001 00000000 70"), closeCode: 1002 },
  "a continuation of nothing": { bytes: frame(first.last, "a"), closeCode: 1002 },
  "a continuation of nothing, to be continued": { bytes: frame(first.more, "a"), closeCode: 1002 },
  "a continuation after the end": {
    bytes: join(frame(first.textStart, "a"), frame(first.last, "b"), frame(first.last, "c")),
    closeCode: 1002,
    before: [text("ab")],
  },
  "a text inside a text": { bytes: join(frame(first.textStart, "a"), frame(first.text, "b")), closeCode: 1002 },
  "a binary inside a text": {
    bytes: join(frame(first.textStart, "a"), frame(first.binaryStart, "b")),
    closeCode: 1002,
  },
  "a text inside an empty start": { bytes: join(frame(first.textStart, ""), frame(first.text, "b")), closeCode: 1002 },
  "125 bytes with the length in 2 bytes": {
    bytes: join(fromHex("81 fe 007d 00000000"), Buffer.alloc(125)),
    closeCode: 1002,
  },
  "0 bytes with the length in 2 bytes": { bytes: fromHex("81 fe 0000 00000000"), closeCode: 1002 },
  "65535 bytes with the length in 8 bytes": { bytes: fromHex("81 ff 000000000000ffff 00000000"), closeCode: 1002 },
  "a length with its first bit set": { bytes: fromHex("81 ff 8000000000010000 00000000"), closeCode: 1002 },
  "a message that is announced too big": { bytes: fromHex("81 ff 0000000000011171 00000000"), closeCode: 1009 },
  "a length of 4 GiB and one byte": { bytes: fromHex("81 ff 0000000100000001 00000000"), closeCode: 1009 },
  "the largest length there is": { bytes: fromHex("82 ff 7fffffffffffffff 00000000"), closeCode: 1009 },
  "fragments that are too big together": {
    bytes: join(frame(first.textStart, "abc"), fromHex("00 ff 0000000000011170 00000000")),
    closeCode: 1009,
  },
  "binary fragments that are too big together": {
    bytes: join(frame(first.binaryStart, "abc"), frame(first.ping, ""), fromHex("80 ff 0000000000011170 00000000")),
    closeCode: 1009,
    before: [ping("")],
  },
  "a text that is not UTF-8": { bytes: frame(first.text, fromHex("61ff62")), closeCode: 1007 },
  "a surrogate in UTF-8": { bytes: frame(first.text, fromHex("eda080")), closeCode: 1007 },
  "an overlong NUL": { bytes: frame(first.text, fromHex("c080")), closeCode: 1007 },
  "a character beyond Unicode": { bytes: frame(first.text, fromHex("f4908080")), closeCode: 1007 },
  "half a character at the end": { bytes: frame(first.text, emojiBytes.subarray(0, 3)), closeCode: 1007 },
  "half a character at the end of the last fragment": {
    bytes: join(frame(first.textStart, "ok"), frame(first.last, emojiBytes.subarray(0, 2))),
    closeCode: 1007,
  },
  "a close of one byte": { bytes: frame(first.close, fromHex("03")), closeCode: 1002 },
  "a reason that is not UTF-8": { bytes: frame(first.close, join(closePayload(1000), fromHex("ff"))), closeCode: 1007 },
  "an error after good messages": {
    bytes: join(frame(first.text, "a"), frame(first.ping, "b"), fromHex("8300"), frame(first.text, "never")),
    closeCode: 1002,
    before: [text("a"), ping("b")],
  },
};

describe("what a client sends is understood", () => {
  for (const [title, { bytes, events }] of Object.entries(goodStreams)) {
    test(title, () => expectOutcome(bytes, { events }));
  }

  test.each([
    0,
    1,
    63,
    64,
    65,
    125,
    126,
    127,
    128,
    65_535,
    65_536,
    65_537,
    limitBytes,
  ])("a text of %d bytes", (size) => {
    const value = toPatternText(size);
    const bytes = frame(first.text, value);
    expect(readPieces(inPieces(bytes, bytes.length))).toEqual({ events: [text(value)] });
    for (const pieceBytes of [1, 7, 1_000, 4_099])
      expect(readPieces(inPieces(bytes, pieceBytes))).toEqual({ events: [text(value)] });
  });

  test("codes that may be closed with, and no others", () => {
    const allowed = new Set<number>();
    for (let code = 0; code <= 0xffff; code += 1) {
      const { events, closeCode } = readPieces([frame(first.close, closePayload(code))]);
      if (closeCode === undefined) allowed.add(code);
      expect(closeCode === undefined ? events : closeCode).toEqual(closeCode === undefined ? [close(code)] : 1002);
    }
    const ranges = [span(1000, 1003), span(1007, 1014), span(3000, 4999)];
    expect([...allowed]).toEqual(ranges.flat());
  });
});

describe("what a client must not send is refused", () => {
  for (const [title, { bytes, closeCode, before = [] }] of Object.entries(badStreams)) {
    test(title, () => expectOutcome(bytes, { events: before, closeCode }));
  }

  test.each([3, 4, 5, 6, 7, 11, 12, 13, 14, 15])("opcode %d", (opcode) => {
    expectOutcome(frame(0x80 | opcode, ""), { events: [], closeCode: 1002 });
  });

  test("a limit is exact, for text, for binary, and for fragments together", () => {
    for (const start of [first.text, first.binary]) {
      const outcomes = [9, 10, 11].map((size) => readPieces([frame(start, "x".repeat(size))], 10).closeCode);
      expect(outcomes).toEqual([undefined, undefined, 1009]);
    }
    const fragments = (last: string) => join(frame(first.textStart, "12345"), frame(first.last, last));
    expect(readPieces([fragments("67890")], 10)).toEqual({ events: [text("1234567890")] });
    expect(readPieces([fragments("67890x")], 10)).toEqual({ events: [], closeCode: 1009 });
    // Every message has the limit for itself, and control frames do not count.
    const messages = join(frame(first.text, "1234567890"), frame(first.ping, "p".repeat(125)), frame(first.text, "x"));
    expect(readPieces([messages], 10).events).toHaveLength(3);
  });

  test("what announces too much is refused by its header alone", () => {
    const header = fromHex("81 ff 0000000001400001 00000000");
    expect(readPieces([header], 20 * 1_048_576)).toEqual({ events: [], closeCode: 1009 });
    expect(readPieces([header], 20 * 1_048_576 + 1)).toEqual({ events: [] });
  });

  test("after a close or an error nothing comes any more, whatever is fed", () => {
    for (const last of [frame(first.close, ""), fromHex("8300")]) {
      const reader = new WebSocketReader(limitBytes);
      reader.feed(last);
      reader.feed(frame(first.text, "fed before it was asked"));
      expect(drain(reader).events.length + (last[0] === 0x83 ? 1 : 0)).toBe(1);
      reader.feed(frame(first.text, "fed afterwards"));
      expect(reader.next()).toBeUndefined();
      reader.feed(fromHex("8300"));
      expect(reader.next()).toBeUndefined();
    }
  });
});

describe("pieces", () => {
  test("may all be fed before the first event is asked for", () => {
    const value = toPatternText(3_000);
    const bytes = join(
      frame(first.ping, "p"),
      frame(first.text, value),
      frame(first.binary, "b"),
      frame(first.text, "end"),
    );
    for (const pieceBytes of [1, 2, 5, 100]) {
      const reader = new WebSocketReader(limitBytes);
      for (const piece of inPieces(bytes, pieceBytes)) reader.feed(piece);
      expect(drain(reader).events).toEqual([ping("p"), text(value), binary, text("end")]);
    }
  });

  test("may be fed faster than events are asked for", () => {
    const values = Array.from({ length: 300 }, (_none, index) => `message ${index}`);
    const reader = new WebSocketReader(limitBytes);
    const events: (WebSocketEvent | undefined)[] = [];
    for (const piece of inPieces(join(...values.map((value) => frame(first.text, value))), 40)) {
      reader.feed(piece);
      events.push(reader.next());
    }
    events.push(...drain(reader).events);
    expect(events.filter((event) => event !== undefined)).toEqual(values.map(text));
  });

  test("lying anywhere in a larger buffer are read as they are, and left as they are", () => {
    const bytes = frame(first.text, toPatternText(1_001));
    for (let offset = 0; offset < 9; offset += 1) {
      const around = Buffer.alloc(bytes.length + 16, 0xee);
      bytes.copy(around, offset);
      const before = Buffer.from(around);
      const reader = new WebSocketReader(limitBytes);
      // The first piece leaves the mask at a different byte each time.
      reader.feed(around.subarray(offset, offset + 10 + offset));
      reader.feed(around.subarray(offset + 10 + offset, offset + bytes.length));
      expect(drain(reader).events).toEqual([text(toPatternText(1_001))]);
      expect(around.equals(before)).toBe(true);
    }
  });

  test("a ping's payload is its own, whatever becomes of the bytes it came in", () => {
    const bytes = join(frame(first.ping, "one"), frame(first.ping, "two"));
    const reader = new WebSocketReader(limitBytes);
    reader.feed(bytes);
    bytes.fill(0);
    expect(drain(reader).events).toEqual([ping("one"), ping("two")]);
  });
});

test("random messages come out equal, however they are fragmented, interrupted and cut", () => {
  for (let seed = 1; seed <= 120; seed += 1) {
    const random = createRandom(seed);
    const frames: Buffer[] = [];
    const expected: WebSocketEvent[] = [];
    for (let count = random(12); count > 0; count -= 1) addMessage(random, frames, expected);
    if (random(2) === 0) {
      const code = 3000 + random(2000);
      frames.push(frame(first.close, closePayload(code, "ende"), toMask(random)));
      expected.push(close(code, "ende"));
    }
    const bytes = join(...frames);
    const pieces: Buffer[] = [];
    const mostBytes = [4, 50, 5_000, 100_000][random(4)] ?? 1;
    for (let at = 0; at < bytes.length; ) {
      const pieceBytes = random(mostBytes);
      pieces.push(bytes.subarray(at, at + pieceBytes));
      at += pieceBytes;
    }
    expect({ seed, ...readPieces(pieces) }).toEqual({ seed, events: expected });
  }
});

describe("hostile clients", () => {
  const megabyte = 1_048_576;
  const limit = 20 * megabyte;

  test("a million empty fragments of one message cost less than two seconds", () => {
    const fragments = join(
      frame(first.textStart, "a"),
      repeat(frame(first.more, ""), 1_000_000),
      frame(first.last, "z"),
    );
    expect(
      spentMs(() => expect(readPieces(inPieces(fragments, 65_536), limit)).toEqual({ events: [text("az")] })),
    ).toBeLessThan(2_000);
  });

  test("a million fragments of one byte cost less than two seconds", () => {
    const fragments = join(
      frame(first.textStart, ""),
      repeat(frame(first.more, "x"), 1_000_000),
      frame(first.last, ""),
    );
    const outcome: Outcome = { events: [text("x".repeat(1_000_000))] };
    expect(spentMs(() => expect(readPieces(inPieces(fragments, 65_536), limit)).toEqual(outcome))).toBeLessThan(2_000);
  });

  test("2 MB in pieces of one byte cost less than three seconds", () => {
    const value = toPatternText(2 * megabyte);
    const bytes = frame(first.text, value);
    const reader = new WebSocketReader(limit);
    let event: WebSocketEvent | undefined;
    const cpuMs = spentMs(() => {
      for (let at = 0; at < bytes.length; at += 1) {
        reader.feed(bytes.subarray(at, at + 1));
        event ??= reader.next();
      }
    });
    expect(event?.kind === "text" && event.text === value).toBe(true);
    expect(cpuMs).toBeLessThan(3_000);
  });

  test("a flood of pings that nobody asks for yet stays as small as it came", () => {
    const pings = repeat(frame(first.ping, ""), 200_000);
    const reader = new WebSocketReader(limit);
    const heldBytes = countHeldBytes(() => {
      for (let at = 0; at < pings.length; at += 100) reader.feed(pings.subarray(at, at + 100));
    });
    expect(heldBytes).toBeLessThan(3 * pings.length);
    expect(drain(reader).events).toHaveLength(200_000);
  });

  test("a backlog that is never worked off whole costs neither time nor memory", () => {
    const onePing = frame(first.ping, "");
    const reader = new WebSocketReader(limit);
    let cpuMs = 0;
    const heldBytes = countHeldBytes(() => {
      reader.feed(repeat(onePing, 100_000));
      // One ahead from here on: there is never more room than for the next one.
      reader.next();
      cpuMs = spentMs(() => {
        for (let count = 0; count < 300_000; count += 1) {
          reader.next();
          reader.feed(onePing);
        }
      });
    });
    expect(drain(reader).events).toHaveLength(99_999);
    expect(cpuMs).toBeLessThan(2_000);
    expect(heldBytes).toBeLessThan(2 * megabyte);
  });

  test("a large message is unmasked at 300 MB a second and more", () => {
    const bytes = frame(first.text, "x".repeat(limit));
    const cpuMs = span(1, 8).map(() => {
      const reader = new WebSocketReader(limit);
      return spentMs(() => reader.feed(bytes.subarray(0, -1)));
    });
    // The best of a few: the first ones are still being compiled.
    expect(Math.min(...cpuMs)).toBeLessThan((20 / 300) * 1_000);
  });

  test("what was announced and did not come takes no memory", () => {
    const header = fromHex("81 ff 0000000001400000 00000000 61");
    const readers: WebSocketReader[] = [];
    const heldBytes = countHeldBytes(() => {
      for (let count = 0; count < 100; count += 1) {
        const reader = new WebSocketReader(limit);
        reader.feed(header);
        expect(reader.next()).toBeUndefined();
        readers.push(reader);
      }
    });
    expect(readers).toHaveLength(100);
    expect(heldBytes).toBeLessThan(megabyte);
  });

  test("an unfinished message takes no more memory than a message may have", () => {
    const reader = new WebSocketReader(5 * megabyte);
    const piece = frame(first.more, "x".repeat(10_000));
    const heldBytes = countHeldBytes(() => {
      reader.feed(frame(first.textStart, ""));
      for (let count = 0; count < 520; count += 1) reader.feed(piece);
      expect(reader.next()).toBeUndefined();
    });
    expect(heldBytes).toBeGreaterThan(5_000_000);
    expect(heldBytes).toBeLessThan(5.5 * megabyte);
  });

  test("a binary message takes no memory, and a read message none any more", () => {
    const reader = new WebSocketReader(limit);
    const piece = frame(first.more, "x".repeat(100_000));
    const ofBinary = countHeldBytes(() => {
      reader.feed(frame(first.binaryStart, ""));
      for (let count = 0; count < 200; count += 1) reader.feed(piece);
    });
    expect(ofBinary).toBeLessThan(megabyte);
    const ofRead = countHeldBytes(() => {
      reader.feed(frame(first.last, ""));
      reader.feed(frame(first.text, "x".repeat(5 * megabyte)));
      expect(drain(reader).events).toHaveLength(2);
    });
    expect(ofRead).toBeLessThan(megabyte);
  });
});

describe("the handshake", () => {
  test("accepts the RFC's example key as the RFC says", () => {
    expect(toAcceptKey("dGhlIHNhbXBsZSBub25jZQ==")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  });

  test("knows a key of 16 bytes from anything else", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = createRandom(seed);
      const key = Buffer.from(Array.from({ length: 16 }, () => random(256))).toString("base64");
      expect(isWebSocketKey(key)).toBe(true);
    }
    const none = [
      "",
      "dGhlIHNhbXBsZSBub25jZQ",
      "dGhlIHNhbXBsZSBub25jZQ=",
      "dGhlIHNhbXBsZSBub25jZQ==\n",
      " dGhlIHNhbXBsZSBub25jZQ==",
      "dGhlIHNhbXBsZSBub25jZQ==, dGhlIHNhbXBsZSBub25jZQ==",
      "dGhlIHNhbXBsZSBub25jZ_==",
      "dGhlIHNhbXBsZSBub25j",
      Buffer.alloc(15).toString("base64"),
      Buffer.alloc(17).toString("base64"),
      Buffer.alloc(18).toString("base64"),
    ];
    expect(none.filter(isWebSocketKey)).toEqual([]);
  });
});

describe("frames to a client", () => {
  test("are written as the RFC shows them", () => {
    expect(toTextFrame("Hello").toString("hex")).toBe("810548656c6c6f");
    expect(toPongFrame(Buffer.from("Hello")).toString("hex")).toBe("8a0548656c6c6f");
    expect(toPingFrame().toString("hex")).toBe("8900");
    expect(toCloseFrame(1000, "ok").toString("hex")).toBe("880403e86f6b");
    const headers = { 125: "817d", 126: "817e007e", 65535: "817effff", 65536: "817f0000000000010000" };
    for (const [size, header] of Object.entries(headers)) {
      const written = toTextFrame("x".repeat(Number(size)));
      expect(written.toString("latin1")).toBe(fromHex(header).toString("latin1") + "x".repeat(Number(size)));
    }
  });

  test("say no code when there is none", () => {
    expect(toCloseFrame(1005, "").toString("hex")).toBe("8800");
  });

  test("cut a long reason after a whole character", () => {
    for (const character of ["a", "é", "€", "🌡"]) {
      for (let before = 0; before < 4; before += 1) {
        const reason = "x".repeat(before) + character.repeat(200);
        const cut = toCloseFrame(1011, reason).subarray(4);
        const kept = Math.floor((123 - before) / Buffer.byteLength(character));
        expect(cut.toString()).toBe("x".repeat(before) + character.repeat(kept));
      }
    }
    expect(toCloseFrame(1011, "é".repeat(61)).subarray(4).toString()).toBe("é".repeat(61));
  });

  test("are UTF-8 even when a text is not well formed", () => {
    expect(toTextFrame("a\ud800b").toString("hex")).toBe("810561efbfbd62");
  });
});

describe("a real client", () => {
  const servers: { stop(closeActiveConnections?: boolean): void }[] = [];
  afterAll(() => {
    for (const server of servers) server.stop(true);
  });

  const texts = [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000].flatMap((size) => [
    "x".repeat(size),
    toPatternText(size),
  ]);

  test("reads our texts of every length", async () => {
    const { received } = await connect((write) => {
      for (const value of texts) write(toTextFrame(value));
    });
    await waitFor("all texts", () => received.length === texts.length);
    expect(received.every((value, index) => value === texts[index])).toBe(true);
  });

  test("is understood, whatever it sends", async () => {
    const { client, events } = await connect(() => {});
    for (const value of texts) client.send(value);
    client.send(new Uint8Array(100_000));
    client.ping("are you there?");
    client.close(4321, "bis bald, 東京");
    const expected = [...texts.map(text), binary, ping("are you there?"), close(4321, "bis bald, 東京")];
    await waitFor("the close", () => events.at(-1)?.kind === "close");
    expect(events.length).toBe(expected.length);
    expect(events.every((event, index) => Bun.deepEquals(event, expected[index]))).toBe(true);
  });

  test("answers our ping", async () => {
    const { events } = await connect((write) => write(toPingFrame()));
    await waitFor("the pong", () => events.length > 0);
    expect(events).toEqual([pong]);
  });

  test("gets its ping's payload back", async () => {
    const { client } = await connect(() => {});
    const payload = new Promise<string>((resolve) => {
      client.addEventListener("pong", (event) => resolve(Buffer.from((event as MessageEvent).data).toString()));
    });
    client.ping("p".repeat(125));
    expect(await within(5_000, "the pong", payload)).toBe("p".repeat(125));
  });

  test.each([
    { code: 1000, reason: "", seen: { code: 1000, reason: "" } },
    { code: 1001, reason: "wir schließen, 東京", seen: { code: 1001, reason: "wir schließen, 東京" } },
    { code: 1009, reason: "x".repeat(300), seen: { code: 1009, reason: "x".repeat(123) } },
    { code: 4000, reason: "€".repeat(100), seen: { code: 4000, reason: "€".repeat(41) } },
    { code: 1005, reason: "", seen: { code: 1005, reason: "" } },
  ])("sees our close with code $code and its reason", async ({ code, reason, seen }) => {
    const { closed } = await connect((write) => write(toCloseFrame(code, reason)));
    const event = await within(5_000, "the close", closed);
    expect({ code: event.code, reason: event.reason }).toEqual(seen);
  });

  /** A server that shakes hands, greets, answers pings and closes, and keeps what came; and a client at it. */
  async function connect(greet: (write: (bytes: Buffer) => void) => void) {
    const events: WebSocketEvent[] = [];
    const reader = new WebSocketReader(2_000_000);
    let unsent = Buffer.alloc(0);
    let request = "";
    let isOpen = false;

    function flush(socket: Bun.Socket) {
      const sentBytes = socket.write(unsent);
      unsent = unsent.subarray(Math.max(sentBytes, 0));
    }

    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket, bytes) {
          const write = (frameBytes: Buffer) => {
            unsent = Buffer.concat([unsent, frameBytes]);
            flush(socket);
          };
          if (!isOpen) {
            request += bytes.toString("latin1");
            if (!request.endsWith("\r\n\r\n")) return;
            isOpen = true;
            write(Buffer.from(toHandshake(request)));
            greet(write);
            return;
          }
          reader.feed(bytes);
          for (let event = reader.next(); event !== undefined; event = reader.next()) {
            events.push(event);
            if (event.kind === "ping") write(toPongFrame(event.payload));
            if (event.kind === "close") write(toCloseFrame(event.code, event.reason));
          }
        },
        drain: flush,
      },
    });
    servers.push(server);
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/`);
    // Listened to from the beginning: the greeting may arrive together with the handshake.
    const received: unknown[] = [];
    client.addEventListener("message", ({ data }) => received.push(data));
    const closed = new Promise<CloseEvent>((resolve) => client.addEventListener("close", resolve));
    const opened = new Promise<void>((resolve, reject) => {
      client.addEventListener("open", () => resolve());
      client.addEventListener("error", () => reject(new Error("the client did not take the handshake")));
    });
    await within(5_000, "the handshake", opened);
    return { client, events, received, closed };
  }
});

function toHandshake(request: string): string {
  const key = /^sec-websocket-key: (.*)\r$/im.exec(request)?.[1] ?? "";
  if (!isWebSocketKey(key)) return "HTTP/1.1 400 Bad Request\r\n\r\n";
  const lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
  return `${[...lines, `Sec-WebSocket-Accept: ${toAcceptKey(key)}`].join("\r\n")}\r\n\r\n`;
}

/** The stream comes to the same whole, byte by byte, and cut in two at every place. */
function expectOutcome(bytes: Buffer, outcome: Outcome): void {
  expect(readPieces([bytes])).toEqual(outcome);
  expect(readPieces(inPieces(bytes, 1))).toEqual(outcome);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    expect({ cut, ...readPieces([bytes.subarray(0, cut), bytes.subarray(cut)]) }).toEqual({ cut, ...outcome });
  }
}

/** Feeds every piece from the same memory, which is overwritten as soon as it was fed, as a socket's may be. */
function readPieces(pieces: readonly Buffer[], maxMessageBytes = limitBytes): Outcome {
  const reader = new WebSocketReader(maxMessageBytes);
  const memory = Buffer.alloc(Math.max(0, ...pieces.map(({ length }) => length)));
  const events: WebSocketEvent[] = [];
  for (const piece of pieces) {
    const fed = memory.subarray(0, piece.length);
    piece.copy(fed);
    reader.feed(fed);
    if (!fed.equals(piece)) throw new Error("the bytes that were fed were changed");
    fed.fill(0xa5);
    const outcome = drain(reader);
    events.push(...outcome.events);
    if (outcome.closeCode === undefined) continue;
    expect(reader.next()).toBeUndefined();
    return { events, closeCode: outcome.closeCode };
  }
  return { events };
}

function drain(reader: WebSocketReader): Outcome {
  const events: WebSocketEvent[] = [];
  try {
    for (let event = reader.next(); event !== undefined; event = reader.next()) events.push(event);
    return { events };
  } catch (error) {
    if (!(error instanceof WebSocketError)) throw error;
    return { events, closeCode: error.closeCode };
  }
}

/** A frame as a client writes it, with the length in its shortest form. */
function frame(firstByte: number, content: string | Buffer, mask = fromHex("37fa213d")): Buffer {
  const payload = Buffer.from(content as string);
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  const size = payload.length;
  if (size < 126) return join(Buffer.from([firstByte, 0x80 + size]), mask, masked);
  const length = Buffer.alloc(size < 65_536 ? 2 : 8);
  length.writeUIntBE(size, Math.max(0, length.length - 6), Math.min(6, length.length));
  return join(Buffer.from([firstByte, size < 65_536 ? 0xfe : 0xff]), length, mask, masked);
}

function closePayload(code: number, reason = ""): Buffer {
  return join(Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason));
}

function join(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

function repeat(bytes: Buffer, count: number): Buffer {
  return Buffer.alloc(bytes.length * count, bytes);
}

function fromHex(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(" ", ""), "hex");
}

function inPieces(bytes: Buffer, pieceBytes: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
  return pieces;
}

function span(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_none, index) => from + index);
}

/** A text of exactly so many bytes, with characters of one to four of them, in which no part is like the next. */
function toPatternText(sizeBytes: number): string {
  const parts: string[] = [];
  let leftBytes = sizeBytes;
  for (let index = 0; leftBytes >= 16; index += 1) {
    const part = `${index % 100_000} é東🌡`;
    parts.push(part);
    leftBytes -= Buffer.byteLength(part);
  }
  return parts.join("") + "z".repeat(leftBytes);
}

/** A seeded generator (mulberry32), so that a failure comes again: whole numbers from 0 up to but not including `below`. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

type Random = ReturnType<typeof createRandom>;

function toMask(random: Random): Buffer {
  return Buffer.from([random(256), random(256), random(256), random(256)]);
}

function addMessage(random: Random, frames: Buffer[], expected: WebSocketEvent[]): void {
  const isText = random(3) > 0;
  const value = toPatternText(random([20, 300, 1_000, 66_000][random(4)] ?? 1));
  const payload = Buffer.from(value);
  let at = 0;
  let start = isText ? first.textStart : first.binaryStart;
  while (random(3) > 0) {
    const end = at + random(payload.length - at + 1);
    frames.push(frame(start, payload.subarray(at, end), toMask(random)));
    start = first.more;
    at = end;
    while (random(3) === 0) addControl(random, frames, expected);
  }
  frames.push(frame(0x80 | start, payload.subarray(at), toMask(random)));
  expected.push(isText ? text(value) : binary);
}

function addControl(random: Random, frames: Buffer[], expected: WebSocketEvent[]): void {
  const payload = "p".repeat(random(126));
  const isPing = random(2) === 0;
  frames.push(frame(isPing ? first.ping : first.pong, payload, toMask(random)));
  expected.push(isPing ? ping(payload) : pong);
}

/** The processor's time, not the wall's: what else the machine does is not what is measured. */
function spentMs(work: () => void): number {
  const startedAt = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1_000;
}

/** How much more memory is held outside of the heap after the work than before it. */
function countHeldBytes(work: () => void): number {
  Bun.gc(true);
  const before = process.memoryUsage().external;
  work();
  Bun.gc(true);
  return process.memoryUsage().external - before;
}
