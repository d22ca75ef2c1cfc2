// Rate limits as callers of a gateway see them: what is counted, what is refused, and the headers of every answer.

import { describe, expect, test } from "bun:test";
import { answer, completion, hang } from "../support/answers.ts";
import { ask, askTask, hello, readError } from "../support/chat.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor, env: { SWITCHYARD_RETRIES: "1" } });

interface Limits {
  readonly rate_limit?: Readonly<Record<string, number>>;
  readonly model_limits?: readonly { readonly model: string; readonly rate_limit: Readonly<Record<string, number>> }[];
  readonly team?: string;
}

async function createKey(limits: Limits): Promise<string> {
  const { key } = (await gateway.manage("POST", "/keys", { name: "limited", ...limits })) as { key: string };
  return key;
}

const chat = (key: string, more: object = {}) => ask(gateway.url, key, { ...hello, ...more });
const limitHeaders = ({ headers }: Response, what: "requests" | "tokens") =>
  ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}-${what}`));

describe("headers", () => {
  test("are on whole answers, streams, refusals of every kind and other routes, and count each of them", async () => {
    const key = await createKey({ rate_limit: { requests_per_minute: 100 } });
    const whole = await chat(key);
    expect([whole.status, ...limitHeaders(whole, "requests")]).toEqual([200, "100", "99", expect.any(String)]);
    expect(whole.headers.get("x-ratelimit-reset-requests")).toMatch(/^(1m)?\d+(\.\d+)?s$/);
    expect(limitHeaders(whole, "tokens")).toEqual([null, null, null]);
    const streamed = await chat(key, { stream: true });
    await streamed.text();
    expect(limitHeaders(streamed, "requests").slice(0, 2)).toEqual(["100", "98"]);
    const invalid = await chat(key, { temperature: 9 });
    expect([invalid.status, ...limitHeaders(invalid, "requests").slice(0, 2)]).toEqual([422, "100", "97"]);
    const unknown = await chat(key, { model: "nobody/x" });
    expect(limitHeaders(unknown, "requests")[1]).toBe("96");
    const listed = await fetch(`${gateway.url}/v3/universal-ai/async`, { headers: { authorization: `Bearer ${key}` } });
    expect([listed.status, limitHeaders(listed, "requests")[1]]).toEqual([200, "95"]);
    const failed = await chat(key, { model: "mock/broken" });
    expect(limitHeaders(failed, "requests")[1]).toBe("94");
  });

  test("are absent for a key without limits", async () => {
    const response = await chat(await createKey({}));
    expect([...response.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  });
});

describe("limits of models", () => {
  test("a retry counts its request once, and the fallback of a refused model is used", async () => {
    const key = await createKey({ model_limits: [{ model: "mock/*", rate_limit: { requests_per_minute: 2 } }] });
    for (const left of ["1", "0"]) {
      vendor.next(answer(500, {}));
      const response = await chat(key);
      expect([response.status, response.headers.get("x-switchyard-attempts")]).toEqual([200, "2"]);
      expect(limitHeaders(response, "requests").slice(0, 2)).toEqual(["2", left]);
    }
    const { status, code, message, headers } = await readError(await chat(key));
    expect([status, code]).toEqual([429, "rate_limit_exceeded"]);
    expect(message).toContain("The key 'limited' may send 2 requests per minute for models that match 'mock/*'");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(30);
    // Only what was sent to a provider is an attempt.
    expect(headers.get("x-switchyard-attempts")).toBeNull();
    const other = await chat(key, { fallbacks: ["mock2/echo"] });
    expect([other.status, ((await other.json()) as { provider: string }).provider]).toEqual([200, "mock2"]);
    expect(other.headers.get("x-switchyard-attempts")).toBe("1");
    const streamed = await chat(key, { fallbacks: ["mock2/echo"], stream: true });
    await streamed.text();
    expect([streamed.status, streamed.headers.get("x-switchyard-attempts")]).toEqual([200, "1"]);
  });

  test("a limit of a provider holds for its tasks, also when they name no model", async () => {
    const key = await createKey({ model_limits: [{ model: "sandbox/*", rate_limit: { requests_per_minute: 1 } }] });
    const run = () =>
      fetch(`${gateway.url}/v3/universal-ai`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "text/sentiment_analysis/sandbox", input: { text: "Hello" } }),
      });
    expect((await run()).status).toBe(200);
    expect(await readError(await run())).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  });

  describe("a name that two providers have", () => {
    const limited = { rate_limit: { requests_per_minute: 1 } };
    const models = { gemini: "google/gemini-3.8-flash", vertex: "vertexai/gemini-3.8-flash" };
    const translated = answer(200, { data: { translations: [{ translatedText: "Hallo" }] } });
    const translation = {
      model: "translation/automatic_translation/google",
      input: { text: "Hello", source_language: "en", target_language: "de" },
    };

    async function openGoogle(providers: readonly string[]) {
      const address = `http://127.0.0.1:${vendor.port}`;
      // Not in the form of a key for Gemini, so that the chat models of the company are those of its cloud.
      const access = { base_url: address, api_key: "ya29.token+1" };
      const config = { providers: Object.fromEntries(providers.map((name) => [name, access])) };
      return await testGateway({ vendor, config });
    }

    test.each([
      ["the company alone", ["google"]],
      ["the company and its cloud", ["google", "vertexai"]],
    ])("limits the tasks of the company when the operator has set up %s", async (_, providers) => {
      await using own = await openGoogle(providers);
      const created = await own.manage("POST", "/keys", {
        name: "limited",
        model_limits: [{ model: "google/*", ...limited }],
      });
      const { key } = created as { key: string };
      vendor.next(translated);
      expect((await askTask(own.url, key, translation)).status).toBe(200);
      expect(await readError(await askTask(own.url, key, translation))).toMatchObject({ status: 429 });
      if (!providers.includes("vertexai")) return;
      // The chat models of the cloud have the company's name too.
      expect(await readError(await ask(own.url, key, { ...hello, model: models.vertex }))).toMatchObject({
        status: 429,
      });
      expect(await readError(await ask(own.url, key, { ...hello, model: models.gemini }))).toMatchObject({
        status: 429,
      });
    });
  });

  test("a refusal is no failure of the provider", async () => {
    const failuresOf = async () => {
      const { items } = (await gateway.manage("GET", "/providers")) as {
        items: { name: string; last_error: unknown }[];
      };
      return items.find(({ name }) => name === "mockchat")?.last_error ?? null;
    };
    const key = await createKey({ model_limits: [{ model: "mockchat/*", rate_limit: { requests_per_minute: 1 } }] });
    expect((await chat(key, { model: "mockchat/echo" })).status).toBe(200);
    expect((await chat(key, { model: "mockchat/echo" })).status).toBe(429);
    expect(await failuresOf()).toBeNull();
  });

  test("running calls of a model are bounded, and those of other models are not", async () => {
    const key = await createKey({ model_limits: [{ model: "mock/*", rate_limit: { concurrent_requests: 1 } }] });
    vendor.on("slow", [hang]);
    const leave = new AbortController();
    const running = ask(gateway.url, key, { ...hello, model: "mock/slow" }, { signal: leave.signal }).catch(() => null);
    await vendor.waitFor("the call", (requests) => requests.some(({ model }) => model === "slow"));
    expect((await readError(await chat(key))).message).toContain(
      "1 concurrent requests for models that match 'mock/*'",
    );
    expect((await chat(key, { model: "mock2/echo" })).status).toBe(200);
    leave.abort();
    await running;
    await waitFor("the call to end", async () => (await chat(key)).status === 200);
  });
});

