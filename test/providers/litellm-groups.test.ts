// A group (`model_name`) of a LiteLLM configuration uses only its own entries, also if another group reaches the same model with another
// address or key. The inputs are written for these tests.

import { expect, test } from "bun:test";
import { checkSetting } from "../../src/config/settings.ts";
import { importLitellmConfig } from "../../src/providers/litellm/import-config.ts";
import { ask, hello, readCompletion } from "../support/chat.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

// If two deployments were drawn from, all of these would reach the right one by chance once in 4,096 runs.
const calls = 12;

type Providers = Readonly<Record<string, unknown>>;

function convert(text: string) {
  const { yaml, notes, problems } = importLitellmConfig(text, checkSetting);
  expect(problems).toEqual([]);
  const result = Bun.YAML.parse(yaml) as { readonly providers: Providers; readonly aliases: Providers };
  return { result, notes: notes.map(({ line, path, message }) => `${line} ${path}: ${message}`) };
}

/** The addresses and keys that requests for each model reach, in a gateway with the converted configuration. */
async function callAll(write: (origin: string) => string, models: readonly string[]) {
  const vendor = await startVendor();
  const { result, notes } = convert(write(`http://127.0.0.1:${vendor.port}`));
  const reached: Record<string, string[]> = {};
  {
    await using gateway = await testGateway({ vendor, config: result });
    const key = await gateway.createKey();
    for (const model of models) {
      vendor.clear();
      for (let call = 0; call < calls; call++) await readCompletion(await ask(gateway.url, key, { ...hello, model }));
      const used = vendor.requests.map(({ path, headers, model: sent }) => {
        const credentials = headers["api-key"] ?? headers["x-api-key"] ?? headers["authorization"];
        return `${path} ${sent} ${credentials}`;
      });
      reached[model] = [...new Set(used)].toSorted();
    }
  }
  await vendor.stop();
  return { reached, result, notes };
}

test("two groups that reach one model of Azure in two regions stay apart", async () => {
  const { reached, notes } = await callAll(
    (origin) => `model_list:
  - model_name: gpt-4o-eu
    litellm_params: { model: azure/gpt-4o, api_base: "${origin}/eu/", api_key: key-of-eu }
  - model_name: gpt-4o-us
    litellm_params: { model: azure/gpt-4o, api_base: "${origin}/us/", api_key: key-of-us }
  - model_name: mini-us
    litellm_params: { model: azure/mini, api_base: "${origin}/us/", api_key: key-of-us }
`,
    ["gpt-4o-eu", "gpt-4o-us", "mini-us"],
  );
  expect(reached).toEqual({
    "gpt-4o-eu": ["/eu/openai/v1/chat/completions gpt-4o key-of-eu"],
    "gpt-4o-us": ["/us/openai/v1/chat/completions gpt-4o key-of-us"],
    "mini-us": ["/us/openai/v1/chat/completions mini key-of-us"],
  });
  expect(notes).toEqual([
    "3 model_list.0.litellm_params.model: the deployments of 'azure' list their models, and other models of it are refused: add a deployment " +
      "without models to serve them",
    "4 model_list.1.model_name: it reaches azure/gpt-4o with other addresses, keys or weights than 'gpt-4o-eu', so it has the provider " +
      "'gpt-4o-us' of its own: set the prices of its models, and check the parameters that callers send",
  ]);
});

test("two groups that reach one server of the operator with two keys stay apart, and share what is the same", async () => {
  const { reached, result, notes } = await callAll(
    (origin) => `model_list:
  - { model_name: a, litellm_params: { model: openai/m, api_base: "${origin}/own/v1", api_key: key-of-a } }
  - { model_name: b, litellm_params: { model: openai/m, api_base: "${origin}/own/v1", api_key: key-of-b } }
  - { model_name: c, litellm_params: { model: openai/m, api_base: "${origin}/own/v1", api_key: key-of-a } }
  - { model_name: both, litellm_params: { model: openai/m, api_base: "${origin}/own/v1", api_key: key-of-a } }
  - { model_name: both, litellm_params: { model: openai/m, api_base: "${origin}/own/v1", api_key: key-of-b } }
`,
    ["a", "b", "c"],
  );
  const path = "/own/v1/chat/completions m Bearer";
  expect(reached).toEqual({
    a: [`${path} key-of-a`],
    b: [`${path} key-of-b`],
    c: [`${path} key-of-a`],
  });
  expect(result.aliases).toEqual({ a: "a/m", b: "b/m", c: "a/m", both: "both/m" });
  expect(result.providers["both"]).toMatchObject({ deployments: [{ api_key: "key-of-a" }, { api_key: "key-of-b" }] });
  expect(notes).toEqual([]);
});

