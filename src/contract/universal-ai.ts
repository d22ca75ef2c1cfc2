// POST /v3/universal-ai. The input is checked later, against the schema of its task.

import { z } from "zod";
import { answerMembers } from "./answer-members.ts";
import { createGatewayMembers } from "./chat-completions.ts";
import { looseComponent } from "./component.ts";
import { providerParams } from "./engine-models.ts";
import { createTaskModelName } from "./model-names.ts";
import { closedObject } from "./problems.ts";

export function createUniversalAiRequest(aliases: ReadonlySet<string>) {
  const modelName = createTaskModelName(aliases);
  return closedObject({
    model: modelName,
    input: z
      .record(z.string(), z.unknown())
      .describe("The task's input. GET /v3/info/{feature}/{subfeature} has its schema."),
    fallbacks: z
      .nullish(z.array(modelName).max(3))
      .describe("Models of the same task, tried in order when the first one fails."),
    provider_params: providerParams,
    show_original_response: z.boolean().nullish().describe("Adds the provider's own answer."),
    tags: createGatewayMembers(modelName).tags,
  }).meta({ id: "UniversalAiRequest" });
}

export type UniversalAiRequest = z.infer<ReturnType<typeof createUniversalAiRequest>>;

export const universalAiAnswer = looseComponent("TaskAnswer", {
  status: z.literal("success"),
  ...answerMembers,
  model: z.string().nullable().describe("The model that the request named, or null."),
  feature: z.string(),
  subfeature: z.string(),
  output: z.looseObject({}).describe("As the task's output schema defines it."),
  original_response: z.unknown().optional(),
});
