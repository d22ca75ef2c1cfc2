// POST /v3/moderations: the OpenAI format over the task text/moderation.

import { z } from "zod";
import { answerMembers, createEngineMembers } from "./engine-models.ts";

const mostTexts = 32;
const text = z.string().min(1);
const textPart = z.looseObject({ type: z.literal("text"), text });
const texts = z
  .array(z.union([text, textPart]))
  .min(1)
  .max(mostTexts)
  .refine((elements) => new Set(elements.map((element) => typeof element)).size <= 1, {
    message: "Input should be all texts, or all parts of one",
  });

/** Clients of this format need not name a model. This one is part of every gateway. */
const usualModel = "local";

export function createModerationsRequest(aliases: ReadonlySet<string>) {
  const members = createEngineMembers(aliases);
  return z.looseObject({
    ...members,
    model: members.model.default(usualModel),
    input: z.union([text, texts]).meta({
      description: "A text, several, or the parts of one; for pictures there is the task image/explicit_content",
    }),
  });
}

/** As the documents show it: without aliases. */
export const moderationsRequest = createModerationsRequest(new Set());

export type ModerationsRequest = z.infer<typeof moderationsRequest>;

export const categoryNames = [
  "harassment",
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/instructions",
  "self-harm/intent",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
] as const;

export const moderationsAnswer = z.looseObject({
  id: z.string(),
  model: z.string(),
  results: z.array(
    z.looseObject({
      flagged: z.boolean(),
      categories: z.record(z.string(), z.boolean().nullable()),
      category_scores: z.record(z.string(), z.number()),
      category_applied_input_types: z
        .record(z.string(), z.array(z.string()))
        .meta({ description: "Empty for a category that the provider has said nothing of" }),
    }),
  ),
  ...answerMembers,
});
