// One send is one counted attempt, for providers and for webhook receivers: the request heads that a raw server on loopback received are
// compared with what the gateway says that it sent.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { completion } from "../support/answers.ts";
import {
  type ConnectionFault,
  type CountingServer,
  connectionFaults,
  startCountingServer,
} from "../support/counting-server.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { receiversCertificate } from "../support/tls-receiver.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

// Invented, in the shapes that the vendors document.
const answers: Readonly<Record<string, unknown>> = {
  "/chat/completions": completion('{"general_sentiment":"Positive","general_sentiment_rate":0.9,"items":[]}'),
  "/embeddings": {
    object: "list",
    model: "e",
    data: [{ object: "embedding", index: 0, embedding: [0.5] }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
  "/responses": {
    ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m", output: [], tools: [] },
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  "/messages": {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "c", stop_reason: "end_turn", stop_sequence: null },
    ...{ content: [{ type: "text", text: "hi" }], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  "/images/generations": { created: 1, data: [{ b64_json: onePixel }] },
  "/universal-ai": {
    status: "success",
    cost: 0,
    output: { nsfw_likelihood: 1, nsfw_likelihood_score: 0.1, items: [] },
  },
};

const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const events = [
  { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "hi" }, finish_reason: null }] },
  { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
]
  .map((one) => `data: ${JSON.stringify(one)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");

/** Larger than what one read of the socket brings, so that a reset behind the head comes before the end of the body. */
const longText = "word ".repeat(40_000);
const messages = [{ role: "user", content: longText }];

interface Surface {
  readonly path: string;
  readonly body: unknown;
  /** Whether the gateway itself may send a request again that a provider may have executed. */
  readonly mayRepeat: boolean;
}

const surfaces: Readonly<Record<string, Surface>> = {
  chat: { path: "/v3/chat/completions", body: { model: "raw/m", messages }, mayRepeat: true },
  "chat, streamed": { path: "/v3/chat/completions", body: { model: "raw/m", messages, stream: true }, mayRepeat: true },
  "chat in a translated format": {
    path: "/v3/chat/completions",
    body: { model: "claude/c", messages },
    mayRepeat: true,
  },
  messages: { path: "/v3/v1/messages", body: { model: "claude/c", max_tokens: 9, messages }, mayRepeat: true },
  "native responses": { path: "/v3/responses", body: { model: "raw/m", input: longText }, mayRepeat: true },
  embeddings: { path: "/v3/embeddings", body: { model: "raw/e", input: longText }, mayRepeat: true },
  "a task of a vendor": {
    path: "/v3/universal-ai",
    body: {
      model: "image/generation/openai/gpt-image-1",
      input: { text: longText.slice(0, 3_000), resolution: "1024x1024", num_images: 1 },
    },
    mayRepeat: false,
  },
  "a task of a declared provider": {
    path: "/v3/universal-ai",
    body: { model: "text/moderation/tasks", input: { text: "good", language: "en" } },
    mayRepeat: false,
  },
  "a task of a chat model": {
    path: "/v3/universal-ai",
    body: { model: "text/sentiment_analysis/raw/m", input: { text: "good", language: "en" } },
    mayRepeat: false,
  },
};

const isUnanswered = (fault: ConnectionFault) => fault !== "none" && fault !== "FIN before reuse";

let vendor: Vendor;
let provider: CountingServer;
let receiver: CountingServer;
let dns: DnsServer;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  vendor = await startVendor();
  provider = await startCountingServer({
    answer: (path, body) =>
      body.includes('"stream":true')
        ? events
        : (Object.entries(answers).find(([end]) => path.endsWith(end))?.[1] ?? {}),
  });
  receiver = await startCountingServer({ answer: () => ({}), isTls: true });
  dns = await startDnsServer({ "hooks.example.com": [["127.0.0.1"]] });
  const base = { base_url: `http://127.0.0.1:${provider.port}/v1`, api_key: providerSecret };
  gateway = await startGatewayProcess({
    vendor,
    jobWorkers: 1,
    env: {
      // Long enough for an answer on a busy machine. A provider that hangs takes it once for each attempt.
      SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: "2500",
      SWITCHYARD_RETRIES: "1",
      // No circuit opens: every surface is measured with the same provider.
      SWITCHYARD_BREAKER_FAILURES: "1000",
      SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8",
      SWITCHYARD_EGRESS_DNS: dns.address,
      NODE_EXTRA_CA_CERTS: receiversCertificate,
      OPENAI_API_KEY: providerSecret,
      OPENAI_BASE_URL: base.base_url,
    },
    config: {
      providers: {
        raw: { dialect: "openai", responses: "native", ...base },
        claude: { dialect: "anthropic", ...base },
        tasks: { dialect: "openai", tasks: ["text/moderation"], ...base },
      },
    },
  });
  key = await gateway.createKey({ name: "sends" });
});

afterAll(async () => {
  await gateway?.stop();
  provider?.stop();
  receiver?.stop();
  await dns?.stop();
  await vendor?.stop();
});

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

describe.each(Object.entries(surfaces))("%s", (_name, { path, body, mayRepeat }) => {
  test.each(connectionFaults)("%s: the provider received what was counted", async (fault) => {
    // Leaves a connection that is idle, or that the provider closes behind its answer.
    provider.count(fault === "FIN before reuse" ? fault : "none");
    expect(await call("POST", path, body)).toMatchObject({ status: 200 });
    provider.count(fault);
    const { status, headers, text } = await call("POST", path, body);
    const attempts = Number(headers.get("x-switchyard-attempts"));
    expect({ heads: provider.heads(), text: text.slice(0, 200) }).toEqual({
      heads: attempts,
      text: text.slice(0, 200),
    });
    expect(attempts).toBeGreaterThan(0);
    if (!isUnanswered(fault)) {
      expect(attempts).toBe(1);
      return;
    }
    if (status !== 200) expect(text).toContain("It may have executed the request.");
    if (mayRepeat) return;
    expect([attempts, headers.get("x-should-retry")]).toEqual([1, "false"]);
  });
});

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly error: { readonly message: string } | null;
}

