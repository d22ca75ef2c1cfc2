// GET /v3/manage/providers: which providers are set up, and how each of their offers has been doing.

import { z } from "zod";

const lastError = z.object({
  code: z.string().describe("As in the error that a caller got."),
  message: z.string(),
  at: z.iso.datetime(),
});

const offerState = z.object({
  model: z.string().describe("As the provider spells it."),
  state: z
    .enum(["closed", "open", "half_open"])
    .describe("The circuit: `open` is not asked, `half_open` is asked once to find out."),
  retry_in_ms: z.int().describe("Until an open circuit is tried again."),
  latency_ms: z.number().nullable().describe("Until the first byte, as a running mean. Null: not measured."),
  calls: z.int(),
  failures: z.int(),
  last_error: lastError.nullable(),
});

const deploymentState = z.object({
  name: z.string(),
  base_url: z.string(),
  weight: z.number(),
  models: z.array(z.string()).nullable().describe("The models that it serves. Null: all."),
  offers: z.array(offerState).describe("Those that were called since this process started."),
});

export const providerState = z.object({
  name: z.string(),
  title: z.string(),
  dialect: z.string().nullable().describe("The wire format of its models. Null: it performs tasks only."),
  configured: z.boolean(),
  missing_setting: z.string().nullable().describe("The setting without which it cannot be called."),
  healthy: z.boolean().nullable().describe("False while a circuit is open. Null: not called yet."),
  last_error: lastError.nullable(),
  deployments: z.array(deploymentState),
});

export const providerStates = z.object({
  process: z.int().describe("Each serving process keeps its own account: this is the one that answered."),
  items: z.array(providerState),
});

export type ProviderState = z.infer<typeof providerState>;
export type ProviderStates = z.infer<typeof providerStates>;
