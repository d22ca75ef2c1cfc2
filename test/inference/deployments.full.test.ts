// Several keys and addresses of one provider, and several providers behind one name: who is asked how often, in which order,
// and what a conversation stays with.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { answer, completion, type Script, wait } from "../support/answers.ts";
import { ask, type Completion, hello, readCompletion, readError } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor, type Vendor, type VendorRequest } from "../support/vendor.ts";
import { inParallel, waitFor } from "../support/wait.ts";

const windowMs = 10_000;
const down = answer(500, { error: { message: "down" } });
const well = answer(200, completion("well"));

let vendor: Vendor;
let gateway: GatewayProcess;
let key: string;
let models = 0;

beforeAll(async () => {
  vendor = await startVendor();
  const at = (name: string) => `http://127.0.0.1:${vendor.port}/${name}/v1`;
  gateway = await startGatewayProcess({
    vendor,
    // Two processes: what a conversation stays with must not hang on which of them answers.
    workers: 2,
    env: {
      GROQ_API_KEY: "sk-the-usual",
      SWITCHYARD_BREAKER_WINDOW_MS: String(windowMs),
      // No circuit opens: what is seen is the order of the pool.
      SWITCHYARD_BREAKER_FAILURES: "0",
    },
    config: {
      providers: {
        pool: {
          deployments: [
            { name: "heavy", base_url: at("heavy"), api_key: "sk-heavy", weight: 3 },
            { name: "light", base_url: at("light"), api_key: "sk-light", weight: 1 },
          ],
        },
        sorted: {
          base_url: at("sorted"),
          deployments: [
            { api_key: "sk-big", models: ["big", "both"] },
            { api_key: "sk-small", models: ["small", "both"], headers: { "x-team": "blue" } },
          ],
        },
        one: { base_url: at("one"), api_key: "sk-one", deployments: [{ models: ["big"] }] },
        groq: {
          base_url: at("groq"),
          deployments: [{ api_key: "${NOT_SET_ANYWHERE}" }, { api_key: "sk-second" }],
        },
        keyless: { base_url: at("keyless"), deployments: [{ api_key: "${NOT_SET_ANYWHERE}" }] },
      },
      aliases: {
        ordered: ["mock/ordered-1", "mock2/ordered-2"],
        weighted: [
          { model: "mock/weighted-1", weight: 3 },
          { model: "mock2/weighted-2", weight: 1 },
        ],
        single: "mock2/single",
      },
    },
  });
  key = await gateway.createKey();
});

afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

function call(model: string, more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  return ask(
    gateway.url,
    key,
    { ...hello, model, ...more },
    // A connection for each, so that both processes are asked.
    { headers: { "x-switchyard-metadata": "true", connection: "close" }, signal: AbortSignal.timeout(60_000) },
  );
}

interface Told extends Completion {
  readonly switchyard: {
    readonly attempts: readonly { readonly provider: string; readonly deployment: string; readonly reason: string }[];
    readonly skipped: readonly unknown[];
    readonly session_sticky: boolean;
  };
}

async function callWell(model: string, more: Readonly<Record<string, unknown>> = {}): Promise<Told> {
  return (await readCompletion(await call(model, more))) as Told;
}

/** Which of them answered: the deployment of the last attempt. */
async function answering(model: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return (await callWell(model, more)).switchyard.attempts.at(-1)?.deployment ?? "";
}

function newModel(behave: (place: string, request: VendorRequest) => Script = () => well): string {
  models += 1;
  vendor.on(`m${models}`, (request) => behave(request.path.split("/")[1] ?? "", request));
  return `m${models}`;
}

function callsOf(model: string, place: string): number {
  return vendor.requests.filter((request) => request.model === model && request.path.startsWith(`/${place}/`)).length;
}

async function shareOf(model: string, place: string, vendorModel: string, draws = 500): Promise<number> {
  await inParallel(draws, 40, async () => {
    const response = await ask(gateway.url, key, { ...hello, model });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  });
  return callsOf(vendorModel, place) / draws;
}