test("a group with a key of its own does not use the key of a wildcard", async () => {
  const { reached } = await callAll(
    (origin) => `model_list:
  - { model_name: azure/*, litellm_params: { model: azure/*, api_base: "${origin}/all", api_key: key-of-all } }
  - { model_name: gpt, litellm_params: { model: azure/gpt-4o, api_base: "${origin}/all", api_key: key-of-gpt } }
`,
    ["gpt", "azure/gpt-4o"],
  );
  expect(reached).toEqual({
    gpt: ["/all/openai/v1/chat/completions gpt-4o key-of-gpt"],
    "azure/gpt-4o": ["/all/openai/v1/chat/completions gpt-4o key-of-all"],
  });
});

test("a group that is named like the model keeps that name, whatever the order", () => {
  const { result, notes } = convert(`model_list:
  - { model_name: gpt, litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY_A } }
  - { model_name: openai/gpt-4o, litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY_B } }
`);
  expect(result.providers["openai"]).toEqual({ api_key: "${KEY_B}" });
  expect(result.aliases).toEqual({ gpt: "gpt/gpt-4o" });
  expect(notes).toEqual([expect.stringMatching(/^2 .*than 'openai\/gpt-4o', so it has the provider 'gpt' of its own/)]);
});

test("groups with different prices for one model are named", () => {
  const { result, notes } = convert(`model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, input_cost_per_token: 0.000001 } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o, input_cost_per_token: 0.000002 } }
  - { model_name: c, litellm_params: { model: openai/gpt-4o, input_cost_per_token: 0.000001 } }
`);
  expect(result).toMatchObject({ prices: { "openai/gpt-4o": { input: 1 } } });
  expect(notes).toEqual([
    "3 model_list.1: the price of openai/gpt-4o is that of an earlier entry, and this one was left out",
  ]);
});

test("a provider of a group's own has the address and format of the vendor", () => {
  const { result } = convert(`model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY_A } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY_B } }
  - { model_name: c, litellm_params: { model: anthropic/claude, api_key: os.environ/KEY_A } }
  - { model_name: d, litellm_params: { model: anthropic/claude } }
`);
  expect(result).toEqual({
    providers: {
      openai: { api_key: "${KEY_A}" },
      b: {
        dialect: "openai",
        responses: "native",
        base_url: "https://api.openai.com/v1",
        api_key: "${KEY_B}",
        models: ["gpt-4o"],
      },
      anthropic: { api_key: "${KEY_A}" },
      d: {
        dialect: "anthropic",
        base_url: "https://api.anthropic.com",
        api_key: "${ANTHROPIC_API_KEY}",
        models: ["claude"],
      },
    },
    aliases: { a: "openai/gpt-4o", b: "b/gpt-4o", c: "anthropic/claude", d: "d/claude" },
  });
});

test("groups that cannot be kept apart are named", () => {
  const { result, notes } = convert(`model_list:
  - { model_name: a, litellm_params: { model: vertex_ai/gemini-3.8-flash, api_key: os.environ/KEY_A } }
  - { model_name: b, litellm_params: { model: vertex_ai/gemini-3.8-flash, api_key: os.environ/KEY_B } }
`);
  expect(result.providers).toEqual({
    vertexai: {
      deployments: [
        { api_key: "${KEY_A}", models: ["gemini-3.8-flash"] },
        { api_key: "${KEY_B}", models: ["gemini-3.8-flash"] },
      ],
    },
  });
  expect(notes).toEqual([
    expect.stringMatching(/^2 .*the deployments of 'vertexai' list their models/),
    "3 model_list.1.model_name: it reaches vertexai/gemini-3.8-flash with other addresses, keys or weights than 'a', and requests of both are " +
      "distributed over all of them: declare a provider with a base_url of its own, and name it in the alias",
  ]);
});

