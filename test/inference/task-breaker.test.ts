// The circuit breaker and the retries of tasks: the same as those of models.

import { beforeEach, describe, expect, test } from "bun:test";
import { answer, completion, rst } from "../support/answers.ts";
import { ask, askTask, readError } from "../support/chat.ts";
import { answerByExample } from "../support/llm-tasks.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { uploadFile } from "../support/uploads.ts";
import { startVendor } from "../support/vendor.ts";

const failuresToOpen = 3;
const translation = "translation/automatic_translation";
const good = answer(200, { translations: [{ text: "Bonjour", detected_source_language: "EN" }] });
const down = answer(500, { message: "Out of order" });

interface ProviderLine {
  readonly name: string;
  readonly configured: boolean;
  readonly healthy: boolean | null;
  readonly dialect: string | null;
  readonly last_error: { readonly code: string } | null;
  readonly deployments: {
    readonly name: string;
    readonly offers: { readonly model: string; readonly state: string; readonly calls: number }[];
  }[];
}

const vendor = await startVendor();
const at = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  config: {
    providers: {
      openai: { base_url: vendor.url, api_key: "k-openai" },
      deepl: { base_url: at, api_key: "k-deepl" },
      modernmt: { base_url: `${at}/mmt`, api_key: "k-mmt" },
      sapling: {
        base_url: `${at}/sapling`,
        deployments: [
          { name: "a", api_key: "k-a" },
          { name: "b", api_key: "k-b" },
        ],
      },
    },
  },
  env: {
    SWITCHYARD_RETRIES: "2",
    SWITCHYARD_BREAKER_FAILURES: String(failuresToOpen),
    SWITCHYARD_BREAKER_WINDOW_MS: "60000",
    SWITCHYARD_BREAKER_OPEN_MS: "600000",
  },
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

function translate(provider: string, more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  const body = { model: `${translation}/${provider}`, input: { text: "Hello", target_language: "fr" }, ...more };
  return ask(gateway.url, key, body, { path: "/v3/universal-ai" });
}

async function lineOf(provider: string): Promise<ProviderLine | undefined> {
  const { items } = (await gateway.manage("GET", "/providers")) as { items: ProviderLine[] };
  return items.find(({ name }) => name === provider);
}

describe("a vendor of tasks", () => {
  test("has a line in the listing of providers, with its deployments and calls", async () => {
    vendor.next(good);
    expect((await translate("deepl")).status).toBe(200);
    expect(await lineOf("deepl")).toMatchObject({
      configured: true,
      dialect: null,
      healthy: true,
      deployments: [{ name: "deepl", offers: [{ model: translation, state: "closed", calls: 1 }] }],
    });
    expect(await lineOf("deepgram")).toMatchObject({ configured: false, missing_setting: "DEEPGRAM_API_KEY" });
  });

  test("is retried after an answer that says it failed, and every send is an attempt", async () => {
    vendor.next(down);
    vendor.next(good);
    const response = await translate("deepl");
    expect([response.status, response.headers.get("x-switchyard-attempts")]).toEqual([200, "2"]);
    expect(vendor.requests).toHaveLength(2);
  });

  test("that asks a chat model twice has made two attempts", async () => {
    vendor.next(answer(200, completion("no JSON")));
    vendor.next(answerByExample);
    const response = await translate("openai/gpt-5");
    expect([response.status, response.headers.get("x-switchyard-attempts")]).toEqual([200, "2"]);
  });

  test("is not sent a task again that it may have executed", async () => {
    vendor.next([rst]);
    const error = await readError(await translate("deepl"));
    expect(error).toMatchObject({ status: 502, code: "provider_unreachable" });
    expect(error.headers.get("x-should-retry")).toBe("false");
    expect(vendor.requests).toHaveLength(1);
  });

  test.each([429, 503])("is not sent a task again that it accepted when its polls answer %i", async (status) => {
    const file = await uploadFile(gateway.url, key, Buffer.from("Hello"));
    vendor.next(answer(200, { document_id: "d1", document_key: "k1" }));
    for (let sends = 0; sends < 11; sends++) vendor.next(answer(status, { message: "Not now" }));
    const task = { model: "translation/document_translation/deepl", input: { file, target_language: "fr" } };
    const error = await readError(await askTask(gateway.url, key, task));
    expect(error.headers.get("x-should-retry")).toBe("false");
    const polls = Array.from({ length: 4 }, () => "/v2/document/d1");
    expect(vendor.requests.map(({ path }) => path)).toEqual(["/v2/document", ...polls]);
  });

  test("is not called while its circuit is open, which the listing and the readiness show; a fallback answers", async () => {
    for (let failures = 0; failures < 3 * failuresToOpen; failures++) vendor.next(down);
    for (let calls = 0; calls < failuresToOpen; calls++)
      expect((await readError(await translate("modernmt"))).code).toBe("provider_error");
    vendor.clear();
    const refused = await readError(await translate("modernmt"));
    expect(refused).toMatchObject({ status: 503, code: "provider_unavailable" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(vendor.requests).toHaveLength(0);
    expect(await lineOf("modernmt")).toMatchObject({
      healthy: false,
      last_error: { code: "provider_error" },
      deployments: [{ offers: [{ model: translation, state: "open" }] }],
    });
    const headers = { authorization: `Bearer ${gateway.adminKey}` };
    const probed = await fetch(`${gateway.url}/readyz?verbose`, { headers });
    const readiness = (await probed.json()) as { degraded?: unknown };
    expect(readiness.degraded).toContainEqual({
      component: "provider",
      name: "modernmt",
      reason: `The circuit of ${translation} is open after repeated failures.`,
    });
    vendor.next(good);
    const answered = await translate("modernmt", { fallbacks: [`${translation}/deepl`] });
    expect(await answered.json()).toMatchObject({ status: "success", provider: "deepl" });
  });

  test("of several deployments, one with an open circuit is passed over", async () => {
    const task = { model: "text/spell_check/sapling", input: { text: "Helo", language: "en" } };
    const spellCheck = () => askTask(gateway.url, key, task);
    for (let sends = 0; sends < 40; sends++)
      vendor.next((request) => (request.body.toString().includes("k-a") ? down : answer(200, { edits: [] })));
    for (let calls = 0; calls < 4 * failuresToOpen; calls++) await (await spellCheck()).arrayBuffer();
    vendor.clear();
    for (let sends = 0; sends < 4; sends++) vendor.next(answer(200, { edits: [] }));
    for (let calls = 0; calls < 4; calls++) expect((await spellCheck()).status).toBe(200);
    expect(vendor.requests.filter((request) => request.body.toString().includes("k-a"))).toEqual([]);
    const states = (await lineOf("sapling"))?.deployments.map(({ name, offers }) => [name, offers[0]?.state]);
    expect(states).toEqual([
      ["sapling#a", "open"],
      ["sapling#b", "closed"],
    ]);
  });
});
