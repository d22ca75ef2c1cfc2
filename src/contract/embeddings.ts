// POST /v3/embeddings: the OpenAI format. Members that are not named here are accepted and forwarded to a provider of the
// same dialect.

import { z } from "zod";
import { createGatewayMembers } from "./chat-completions.ts";
import { createModelName } from "./model-names.ts";

const text = z.string().min(1);
const tokens = z.array(z.int().min(0)).min(1).max(300_000);

export function createEmbeddingsRequest(aliases: ReadonlySet<string>) {
  const modelName = createModelName(aliases);
  return z.object({
    model: modelName,
    input: z
      .union([text, z.array(text).min(1).max(2048), tokens, z.array(tokens).min(1).max(2048)])
      .meta({ description: "A text, several, or the same as token numbers where the provider takes those" }),
    encoding_format: z.enum(["float", "base64"]).nullish(),
    dimensions: z.int().min(1).max(65_536).nullish(),
    input_type: z.string().max(64).nullish().meta({ description: "What the texts are for, where a provider asks" }),
    user: z.string().max(512).nullish(),
    ...createGatewayMembers(modelName),
  });
}

/** As the documents show it: without aliases. */
export const embeddingsRequest = createEmbeddingsRequest(new Set());

export type EmbeddingsRequestBody = z.infer<typeof embeddingsRequest>;

export const embeddingsAnswer = z.looseObject({
  object: z.literal("list"),
  data: z.array(
    z.looseObject({
      object: z.literal("embedding"),
      index: z.int(),
      embedding: z
        .union([z.array(z.number()), z.string()])
        .meta({ description: "Numbers, or base64 of 32-bit floats, least byte first" }),
    }),
  ),
  model: z.string(),
  usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }).optional(),
  provider: z.string(),
  cost: z.number().nullable().meta({ description: "USD; null when the price is not known" }),
  provider_time: z.number().meta({ description: "Seconds that the provider took" }),
});
