// GET /v3/manage/providers: the providers that the gateway knows, and the health of each of their offers.

import { z } from "zod";
import { component } from "./component.ts";

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
  base_url: z.string(),
  weight: z.number(),
  models: z.array(z.string()).nullable().describe("The models that it serves. Null: all."),
  offers: z.array(offerState).describe("The offers that were called since this process started."),
});

const providerState = component("Provider", {
  name: z.string(),
  title: z.string(),
  dialect: z.string().nullable().describe("The wire format of its models. Null: it performs tasks only."),
  configured: z.boolean(),
  missing_setting: z.string().nullable().describe("The setting without which it cannot be called."),
  healthy: z.boolean().nullable().describe("False while a circuit is open. Null: not called yet."),
  last_error: lastError.nullable(),
  deployments: z.array(deploymentState),
});

export const providerStates = component("ProviderList", {
  process: z.int().describe("The id of the serving process that answered: each keeps its own health record."),
  items: z.array(providerState),
});

export type ProviderState = z.infer<typeof providerState>;
export type ProviderStates = z.infer<typeof providerStates>;
