// POST /v3/chat/completions with `stream`: events, their order and timing, and callers that read slowly.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import {
  chatChunk,
  chatChunks,
  doneText,
  errorBody,
  event,
  eventText,
  hang,
  httpChunk,
  lastHttpChunk,
  stream,
  streamHead,
  until,
  usualUsage,
  wait,
} from "../support/answers.ts";
import { ask, chatPath, readError } from "../support/chat.ts";
import { openChatGateway, streamed } from "../support/chat-gateway.ts";
import { readChatStream } from "../support/events.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { isFullRun } from "../support/test-size.ts";
import { inParallel } from "../support/wait.ts";
import { watchMemory } from "../support/watch.ts";

const manyStreams = isFullRun ? 500 : 150;

const { vendor, gateway, key, askStream } = await openChatGateway();

describe("streams", () => {
  test("a stream has one id, the role first, the finish once, and the end mark last", async () => {
    const { chunks, content, done, errors } = await askStream({
      ...streamed,
      messages: [{ role: "user", content: "one two three four" }],
    });
    expect({ content, done, errors }).toEqual({ content: "one two three four", done: true, errors: [] });
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason === "stop")).toHaveLength(1);
    expect(chunks.every((chunk) => chunk.object === "chat.completion.chunk")).toBe(true);
  });

  test("usage is withheld from a caller who did not ask for it", async () => {
    const { chunks } = await askStream();
    expect(chunks.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true);
  });

  test("a caller that requests usage receives it, with the cost, in a last chunk", async () => {
    const { chunks, done } = await askStream({ ...streamed, stream_options: { include_usage: true } });
    const last = chunks.at(-1);
    expect(last).toMatchObject({ choices: [], usage: usualUsage });
    expect(last).toHaveProperty("cost", null);
    expect(chunks.filter((chunk) => chunk.choices.length === 0)).toHaveLength(1);
    expect(done).toBe(true);
  });

  test("usage that the vendor puts on a content chunk reaches the caller once, in a last chunk", async () => {
    const last = { ...chatChunk({}, "stop"), usage: usualUsage };
    vendor.next([streamHead(), event(chatChunk({ content: "hi" })), event(last), httpChunk(doneText), lastHttpChunk]);
    const { chunks, content } = await askStream({ ...streamed, stream_options: { include_usage: true } });
    expect(content).toBe("hi");
    expect(chunks.filter((chunk) => chunk.usage)).toEqual([chunks.at(-1) as never]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: usualUsage, cost: null });
    expect(chunks.at(-2)).toEqual({ ...last, usage: null } as never);
  });

  test("every event is written by itself, at the moment it arrives", async () => {
    vendor.next(stream(["a", "b", "c", "d", "e"], { intervalMs: 40 }));
    const connection = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    connection.send(requestBytes({ path: chatPath, headers, body: JSON.stringify(streamed) }));
    const response = await connection.receive();
    connection.leave();
    const pieces = response.chunks.map((chunk) => chunk.toString());
    expect(pieces.length).toBeGreaterThanOrEqual(8);
    for (const piece of pieces) {
      expect(piece).toEndWith("\n\n");
      expect(piece.split("data: ").length).toBeLessThanOrEqual(2);
    }
  });

  test("the first event does not wait for the second", async () => {
    vendor.next([streamHead(), event(chatChunk({ role: "assistant", content: "now" })), hang]);
    const abort = new AbortController();
    const response = await ask(gateway.url, key, streamed, { signal: abort.signal });
    const reader = response.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first).toContain('"now"');
    expect(vendor.last().leftAt).toBeNull();
    abort.abort();
  });

  test("silence is bridged by comments", async () => {
    vendor.next([streamHead(), event(chatChunk({ content: "a" })), wait(900), ...stream(["b"]).slice(1)]);
    const { comments, content, done } = await askStream();
    expect(comments.length).toBeGreaterThanOrEqual(2);
    expect({ content, done }).toEqual({ content: "ab", done: true });
  });

  test("a vendor's line ends, comments, names and missing spaces do not matter", async () => {
    const [role, first, second, finish] = chatChunks(["one ", "two"]);
    const text = [
      ": a comment\r\n\r\n",
      eventText(role, "\r\n"),
      `event: chunk\nid: 4\nretry: 100\ndata:${JSON.stringify(first)}\n\n`,
      ": keep-alive\n\n\n\n",
      eventText(second, "\n"),
      eventText(finish, "\r\n"),
      "data: [DONE]\r\n\r\n",
    ].join("");
    vendor.next([streamHead(), httpChunk(text), lastHttpChunk]);
    expect(await askStream()).toMatchObject({ content: "one two", done: true, errors: [] });
  });

  for (const lineEnd of ["\n", "\r\n"]) {
    test(`events that arrive byte by byte, ${JSON.stringify(lineEnd)} at the line's end, come out whole`, async () => {
      const text = chatChunks(["é😀", "x"], usualUsage).map((chunk) => eventText(chunk, lineEnd));
      const bytes = Buffer.from(`${text.join("")}data: [DONE]${lineEnd}${lineEnd}`);
      const single = Array.from(bytes, (byte) => httpChunk(Uint8Array.of(byte)));
      // A pause now and then makes separate reads of them.
      const paced = single.flatMap((step, index) => (index % 5 === 0 ? [step, wait(0)] : [step]));
      vendor.next([streamHead(), ...paced, lastHttpChunk]);
      expect(await askStream()).toMatchObject({ content: "é😀x", done: true, errors: [] });
    });
  }

  test("text that looks like an event is only text", async () => {
    vendor.next(stream(["\n\ndata: [DONE]\n\n", "event: x\r\ndata: y\r\n\r\n"]));
    const { content, done } = await askStream();
    expect({ content, done }).toEqual({ content: "\n\ndata: [DONE]\n\nevent: x\r\ndata: y\r\n\r\n", done: true });
  });

  test("tool calls and unknown members of a chunk pass untouched", async () => {
    const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: '{"a":' } };
    const odd = { ...chatChunk({ tool_calls: [call], reasoning_content: "hm" }), vendor_member: { deep: [1] } };
    vendor.next([streamHead(), event(odd), event(chatChunk({}, "tool_calls")), httpChunk(doneText), lastHttpChunk]);
    const { chunks } = await askStream();
    expect(chunks[0]).toMatchObject(odd);
  });

  test("the end mark ends the stream, whatever the vendor does with its connection", async () => {
    const events = chatChunks(["hi"]).map(event);
    vendor.next([streamHead(), ...events, httpChunk(`${doneText}data: {"choices":[]}\n\n`), hang]);
    expect(await askStream()).toMatchObject({ content: "hi", done: true, errors: [] });
  });

  test(`${manyStreams} streams run at once`, async () => {
    const everyone = Promise.withResolvers<void>();
    let arrived = 0;
    vendor.on("together", () => {
      arrived += 1;
      if (arrived === manyStreams) everyone.resolve();
      const first = event(chatChunk({ role: "assistant", content: "here" }));
      return [streamHead(), first, until(everyone.promise), ...stream([" all"]).slice(2)];
    });
    const own = await startGatewayProcess({
      vendor,
      env: { SWITCHYARD_IDLE_TIMEOUT_MS: "600000", SWITCHYARD_TOTAL_TIMEOUT_MS: "600000" },
    });
    try {
      const ownKey = await own.createKey();
      const headers = { authorization: `Bearer ${ownKey}`, "content-type": "application/json" };
      const body = JSON.stringify({ ...streamed, model: "mock/together" });
      let whole = 0;
      await inParallel(manyStreams, manyStreams, async () => {
        const connection = await openConnection(own.url);
        connection.send(requestBytes({ path: chatPath, headers, body }));
        const response = await connection.receive();
        connection.leave();
        const { content, done } = readChatStream(response.body.toString());
        if (content === "here all" && done) whole += 1;
      });
      expect(whole).toBe(manyStreams);
    } finally {
      await own.kill();
    }
  });

  test("a caller who does not read holds the vendor back, and not the gateway's memory", async () => {
    const piece = Buffer.from(eventText(chatChunk({ content: "x".repeat(60_000) })));
    const unit = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
    vendor.next([streamHead(), { do: "flood", unit, times: 4_000 }, httpChunk(doneText), lastHttpChunk]);
    const own = await startGatewayProcess({ vendor });
    const ownKey = await own.createKey();
    const [serving = 0] = (await own.processes()).serving;
    const memory = watchMemory(serving);
    await memory.started;
    const { port } = new URL(own.url);
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    const headers = { authorization: `Bearer ${ownKey}`, "content-type": "application/json" };
    socket.write(requestBytes({ path: chatPath, headers, body: JSON.stringify(streamed) }));
    socket.pause();
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    // Long enough to receive everything if the gateway did not apply backpressure.
    await Bun.sleep(1_500);
    expect(vendor.last().finishedAt).toBeNull();
    expect(await memory.stop()).toBeLessThan(48);
    socket.destroy();
    await vendor.waitFor("the call's end", (requests) => requests[0]?.leftAt !== null);
    await own.kill();
  });

  test("a stream that stays silent after its headers times out with a status", async () => {
    vendor.on("echo", [streamHead(), hang]);
    expect(await readError(await ask(gateway.url, key, streamed))).toMatchObject({
      status: 504,
      code: "provider_timeout",
    });
  });

  test("an error that comes instead of the first event keeps its status", async () => {
    vendor.on("echo", [streamHead(), event(errorBody("overloaded")), httpChunk(doneText), lastHttpChunk]);
    expect(await readError(await ask(gateway.url, key, streamed))).toMatchObject({
      status: 502,
      code: "provider_error",
    });
  });
});
