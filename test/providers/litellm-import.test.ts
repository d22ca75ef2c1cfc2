// The conversion of LiteLLM's configuration. The inputs are written for these tests in the form that its documentation describes
// (docs.litellm.ai/docs/proxy/configs and config_settings).

import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkSetting } from "../../src/config/settings.ts";
import { readConfig } from "../../src/config.ts";
import { setUpProviders } from "../../src/provider-setup.ts";
import { importLitellmConfig } from "../../src/providers/litellm/import-config.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-litellm-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Converts, and checks the result as `switchyard config check` does. */
function convert(text: string, environment: Readonly<Record<string, string>> = {}) {
  const { yaml, notes, problems } = importLitellmConfig(text, checkSetting);
  expect(problems).toEqual([]);
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  writeFileSync(path, yaml);
  const config = readConfig({ SWITCHYARD_CONFIG: path, ...environment });
  const { providers } = setUpProviders(config);
  const lines = notes.map(({ line, path: at, message }) => `${line} ${at}: ${message}`);
  return { result: Bun.YAML.parse(yaml) as Record<string, unknown>, providers, config, notes: lines };
}

describe("models", () => {
  test("become aliases of known providers, with keys only where they are not the usual ones", () => {
    const { result, providers, notes } = convert(
      `model_list:
  - model_name: gpt
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_API_KEY
  - model_name: claude
    litellm_params: { model: claude-sonnet-4-5, api_key: os.environ/TEAM_KEY }
  - model_name: llama
    litellm_params: { model: together_ai/meta-llama/Llama-3.3-70B }
`,
      { OPENAI_API_KEY: "a", TEAM_KEY: "b", TOGETHERAI_API_KEY: "c" },
    );
    expect(notes).toEqual([]);
    expect(result).toEqual({
      providers: {
        openai: { api_key: "${OPENAI_API_KEY}" },
        anthropic: { api_key: "${TEAM_KEY}" },
        together: { api_key: "${TOGETHERAI_API_KEY}" },
      },
      aliases: {
        gpt: "openai/gpt-4o",
        claude: "anthropic/claude-sonnet-4-5",
        llama: "together/meta-llama/Llama-3.3-70B",
      },
    });
    for (const name of ["openai", "anthropic", "together"]) expect(providers.get(name)?.configured).toBe(true);
  });

  test("with several addresses become deployments, and requests are distributed by their weight", () => {
    const { result, providers } = convert(
      `model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: https://eu.example.com/
      api_key: os.environ/AZURE_API_KEY_EU
      rpm: 6
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-ca
      api_base: https://ca.example.com/
      api_key: os.environ/AZURE_API_KEY_CA
      rpm: 60
    model_info: { id: canada }
`,
      { AZURE_API_KEY_EU: "a", AZURE_API_KEY_CA: "b" },
    );
    expect(result["aliases"]).toEqual({
      "gpt-4o": [
        { model: "azure/gpt-4o-eu", weight: 6 },
        { model: "azure/gpt-4o-ca", weight: 60 },
      ],
    });
    const deployments = providers.get("microsoft")?.deployments ?? [];
    expect(deployments.map(({ name, baseUrl, weight }) => [name, baseUrl, weight])).toEqual([
      ["microsoft#1", "https://eu.example.com", 6],
      ["microsoft#canada", "https://ca.example.com", 60],
    ]);
    expect(deployments.map(({ models }) => [...(models ?? [])])).toEqual([["gpt-4o-eu"], ["gpt-4o-ca"]]);
  });

  test("of servers in the OpenAI format become providers of the operator's own, one for each address", () => {
    const { result, providers, notes } = convert(`model_list:
  - model_name: vllm-models
    litellm_params: { model: openai/facebook/opt-125m, api_base: "http://127.0.0.1:8001/v1", api_key: none }
  - model_name: other
    litellm_params: { model: openai/other, api_base: "http://127.0.0.1:8001/v1", api_key: none }
  - model_name: odd
    litellm_params: { model: watsonx/granite, api_base: "http://127.0.0.1:8002/v1" }
`);
    expect(result).toEqual({
      providers: {
        "vllm-models": {
          dialect: "openai",
          api_key: "none",
          base_url: "http://127.0.0.1:8001/v1",
          models: ["facebook/opt-125m", "other"],
        },
        odd: { dialect: "openai", base_url: "http://127.0.0.1:8002/v1", models: ["granite"] },
      },
      aliases: { "vllm-models": "vllm-models/facebook/opt-125m", other: "vllm-models/other", odd: "odd/granite" },
    });
    expect(notes).toEqual([expect.stringMatching(/^7 .*'watsonx'; it was converted to a server that uses/)]);
    expect(providers.get("odd")?.configured).toBe(true);
  });

  test("use named credentials, prices, headers and organizations", () => {
    const { result } = convert(
      `model_list:
  - model_name: gpt
    litellm_params:
      model: openai/gpt-4o
      litellm_credential_name: shared
      organization: org-1
      extra_headers: { x-team: a }
      input_cost_per_token: 0.0000025
    model_info: { output_cost_per_token: 0.00001 }
credential_list:
  - credential_name: shared
    credential_values: { api_key: os.environ/SHARED_KEY }
    credential_info: {}
`,
      { SHARED_KEY: "k" },
    );
    expect(result).toEqual({
      providers: {
        openai: { api_key: "${SHARED_KEY}", headers: { "x-team": "a", "openai-organization": "org-1" } },
      },
      aliases: { gpt: "openai/gpt-4o" },
      prices: { "openai/gpt-4o": { input: 2.5, output: 10 } },
    });
  });

  test("have a price only if it is written as a number", () => {
    const { result, notes } = convert(`model_list:
  - model_name: empty
    litellm_params: { model: openai/gpt-4o, input_cost_per_token: , output_cost_per_token: "" }
  - model_name: text
    litellm_params: { model: openai/gpt-4.1, input_cost_per_token: "2e-6", output_cost_per_token: null }
    model_info: { output_cost_per_token: 0.000008 }
  - model_name: free
    litellm_params: { model: groq/llama, input_cost_per_token: 0, output_cost_per_token: 0 }
  - model_name: odd
    litellm_params: { model: groq/other, input_cost_per_token: [1], output_cost_per_token: -1 }
`);
    expect(result["prices"]).toEqual({
      "openai/gpt-4.1": { input: 2, output: 8 },
      "groq/llama": { input: 0, output: 0 },
    });
    expect(notes).toEqual([
      expect.stringMatching(/^3 .*output_cost_per_token: should be a number of USD/),
      expect.stringMatching(/^10 .*input_cost_per_token: should be a number of USD/),
      expect.stringMatching(/^10 .*output_cost_per_token: should be a number of USD/),
    ]);
  });

  test("have prices of the cache, and what is not priced is as in the catalogue", () => {
    const { result, notes } = convert(`model_list:
  - model_name: whole
    litellm_params:
      model: anthropic/claude
      input_cost_per_token: 0.000003
      output_cost_per_token: 0.000015
      cache_read_input_token_cost: 0.0000003
      cache_creation_input_token_cost: 0.00000375
      cache_creation_input_token_cost_above_1hr: 0.000006
  - { model_name: part, litellm_params: { model: openai/gpt-4o, cache_read_input_token_cost: 0.00000012345678 } }
  - model_name: other
    litellm_params: { model: openai/gpt-4.1, input_cost_per_second: 0.0004 }
    model_info: { output_cost_per_image: 0.01 }
`);
    expect(result["prices"]).toEqual({
      "anthropic/claude": { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 },
      "openai/gpt-4o": { catalogue: true, cache_read: 0.123_457 },
    });
    expect(notes).toEqual([
      expect.stringMatching(/^12 .*input_cost_per_second: was not converted: write the price under prices/),
      expect.stringMatching(/^13 .*output_cost_per_image: was not converted: write the price under prices/),
    ]);
  });

  test("with a base model have a note about its price, unless they have prices", () => {
    const { notes } = convert(`model_list:
  - { model_name: a, litellm_params: { model: azure/mine, api_base: https://a.example }, model_info: { base_model: azure/gpt-4o } }
  - model_name: b
    litellm_params: { model: azure/other, api_base: https://a.example, input_cost_per_token: 0 }
    model_info: { base_model: azure/gpt-4o }
`);
    expect(notes).toEqual([
      "2 model_list.0.model_info.base_model: a cost is that of the model which the answer names; set the price of azure/mine under prices if that " +
        "is not azure/gpt-4o",
    ]);
  });

  test("have no settings of their own, and each note says what there is instead", () => {
    const { notes } = convert(`model_list:
  - model_name: a
    litellm_params:
      model: groq/a
      timeout: 5
      max_budget: 10
      tags: [paid]
      mock_response: hello
      max_tokens: 100
`);
    expect(notes).toEqual([
      expect.stringMatching(/^5 .*timeout: was not converted: .*total_timeout_ms/),
      expect.stringMatching(/^6 .*max_budget: was not converted: .*keys and teams/),
      expect.stringMatching(/^7 .*tags: was not converted: requests are not routed by tags/),
      expect.stringMatching(/^8 .*mock_response: was not converted: the provider is called/),
      expect.stringMatching(/^9 .*max_tokens: was not converted: .*callers send it/),
    ]);
  });

  test("for reranking are not converted", () => {
    const { result, notes } = convert(`model_list:
  - { model_name: a, litellm_params: { model: cohere/rerank-v3.5 } }
  - { model_name: b, litellm_params: { model: voyage/x }, model_info: { mode: rerank } }
  - { model_name: c, litellm_params: { model: groq/rerank-chat }, model_info: { mode: chat } }
`);
    expect(result["aliases"]).toEqual({ c: "groq/rerank-chat" });
    expect(notes).toEqual([
      expect.stringMatching(/^2 .*no endpoint for reranking; the model was not converted/),
      expect.stringMatching(/^3 .*no endpoint for reranking/),
    ]);
  });

  // docs.litellm.ai/docs/providers/bedrock, bedrock_imported, bedrock_agents and azure list the names.
  test("lose LiteLLM's names of APIs, which are not a part of their own names", () => {
    const { result, notes } = convert(`model_list:
  - { model_name: a, litellm_params: { model: bedrock/converse/us.amazon.nova-pro-v1:0 } }
  - { model_name: b, litellm_params: { model: bedrock/invoke/anthropic.claude-v2 } }
  - { model_name: c, litellm_params: { model: bedrock/llama/arn:aws:bedrock:us-east-1:1:imported-model/x } }
  - { model_name: d, litellm_params: { model: bedrock/us-west-2/anthropic.claude-v2 } }
  - { model_name: e, litellm_params: { model: bedrock/agent/L1RT58GYRW/MFPSBCXYTW } }
  - { model_name: f, litellm_params: { model: azure/o_series/my-o3 } }
  - { model_name: g, litellm_params: { model: azure/responses/gpt5_series/my-gpt-5 } }
  - { model_name: h, litellm_params: { model: openai/responses/gpt-5 } }
  - { model_name: i, litellm_params: { model: openai/converse/x } }
`);
    expect(result["aliases"]).toEqual({
      a: "bedrock/us.amazon.nova-pro-v1:0",
      b: "bedrock/anthropic.claude-v2",
      c: "bedrock/arn:aws:bedrock:us-east-1:1:imported-model/x",
      d: "bedrock/anthropic.claude-v2",
      f: "azure/my-o3",
      g: "azure/my-gpt-5",
      h: "openai/gpt-5",
      i: "openai/converse/x",
    });
    expect(notes).toEqual([
      expect.stringMatching(/^4 .*model: 'llama\/' was removed: the gateway uses the Converse API/),
      expect.stringMatching(/^5 .*model: set AWS_REGION in the environment to us-west-2/),
      expect.stringMatching(/^6 .*model: this gateway does not use the API 'agent' of bedrock; the model was not/),
    ]);
  });

  test("of one group that are written several times have the sum of their weights", () => {
    const { result } = convert(`model_list:
  - { model_name: pool, litellm_params: { model: openai/gpt-4o, api_key: key-of-a, weight: 2 } }
  - { model_name: pool, litellm_params: { model: openai/gpt-4o, api_key: key-of-b, weight: 3 } }
  - { model_name: pool, litellm_params: { model: openai/gpt-4o, api_key: key-of-b, weight: 4 } }
  - { model_name: pool, litellm_params: { model: groq/llama, weight: 1 } }
  - { model_name: even, litellm_params: { model: mistral/small, api_key: key-of-a } }
  - { model_name: even, litellm_params: { model: mistral/small, api_key: key-of-a } }
  - { model_name: even, litellm_params: { model: mistral/small, api_key: key-of-b } }
`);
    expect(result["aliases"]).toEqual({
      pool: [
        { model: "openai/gpt-4o", weight: 9 },
        { model: "groq/llama", weight: 1 },
      ],
      even: "mistral/small",
    });
    expect(result["providers"]).toEqual({
      openai: {
        deployments: [
          { api_key: "key-of-a", models: ["gpt-4o"], weight: 2 },
          { api_key: "key-of-b", models: ["gpt-4o"], weight: 7 },
        ],
      },
      mistral: {
        deployments: [
          { api_key: "key-of-a", models: ["small"], weight: 2 },
          { api_key: "key-of-b", models: ["small"] },
        ],
      },
    });
  });

  test("keep the ratio of weights that are above the largest one", () => {
    const { result } = convert(`model_list:
  - { model_name: pool, litellm_params: { model: openai/gpt-4o, api_key: key-of-a, tpm: 4000000 } }
  - { model_name: pool, litellm_params: { model: openai/gpt-4o, api_key: key-of-b, tpm: 2000000 } }
  - { model_name: pool, litellm_params: { model: groq/llama, tpm: 2000000 } }
`);
    expect(result["aliases"]).toEqual({
      pool: [
        { model: "openai/gpt-4o", weight: 1_000_000 },
        { model: "groq/llama", weight: 333_333 },
      ],
    });
    expect(result["providers"]).toEqual({
      openai: {
        deployments: [
          { api_key: "key-of-a", models: ["gpt-4o"], weight: 1_000_000 },
          { api_key: "key-of-b", models: ["gpt-4o"], weight: 500_000 },
        ],
      },
    });
  });

  test("that cannot be converted are named with their line, and no secret is repeated", () => {
    const { result, notes } = convert(`model_list:
  - model_name: sage
    litellm_params: { model: sagemaker/x }
  - model_name: mystery
    litellm_params: { model: something }
  - litellm_params: { model: openai/a }
  - model_name: "*"
    litellm_params: { model: "*" }
  - model_name: all-openai
    litellm_params: { model: openai/* }
  - model_name: a/b
    litellm_params:
      model: bedrock/anthropic.claude
      aws_region_name: us-east-1
      aws_secret_access_key: secret-of-aws
      temperature: 0.5
    model_info: { mode: image_generation, access_groups: [x] }
`);
    expect(result).toEqual({ aliases: { "a-b": "bedrock/anthropic.claude" } });
    expect(notes.join("\n")).not.toContain("secret-of-aws");
    expect(notes).toEqual([
      expect.stringMatching(/^3 .*no provider 'sagemaker'/),
      expect.stringMatching(/^5 .*'something' cannot be recognized/),
      expect.stringMatching(/^6 model_list\.2: needs model_name/),
      expect.stringMatching(/^7 model_list\.3: callers write <provider>\/<model>/),
      expect.stringMatching(/^9 .*callers write openai\/<model>/),
      expect.stringMatching(/^11 .*callers write 'a-b' in place of 'a\/b'/),
      expect.stringMatching(/^14 .*set AWS_REGION/),
      expect.stringMatching(/^15 .*set AWS_SECRET_ACCESS_KEY/),
      expect.stringMatching(/^16 .*callers send it/),
      expect.stringMatching(/^17 .*'image_generation' are tasks/),
      expect.stringMatching(/^17 .*access_groups: was not converted/),
    ]);
  });
});

