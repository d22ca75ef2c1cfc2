// What is reported as the cost of an attempt that failed: what the provider answered until then, and never 0 for what it generated.

import { beforeEach, expect, test } from "bun:test";
import { answer, chatChunk, errorBody, event, type Script, streamHead, until, write } from "../support/answers.ts";
import { claudeAnswer, claudeMessage } from "../support/anthropic.ts";
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
