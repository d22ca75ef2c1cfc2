// Tags of a request: every endpoint that accepts them records them, with those of the key and of its team.

import { beforeAll, expect, test } from "bun:test";
import type { ZodObject } from "zod";
import { usageReport } from "../../src/contract/usage.ts";
import { listAllRoutes } from "../support/all-routes.ts";
import { ask, readError } from "../support/chat.ts";
import { linesOf, readLines } from "../support/ledger.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const gateway = await sharedGateway({
  jobWorkers: 1,
  config: { prices: { "mock/*": { input: 100_000, output: 100_000 } } },
});
const team = { name: "tagged", tags: { from: "team", team: "t", project: "of-team" } };
const ofKey = { from: "key", key: "k", project: "of-key" };
const ofRequest = { from: "request", project: "alpha" };
const recorded = { from: "request", team: "t", key: "k", project: "alpha" };
const recordedWithout = { from: "key", team: "t", key: "k", project: "of-key" };
let key: string;

beforeAll(async () => {
  await gateway.manage("POST", "/teams", team);
  const created = await gateway.manage("POST", "/keys", { name: "tagged", team: team.name, tags: ofKey });
  key = (created as { key: string }).key;
});

type Body = Readonly<Record<string, unknown>>;
const messages = [{ role: "user", content: "hi" }];
const task = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };

/** Requests that the sandbox answers, by their path. */
const answered: Readonly<Record<string, Body>> = {
  "/v3/chat/completions": { model: "sandbox/echo", messages },
  "/v3/llm/chat/completions": { model: "sandbox/echo", messages, stream: true },
  "/v3/v1/messages": { model: "sandbox/echo", max_tokens: 5, messages },
  "/v3/embeddings": { model: "sandbox/embedding", input: "hi" },
  "/v3/responses": { model: "sandbox/echo", input: "hi" },
  "/v3/universal-ai": task,
  "/v3/universal-ai/async": task,
  "/v3/audio/speech": { model: "sandbox", input: "Good morning." },
  "/v3/audio/transcriptions": { model: "sandbox" },
  "/v3/images/generations": { model: "sandbox", prompt: "A signal box at dusk" },
  "/v3/moderations": { model: "sandbox", input: "hi" },
};

/** Requests that the sandbox cannot answer, or without a call to a provider. */
const others: Readonly<Record<string, Body>> = {
  "/v3/v1/messages/count_tokens": { model: "sandbox/echo", messages },
  "/v3/responses/input_tokens": { model: "sandbox/echo", input: "hi" },
  "/v3/responses/compact": { model: "sandbox/echo", input: "hi" },
};

/** Anthropic's format has no 422. */
const refusalOf = (path: string) => (path.startsWith("/v3/v1/messages") ? 400 : 422);
const formPath = "/v3/audio/transcriptions";

let requests = 0;

/** The fields of a form are texts: objects are sent as JSON. */
function toForm(body: Body): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  form.append("file", new File([Buffer.concat([Buffer.from("ID3"), Buffer.alloc(500, 1)])], "speech.mp3"));
  return form;
}

async function send(path: string, body: Body, as = key): Promise<{ response: Response; requestId: string }> {
  const requestId = `tagged-${++requests}`;
  const headers = { "x-request-id": requestId };
  if (path !== formPath) return { response: await ask(gateway.url, as, body, { path, headers }), requestId };
  const authorization = `Bearer ${as}`;
  const sent = { method: "POST", headers: { ...headers, authorization }, body: toForm(body) };
  return { response: await fetch(`${gateway.url}${path}`, sent), requestId };
}

async function tagsOf(requestId: string): Promise<unknown> {
  const [line] = await linesOf({ gateway }, requestId, 1);
  return JSON.parse(String(line?.["tags"]));
}

