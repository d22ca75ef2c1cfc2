// Every route that can reach a provider writes a line when it does. A new route for inference keys must be listed here: either with a request that
// reaches the vendor, or as one that never does. The vendor's answers are invented, in documented shapes.

import { expect, test } from "bun:test";
import { listAllRoutes } from "../support/all-routes.ts";
import { answer, completion, errorBody } from "../support/answers.ts";
import { claudeMessage } from "../support/anthropic.ts";
import { linesOf, readLines } from "../support/ledger.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor, type VendorRequest } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
const moderated = { nsfw_likelihood: 1, nsfw_likelihood_score: 0.1, items: [] };
const response = {
  ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "m", output: [], tools: [] },
  ...{ store: true, usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 } },
};

/** By the end of the path. */
const answers: readonly (readonly [RegExp, unknown])[] = [
  [/chat\/completions$/, completion("hi")],
  [/embeddings$/, { object: "list", model: "e", data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 1 } }],
  [/count_tokens$|input_tokens$/, { input_tokens: 7 }],
  [/messages$/, claudeMessage("hi")],
  [/compact$/, { ...response, object: "response.compaction" }],
  [/input_items$/, { object: "list", data: [], first_id: null, last_id: null, has_more: false }],
  [/responses(\/[^/]+)?(\/cancel)?$/, response],
  [/universal-ai$/, { status: "success", cost: 0.001, output: moderated }],
  [/audio\/transcriptions$/, { text: "hello", language: "english", duration: 1, segments: [] }],
  [/images\/generations$/, { created: 1, data: [{ b64_json: pixel }] }],
  [
    /moderations$/,
    { id: "m", model: "m", results: [{ flagged: false, categories: { hate: false }, category_scores: { hate: 0 } }] },
  ],
];

function behave({ path, method, headers }: VendorRequest) {
  const bare = path.split("?")[0] ?? "";
  if (bare === "/portrait.jpg" || method === "HEAD")
    return answer(200, Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"), {
      "content-type": "image/jpeg",
    });
  if (bare.endsWith("/audio/speech")) return answer(200, Buffer.alloc(100, 1), { "content-type": "audio/mpeg" });
  const operation = String(headers["x-amz-target"] ?? "").split(".")[1];
  if (operation !== undefined) {
    const Face = { FaceId: "face-1", Confidence: 99.5, BoundingBox: { Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.4 } };
    return answer(200, { StatusCode: 200, FaceRecords: [{ Face }], DeletedFaces: ["face-1"], FaceMatches: [] });
  }
  const found = answers.find(([pattern]) => pattern.test(bare));
  return found === undefined ? answer(404, errorBody(`no such path: ${bare}`)) : answer(200, found[1]);
}

const vendor = await startVendor(behave);
const at = { base_url: vendor.url, api_key: "k" };
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  jobWorkers: 1,
  env: {
    ...{ AMAZON_BASE_URL: origin, AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "aws-secret-0123456789" },
    ...{ AWS_REGION: "eu-west-1", SWITCHYARD_EGRESS_ALLOW: "127.0.0.1/32" },
  },
  config: {
    providers: {
      openai: at,
      anthropic: { ...at, base_url: origin },
      inhouse: { ...at, dialect: "openai", tasks: ["text/moderation"] },
    },
  },
});
const key = await gateway.createKey();

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly requestId: string;
}

let requests = 0;

