// /v3/universal-ai and its async sibling: what a request may hold. The task's own input schema is checked by its engine.

import { z } from "zod";
import { createGatewayMembers } from "./chat-completions.ts";
import { taskModelName } from "./model-names.ts";

const maxParametersBytes = 16_384;

export const universalAiRequest = z.looseObject({
  model: taskModelName,
  input: z
    .record(z.string(), z.unknown())
    .meta({ description: "What the task asks for: see GET /v3/info/{feature}/{subfeature}" }),
  fallbacks: z
    .array(taskModelName)
    .max(3)
    .nullish()
    .meta({ description: "Task models of the same task, tried in turn when the first fails" }),
  provider_params: z.record(z.string(), z.unknown()).nullish().meta({ description: "Merged into the vendor's call" }),
  show_original_response: z.boolean().nullish().meta({ description: "Adds the vendor's own answer" }),
  tags: createGatewayMembers(taskModelName).tags,
});

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

export const asyncJobRequest = universalAiRequest.extend({
  webhook_receiver: z.string().max(2048).nullish(),
  user_webhook_parameters: z
    .looseObject({})
    .refine((parameters) => JSON.stringify(parameters).length <= maxParametersBytes, {
      message: `Input should be at most ${maxParametersBytes} bytes of JSON`,
      params: { type: "too_long" },
    })
    .nullish(),
});