describe("deployments", () => {
  test("each gets its share by weight, at its own address and with its own key", async () => {
    const model = newModel();
    const share = await shareOf(`pool/${model}`, "heavy", model);
    // Four standard deviations of so many draws.
    expect(share).toBeGreaterThan(0.75 - 0.08);
    expect(share).toBeLessThan(0.75 + 0.08);
    for (const { path, headers } of vendor.requests.filter((request) => request.model === model))
      expect(headers["authorization"]).toBe(path.startsWith("/heavy/") ? "Bearer sk-heavy" : "Bearer sk-light");
  });

  test("one that serves some models gets only those", async () => {
    for (const [model, own] of [
      ["big", "sorted#1"],
      ["small", "sorted#2"],
    ] as const)
      for (let count = 0; count < 10; count += 1) expect(await answering(`sorted/${model}`)).toBe(own);
    expect(vendor.last().headers["x-team"]).toBe("blue");
    const seen = new Set<string>();
    for (let count = 0; count < 40; count += 1) seen.add(await answering("sorted/both"));
    expect([...seen].sort()).toEqual(["sorted#1", "sorted#2"]);
  });

  test("a model that no deployment serves is a 404, and no provider is called", async () => {
    const before = vendor.requests.length;
    for (const name of ["sorted/unknown", "one/unknown"]) {
      expect(await readError(await call(name))).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
    }
    expect(vendor.requests).toHaveLength(before);
  });

  test("a model that none of them serves goes to the fallback", async () => {
    const { provider, switchyard } = await callWell("one/unknown", { fallbacks: ["mock/echo"] });
    expect(provider).toBe("mock");
    expect(switchyard.skipped).toEqual([
      { provider: "one", model: "unknown", why: "No deployment of 'one' serves the model 'unknown'." },
    ]);
  });

  test("one that fails is passed over within the same request", async () => {
    const model = newModel((place) => (place === "heavy" ? down : well));
    const answers = await Promise.all(Array.from({ length: 20 }, () => callWell(`pool/${model}`)));
    const attempts = answers.map(({ switchyard }) => switchyard.attempts);
    expect(attempts.every((tried) => tried.at(-1)?.deployment === "pool#light")).toBe(true);
    expect(attempts.find((tried) => tried.length === 2)).toMatchObject([
      { deployment: "pool#heavy", reason: "first", outcome: "provider_error" },
      { deployment: "pool#light", reason: "other_deployment", outcome: "answered" },
    ]);
  });

  test("one whose key is refused is passed over as well", async () => {
    const model = newModel((place) => (place === "heavy" ? answer(401, { error: { message: "bad key" } }) : well));
    const answers = await Promise.all(Array.from({ length: 10 }, () => answering(`pool/${model}`)));
    expect(answers).toEqual(Array(10).fill("pool#light"));
  });

  test("one that mostly fails goes last, and comes back after a while", async () => {
    let isDown = true;
    const model = newModel((place) => (place === "heavy" && isDown ? down : well));
    // Both processes have to find out for themselves.
    await inParallel(80, 4, async () => void (await callWell(`pool/${model}`)));
    const failed = callsOf(model, "heavy");
    isDown = false;
    await inParallel(40, 4, async () => void (await callWell(`pool/${model}`)));
    expect(callsOf(model, "heavy") - failed).toBeLessThanOrEqual(2);
    await waitFor("it to be asked again", async () => (await answering(`pool/${model}`)) === "pool#heavy");
  });

  test("one that limits its rate is left alone for as long as it asked", async () => {
    let isLimited = true;
    const limited = answer(429, { error: { message: "slow down" } }, { "retry-after": "5" });
    const model = newModel((place) => (place === "heavy" && isLimited ? limited : well));
    await inParallel(30, 4, async () => void (await callWell(`pool/${model}`)));
    // Once for each process, and for those that were under way together.
    expect(callsOf(model, "heavy")).toBeLessThanOrEqual(8);
    isLimited = false;
    await waitFor("it to be asked again", async () => (await answering(`pool/${model}`)) === "pool#heavy");
  });

  test("a pool in which all deployments fail is still called, and answers as soon as one recovers", async () => {
    let isDown = true;
    const model = newModel((place) => (isDown || place === "heavy" ? down : well));
    for (let count = 0; count < 12; count += 1) {
      const response = await call(`pool/${model}`);
      expect(response.headers.get("x-switchyard-attempts")).toBe("2");
      expect((await readError(response)).code).toBe("provider_error");
    }
    isDown = false;
    expect(await answering(`pool/${model}`)).toBe("pool#light");
  });

  test("one whose key is not set is left out while others serve, also where the provider has a usual key", async () => {
    for (let count = 0; count < 10; count += 1) expect(await answering("groq/any")).toBe("groq#2");
    expect(
      new Set(vendor.requests.filter(({ model }) => model === "any").map((one) => one.headers["authorization"])),
    ).toEqual(new Set(["Bearer sk-second"]));
  });

  test("a provider none of whose keys is set is a 503 that names the setting", async () => {
    const error = await readError(await call("keyless/any"));
    expect(error).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(error.message).toContain("providers.keyless.deployments.0.api_key");
    expect(error.headers.get("x-should-retry")).toBe("false");
    const { provider, switchyard } = await callWell("keyless/any", { fallbacks: ["mock/echo"] });
    expect(provider).toBe("mock");
    expect(switchyard.skipped).toMatchObject([{ provider: "keyless", model: "any" }]);
  });
});

