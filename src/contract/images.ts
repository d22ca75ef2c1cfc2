// POST /v3/images/generations: the OpenAI format over the task image/generation.

import { z } from "zod";
import { looseComponent } from "./component.ts";
import { createEngineMembers, taskAnswerMembers } from "./engine-models.ts";

export function createImagesRequest(aliases: ReadonlySet<string>) {
  return looseComponent("ImagesRequest", {
    ...createEngineMembers(aliases),
    prompt: z.string().min(1),
    n: z.int().min(1).max(10).nullish(),
    size: z
      .nullish(z.string().regex(/^(?:auto|\d{1,5}x\d{1,5})$/))
      .describe("Such as `1024x1024`. With `auto`, or when absent, the provider chooses."),
    response_format: z
      .nullish(z.enum(["url", "b64_json"]))
      .describe("When absent, the answer has both. With `b64_json` the gateway stores nothing."),
    stream: z.literal(false).nullish().describe("Streaming is not supported."),
  });
}

export type ImagesRequest = z.infer<ReturnType<typeof createImagesRequest>>;

export const imagesAnswer = looseComponent("Images", {
  created: z.int(),
  data: z.array(
    z.looseObject({
      url: z.string().optional().describe("A signed URL of this gateway, valid for a limited time."),
      b64_json: z.string().optional(),
    }),
  ),
  model: z.string(),
  ...taskAnswerMembers,
});
