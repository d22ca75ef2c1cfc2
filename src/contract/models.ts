// The model listing: the OpenAI list format, and what is known about each model. A fact that the provider does not state is null.

import { z } from "zod";
import { component, looseComponent } from "./component.ts";
import { refuse } from "./problems.ts";

const modalities = ["text", "image", "audio", "file", "video"] as const;
const modality = z.enum(modalities);
const claim = z.boolean().nullable();

export const modelCapabilities = component("ModelCapabilities", {
  input_modalities: z.array(modality).describe("What a message may contain."),
  output_modalities: z.array(z.enum([...modalities, "embedding"])).describe("What an answer may contain."),
  supports_function_calling: claim.describe("Tools. Null: not stated by the provider."),
  supports_response_schema: claim.describe("`response_format` with a JSON Schema. Null: not stated by the provider."),
  supports_reasoning: claim.describe("Reasoning before the answer. Null: not stated by the provider."),
  supports_vision: z.boolean().describe("Images in messages."),
  supports_audio_input: z.boolean().describe("Audio in messages."),
});

const modelPricing = looseComponent("ModelPricing", {
  input_cost_per_token: z.number().nullable(),
  output_cost_per_token: z.number().nullable(),
  cache_read_input_token_cost: z.number().nullable(),
});

const model = component("Model", {
  id: z.string().describe("What a request names as `model`: `<provider>/<model>`."),
  object: z.literal("model"),
  created: z.int().describe("Unix time at which the model was published; 0 when it is not known."),
  owned_by: z.string().describe("The provider's name."),
  context_length: z.int().nullable().describe("Tokens of request and answer together. Null: not known."),
  max_output_tokens: z.int().nullable().describe("Null: not known."),
  pricing: modelPricing.nullable().describe("USD per token. Null: the price is not known."),
  capabilities: modelCapabilities,
  endpoints: z.array(z.string()).describe("Paths after `/v3/` that accept this model."),
  responses_native: z.boolean().describe("Whether the provider itself stores responses."),
  configured: z.boolean().describe("Whether this gateway can call the provider now."),
});

export const modelDetail = model
  .extend({
    parameters: z
      .record(z.string(), z.enum(["forwarded", "mapped", "parallel", "dropped", "refused"]))
      .describe(
        "How each parameter of a chat request is treated. `*` stands for every parameter that is not listed. `forwarded`: " +
          "unchanged; `mapped`: translated to the provider's format; `parallel`: by several calls; `dropped`: left out and " +
          "listed in `x-switchyard-dropped-params`; `refused`: answered with 422.",
      ),
  })
  .meta({ id: "ModelDetail" });

export const modelList = component("ModelList", { object: z.literal("list"), data: z.array(model) });

const includable = ["unconfigured", "sandbox"] as const;

/** Each value may hold several names, separated by commas. */
const include = z
  .array(z.string())
  .transform((values, context) => {
    const { data } = z.array(z.enum(includable)).safeParse(values.flatMap((value) => value.split(",")));
    return data ?? refuse(context, "literal_error", "Input should be 'unconfigured' or 'sandbox'");
  })
  .default([])
  .meta({
    items: { type: "string", enum: includable },
    description:
      "`unconfigured` adds what the gateway knows and cannot call, marked `configured: false`. `sandbox` adds the built-in " +
      "sandbox provider, which a sandbox key sees in any case.",
  });

export const listingQuery = z.object({ include });

const filter = z.array(z.string()).default([]);

export const listModelsQuery = listingQuery.extend({
  provider: filter.describe(
    "The part of the id before its first slash. Repeated: the models of all of these providers.",
  ),
  feature: filter.describe("`llm` for chat models."),
  capability: filter.describe(
    "What the model is known to support, with or without the prefix: `vision`, `supports_reasoning` ...",
  ),
  endpoint: filter.describe("A path after `/v3/` that accepts the model, such as `chat/completions`."),
});

export const modelParams = z.object({
  id: z.string().describe("The model's id. Its slashes may be sent as they are or as `%2F`."),
});

export type ListingQuery = z.output<typeof listingQuery>;
export type Model = z.infer<typeof model>;
export type ModelDetail = z.infer<typeof modelDetail>;
export type ModelList = z.infer<typeof modelList>;