test("callers of openai/* and of a model of OpenAI reach the address of the entry with that name", async () => {
  const { reached, result, notes } = await callAll(
    (origin) => `model_list:
  - { model_name: openai/*, litellm_params: { model: openai/*, api_base: "${origin}/proxy/v1", api_key: key-of-all } }
  - { model_name: own/llama, litellm_params: { model: openai/llama, api_base: "${origin}/own/v1", api_key: key-of-own } }
`,
    ["openai/gpt-4o", "own/llama"],
  );
  expect(reached).toEqual({
    "openai/gpt-4o": ["/proxy/v1/chat/completions gpt-4o Bearer key-of-all"],
    "own/llama": ["/own/v1/chat/completions llama Bearer key-of-own"],
  });
  expect(result.aliases).toBeUndefined();
  expect(notes).toEqual([]);
});

test("a region of OpenAI is OpenAI with another address", () => {
  const { result, notes } = convert(`model_list:
  - model_name: openai/*
    litellm_params: { model: openai/*, api_key: os.environ/OPENAI_API_KEY, api_base: https://eu.api.openai.com/v1 }
  - { model_name: gpt, litellm_params: { model: openai/gpt-4o, api_base: https://eu.api.openai.com/v1 } }
`);
  expect(result).toEqual({
    providers: { openai: { api_key: "${OPENAI_API_KEY}", base_url: "https://eu.api.openai.com/v1" } },
    aliases: { gpt: "openai/gpt-4o" },
  });
  expect(notes).toEqual([]);
});

test("entries for all models of one provider stay apart, each with a name of its own", async () => {
  const { reached, notes } = await callAll(
    (origin) => `model_list:
  - { model_name: eu/*, litellm_params: { model: azure/*, api_base: "${origin}/eu", api_key: key-of-eu } }
  - { model_name: azure/*, litellm_params: { model: azure/*, api_base: "${origin}/us", api_key: key-of-us } }
`,
    ["eu/gpt-4o", "azure/gpt-4o"],
  );
  expect(reached).toEqual({
    "eu/gpt-4o": ["/eu/openai/v1/chat/completions gpt-4o key-of-eu"],
    "azure/gpt-4o": ["/us/openai/v1/chat/completions gpt-4o key-of-us"],
  });
  expect(notes).toEqual([
    expect.stringMatching(
      /^2 .*reaches azure\/\* with other addresses, keys or weights than 'azure\/\*', so it has the provider 'eu'/,
    ),
  ]);
});

test("a name that would be sent to another provider is noted", () => {
  const { notes } = convert(`model_list:
  - { model_name: openai/gpt-4.1, litellm_params: { model: azure/gpt-41, api_base: https://a.example, api_key: k } }
  - { model_name: mistral/*, litellm_params: { model: groq/* } }
  - { model_name: team/gpt, litellm_params: { model: azure/gpt-41, api_base: https://a.example, api_key: k } }
`);
  expect(notes).toEqual([
    "2 model_list.0.model_name: an alias has no slash or space: callers write 'openai-gpt-4.1' in place of 'openai/gpt-4.1', which is sent to " +
      "the provider 'openai'",
    "3 model_list.1.model_name: callers write groq/<model>, which needs no entry; 'mistral/*' cannot be an alias, and mistral/<model> is sent to " +
      "the provider 'mistral'",
    "4 model_list.2.model_name: an alias has no slash or space: callers write 'team-gpt' in place of 'team/gpt'",
  ]);
});

test("entries with a higher order are used only if those with a lower one fail", async () => {
  const { reached, result, notes } = await callAll(
    (origin) => `model_list:
  - { model_name: two, litellm_params: { model: azure/two, api_base: "${origin}/backup", api_key: k, order: 2, rpm: 600 } }
  - { model_name: two, litellm_params: { model: azure/two, api_base: "${origin}/main", api_key: k, order: 1, rpm: 6 } }
  - { model_name: models, litellm_params: { model: azure/last, api_base: "${origin}/last", api_key: k } }
  - { model_name: models, litellm_params: { model: azure/first, api_base: "${origin}/first", api_key: k, order: 1 } }
  - { model_name: models, litellm_params: { model: azure/second, api_base: "${origin}/second", api_key: k }, model_info: { order: 2 } }
  - { model_name: down, litellm_params: { model: azure/down, api_base: "http://127.0.0.1:1/main", api_key: k, order: 1 } }
  - { model_name: down, litellm_params: { model: azure/down, api_base: "${origin}/backup", api_key: k, order: 2 } }
`,
    ["two", "models", "down"],
  );
  expect(reached).toEqual({
    two: ["/main/openai/v1/chat/completions two k"],
    models: ["/first/openai/v1/chat/completions first k"],
    down: ["/backup/openai/v1/chat/completions down k"],
  });
  expect(result.aliases).toEqual({
    two: "azure/two",
    models: ["azure/first", "azure/second", "azure/last"],
    down: "azure/down",
  });
  expect(notes.filter((note) => note.includes(".order"))).toEqual([
    "2 model_list.0.litellm_params.order: the deployments of azure/two have weights in place of orders: one with a weight of 0.000001 is tried last",
    expect.stringMatching(/^7 .*the deployments of azure\/down have weights/),
  ]);
});