describe("limits of teams", () => {
  test("are shared by the keys of the team, beside the limits of each key", async () => {
    const rate_limit = { requests_per_minute: 3 };
    await gateway.manage("POST", "/teams", { name: "research", rate_limit });
    const [one, two] = [
      await createKey({ team: "research", rate_limit: { requests_per_minute: 2 } }),
      await createKey({ team: "research" }),
    ];
    expect((await chat(one)).status).toBe(200);
    const tightest = await chat(one);
    expect(limitHeaders(tightest, "requests").slice(0, 2)).toEqual(["2", "0"]);
    expect((await readError(await chat(one))).message).toContain("The key 'limited' may send 2 requests per minute");
    // The refusal of the key's own limit took nothing from the team.
    expect((await chat(two)).status).toBe(200);
    expect((await readError(await chat(two))).message).toContain("The team 'research' may send 3 requests per minute");
  });
});

describe("tokens per minute", () => {
  const usage = { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 };

  test("are estimated before a call and corrected after it", async () => {
    const key = await createKey({ rate_limit: { tokens_per_minute: 3_000 } });
    vendor.on("counted", answer(200, completion("x", { usage })));
    const first = await chat(key, { model: "mock/counted", max_tokens: 2_000 });
    expect([first.status, ...limitHeaders(first, "tokens").slice(0, 2)]).toEqual([200, "3000", "2700"]);
    // 2,700 are left, and the call may use more.
    const { status, message, headers } = await readError(await chat(key, { model: "mock/counted", max_tokens: 2_990 }));
    expect([status, message]).toEqual([429, expect.stringContaining("may use 3000 tokens per minute")]);
    expect(headers.get("x-ratelimit-remaining-tokens")).toBe("2700");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(30);
    expect((await chat(key, { model: "mock/counted", max_tokens: 2_000 })).status).toBe(200);
  });

  test("negative token counts of a provider do not free tokens that other calls have used", async () => {
    const key = await createKey({ rate_limit: { tokens_per_minute: 3_000 } });
    vendor.on("counted", answer(200, completion("x", { usage })));
    expect(limitHeaders(await chat(key, { model: "mock/counted", max_tokens: 100 }), "tokens")[1]).toBe("2700");
    const negative = { prompt_tokens: -10_000, completion_tokens: -10_000, total_tokens: -20_000 };
    vendor.on("negative", answer(200, completion("x", { usage: negative })));
    expect(limitHeaders(await chat(key, { model: "mock/negative", max_tokens: 100 }), "tokens")[1]).toBe("2700");
  });

  test("a call that fails uses none, and one without a usage what was estimated", async () => {
    const key = await createKey({ rate_limit: { tokens_per_minute: 3_000 } });
    vendor.on("bad", answer(400, {}));
    const failed = await chat(key, { model: "mock/bad", max_tokens: 1_000 });
    expect([failed.status, limitHeaders(failed, "tokens")[1]]).toEqual([400, "3000"]);
    vendor.on("silent", answer(200, completion("x", { usage: undefined })));
    const silent = await chat(key, { model: "mock/silent", max_tokens: 1_000 });
    expect([silent.status, Number(limitHeaders(silent, "tokens")[1]) < 2_000]).toEqual([200, true]);
  });

  test("an output that the request does not bound is estimated, and does not refuse every call", async () => {
    const key = await createKey({ rate_limit: { tokens_per_minute: 500 } });
    vendor.on("counted", answer(200, completion("x", { usage })));
    const first = await chat(key, { model: "mock/counted" });
    expect([first.status, limitHeaders(first, "tokens")[1]]).toEqual([200, "200"]);
    expect((await chat(key, { model: "mock/counted" })).status).toBe(429);
  });
});

test("a refusal in the Messages format has its own shape, and the same headers", async () => {
  const key = await createKey({ rate_limit: { requests_per_minute: 1 } });
  const body = { model: "mock/echo", max_tokens: 5, messages: hello.messages };
  expect((await ask(gateway.url, key, body, { path: "/v3/v1/messages" })).status).toBe(200);
  const refused = await ask(gateway.url, key, body, { path: "/v3/v1/messages" });
  expect([refused.status, ...limitHeaders(refused, "requests").slice(0, 2)]).toEqual([429, "1", "0"]);
  expect(await refused.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
});
