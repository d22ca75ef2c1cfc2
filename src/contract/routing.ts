// `/v3/manage/routing`: the operator's aliases, and a preview of what a request would try.

import { z } from "zod";
import { component } from "./component.ts";
import { keyScopes } from "./keys.ts";
import { createModelName } from "./model-names.ts";
import { booleanText, plainText, uuidText } from "./text-values.ts";

const aliasTarget = component("AliasTarget", {
  model: z.string().describe("`<provider>/<model>`, or a model of a task."),
  weight: z.number().nullable().describe("Null: the targets are tried in their order."),
  share: z.number().nullable().describe("The share of the requests that try this target first; null without weights."),
  configured: z.boolean().describe("Whether the gateway can call it now."),
});

export const routingTable = component("RoutingTable", {
  aliases: z.array(component("Alias", { name: z.string(), targets: z.array(aliasTarget) })),
  retries: z.int().describe("How often a failed call is retried where a request has a single candidate."),
});

/** The routes that a request can be previewed for, with the scope that a key needs there. */
export const previewEndpoints = {
  "chat/completions": keyScopes[0],
  responses: keyScopes[1],
  "v1/messages": keyScopes[0],
  embeddings: keyScopes[3],
  "universal-ai": keyScopes[2],
} as const;

export type PreviewEndpoint = keyof typeof previewEndpoints;

/** As in `capabilities` of a model, without `supports_`. */
const abilities = ["vision", "audio_input", "function_calling", "response_schema", "reasoning"] as const;
const maxFallbacks = 3;
const maxProviders = 20;

export function createPreviewQuery(aliases: ReadonlySet<string>) {
  return z.object({
    model: createModelName(aliases),
    endpoint: z
      .enum(Object.keys(previewEndpoints) as [PreviewEndpoint, ...PreviewEndpoint[]])
      .default("chat/completions")
      .describe("The path after `/v3/` that the request would be sent to."),
    fallback: z
      .array(createModelName(aliases))
      .max(maxFallbacks)
      .default([])
      .describe("`fallbacks` of the request, one for each parameter."),
    ability: z
      .array(z.enum(abilities))
      .default([])
      .describe("What the model has to support. The answer names the candidates that are known not to."),
    key: uuidText.optional().describe("The id of the key that would send the request. Default: a key without limits."),
    sort: z.enum(["order", "cost", "latency"]).default("order").describe("`routing.sort` of the request."),
    allowed_provider: z
      .array(plainText(64))
      .max(maxProviders)
      .default([])
      .describe("`routing.allowed_providers` of the request."),
    allow_fallbacks: booleanText.default(true).describe("`routing.allow_fallbacks` of the request."),
  });
}

const previewReasons = [
  ...(["first", "fallback", "other_deployment", "probe"] as const),
  ...(["circuit_open", "provider_not_configured", "provider_not_found", "model_not_found"] as const),
  ...(["model_not_allowed", "provider_excluded", "fallbacks_off", "request_refused"] as const),
] as const;

const candidate = component("RoutingCandidate", {
  position: z.int().nullable().describe("1 for the candidate that is tried first. Null: it is passed over."),
  reason: z
    .enum(previewReasons)
    .describe(
      "Why it is tried (`first`, `fallback`, `other_deployment`, `probe`) or passed over. `provider_excluded`: by `allowed_provider`. " +
        "`request_refused`: the request is refused before it could be tried.",
    ),
  message: z.string().describe("The reason as a sentence."),
  name: z.string().describe("The model or alias of the request that leads to it."),
  model: z.string().describe("`<provider>/<model>`, or a model of a task."),
  provider: z.string().nullable().describe("Null: no provider has the name."),
  deployment: z.string().nullable().describe("Null: it has none, or the role of the caller is limited to a team."),
  share: z
    .number()
    .nullable()
    .describe("The share of the requests that try it before those of equal rank; null where the order is fixed."),
  circuit: z
    .enum(["closed", "open", "half_open"])
    .nullable()
    .describe("In the process that answers. Null: none, or the role of the caller is limited to a team."),
  latency_ms: z
    .number()
    .nullable()
    .describe(
      "Running mean of the time to the first byte. Null: not measured, or the role of the caller is limited to a team.",
    ),
  missing_abilities: z
    .array(z.enum(abilities))
    .describe("Abilities that the model is known not to have. It is tried all the same, and probably refuses."),
  unknown_abilities: z.array(z.enum(abilities)).describe("Abilities that the provider does not state."),
});

export const routingPreview = component("RoutingPreview", {
  process: z.int().describe("The id of the serving process that answered: each keeps its own circuits."),
  refusal: component("RoutingRefusal", { status: z.int(), code: z.string(), message: z.string() })
    .nullable()
    .describe("The error that the request would be answered with before any provider is called. Null: none is known."),
  retries: z.int().describe("How often the call is retried; 0 where another candidate is tried instead."),
  candidates: z
    .array(candidate)
    .describe(
      "Those that are tried, in order, then those that are passed over. Where the order is drawn by weight, the heaviest come first.",
    ),
});

export type RoutingTable = z.infer<typeof routingTable>;
export type PreviewRequest = z.output<ReturnType<typeof createPreviewQuery>>;
export type RoutingPreview = z.infer<typeof routingPreview>;
export type RoutingCandidate = RoutingPreview["candidates"][number];
export type Ability = (typeof abilities)[number];