describe("settings", () => {
  const models = `model_list:
  - { model_name: big, litellm_params: { model: openai/gpt-4o } }
  - { model_name: pool, litellm_params: { model: openai/gpt-4o } }
  - { model_name: pool, litellm_params: { model: groq/llama } }
  - { model_name: small, litellm_params: { model: groq/llama } }
`;

  test("fallbacks follow the model, also that of a pool, and other names of a group work", () => {
    const { result, notes } = convert(`${models}litellm_settings:
  fallbacks: [{ big: [small, nothing] }]
router_settings:
  default_fallbacks: [small]
  model_group_alias: { gpt-4: big, hidden: { model: small, hidden: true }, lost: none }
`);
    expect(result["aliases"]).toEqual({
      big: ["openai/gpt-4o", "groq/llama"],
      pool: [
        { model: "openai/gpt-4o", weight: 1 },
        { model: "groq/llama", weight: 1 },
      ],
      small: "groq/llama",
      "gpt-4": ["openai/gpt-4o", "groq/llama"],
      hidden: "groq/llama",
    });
    expect(notes).toEqual([
      expect.stringMatching(/^2 .*the fallback 'nothing' is not in model_list/),
      expect.stringMatching(/^10 .*the fallback 'nothing'/),
      expect.stringMatching(/^10 .*no model 'none' in model_list; 'lost' was not converted/),
    ]);
    const weighted = convert(
      `${models}litellm_settings: { fallbacks: [{ pool: [claude] }] }
`.replace("litellm_settings", "  - { model_name: claude, litellm_params: { model: anthropic/c } }\nlitellm_settings"),
    );
    expect((weighted.result["aliases"] as Record<string, unknown>)["pool"]).toEqual([
      { model: "openai/gpt-4o", weight: 1 },
      { model: "groq/llama", weight: 1 },
      { model: "anthropic/c", weight: 0.000_001 },
    ]);
  });

  test("become settings of the gateway, and those without a counterpart are named", () => {
    const { result, config, notes } = convert(
      `litellm_settings:
  num_retries: 3
  request_timeout: 60
  set_verbose: true
  json_logs: true
  drop_params: true
  success_callback: [langfuse]
  cache: true
router_settings:
  routing_strategy: latency-based-routing
  cooldown_time: 30
  allowed_fails: 4
  redis_host: r
  unheard_of: 1
general_settings:
  master_key: os.environ/MASTER
  database_url: os.environ/DATABASE_URL
environment_variables: { LANGFUSE_SECRET: hunter2 }
include: [other.yaml]
guardrails: []
`,
      { MASTER: "a-master-key-of-length" },
    );
    expect(result).toEqual({
      retries: 3,
      total_timeout_ms: 60_000,
      log_level: "debug",
      log_format: "json",
      breaker_open_ms: 30_000,
      breaker_failures: 5,
      admin_key: "${MASTER}",
    });
    expect(config.adminKey).toBe("a-master-key-of-length");
    expect(notes.join("\n")).not.toContain("hunter2");
    expect(notes.map((note) => note.split(":")[0])).toEqual([
      "6 litellm_settings.drop_params",
      "7 litellm_settings.success_callback",
      "8 litellm_settings.cache",
      "10 router_settings.routing_strategy",
      "13 router_settings.redis_host",
      "14 router_settings.unheard_of",
      "16 general_settings.master_key",
      "17 general_settings.database_url",
      "18 environment_variables.LANGFUSE_SECRET",
      "19 include",
      "20 guardrails",
    ]);
  });

  test("no retries are a number of retries", () => {
    const { result, notes } = convert("litellm_settings: { num_retries: 0 }\n");
    expect({ result, notes }).toEqual({ result: { retries: 0 }, notes: [] });
  });

  test("values outside the range of their setting are named and left out", () => {
    const { result, notes } = convert(`litellm_settings: { num_retries: "", request_timeout: 0.01 }
router_settings:
  cooldown_time: 7200
  stream_timeout: 3600
  allowed_fails: 100000
  timeout: 86401
`);
    expect(result).toEqual({ first_byte_timeout_ms: 3_600_000 });
    expect(notes).toEqual([
      expect.stringMatching(/^1 litellm_settings\.num_retries: should be a number; set retries yourself/),
      expect.stringMatching(/^1 .*request_timeout: total_timeout_ms should be a whole number from 100 to 86400000, /),
      expect.stringMatching(/^3 .*breaker_open_ms should be a whole number from 100 to 3600000, and is '7200000'; set/),
      expect.stringMatching(/^5 .*breaker_failures should be a whole number from 0 to 100000, and is '100001'; set/),
      expect.stringMatching(/^6 .*total_timeout_ms should be a whole number/),
    ]);
  });

  test("wrong values and other files are refused with a message", () => {
    const { result, notes } = convert(
      "litellm_settings: { num_retries: 99, request_timeout: soon }\ngeneral_settings: { master_key: sk-1234 }\n",
    );
    expect(result).toBeNull();
    expect(notes).toHaveLength(4);
    expect(importLitellmConfig("- a\n", checkSetting).problems).toEqual([expect.objectContaining({ line: 1 })]);
    expect(importLitellmConfig("a: [\n", checkSetting).problems).toHaveLength(1);
  });
});
