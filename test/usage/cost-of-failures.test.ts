// What is reported as the cost of an attempt that failed: what the provider answered until then, and never 0 for what it generated.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  errorBody,
  event,
  hang,
  type Script,
  streamHead,
  until,
  write,
} from "../support/answers.ts";
import { claudeAnswer, claudeBegun, claudeEvent, claudeMessage } from "../support/anthropic.ts";
import { ask, askAndLeave } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
const origin = vendor.url.replace(/\/v1$/, "");
const gateway = await sharedGateway({
  vendor,
  config: {
    providers: {
      anthropic: { base_url: origin, api_key: "k" },
      cohere: { base_url: origin, api_key: "k" },
      openai: { base_url: vendor.url, api_key: "k" },
    },
  },
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

const messages = [{ role: "user", content: "hi" }];

interface Reported {
  readonly request_id: string;
  readonly outcome: string;
  readonly cost: number | null;
}

/** The attempts of a request, as the log tells them. */
async function readReported(requestId: string): Promise<readonly Reported[]> {
  const find = () =>
    gateway
      .log()
      .split("\n")
      .filter((line) => line.includes(requestId) && line.includes('"outcome"'))
      .map((line) => JSON.parse(line) as Reported);
  await waitFor("the attempt to be reported", () => find().length > 0);
  return find();
}

function idOf(response: Response): string {
  const id = response.headers.get("x-request-id");
  if (id === null) throw new Error("the answer has no id");
  return id;
}

/** On a busy machine, the pauses between the steps could be so long that the opening of the stream is forwarded. */
function inOneWrite(script: Script): Script {
  return [write(Buffer.concat(script.map((step) => (step.do === "write" ? Buffer.from(step.bytes) : Buffer.of()))))];
}

test("calls for embeddings that were answered before another one failed are charged", async () => {
  // The provider takes 96 texts at once, and eight calls run at the same time: the ninth is sent after them.
  const embedded = (inputs: number) => ({
    id: "e",
    embeddings: { float: Array.from({ length: inputs }, () => [0.5]) },
    meta: { billed_units: { input_tokens: 1_000 } },
  });
  for (let call = 0; call < 8; call += 1) vendor.next(answer(200, embedded(96)));
  vendor.next(answer(400, errorBody("no")));
  const asked = {
    model: "cohere/embed-v4.0",
    input: Array.from({ length: 96 * 8 + 1 }, (_, index) => `text ${index}`),
  };
  const response = await ask(gateway.url, key, asked, { path: "/v3/embeddings" });
  expect(response.status).not.toBe(200);
  const [reported] = await readReported(idOf(response));
  // Eight times 1,000 × 0.12 in USD per million.
  expect(reported).toMatchObject({ cost: 0.00096 });
});

test("an answer that is not of the requested structure is charged", async () => {
  const content = [{ type: "tool_use", id: "toolu_1", name: "structured_answer", input: { a: "ab" } }];
  const usage = { input_tokens: 1_000, output_tokens: 100 };
  const model = "claude-3-opus-20240229";
  vendor.on(model, () => answer(200, { ...claudeMessage(""), model, content, stop_reason: "tool_use", usage }));
  const schema = { type: "object", properties: { a: { type: "string", pattern: "^b$" } } };
  const response_format = { type: "json_schema", json_schema: { name: "plan", schema } };
  const response = await ask(gateway.url, key, { model: `anthropic/${model}`, messages, response_format });
  expect(response.status).toBe(502);
  // 1,000 × 15 + 100 × 75 in USD per million.
  for (const reported of await readReported(idOf(response)))
    expect(reported).toMatchObject({ outcome: "provider_bad_response", cost: 0.0225 });
});

test("a streamed answer that is not of the requested structure is charged, also before any of it was sent", async () => {
  const model = "claude-3-opus-20240229";
  // Text beside a structured answer is held until the end, so the check fails before the caller receives anything.
  vendor.on(model, () => inOneWrite(claudeAnswer("Certainly, here is the plan.", true)));
  const response_format = { type: "json_schema", json_schema: { name: "plan", schema: { type: "object" } } };
  const asked = { model: `anthropic/${model}`, messages, response_format, stream: true };
  const response = await ask(gateway.url, key, asked);
  expect(response.status).toBe(502);
  // 9 × 15 + 3 × 75 in USD per million.
  for (const reported of await readReported(idOf(response)))
    expect(reported).toMatchObject({ outcome: "provider_bad_response", cost: 0.00036 });
});

test("a stream that the caller leaves before any usage has an unknown cost, not none", async () => {
  const begun = [streamHead(), event(chatChunk({ role: "assistant", content: "Hi" }))];
  vendor.next([...begun, until(new Promise(() => {}))]);
  const response = await askAndLeave(gateway.url, key, { model: "openai/gpt-5", messages, stream: true });
  expect(await readReported(idOf(response))).toMatchObject([{ outcome: "caller_left", cost: null }]);
});

describe("several streamed choices, of which one is complete when the caller leaves", () => {
  const asked = { model: "anthropic/claude-3-opus-20240229", messages, n: 3, stream: true };

  test("cost what all calls had counted until then", async () => {
    const response = await leaveHalfWay([...claudeBegun(["half"]), hang]);
    // Three times 9 × 15, and 3 + 1 + 1 tokens of output × 75, in USD per million.
    expect(await readReported(idOf(response))).toMatchObject([{ outcome: "caller_left", cost: 0.00078 }]);
  });

  test("have an unknown cost if a call had counted nothing", async () => {
    const { usage: _, ...message } = claudeMessage("");
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "half" } };
    const events = [{ type: "message_start", message: { ...message, content: [], stop_reason: null } }, block];
    const response = await leaveHalfWay([streamHead(), ...events.map(claudeEvent), hang]);
    expect(await readReported(idOf(response))).toMatchObject([{ outcome: "caller_left", cost: null }]);
  });

  /** The first call ends; the caller leaves after it has received its end and text of the others. */
  async function leaveHalfWay(half: Script): Promise<Response> {
    vendor.next(claudeAnswer("whole", true));
    vendor.next(half);
    vendor.next(half);
    const left = new AbortController();
    const response = await ask(gateway.url, key, asked, { signal: left.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let received = "";
    while (received.split('"half"').length < 3 || !received.includes('"finish_reason":"stop"')) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the stream has ended: ${received}`);
      received += decoder.decode(value, { stream: true });
    }
    left.abort();
    return response;
  }
});
