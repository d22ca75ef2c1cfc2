// `/v3/manage/providers`: the providers that the gateway knows, the health of each of their offers, and their credentials in the store.

import { z } from "zod";
import { component } from "./component.ts";
import { addProblem, closedObject, limitedRecord } from "./problems.ts";
import { plainText } from "./text-values.ts";

const lastError = z.object({
  code: z.string().describe("The error code that the caller received."),
  message: z.string(),
  at: z.iso.datetime(),
});

const offerState = z.object({
  model: z.string().describe("The model as the provider spells it, or the task: `<feature>/<subfeature>[/<model>]`."),
  state: z
    .enum(["closed", "open", "half_open"])
    .describe("The circuit breaker: `open` skips the offer, `half_open` lets one call through as a test."),
  retry_in_ms: z.int().describe("Time until an open circuit is tested."),
  latency_ms: z.number().nullable().describe("Running mean of the time to the first byte. Null: not measured."),
  calls: z.int(),
  failures: z.int(),
  last_error: lastError.nullable(),
});

const deploymentState = z.object({
  name: z.string(),
  base_url: z.string().nullable().describe("Null: it runs in the gateway itself."),
  weight: z.number(),
  models: z.array(z.string()).nullable().describe("The models that it serves. Null: all."),
  offers: z.array(offerState).describe("The offers that were called since this process started."),
});

const providerState = z.object({
  name: z.string(),
  title: z.string(),
  dialect: z.string().nullable().describe("The wire format of its models. Null: it performs tasks only."),
  built_in: z.boolean().describe("Whether it runs in the gateway itself, and so has no credentials."),
  configured: z.boolean(),
  missing_setting: z.string().nullable().describe("The setting without which it cannot be called."),
  healthy: z.boolean().nullable().describe("False while a circuit is open. Null: not called yet."),
  last_error: lastError.nullable(),
  credentials: z
    .enum(["store", "file", "environment"])
    .nullable()
    .describe("Where its key comes from. Null: it has none, or needs none."),
  deployments: z.array(deploymentState),
});

const source = z.object({
  kind: z.enum(["store", "file", "environment", "default"]),
  name: z.string().nullable().describe("The member of switchyard.yaml, or the variable of the environment."),
});

const storedCredentials = z.object({
  name: z.string().describe("The name that they are stored under: that of the provider, or of its model API."),
  api_key: z.string().nullable().describe("The last characters of the key. Null: no key is stored."),
  base_url: z.string().nullable(),
  settings: z.record(z.string(), z.string()).describe("Further settings; secret ones are masked."),
  updated_at: z.iso.datetime(),
});

export const providerDetail = component("ProviderDetail", {
  ...providerState.shape,
  in_force: z
    .array(z.object({ deployment: z.string(), key: source.nullable(), address: source }))
    .describe("Where the key and the address of each deployment come from."),
  stored: z.array(storedCredentials).describe("Its credentials in the store."),
  overridden: z
    .array(z.string())
    .describe("Members of switchyard.yaml and variables that its credentials in the store take precedence over."),
  further_settings: z.array(z.string()).describe("The names that `settings` may hold."),
  access: z
    .object({
      key: z.enum(["required", "optional", "none"]).describe("`optional`: it also works with `settings`, or without."),
      variables: z.array(z.string()).describe("The variables of the environment that its key is read from."),
      address: z
        .string()
        .nullable()
        .describe(
          "Its own address, which may have placeholders. Null: the provider has no address, or a different one for each service.",
        ),
      settings: z.array(z.object({ name: z.string(), is_secret: z.boolean() })).describe("`further_settings`."),
      docs: z.string().describe("The page of the provider about it."),
    })
    .describe("What its credentials consist of."),
});

const maxKeyLength = 16_384;
const webAddress = /^https?:\/\/[^/?#\s@]+(?:\/[^?#\s]*)?$/;
/** Not trimmed and not shown in messages. */
const secretText = () => z.string().min(1).max(maxKeyLength);
const settings = () =>
  limitedRecord(
    z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, "Names are written as in the environment, e.g. AWS_REGION"),
    secretText(),
    20,
  );