describe("aliases", () => {
  test("in order: the second is asked when the first fails", async () => {
    expect((await callWell("ordered")).provider).toBe("mock");
    vendor.on("ordered-1", down);
    const { provider, switchyard } = await callWell("ordered");
    expect(provider).toBe("mock2");
    expect(switchyard.attempts.map(({ reason }) => reason)).toEqual(["first", "fallback"]);
  });

  test("with weights: each gets its share, and the other one is the fallback", async () => {
    const share = await shareOf("weighted", "v1", "weighted-1");
    // Four standard deviations of so many draws.
    expect(share).toBeGreaterThan(0.75 - 0.08);
    expect(share).toBeLessThan(0.75 + 0.08);
    vendor.on("weighted-1", down);
    for (let count = 0; count < 10; count += 1) expect((await callWell("weighted")).provider).toBe("mock2");
  });

  test("a fallback may be an alias, and adds all its models", async () => {
    const model = newModel(() => down);
    vendor.on("ordered-1", down);
    const { switchyard } = await callWell(`mock/${model}`, { fallbacks: ["ordered", "single"] });
    expect(switchyard.attempts.map(({ provider, reason }) => `${provider} ${reason}`)).toEqual([
      "mock first",
      "mock fallback",
      "mock2 fallback",
    ]);
  });

  test("a key that may not use the model of an alias gets a 403", async () => {
    const limited = await gateway.createKey({ allowed_models: ["mock/*"] });
    const response = await ask(gateway.url, limited, { ...hello, model: "single" });
    expect(await readError(response)).toMatchObject({ status: 403, code: "model_not_allowed" });
  });
});

describe("session_id", () => {
  test("a conversation stays with one deployment, in every process, and conversations are spread by weight", async () => {
    const model = newModel();
    const places: string[] = [];
    await inParallel(40, 8, async (index) => {
      const session = { session_id: `conversation ${index}` };
      const seen = new Set<string>();
      for (let turn = 0; turn < 6; turn += 1) seen.add(await answering(`pool/${model}`, session));
      expect([...seen]).toHaveLength(1);
      places.push(...seen);
    });
    const heavy = places.filter((place) => place === "pool#heavy").length;
    expect(heavy).toBeGreaterThan(15);
    expect(heavy).toBeLessThan(40);
  });

  test("another key's conversation of the same name is another conversation", async () => {
    const other = await gateway.createKey();
    const model = newModel();
    const placeFor = async (own: string, session: string) => {
      const body = { ...hello, model: `pool/${model}`, session_id: session };
      const response = await ask(gateway.url, own, body, { headers: { "x-switchyard-metadata": "true" } });
      return ((await readCompletion(response)) as Told).switchyard.attempts[0]?.deployment;
    };
    let differing = 0;
    for (let index = 0; index < 30; index += 1)
      if ((await placeFor(key, `s${index}`)) !== (await placeFor(other, `s${index}`))) differing += 1;
    expect(differing).toBeGreaterThan(0);
  });

  test("a conversation stays with the fallback that answered it, when the first one is well again", async () => {
    // One process: what answered is remembered where it was answered.
    await using own = await testGateway({ vendor, env: { SWITCHYARD_RETRIES: "0" } });
    const ownKey = await own.createKey();
    let isDown = true;
    const model = newModel((place) => (place === "v1" && isDown ? down : well));
    const turn = async (session: string) => {
      const body = { ...hello, model: `mock/${model}`, fallbacks: [`mock2/${model}`], session_id: session };
      const response = await ask(own.url, ownKey, body, { headers: { "x-switchyard-metadata": "true" } });
      const { provider, switchyard } = (await readCompletion(response)) as Told;
      return `${provider} ${switchyard.session_sticky}`;
    };
    expect(await turn("one")).toBe("mock2 false");
    isDown = false;
    expect(await turn("one")).toBe("mock2 true");
    expect(await turn("two")).toBe("mock false");
    expect(await turn("two")).toBe("mock true");
  });
});