async function send(method: string, path: string, body?: unknown): Promise<Sent> {
  const requestId = `route-${++requests}`;
  const isForm = body instanceof FormData;
  const answered = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${key}`, "x-request-id": requestId },
      ...(body !== undefined && !isForm && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: answered.status, text: await answered.text(), requestId };
}

const messages = [{ role: "user", content: "hi" }];
const moderation = { model: "text/moderation/inhouse", input: { text: "hello" } };

/** The response, collection or job that a route refers to. */
async function create(path: string, body: unknown, member = "id"): Promise<string> {
  const { text } = await send("POST", path, body);
  const id = (JSON.parse(text) as Record<string, unknown>)[member];
  if (typeof id !== "string") throw new Error(text);
  return id;
}

const createResponse = () => create("/v3/responses", { model: "openai/m", input: "hi" });
const createCollection = () =>
  create("/v3/universal-ai/collections", { provider: "amazon", name: "Staff" }, "collection_id");
const portrait = { file: `${origin}/portrait.jpg` };

function createForm(): FormData {
  const form = new FormData();
  form.append("model", "openai/whisper-1");
  form.append("file", new File([Buffer.concat([Buffer.from("ID3"), Buffer.alloc(500, 1)])], "speech.mp3"));
  return form;
}

async function addFace(): Promise<string> {
  const id = await createCollection();
  await send("POST", `/v3/universal-ai/collections/${id}/faces`, portrait);
  return `/v3/universal-ai/collections/${id}/faces/face-1`;
}

/** By method and path: sends a request that reaches the vendor. */
const reaching: Readonly<Record<string, () => Promise<Sent>>> = {
  "POST /v3/chat/completions": () => send("POST", "/v3/chat/completions", { model: "mock/echo", messages }),
  "POST /v3/llm/chat/completions": () => send("POST", "/v3/llm/chat/completions", { model: "mock/echo", messages }),
  "POST /v3/v1/messages": () => send("POST", "/v3/v1/messages", { model: "anthropic/c", max_tokens: 5, messages }),
  "POST /v3/v1/messages/count_tokens": () =>
    send("POST", "/v3/v1/messages/count_tokens", { model: "anthropic/c", messages }),
  "POST /v3/embeddings": () => send("POST", "/v3/embeddings", { model: "mock/e", input: "hi" }),
  "POST /v3/responses": () => send("POST", "/v3/responses", { model: "openai/m", input: "hi" }),
  "POST /v3/responses/input_tokens": () =>
    send("POST", "/v3/responses/input_tokens", { model: "openai/m", input: "hi" }),
  "POST /v3/responses/compact": () => send("POST", "/v3/responses/compact", { model: "openai/m", input: "hi" }),
  "GET /v3/responses/{response_id}": async () => send("GET", `/v3/responses/${await createResponse()}`),
  "DELETE /v3/responses/{response_id}": async () => send("DELETE", `/v3/responses/${await createResponse()}`),
  "POST /v3/responses/{response_id}/cancel": async () => send("POST", `/v3/responses/${await createResponse()}/cancel`),
  "GET /v3/responses/{response_id}/input_items": async () =>
    send("GET", `/v3/responses/${await createResponse()}/input_items`),
  "POST /v3/universal-ai": () => send("POST", "/v3/universal-ai", moderation),
  "POST /v3/universal-ai/async": () => send("POST", "/v3/universal-ai/async", moderation),
  "POST /v3/universal-ai/collections": () =>
    send("POST", "/v3/universal-ai/collections", { provider: "amazon", name: "Staff" }),
  "DELETE /v3/universal-ai/collections/{collection_id}": async () =>
    send("DELETE", `/v3/universal-ai/collections/${await createCollection()}`),
  "POST /v3/universal-ai/collections/{collection_id}/faces": async () =>
    send("POST", `/v3/universal-ai/collections/${await createCollection()}/faces`, portrait),
  "DELETE /v3/universal-ai/collections/{collection_id}/faces/{face_id}": async () => send("DELETE", await addFace()),
  "POST /v3/audio/speech": () =>
    send("POST", "/v3/audio/speech", { model: "openai/tts-1", voice: "alloy", input: "Good morning." }),
  "POST /v3/audio/transcriptions": () => send("POST", "/v3/audio/transcriptions", createForm()),
  "POST /v3/images/generations": () =>
    send("POST", "/v3/images/generations", { model: "openai/gpt-image-1", prompt: "A signal box at dusk" }),
  "POST /v3/moderations": () =>
    send("POST", "/v3/moderations", { model: "openai/omni-moderation-latest", input: "hi" }),
};

/** They read and write the gateway's own store. */
const neverReaching: ReadonlySet<string> = new Set([
  "GET /v3/universal-ai/async",
  "GET /v3/universal-ai/async/{job_id}",
  "DELETE /v3/universal-ai/async/{job_id}",
  "POST /v3/universal-ai/async/{job_id}/cancel",
  "GET /v3/universal-ai/async/{job_id}/deliveries",
  "POST /v3/universal-ai/async/{job_id}/deliveries/redeliver",
  "GET /v3/universal-ai/collections",
  "GET /v3/universal-ai/collections/{collection_id}",
  "GET /v3/universal-ai/collections/{collection_id}/faces",
  "POST /v3/upload",
  "GET /v3/upload",
  "DELETE /v3/upload",
  "POST /v3/upload/delete",
  "GET /v3/upload/{file_id}",
  "DELETE /v3/upload/{file_id}",
  "GET /v3/me",
]);

test("every route of inference keys is listed here", () => {
  const routes = listAllRoutes().flatMap(({ key: kind, method, path }) =>
    kind === "inference" ? [`${method} ${path}`] : [],
  );
  expect(routes.toSorted()).toEqual([...Object.keys(reaching), ...neverReaching].toSorted());
});

test.each(Object.keys(reaching))("%s has one line for its call to the provider", async (name) => {
  const { status, text, requestId } = await (reaching[name] as () => Promise<Sent>)();
  if (status >= 400) throw new Error(`${status}: ${text.slice(0, 500)}`);
  const [line, ...others] = await linesOf({ gateway }, requestId, 1);
  expect(others).toEqual([]);
  const endpoint = name.slice(name.indexOf(" ") + 1);
  expect(line).toMatchObject({ attempt: 1n, outcome: "completed", status: 200n, endpoint });
  expect(line?.["provider"]).toBeOneOf(["mock", "openai", "anthropic", "inhouse", "amazon"]);
});

test("a response over a WebSocket has a line, and so have the messages that are refused", async () => {
  const requestId = `socket-${crypto.randomUUID()}`;
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v3/responses`, {
    headers: { authorization: `Bearer ${key}`, "x-request-id": requestId },
  } as unknown as string[]);
  const received: string[] = [];
  socket.onmessage = ({ data }) => void received.push(String(data));
  await waitFor("the connection", () => socket.readyState === WebSocket.OPEN);
  const ends = () =>
    received.filter((message) => /"type":"(?:error|response\.(?:completed|failed))"/.test(message)).length;
  socket.send(JSON.stringify({ type: "response.create", model: "sandbox/echo", input: "hi" }));
  await waitFor("the response", () => ends() === 1);
  socket.send(JSON.stringify({ type: "response.create", input: "hi" }));
  await waitFor("the first refusal", () => ends() === 2);
  socket.send(JSON.stringify({ type: "something.else" }));
  await waitFor("the second refusal", () => ends() === 3);
  socket.close();
  const lines = await waitFor("three lines", async () => {
    const all = (await readLines({ gateway })).filter((line) => String(line["request_id"]).startsWith(requestId));
    return all.length === 3 ? all : null;
  });
  expect(lines).toMatchObject([
    { attempt: 1n, outcome: "completed", provider: "sandbox", endpoint: "/v3/responses", is_stream: 1n },
    { attempt: 0n, outcome: "invalid_request", status: 422n, endpoint: "/v3/responses" },
    { attempt: 0n, outcome: "unknown_message", status: 400n },
  ]);
});