test("every route that declares tags is listed here", () => {
  const declared = listAllRoutes().flatMap(({ key: kind, path, body }) => {
    const shape = body !== undefined && "schema" in body ? (body.schema as ZodObject).shape : {};
    return kind === "inference" && "tags" in shape ? [path] : [];
  });
  expect(declared.toSorted()).toEqual([...Object.keys(answered), ...Object.keys(others)].toSorted());
});

test.each(Object.keys(answered))("the line of %s has the tags of team, key and request", async (path) => {
  const { response, requestId } = await send(path, { ...answered[path], tags: ofRequest });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text.slice(0, 500)}`);
  expect(await tagsOf(requestId)).toEqual(recorded);
});

test.each([undefined, null, {}])("with tags %p, a line has those of the key", async (tags) => {
  const { response, requestId } = await send("/v3/chat/completions", { model: "sandbox/echo", messages, tags });
  expect(response.status).toBe(200);
  expect(await tagsOf(requestId)).toEqual(recordedWithout);
});

const all = { ...answered, ...others };

test.each(Object.keys(all))("the line of a refused request to %s has its tags", async (path) => {
  const { response, requestId } = await send(path, { ...all[path], model: "", tags: ofRequest });
  expect(response.status).toBe(refusalOf(path));
  // A form is refused before its fields are known to be valid.
  expect(await tagsOf(requestId)).toEqual(path === formPath ? recordedWithout : recorded);
});

test("the refusal of a form after its fields were read has its tags", async () => {
  const { response, requestId } = await send(formPath, { model: "mock/none", tags: ofRequest });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await tagsOf(requestId)).toEqual(recorded);
});

test("refusals by a budget and by a scope have the tags", async () => {
  const limited = await gateway.createKey({
    ...{ budget: { amount: 0.001, period: "monthly" }, scopes: ["chat"], tags: { key: "limited" } },
  });
  const expected = { key: "limited", ...ofRequest };
  const chat = { model: "mock/echo", messages, tags: ofRequest };
  const budget = await send("/v3/chat/completions", { ...chat, max_tokens: 1_000 }, limited);
  expect(budget.response.status).toBe(402);
  expect(await tagsOf(budget.requestId)).toEqual(expected);
  const scope = await send("/v3/embeddings", { ...answered["/v3/embeddings"], tags: ofRequest }, limited);
  expect(scope.response.status).toBe(403);
  expect(await tagsOf(scope.requestId)).toEqual(expected);
});

const long = (length: number) => "x".repeat(length);
const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`n${index}`, "v"]));
const bad: readonly (readonly [name: string, tags: unknown, loc: readonly string[]])[] = [
  ["a list", ["a"], ["tags"]],
  ["a number", 7, ["tags"]],
  ["eleven pairs", eleven, ["tags"]],
  ["a value that is a number", { project: 7 }, ["tags", "project"]],
  ["a value that is null", { project: null }, ["tags", "project"]],
  ["a name of 65 characters", { [long(65)]: "x" }, ["tags", long(65)]],
  ["a name without characters", { "": "x" }, ["tags", ""]],
  ["a value of 257 characters", { project: long(257) }, ["tags", "project"]],
  ["a control character in a name", { "a\u0000b": "x" }, ["tags", "a\u0000b"]],
  ["a control character in a value", { project: "a\u001b[2J" }, ["tags", "project"]],
  ["half of a surrogate pair in a name", { "\ud800": "x" }, ["tags"]],
];

test.each(Object.keys(all))("tags that are not valid are refused by %s in both error forms", async (path) => {
  for (const [name, tags, loc] of bad) {
    const { response } = await send(path, { ...all[path], tags });
    const text = await response.text();
    expect([name, response.status, text.includes("tags")]).toEqual([name, refusalOf(path), true]);
    if (refusalOf(path) === 400) {
      expect(JSON.parse(text)).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
      continue;
    }
    const error = await readError(new Response(text, { status: 422, headers: response.headers }));
    expect(error.type).toBe("invalid_request_error");
    const { detail } = JSON.parse(text) as { detail: readonly { readonly loc: readonly string[] }[] };
    expect(detail[0]?.loc.slice(0, loc.length + 1)).toEqual(["body", ...loc]);
  }
});

test("ten pairs of the longest names and values beside ten of the key and ten of the team are recorded and reported", async () => {
  const pairs = (owner: string) =>
    Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`${owner}-${index}-`.padEnd(64, "n"), "\u{1f682}".repeat(128)]),
    );
  await gateway.manage("POST", "/teams", { name: "longest", tags: pairs("team") });
  const created = await gateway.manage("POST", "/keys", { name: "longest", team: "longest", tags: pairs("key") });
  const sent = { ...answered["/v3/chat/completions"], tags: pairs("request") };
  const { response, requestId } = await send("/v3/chat/completions", sent, (created as { key: string }).key);
  expect(response.status).toBe(200);
  expect(await tagsOf(requestId)).toEqual({ ...pairs("team"), ...pairs("key"), ...pairs("request") });
  const [[name, value] = ["", ""]] = Object.entries(pairs("request"));
  const wanted = new URLSearchParams({ group_by: `tag:${name}`, tag: `${name}=${value}` });
  const report = usageReport.parse(await gateway.manage("GET", `/usage?from=24h&${wanted}`));
  expect(report.rows).toMatchObject([{ [`tag:${name}`]: value, lines: 1 }]);
});

test("usage is grouped by the tags of requests", async () => {
  const own = await gateway.createKey({ name: "grouped", tags: { project: "default" } });
  for (const project of ["one", "two", "two", null]) {
    const tags = project === null ? null : { project };
    expect((await send("/v3/chat/completions", { model: "sandbox/echo", messages, tags }, own)).response.status).toBe(
      200,
    );
  }
  const found = await waitFor("the lines", async () => {
    const query = "from=24h&group_by=key,tag:project&sort=name";
    const report = usageReport.parse(await gateway.manage("GET", `/usage?${query}`));
    const rows = report.rows.filter((row) => row["key_name"] === "grouped");
    return rows.reduce((sum, row) => sum + Number(row.lines), 0) === 4 ? rows : null;
  });
  expect(found.map((row) => [row["tag:project"], row.lines])).toEqual([
    ["default", 1],
    ["one", 1],
    ["two", 2],
  ]);
});

test("each message of a WebSocket has its own tags, also when it is refused", async () => {
  const requestId = `socket-${crypto.randomUUID()}`;
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v3/responses`, {
    headers: { authorization: `Bearer ${key}`, "x-request-id": requestId },
  } as unknown as string[]);
  const received: string[] = [];
  socket.onmessage = ({ data }) => void received.push(String(data));
  await waitFor("the connection", () => socket.readyState === WebSocket.OPEN);
  const ends = () =>
    received.filter((message) => /"type":"(?:error|response\.(?:completed|failed))"/.test(message)).length;
  const sent: Body[] = [
    { model: "sandbox/echo", input: "hi", tags: ofRequest },
    { model: "sandbox/echo", input: "hi" },
    { input: "hi", tags: ofRequest },
    { model: "sandbox/echo", input: "hi", tags: { project: 7 } },
  ];
  for (const [index, message] of sent.entries()) {
    socket.send(JSON.stringify({ type: "response.create", ...message }));
    await waitFor(`the end of message ${index}`, () => ends() === index + 1);
  }
  socket.close();
  expect(JSON.parse(received.at(-1) ?? "")).toMatchObject({ type: "error", status: 422 });
  const lines = await waitFor("four lines", async () => {
    const found = (await readLines({ gateway })).filter((line) => String(line["request_id"]).startsWith(requestId));
    return found.length === sent.length ? found : null;
  });
  const byId = Object.fromEntries(lines.map((line) => [line["request_id"], JSON.parse(String(line["tags"]))]));
  expect(byId).toEqual({
    [`${requestId}-1`]: recorded,
    [`${requestId}-2`]: recordedWithout,
    [`${requestId}-3`]: recorded,
    [`${requestId}-4`]: recordedWithout,
  });
});