describe("routing", () => {
  let own: TestGateway;
  let ownKey: string;

  beforeAll(async () => {
    own = await testGateway({
      vendor,
      env: { SWITCHYARD_RETRIES: "0" },
      config: { prices: { "mock/*": { input: 5, output: 20 }, "mock2/*": { input: 1, output: 2 } } },
    });
    ownKey = await own.createKey();
  });
  afterAll(() => own?.stop());

  async function providersAsked(
    names: readonly string[],
    routing: unknown,
  ): Promise<{ readonly asked: string[]; readonly status: number }> {
    const [model, ...fallbacks] = names;
    const body = { ...hello, model, fallbacks, routing };
    const response = await ask(own.url, ownKey, body, { headers: { "x-switchyard-metadata": "true" } });
    const { switchyard } = JSON.parse(await response.text()) as Told;
    return { asked: switchyard.attempts.map(({ provider }) => provider), status: response.status };
  }

  test("sort cost: the cheapest first, and what has no price last", async () => {
    const model = newModel(() => down);
    const names = [`mockchat/${model}`, `mock/${model}`, `mock2/${model}`];
    expect((await providersAsked(names, { sort: "cost" })).asked).toEqual(["mock2", "mock", "mockchat"]);
    expect((await providersAsked(names, { sort: "order" })).asked).toEqual(["mockchat", "mock", "mock2"]);
    expect((await providersAsked(names, {})).asked).toEqual(["mockchat", "mock", "mock2"]);
  });

  test("sort latency: the quickest first, once each was measured", async () => {
    const model = newModel((place) => (place === "v1" ? [wait(1_000), ...well] : well));
    const names = [`mock/${model}`, `mock2/${model}`];
    expect((await providersAsked(names, { sort: "latency" })).asked).toEqual(["mock"]);
    expect((await providersAsked(names, { sort: "latency" })).asked).toEqual(["mock2"]);
    for (let count = 0; count < 3; count += 1)
      expect((await providersAsked(names, { sort: "latency" })).asked).toEqual(["mock2"]);
  });

  test("sort latency: one that never answers is not the quickest", async () => {
    const model = newModel((place) => (place === "v1" ? down : well));
    const names = [`mock/${model}`, `mock2/${model}`];
    expect((await providersAsked(names, { sort: "latency" })).asked).toEqual(["mock", "mock2"]);
    expect((await providersAsked(names, { sort: "latency" })).asked).toEqual(["mock2"]);
  });

  test("allowed_providers: no other provider is called, and when none is left, the answer is a 404", async () => {
    const model = newModel(() => down);
    const names = [`mock/${model}`, `mock2/${model}`, `mockchat/${model}`];
    const { asked } = await providersAsked(names, { allowed_providers: ["mock2", "mockchat"] });
    expect(asked).toEqual(["mock2", "mockchat"]);
    expect(await providersAsked(names, { allowed_providers: [] })).toEqual({ asked: [], status: 404 });
  });

  test("allow_fallbacks false: the first offer or none", async () => {
    const model = newModel((place) => (place === "v1" ? down : well));
    const names = [`mock/${model}`, `mock2/${model}`];
    expect(await providersAsked(names, { allow_fallbacks: false })).toEqual({ asked: ["mock"], status: 502 });
    expect(await providersAsked(names, { allow_fallbacks: true })).toEqual({ asked: ["mock", "mock2"], status: 200 });
  });

  test("allow_fallbacks false is about the first in the order that was asked for", async () => {
    const model = newModel();
    const names = [`mock/${model}`, `mock2/${model}`];
    const { asked } = await providersAsked(names, { allow_fallbacks: false, sort: "cost" });
    expect(asked).toEqual(["mock2"]);
  });

  test("a request that was rejected as such goes nowhere else", async () => {
    const model = newModel(() => answer(400, { error: { message: "no such parameter" } }));
    expect(await providersAsked([`mock/${model}`, `mock2/${model}`], null)).toEqual({ asked: ["mock"], status: 400 });
  });
});
