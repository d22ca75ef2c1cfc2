// A provider's last words and its failure in one and the same packet: the words are not lost, and the failure is told.

import { expect, test } from "bun:test";
import {
  chatChunk,
  doneText,
  event,
  eventText,
  hang,
  httpChunk,
  lastHttpChunk,
  streamHead,
  until,
  wait,
} from "../support/answers.ts";
import { claudeBegun } from "../support/anthropic.ts";
import { ask, hello } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const claude = { dialect: "anthropic", base_url: `http://127.0.0.1:${vendor.port}/claude`, api_key: "k" };
const gateway = await sharedGateway({ vendor, env: { SWITCHYARD_RETRIES: "0" }, config: { providers: { claude } } });
const key = await gateway.createKey();

const lastWords = eventText(chatChunk({ content: "and the last." }));
const failure = eventText({ error: { message: "overloaded", type: "server_error" } });

test("words that arrive together with a failure reach the caller before it", async () => {
  const seen = Promise.withResolvers<void>();
  const first = event(chatChunk({ role: "assistant", content: "The first words, " }));
  vendor.next([streamHead(), first, until(seen.promise), httpChunk(lastWords + failure), lastHttpChunk]);

  const response = await ask(gateway.url, key, { ...hello, stream: true });
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes("first words")) seen.resolve();
  }

  const { content, errors, done } = readChatStream(text);
  expect(content).toBe("The first words, and the last.");
  expect(errors.map(({ error }) => error.code)).toEqual(["provider_error"]);
  expect(done).toBe(false);
});

test("a failure that arrives with the very first words is told by a status, so that another offer can answer", async () => {
  vendor.next([streamHead(), httpChunk(lastWords + failure), lastHttpChunk]);

  expect((await ask(gateway.url, key, { ...hello, stream: true })).status).toBe(502);
});

const opening = event(chatChunk({ role: "assistant", content: "" }));

test("a provider that fails after a mere opening fails with a status, so that another offer can answer", async () => {
  vendor.next([streamHead(), opening, wait(50), httpChunk(failure), lastHttpChunk]);

  expect((await ask(gateway.url, key, { ...hello, stream: true })).status).toBe(502);
});

test("a provider that opens its answer and then thinks for long is not waited for", async () => {
  const seen = Promise.withResolvers<void>();
  const words = event(chatChunk({ content: "At last." }));
  vendor.next([
    streamHead(),
    opening,
    until(seen.promise),
    words,
    event(chatChunk({}, "stop")),
    httpChunk(doneText),
    lastHttpChunk,
  ]);

  const response = await ask(gateway.url, key, { ...hello, stream: true });
  expect(response.status).toBe(200);
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes('"role":"assistant"')) seen.resolve();
  }
  expect(readChatStream(text)).toMatchObject({ content: "At last.", done: true });
});

test("of several choices made by several calls, the last words before a failure are not lost either", async () => {
  const seen = Promise.withResolvers<void>();
  const named = (payload: { readonly type: string; readonly [more: string]: unknown }) =>
    `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
  const words = named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "and the last." } });
  const overloaded = named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
  vendor.next([...claudeBegun(["The first words, "]), until(seen.promise), httpChunk(words + overloaded)]);
  vendor.next([...claudeBegun(["Another answer"]), hang]);

  const response = await ask(gateway.url, key, { ...hello, model: "claude/claude-sonnet-4-5", n: 2, stream: true });
  expect(response.headers.get("server-timing")).toContain("connect;dur=");
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes("first words")) seen.resolve();
  }

  expect(text).toContain("and the last.");
  expect(readChatStream(text)).toMatchObject({ done: false, errors: [{ error: { code: "provider_error" } }] });
});