async function finished(id: string): Promise<Job> {
  return await waitFor(
    "the job to be over",
    async () => {
      const job = JSON.parse((await call("GET", `/v3/universal-ai/async/${id}`)).text) as Job;
      return job.status === "processing" ? null : job;
    },
    { everyMs: 50 },
  );
}

async function submit(body: object): Promise<Job> {
  const { status, text } = await call("POST", "/v3/universal-ai/async", body);
  expect({ status, text }).toMatchObject({ status: 202 });
  return JSON.parse(text) as Job;
}

describe("a job of an engine that must not repeat it", () => {
  for (const name of ["a task of a vendor", "a task of a declared provider", "a task of a chat model"])
    test.each(
      connectionFaults.filter(isUnanswered),
    )(`${name}, %s: it is sent once, and fails with that statement`, async (fault) => {
      const { body } = surfaces[name] as { body: object };
      provider.count("none");
      expect(await finished((await submit(body)).job_id)).toMatchObject({ status: "success" });
      provider.count(fault);
      const { status, error } = await finished((await submit(body)).job_id);
      expect([status, provider.heads()]).toEqual(["fail", 1]);
      expect(error?.message).toContain("may have executed the request");
      expect(error?.message).toContain("was not sent again");
    });
});

interface Delivery {
  readonly state: string;
  readonly attempts: readonly { readonly status: number | null }[];
}

describe("a webhook", () => {
  const sentiment = { model: "text/sentiment_analysis/sandbox", input: { text: "good", language: "en" } };

  test.each(
    connectionFaults.filter((fault) => fault !== "hang"),
  )("%s: the receiver received what was logged", async (fault) => {
    // Deliveries of other cases are sent again at any time, so each case counts those to its own paths.
    const [before, faulty] = [`/${crypto.randomUUID()}`, `/${crypto.randomUUID()}`];
    const submitTo = (path: string) =>
      submit({ ...sentiment, webhook_receiver: `https://hooks.example.com:${receiver.port}${path}` });
    const delivered = async (job: Job, attempts: number) =>
      await waitFor(
        "attempts to be logged",
        async () => {
          const { text } = await call("GET", `/v3/universal-ai/async/${job.job_id}/deliveries`);
          const [delivery] = (JSON.parse(text) as { items: Delivery[] }).items;
          return delivery !== undefined && delivery.attempts.length >= attempts ? delivery : null;
        },
        { everyMs: 50 },
      );
    receiver.count(fault === "FIN before reuse" ? fault : "none");
    for (let time = 0; time < 3; time++) await delivered(await submitTo(before), 1);
    expect(receiver.heads(before)).toBe(3);
    receiver.count(fault);
    // The status of an answer is enough, also when its body is cut.
    const isTold = !isUnanswered(fault) || fault === "RST inside the answer";
    const job = await submitTo(faulty);
    // An attempt is received before it is logged.
    const { attempts, state } = await waitFor("every received attempt to be logged", async () => {
      const delivery = await delivered(job, isTold ? 1 : 2);
      return receiver.heads(faulty) === delivery.attempts.length ? delivery : null;
    });
    const isRead = attempts.some(({ status }) => status === 200);
    expect(state).toBe(isRead ? "delivered" : "pending");
    // On a busy machine, a reset inside the answer can arrive before the status was read.
    if (fault !== "RST inside the answer") expect(isRead).toBe(isTold);
  });
});