test("orders and fallbacks of a pool have weights that keep their order", () => {
  const { result } = convert(`model_list:
  - { model_name: pool, litellm_params: { model: openai/a, order: 1, weight: 2 } }
  - { model_name: pool, litellm_params: { model: groq/b, order: 1, weight: 1 } }
  - { model_name: pool, litellm_params: { model: mistral/c, order: 2, weight: 30 } }
  - { model_name: pool, litellm_params: { model: xai/d, order: 2, weight: 10 } }
  - { model_name: one, litellm_params: { model: cohere/e } }
litellm_settings: { fallbacks: [{ pool: [one] }, { one: [pool] }] }
`);
  expect(result.aliases).toEqual({
    pool: [
      { model: "openai/a", weight: 2 },
      { model: "groq/b", weight: 1 },
      { model: "mistral/c", weight: 0.000_000_75 },
      { model: "xai/d", weight: 0.000_000_25 },
      { model: "cohere/e", weight: 1e-12 },
    ],
    one: [
      { model: "cohere/e", weight: 1 },
      { model: "openai/a", weight: 0.000_000_666_667 },
      { model: "groq/b", weight: 0.000_000_333_333 },
      { model: "mistral/c", weight: 0.75e-12 },
      { model: "xai/d", weight: 0.25e-12 },
    ],
  });
});

test("a key or address that is the usual one is the same as none", () => {
  const { result, notes } = convert(`model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: c, litellm_params: { model: openai/gpt-4o, api_base: https://api.openai.com/v1/ } }
  - { model_name: d, litellm_params: { model: together_ai/x, api_key: os.environ/TOGETHERAI_API_KEY } }
  - { model_name: e, litellm_params: { model: together_ai/x } }
`);
  expect(result).toEqual({
    providers: { openai: { api_key: "${OPENAI_API_KEY}" }, together: { api_key: "${TOGETHERAI_API_KEY}" } },
    aliases: { a: "openai/gpt-4o", b: "openai/gpt-4o", c: "openai/gpt-4o", d: "together/x", e: "together/x" },
  });
  expect(notes).toEqual([]);
});

const twoKeys = `model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: os.environ/KEY_A } }
  - { model_name: b, litellm_params: { model: openai/gpt-4.1, api_key: os.environ/KEY_B } }
`;

test("an entry for all models of all providers keeps them callable, with the usual keys", () => {
  const { result, notes } = convert(`${twoKeys}  - { model_name: "*", litellm_params: { model: "*" } }\n`);
  expect(result).toMatchObject({
    providers: {
      a: {
        deployments: [
          { api_key: "${KEY_A}", models: ["gpt-4o"] },
          { api_key: "${KEY_B}", models: ["gpt-4.1"] },
        ],
      },
    },
    aliases: { a: "a/gpt-4o", b: "a/gpt-4.1" },
  });
  // It has the key of the environment, and no list of models.
  expect(result.providers["openai"]).toBeUndefined();
  expect(notes.filter((note) => note.includes("refused"))).toEqual([]);
});

test("without one, models that the deployments do not list are refused, and a note says so", () => {
  const { result, notes } = convert(twoKeys);
  expect(result.providers["openai"]).toEqual({
    deployments: [
      { api_key: "${KEY_A}", models: ["gpt-4o"] },
      { api_key: "${KEY_B}", models: ["gpt-4.1"] },
    ],
  });
  expect(notes).toEqual([
    "2 model_list.0.litellm_params.model: the deployments of 'openai' list their models, and other models of it are refused: add a deployment " +
      "without models to serve them",
  ]);
});
