// `/v3/manage/routing` and its preview: it says what a real request then does, and calls no provider.

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RoutingPreview, RoutingTable } from "../../src/contract/routing.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import { answer } from "../support/answers.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_BREAKER_FAILURES: "2", SWITCHYARD_BREAKER_OPEN_MS: "3600000", SWITCHYARD_RETRIES: "1" },
  config: {
    aliases: {
      fast: "mock/small",
      careful: ["anthropic/claude-opus-5", "mock/large", "mock2/large"],
      spread: [
        { model: "mock/a", weight: 1 },
        { model: "mock2/b", weight: 3 },
      ],
      shielded: ["text/moderation/sandbox"],
    },
    providers: {
      pair: {
        dialect: "openai",
        deployments: [
          { name: "one", base_url: vendor.url, api_key: "key-of-one", weight: 3 },
          { name: "two", base_url: vendor.url, api_key: "key-of-two", weight: 1, models: ["both"] },
        ],
      },
    },
  },
});
beforeEach(() => vendor.clear());

async function preview(query: string): Promise<RoutingPreview> {
  return (await gateway.manage("GET", `/routing/preview?${query}`)) as RoutingPreview;
}

async function call(model: string, more: object = {}, key?: string) {
  const response = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key ?? (await gateway.createKey())}`,
      "content-type": "application/json",
      "x-switchyard-metadata": "true",
    },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }], ...more }),
  });
  return { status: response.status, json: (await response.json()) as Metadata };
}

interface Metadata {
  readonly error?: { readonly code: string; readonly message: string };
  readonly switchyard?: { readonly attempts: readonly { readonly provider: string; readonly model: string }[] };
}

const namesOf = ({ candidates }: RoutingPreview) =>
  candidates.map(({ position, model, reason }) => [position, model, reason]);

test("the aliases are listed with shares, and with what can be called", async () => {
  const { aliases, retries } = (await gateway.manage("GET", "/routing")) as RoutingTable;
  const find = (name: string) => aliases.find((one) => one.name === name)?.targets;
  expect(retries).toBe(1);
  expect(find("careful")?.map(({ share, configured }) => [share, configured])).toEqual([
    [null, false],
    [null, true],
    [null, true],
  ]);
  expect(find("spread")?.map(({ share }) => share)).toEqual([0.25, 0.75]);
  expect(find("shielded")).toEqual([{ model: "text/moderation/sandbox", weight: null, share: null, configured: true }]);
});

test("an alias is expanded in order, and a provider that is not set up is passed over with its reason", async () => {
  const shown = await preview("model=careful");
  expect(shown.refusal).toBeNull();
  expect(namesOf(shown)).toEqual([
    [1, "mock/large", "first"],
    [2, "mock2/large", "fallback"],
    [null, "anthropic/claude-opus-5", "provider_not_configured"],
  ]);
  expect(shown.candidates[2]?.message).toContain("ANTHROPIC_API_KEY");
  expect(new Set(shown.candidates.map(({ name }) => name))).toEqual(new Set(["careful"]));
  expect(vendor.requests).toEqual([]);
});

test("a real request then tries the same candidates in the same order", async () => {
  vendor.on("large", (request) => answer(request.path.startsWith("/mock2") ? 200 : 500, "{}"));
  const shown = await preview("model=careful");
  const { json } = await call("careful");
  const tried = json.switchyard?.attempts.map(({ provider, model }) => `${provider}/${model}`);
  expect(tried).toEqual(shown.candidates.filter(({ position }) => position !== null).map(({ model }) => model));
});

test("weights are shown as shares, the most likely order first", async () => {
  const { candidates } = await preview("model=spread");
  expect(candidates.map(({ model, share }) => [model, share])).toEqual([
    ["mock2/b", 0.75],
    ["mock/a", 0.25],
  ]);
});

test("deployments are candidates of their own, as far as they serve the model", async () => {
  const both = await preview("model=pair/both");
  expect(both.candidates.map(({ deployment, share, reason }) => [deployment, share, reason])).toEqual([
    ["pair#one", 0.75, "first"],
    ["pair#two", 0.25, "other_deployment"],
  ]);
  expect(both.retries).toBe(0);
  const single = await preview("model=pair/other");
  expect(single.candidates.map(({ deployment, share }) => [deployment, share])).toEqual([["pair#one", null]]);
  expect(single.retries).toBe(1);
});

test("an open circuit is passed over, and with no other candidate the request is refused as the real one is", async () => {
  vendor.on("broken", answer(500, "{}"));
  const key = await gateway.createKey();
  for (let count = 0; count < 3; count++) await call("mock/broken", {}, key);
  const shown = await preview("model=mock/broken&fallback=mock2/broken");
  expect(namesOf(shown)).toEqual([
    [null, "mock/broken", "circuit_open"],
    [1, "mock2/broken", "fallback"],
  ]);
  expect(shown.candidates[0]).toMatchObject({ circuit: "open", message: expect.stringContaining("open after") });
  const alone = await preview("model=mock/broken");
  const { status, json } = await call("mock/broken", {}, key);
  expect(alone.refusal).toEqual({
    status,
    code: json.error?.code ?? "",
    message: expect.stringMatching(/^The circuit of the provider 'mock' is open/),
  });
});

test("a preview leaves no trace in the health of the providers", async () => {
  await preview("model=mock/never-called");
  expect(JSON.stringify(await gateway.manage("GET", "/providers/mock"))).not.toContain("never-called");
});

test("a role that is limited to a team sees neither circuits nor latencies, which come from the calls of all teams", async () => {
  vendor.on("failing", answer(500, "{}"));
  const key = await gateway.createKey();
  for (let count = 0; count < 3; count++) await call("mock/failing", {}, key);
  expect((await call("pair/other", {}, key)).status).toBe(200);
  await gateway.manage("POST", "/teams", { name: "limited" });
  const members = { name: "viewer", kind: "management", role: "viewer", team: "limited" };
  const viewer = (await gateway.manage("POST", "/keys", members)) as { key: string };
  const query = "model=mock/failing&fallback=pair/other";
  const response = await fetch(`${gateway.url}/v3/manage/routing/preview?${query}`, {
    headers: { authorization: `Bearer ${viewer.key}` },
  });
  const limited = (await response.json()) as RoutingPreview;
  const whole = await preview(query);
  expect(whole.candidates).toMatchObject([
    { deployment: "mock", circuit: "open" },
    { deployment: "pair#one", circuit: "closed", latency_ms: expect.any(Number) },
  ]);
  const hidden = { deployment: null, circuit: null, latency_ms: null };
  expect(limited.candidates).toMatchObject([hidden, hidden]);
  // What is passed over stays the same: requests of the team meet it as well.
  expect(namesOf(limited)).toEqual(namesOf(whole));
});

describe("for a key", () => {
  const createKey = async (request: object) =>
    (await gateway.manage("POST", "/keys", { name: "of a preview", ...request })) as { id: string; key: string };

  test("a model that it may not use refuses the request, as it refuses the real one", async () => {
    const { id, key } = await createKey({ allowed_models: ["mock/*"] });
    const shown = await preview(`model=careful&key=${id}`);
    const { status, json } = await call("careful", {}, key);
    expect(shown.refusal).toEqual({ status, code: json.error?.code ?? "", message: json.error?.message ?? "" });
    expect(namesOf(shown)).toEqual([
      [null, "anthropic/claude-opus-5", "model_not_allowed"],
      [null, "mock/large", "request_refused"],
      [null, "mock2/large", "model_not_allowed"],
    ]);
  });

  test("a key that is revoked, or lacks the scope, is refused with the same words", async () => {
    const revoked = await createKey({});
    await gateway.manage("DELETE", `/keys/${revoked.id}`);
    expect((await preview(`model=mock/m&key=${revoked.id}`)).refusal?.code).toBe("api_key_revoked");
    const scoped = await createKey({ scopes: ["embeddings"] });
    const { refusal } = await preview(`model=mock/m&key=${scoped.id}`);
    const { json } = await call("mock/m", {}, scoped.key);
    expect([refusal?.code, refusal?.message]).toEqual([json.error?.code, json.error?.message]);
    expect((await preview(`model=mock/m&endpoint=embeddings&key=${scoped.id}`)).refusal).toBeNull();
  });

  test("a sandbox key is answered by the sandbox, whatever it names", async () => {
    const { id } = await createKey({ kind: "sandbox" });
    expect(namesOf(await preview(`model=careful&key=${id}`))).toEqual([[1, "sandbox/echo", "first"]]);
  });

  test("a preview is no use of the key", async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), "switchyard-test-"));
    try {
      const ids = { previewed: "", used: "" };
      {
        // Uses are stored later, and at the latest when the gateway stops.
        await using own = await testGateway({ env: { SWITCHYARD_DATA_DIR: dataFolder } });
        const create = async (name: string) =>
          (await own.manage("POST", "/keys", { name })) as { id: string; key: string };
        const [previewed, used] = [await create("previewed"), await create("used")];
        Object.assign(ids, { previewed: previewed.id, used: used.id });
        const shown = (await own.manage("GET", `/routing/preview?model=sandbox/echo&key=${ids.previewed}`)) as object;
        expect(shown).toMatchObject({ refusal: null, candidates: [{ model: "sandbox/echo" }] });
        const headers = { authorization: `Bearer ${used.key}` };
        expect((await fetch(`${own.url}/v3/me`, { headers })).status).toBe(200);
      }
      using database = new Database(databaseFile(dataFolder), { readonly: true });
      const lastUse = (id: string) =>
        (database.query("select last_used_at from api_keys where id = ?").get(id) as { last_used_at: number | null })
          .last_used_at;
      expect(lastUse(ids.used)).toBeNumber();
      expect(lastUse(ids.previewed)).toBeNull();
    } finally {
      await rm(dataFolder, { recursive: true, force: true });
    }
  });

  test("an unknown key is a 404", async () => {
    const failed = await send("model=mock/m&key=00000000-0000-4000-8000-000000000000");
    expect([failed.status, failed.json.error.code]).toEqual([404, "key_not_found"]);
  });
});

test("abilities that a listed model lacks or does not state are named", async () => {
  const { candidates } = await preview(
    "model=groq/openai/gpt-oss-120b&fallback=mock/x&ability=vision&ability=reasoning",
  );
  expect(candidates.find(({ provider }) => provider === "groq")?.missing_abilities).toEqual(["vision"]);
  expect(candidates.find(({ provider }) => provider === "mock")?.unknown_abilities).toEqual(["vision", "reasoning"]);
});

test("routing options of the request apply", async () => {
  const only = await preview("model=careful&allowed_provider=mock2");
  expect(namesOf(only)).toEqual([
    [1, "mock2/large", "first"],
    [null, "anthropic/claude-opus-5", "provider_excluded"],
    [null, "mock/large", "provider_excluded"],
  ]);
  const first = await preview("model=fast&fallback=mock2/large&allow_fallbacks=false");
  expect(namesOf(first)).toEqual([
    [1, "mock/small", "first"],
    [null, "mock2/large", "fallbacks_off"],
  ]);
});

test("a task has the engines of its providers as candidates", async () => {
  const shown = await preview("model=text/moderation/openai&fallback=text/moderation/sandbox&endpoint=universal-ai");
  expect(namesOf(shown)).toEqual([
    [null, "text/moderation/openai", "provider_not_configured"],
    [1, "text/moderation/sandbox", "fallback"],
  ]);
  const aliased = await preview("model=shielded&endpoint=universal-ai");
  expect(aliased.candidates.map(({ name, model }) => [name, model])).toEqual([["shielded", "text/moderation/sandbox"]]);
  const unknown = await preview("model=text/moderatoin/openai&endpoint=universal-ai");
  expect(unknown.refusal).toMatchObject({ status: 404, code: "subfeature_not_found" });
});

test("an unknown provider refuses the request and names the nearest one", async () => {
  const shown = await preview("model=opnai/gpt-5");
  expect(shown.refusal).toMatchObject({ status: 404, code: "provider_not_found" });
  expect(shown.candidates[0]).toMatchObject({ provider: null, reason: "provider_not_found" });
  expect(shown.candidates[0]?.message).toContain("'openai'");
});

async function send(query: string) {
  const response = await fetch(`${gateway.url}/v3/manage/routing/preview?${query}`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  });
  return { status: response.status, json: (await response.json()) as Failure };
}

interface Failure {
  readonly error: { readonly code: string; readonly message: string };
  readonly detail: readonly { readonly loc: readonly string[]; readonly msg: string }[];
}

test.each([
  ["", "model"],
  ["model=no-such-alias", "model"],
  ["model=mock/m&endpoint=chat", "endpoint"],
  ["model=mock/m&ability=flying", "ability"],
  ["model=mock/m&key=x", "key"],
  ["model=mock/m&fallback=a/a&fallback=b/b&fallback=c/c&fallback=d/d", "fallback"],
  ["model=mock/m&sort=luck", "sort"],
  ["model=mock/m&allow_fallbacks=maybe", "allow_fallbacks"],
])("a wrong parameter is a 422 that names it: %s", async (query, parameter) => {
  const { status, json } = await send(query);
  expect(status).toBe(422);
  expect(json.detail[0]?.loc.slice(0, 2)).toEqual(["query", parameter]);
  expect(json.error.message).toContain(json.detail[0]?.msg ?? "?");
});
