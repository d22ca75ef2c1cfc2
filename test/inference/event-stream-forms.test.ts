// Event streams in forms that the standard allows and few providers use (https://html.spec.whatwg.org/multipage/server-sent-events.html):
// the caller receives valid events with the same content.

import { beforeEach, describe, expect, test } from "bun:test";
import { chatChunks, doneText, httpChunk, lastHttpChunk, streamHead, usualUsage } from "../support/answers.ts";
import { claudeEvents } from "../support/anthropic.ts";
import { ask } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const claude = { dialect: "anthropic", base_url: `http://127.0.0.1:${vendor.port}/claude`, api_key: "k" };
const native = { dialect: "openai", base_url: vendor.url, api_key: "k", responses: "native" };
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0" },
  config: { providers: { claude, native } },
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

type Payload = Readonly<Record<string, unknown>>;

const words = ["One\nword, ", "two words."];
const messages = [{ role: "user", content: "hi" }];
const response = { id: "resp_1", object: "response", model: "echo-2024", output: [] };
const responseEvents = [
  { type: "response.created", response: { ...response, status: "in_progress" } },
  ...words.map((delta) => ({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, delta })),
  { type: "response.completed", response: { ...response, status: "completed" } },
].map((event, index) => ({ ...event, sequence_number: index }));

interface Route {
  readonly path: string;
  readonly body: Payload;
  readonly sent: readonly Payload[];
}

const chatPath = "/v3/chat/completions";
const messagesPath = "/v3/v1/messages";
const chat = chatChunks(words, usualUsage);

const routes: Readonly<Record<string, Route>> = {
  "a chat stream": { path: chatPath, body: { model: "mock/echo", messages }, sent: chat },
  "a chat stream with usage": {
    path: chatPath,
    body: { model: "mock/echo", messages, stream_options: { include_usage: true } },
    sent: chat,
  },
  "a chat stream that is translated": {
    path: chatPath,
    body: { model: "claude/claude-sonnet-4-5", messages },
    sent: claudeEvents(words),
  },
  "a Messages stream": {
    path: messagesPath,
    body: { model: "claude/claude-sonnet-4-5", max_tokens: 9, messages },
    sent: claudeEvents(words),
  },
  "a Messages stream that is translated": {
    path: messagesPath,
    body: { model: "mock/echo", max_tokens: 9, messages },
    sent: chat,
  },
  "a Responses stream": {
    path: "/v3/responses",
    body: { model: "native/echo", input: "hi", store: false },
    sent: responseEvents,
  },
};

const nameOf = ({ type }: Payload) => (typeof type === "string" ? `event: ${type}\n` : "");
const plain = (payload: Payload) => `${nameOf(payload)}data: ${JSON.stringify(payload)}\n\n`;

const indented = (payload: Payload) =>
  `${nameOf(payload)}${JSON.stringify(payload, null, 2).replace(/^/gm, "data: ")}\n\n`;

const forms: Readonly<Record<string, (payload: Payload) => string>> = {
  "JSON over several lines": indented,
  "lines that end with CR": (payload) => plain(payload).replaceAll("\n", "\r"),
  "JSON over several lines that end with CR": (payload) => indented(payload).replaceAll("\n", "\r"),
  "events without data": (payload) => `data:\n\nevent: ping\ndata: \n\n${plain(payload)}`,
};

async function receive({ path, body, sent }: Route, form: (payload: Payload) => string): Promise<string> {
  vendor.next([streamHead(), ...sent.map((payload) => httpChunk(form(payload))), httpChunk(doneText), lastHttpChunk]);
  const answer = await ask(gateway.url, key, { ...body, stream: true }, { path });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** The names and the JSON of all events, without the members that differ from one call to the next. */
function readPayloads(text: string): unknown[] {
  const own = new Set(["id", "created", "created_at", "item_id", "provider_time"]);
  const { events, rest } = readEvents(text);
  expect(rest).toBe("");
  return events.map(({ name, data }) => [
    name,
    data === "[DONE]" ? data : JSON.parse(data, (member, value) => (own.has(member) ? undefined : value)),
  ]);
}

for (const [title, route] of Object.entries(routes))
  describe(title, () => {
    for (const [name, form] of Object.entries(forms))
      test(name, async () => {
        const expected = readPayloads(await receive(route, plain));
        const text = await receive(route, form);
        expect(text.split(/\r\n|[\r\n]/).filter((line) => !/^(?:data: .+|event: \S+|)$/.test(line))).toEqual([]);
        expect(readPayloads(text)).toEqual(expected);
        expect(JSON.stringify(expected)).toContain(JSON.stringify(words[0]));
      });
  });
