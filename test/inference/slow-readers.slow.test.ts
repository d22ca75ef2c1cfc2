// A caller that reads slowly: the provider's idle timeout counts the provider's silence, not the caller's.

import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import {
  chatChunk,
  doneText,
  eventText,
  httpChunk,
  lastHttpChunk,
  type Script,
  streamHead,
} from "../support/answers.ts";
import { chatPath, hello } from "../support/chat.ts";
import { requestBytes } from "../support/raw-http.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const idleTimeoutMs = 3_000;
// More than the buffers of both connections hold.
const pieces = 300;
const pieceCharacters = 60_000;

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_IDLE_TIMEOUT_MS: String(idleTimeoutMs), SWITCHYARD_RETRIES: "0" },
  config: { providers: { claude: { dialect: "anthropic", base_url: `${vendor.url}/claude`, api_key: "k" } } },
});
const key = await gateway.createKey();

const text = "x".repeat(pieceCharacters);
const claudeEvent = (payload: { type: string; [more: string]: unknown }) =>
  `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;

const scripts: Readonly<Record<string, Script>> = {
  "mock/long": [
    streamHead(),
    flood(eventText(chatChunk({ content: text }))),
    httpChunk(`${eventText(chatChunk({}, "stop"))}${doneText}`),
    lastHttpChunk,
  ],
  "claude/long": [
    streamHead(),
    httpChunk(
      claudeEvent({
        type: "message_start",
        message: { id: "m", type: "message", role: "assistant", model: "c", content: [], usage: { input_tokens: 1 } },
      }) + claudeEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ),
    flood(claudeEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    httpChunk(
      claudeEvent({ type: "content_block_stop", index: 0 }) +
        claudeEvent({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }) +
        claudeEvent({ type: "message_stop" }),
    ),
    lastHttpChunk,
  ],
};

for (const [model, script] of Object.entries(scripts))
  test(`${model}: a caller that pauses for longer than the idle timeout still gets the whole answer`, async () => {
    vendor.clear();
    vendor.next(script);
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(gateway.url).port) });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" };
    socket.write(requestBytes({ path: chatPath, headers, body: JSON.stringify({ ...hello, model, stream: true }) }));
    socket.pause();
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    await Bun.sleep(1.4 * idleTimeoutMs);
    // The provider was held back meanwhile, so the pause did reach it.
    expect(vendor.last().finishedAt).toBeNull();
    expect(vendor.last().leftAt).toBeNull();

    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
    });
    socket.resume();
    await once(socket, "end");
    socket.destroy();
    expect(received.split(text).length - 1).toBe(pieces);
    expect(received).toContain("data: [DONE]");
    expect(received).not.toContain('"error"');
  });

test("a provider that is silent while the caller reads times out", async () => {
  vendor.next([streamHead(), httpChunk(eventText(chatChunk({ content: "first" }))), { do: "hang" }]);
  const response = await fetch(`${gateway.url}${chatPath}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...hello, model: "mock/silent", stream: true }),
  });
  const received = await response.text();
  expect(received).toContain("provider_timeout");
  expect(received).not.toContain("[DONE]");
});

function flood(event: string) {
  const step = httpChunk(event);
  if (step.do !== "write") throw new TypeError("a chunk is written");
  return { do: "flood", unit: Buffer.from(step.bytes), times: pieces } as const;
}