const descriptions = {
  api_key: "Key of the provider.",
  settings: "Further settings of the provider, by their names in the environment, such as `AWS_REGION`.",
};

export const providerPath = z.object({
  name: plainText(64).describe("A name of the provider, or of its model API, such as `openai` or `gemini`."),
});

export const setProviderRequest = closedObject({
  api_key: secretText().exactOptional().describe(descriptions.api_key),
  base_url: z
    .string()
    .max(2_048)
    .regex(
      webAddress,
      "Input should be an address such as https://example.com/v1, without user name, query or fragment",
    )
    .exactOptional()
    .describe("Address of the provider's API. It may be private."),
  settings: settings().exactOptional().describe(descriptions.settings),
})
  .check((payload) => {
    const { api_key, base_url, settings: further = {} } = payload.value;
    if (api_key === undefined && base_url === undefined && Object.keys(further).length === 0)
      addProblem(payload, "missing", "One of api_key, base_url and settings is required", ["api_key"]);
  })
  .meta({ id: "SetProviderRequest" });

export const rotateProviderRequest = closedObject({
  api_key: secretText().exactOptional().describe(descriptions.api_key),
  settings: settings().exactOptional().describe(`${descriptions.settings} Those that are not named keep their values.`),
  test: z
    .boolean()
    .default(true)
    .describe("Calls the provider with the new credentials first, and keeps the old ones unless it answers."),
})
  .check((payload) => {
    const { api_key, settings: further = {} } = payload.value;
    if (api_key === undefined && Object.keys(further).length === 0)
      addProblem(payload, "missing", "One of api_key and settings is required", ["api_key"]);
  })
  .meta({ id: "RotateProviderRequest" });

export const testProviderRequest = closedObject({
  model: plainText(256).optional().describe("The model to call, as the provider names it. Default: a small one."),
}).meta({ id: "TestProviderRequest" });

const testResult = z.object({
  deployment: z.string(),
  outcome: z
    .enum([
      "completed",
      "credentials_refused",
      "request_refused",
      "rate_limited",
      "unreachable",
      "failed",
      "not_tested",
    ])
    .describe(
      "`request_refused`: the provider refused the model or the request, not the credentials. `not_tested`: there is no cheap call, such as for a provider that only reads documents.",
    ),
  called: z.string().nullable().describe("The model, task or path that was called."),
  milliseconds: z.number(),
  cost: z.number().nullable().describe("USD. Null: unknown, or nothing was called."),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export const providerTest = component("ProviderTest", {
  provider: z.string(),
  ok: z.boolean().nullable().describe("Whether every call completed. Null: nothing was called."),
  results: z.array(testResult).describe("One for each deployment."),
});

export const removedProvider = component("RemovedCredentials", { name: z.string(), deleted: z.literal(true) });

const listedProvider = component("Provider", {
  ...providerState.shape,
  healthy: providerState.shape.healthy.describe(
    "False while a circuit of a process of the gateway is open. Null: not called yet.",
  ),
  open_circuits: z
    .int()
    .nullable()
    .describe(
      "Circuits that are not closed, of all processes of the gateway together. Null for a role that is limited to a team.",
    ),
});

export const providerStates = component("ProviderList", {
  process: z.int().describe("The id of the serving process that answered: each keeps its own health record."),
  items: z.array(listedProvider),
});

export type ProviderState = z.infer<typeof providerState>;
export type ProviderDetail = z.infer<typeof providerDetail>;
export type SetProviderRequest = z.output<typeof setProviderRequest>;
export type RotateProviderRequest = z.output<typeof rotateProviderRequest>;
export type ProviderTest = z.infer<typeof providerTest>;
export type ProviderTestResult = ProviderTest["results"][number];
export type ProviderStates = z.infer<typeof providerStates>;
