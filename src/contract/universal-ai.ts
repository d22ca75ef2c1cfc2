// /v3/universal-ai: what a request may hold. The task's own input schema is checked by its engine.

import { z } from "zod";
import { createGatewayMembers } from "./chat-completions.ts";
import { createTaskModelName } from "./model-names.ts";
import { closedObject } from "./problems.ts";

export function createUniversalAiRequest(aliases: ReadonlySet<string>) {
  const modelName = createTaskModelName(aliases);
  return closedObject({
    model: modelName,
    input: z
      .record(z.string(), z.unknown())
      .meta({ description: "What the task asks for: see GET /v3/info/{feature}/{subfeature}" }),
    fallbacks: z
      .array(modelName)
      .max(3)
      .nullish()
      .meta({ description: "Task models of the same task, tried in turn when the first fails" }),
    provider_params: z.record(z.string(), z.unknown()).nullish().meta({ description: "Merged into the vendor's call" }),
    show_original_response: z.boolean().nullish().meta({ description: "Adds the vendor's own answer" }),
    tags: createGatewayMembers(modelName).tags,
  });
}

/** As the documents show it: without aliases. */
export const universalAiRequest = createUniversalAiRequest(new Set());

export type UniversalAiRequest = z.infer<typeof universalAiRequest>;

export const universalAiAnswer = z.looseObject({
  status: z.literal("success"),
  cost: z.number().nullable().meta({ description: "USD; null when the price is not known" }),
  provider: z.string(),
  model: z.string().nullable().meta({ description: "The model that was named, or null" }),
  feature: z.string(),
  subfeature: z.string(),
  output: z.looseObject({}).meta({ description: "As the task's output schema says" }),
  provider_time: z.number().meta({ description: "Seconds that the provider took" }),
  original_response: z.unknown().optional(),
});
