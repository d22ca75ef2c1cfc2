// POST /v3/embeddings: the OpenAI format. Unknown members are accepted, and forwarded to providers of the same dialect.

import { z } from "zod";
import { answerMembers } from "./answer-members.ts";
import { createGatewayMembers } from "./chat-completions.ts";
import { component, looseComponent } from "./component.ts";
import { createModelName } from "./model-names.ts";
import { optionalText } from "./text-values.ts";

const text = z.string().min(1);
const tokens = z.array(z.int().min(0)).min(1).max(300_000);

export function createEmbeddingsRequest(aliases: ReadonlySet<string>) {
  const modelName = createModelName(aliases);
  return component("EmbeddingsRequest", {
    model: modelName,
    input: z
      .union([text, z.array(text).min(1).max(2048), tokens, z.array(tokens).min(1).max(2048)])
      .describe("A text or several; or the same as token numbers, if the provider accepts them."),
    encoding_format: z.enum(["float", "base64"]).nullish(),
    dimensions: z.int().min(1).max(65_536).nullish(),
    input_type: optionalText(64).describe("What the texts are used for, if the provider distinguishes that."),
    user: optionalText(512),
    ...createGatewayMembers(modelName),
  });
}

export type EmbeddingsRequestBody = z.infer<ReturnType<typeof createEmbeddingsRequest>>;

export const embeddingsAnswer = looseComponent("Embeddings", {
  object: z.literal("list"),
  data: z.array(
    z.looseObject({
      object: z.literal("embedding"),
      index: z.int(),
      embedding: z
        .union([z.array(z.number()), z.string()])
        .describe("Numbers, or little-endian 32-bit floats in base64."),
    }),
  ),
  model: z.string(),
  usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }).optional(),
  ...answerMembers,
});
