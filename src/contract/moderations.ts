// POST /v3/moderations: the OpenAI format over the task text/moderation.

import { z } from "zod";
import { looseComponent } from "./component.ts";
import { createEngineMembers, taskAnswerMembers } from "./engine-models.ts";

const maxTexts = 32;
const text = z.string().min(1);
const textPart = z.looseObject({ type: z.literal("text"), text });
const texts = z
  .array(z.union([text, textPart]))
  .min(1)
  .max(maxTexts)
  .refine((elements) => new Set(elements.map((element) => typeof element)).size <= 1, {
    message: "Input should be all texts, or all parts of one",
  });

/** Clients of this format need not name a model. The local engine is part of every gateway. */
const defaultModel = "local";

export function createModerationsRequest(aliases: ReadonlySet<string>) {
  const members = createEngineMembers(aliases);
  return looseComponent("ModerationsRequest", {
    ...members,
    model: members.model.default(defaultModel),
    input: z
      .union([text, texts])
      .describe("A text, several texts, or the parts of one text. For images, use the task image/explicit_content."),
  });
}

export type ModerationsRequest = z.infer<ReturnType<typeof createModerationsRequest>>;

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

const moderationResult = z.looseObject({
  flagged: z.boolean(),
  categories: z.record(z.string(), z.boolean().nullable()),
  category_scores: z.record(z.string(), z.number()),
  category_applied_input_types: z
    .record(z.string(), z.array(z.string()))
    .describe("Empty for a category that the provider did not report."),
});

export type ModerationResult = z.output<typeof moderationResult>;

export const moderationsAnswer = looseComponent("Moderations", {
  id: z.string(),
  model: z.string(),
  results: z.array(moderationResult),
  ...taskAnswerMembers,
});
