// /v3/universal-ai and its async sibling: what a request may hold. The task's own input schema is checked by its engine.

import { z } from "zod";
import { taskModelName } from "./model-names.ts";

const maxParametersBytes = 16_384;

export const universalAiRequest = z.looseObject({
  model: taskModelName,
  input: z.looseObject({}),
  fallbacks: z.array(taskModelName).max(3).nullish(),
  provider_params: z.looseObject({}).nullish(),
  show_original_response: z.boolean().nullish(),
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
