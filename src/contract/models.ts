// The model listing: the OpenAI list shape, and what is known of each model. A fact that nobody stated is null.

import { z } from "zod";

const modalities = ["text", "image", "audio", "file", "video"] as const;
const modality = z.enum(modalities);
const claim = z.boolean().nullable();

export const modelCapabilities = z.object({
  input_modalities: z.array(modality).describe("What a message may hold."),
  output_modalities: z.array(z.enum([...modalities, "embedding"])).describe("What an answer may hold."),
  supports_function_calling: claim.describe("Tools. Null: not stated by the provider."),
  supports_response_schema: claim.describe("`response_format` with a JSON Schema. Null: not stated by the provider."),
  supports_reasoning: claim.describe("Reasoning before the answer. Null: not stated by the provider."),
  supports_vision: z.boolean().describe("Images in messages."),
  supports_audio_input: z.boolean().describe("Audio in messages."),
});

/** USD. An unknown price is null and never 0. */
export const modelPricing = z.looseObject({
  input_cost_per_token: z.number().nullable(),
  output_cost_per_token: z.number().nullable(),
  cache_read_input_token_cost: z.number().nullable(),
});

export const model = z.object({
  id: z.string().describe("What a request names as `model`: `<provider>/<model>`."),
  object: z.literal("model"),
  created: z.int().describe("Unix time at which the model was published; 0 when it is not known."),
  owned_by: z.string().describe("The provider's name."),
  context_length: z.int().nullable().describe("Tokens of request and answer together. Null: not known."),
  max_output_tokens: z.int().nullable().describe("Null: not known."),
  pricing: modelPricing.nullable().describe("USD per token. Null: the price is not known."),
  capabilities: modelCapabilities,
  endpoints: z.array(z.string()).describe("Paths after `/v3/` that accept this model."),
  responses_native: z.boolean().describe("Whether the provider itself keeps conversations."),
  configured: z.boolean().describe("Whether this gateway can call the provider now."),
});

/** One model on its own says more than the same in a list. */
export const modelDetail = model.extend({
  parameters: z
    .record(z.string(), z.enum(["forwarded", "mapped", "parallel", "dropped", "refused"]))
    .describe(
      "What becomes of each parameter of a chat request. `*` stands for every parameter that is not named. `forwarded`: as " +
        "it came; `mapped`: in the provider's own way; `parallel`: by several calls; `dropped`: left out and named in " +
        "`x-switchyard-dropped-params`; `refused`: 422.",
    ),
});

export const modelList = z.object({
  object: z.literal("list"),
  data: z.array(model),
});

export type Model = z.infer<typeof model>;
export type ModelDetail = z.infer<typeof modelDetail>;
export type ModelList = z.infer<typeof modelList>;
