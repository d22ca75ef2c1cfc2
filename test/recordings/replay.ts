// Serves recorded answers as their vendors did, in pieces of a chosen kind. Which recording is meant stands in the words of the
// prompt: they reach the vendor through every translation, so one gateway can be asked for all recordings at once.

import { crc32 } from "node:zlib";
import { isObject, type Recording } from "./recording.ts";

const modes = ["event", "byte", "random", "whole"] as const;
export type Mode = (typeof modes)[number];

/** A whole answer has no events, and is put together before it is read: two ways to cut it are enough. */
export function modesOf({ stream }: Recording): readonly Mode[] {
  return stream ? modes : ["byte", "whole"];
}

export interface Replay {
  readonly url: string;
  stop(): Promise<void>;
}

/** What the prompt has to say. */
export function toPrompt({ name }: Recording, mode: Mode | "sse"): string {
  return `recording=${name};mode=${mode};`;
}

const wanted = /recording=([^;"]+);mode=(\w+);/;

export function startReplay(recordings: readonly Recording[]): Replay {
  const byName = new Map(recordings.map((recording) => [recording.name, recording]));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    async fetch(request) {
      const [, name = "", mode = ""] = wanted.exec(await request.text()) ?? [];
      const recording = byName.get(name);
      // No vendor answers so: whoever reads it sees that the prompt was lost.
      if (recording === undefined) return new Response("no recording is named", { status: 418 });
      const { headers, bytes } = toWire(recording, mode);
      return new Response(toStream(toPieces(recording, bytes, mode)), { status: recording.status, headers });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

interface Wire {
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
}

const awsEventStream = "application/vnd.amazon.eventstream";

function toWire({ headers: recorded, body, stream }: Recording, mode: string): Wire {
  const headers: Record<string, string> = { "content-type": stream ? "text/event-stream" : "application/json" };
  for (const [name, value] of Object.entries(recorded))
    if (/^(?:content-type|retry-after|x-ratelimit|x-amzn)/i.test(name)) headers[name.toLowerCase()] = value;
  if (mode === "sse") {
    const events = (JSON.parse(body.toString()) as unknown[]).map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`);
    return { headers: { ...headers, "content-type": "text/event-stream" }, bytes: Buffer.from(events.join("")) };
  }
  // Some recorders kept only what was inside the frames.
  if (headers["content-type"] !== "application/x-bedrock-jsonl") return { headers, bytes: body };
  const lines = body.toString().split("\n").filter(Boolean);
  return { headers: { ...headers, "content-type": awsEventStream }, bytes: Buffer.concat(lines.map(toAwsMessage)) };
}

/** https://docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html */
function toAwsMessage(line: string): Buffer {
  const event: unknown = JSON.parse(line);
  const [type, value] = Object.entries(isObject(event) ? event : {})[0] ?? ["", {}];
  const named = [
    [":message-type", "event"],
    [":event-type", type],
    [":content-type", "application/json"],
  ].map(([name = "", text = ""]) =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, text.length >> 8, text.length & 0xff]),
      Buffer.from(text),
    ]),
  );
  const headers = Buffer.concat(named);
  const payload = Buffer.from(JSON.stringify(value));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, payload]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, sum]);
}

function* toPieces({ stream, headers }: Recording, bytes: Buffer, mode: string): Generator<Buffer> {
  let start = 0;
  for (const end of findCuts(bytes, stream ? mode : mode === "event" ? "whole" : mode, headers)) {
    if (end > start) yield bytes.subarray(start, end);
    start = end;
  }
  if (start < bytes.length) yield bytes.subarray(start);
}

// A stream begins and ends with events of every kind, and repeats one kind in between.
const bytewiseStart = 400;
const bytewiseEnd = 200;
/** Around the end of a line, and within a character of several bytes. */
function isDelicate(bytes: Buffer, at: number): boolean {
  const [before = 0, after = 0] = [bytes[at - 1], bytes[at]];
  return before < 0x20 || after < 0x20 || (before >= 0x80 && after >= 0x80);
}

function* findCuts(bytes: Buffer, mode: string, headers: Recording["headers"]): Generator<number> {
  if (mode === "byte")
    for (let at = 1; at < bytes.length; at += 1)
      if (at < bytewiseStart || at > bytes.length - bytewiseEnd || isDelicate(bytes, at)) yield at;
  if (mode === "random") {
    // Always the same: what fails once fails again.
    let seed = 20_240_229;
    for (let at = 0; at < bytes.length; ) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      at += 1 + ((seed >> 8) % 120);
      yield at;
    }
  }
  if (mode !== "event") return;
  if (/amazon/.test(headers["content-type"] ?? ""))
    for (let at = 0; at + 4 <= bytes.length; yield at) at += Math.max(4, bytes.readUInt32BE(at));
  else
    for (const { index, 0: blank } of bytes.toString("latin1").matchAll(/\r?\n\r?\n|\n(?=\{)/g))
      yield index + blank.length;
}

/** One piece per write and per turn of the event loop, so that each travels alone. */
function toStream(pieces: Iterable<Buffer>): ReadableStream {
  return new ReadableStream({
    type: "direct",
    async pull(controller) {
      for (const piece of pieces) {
        controller.write(piece);
        await controller.flush();
        await new Promise((resolve) => setImmediate(resolve));
      }
      controller.close();
    },
  });
}
