// POST /v3/images/generations: the OpenAI format over the task image/generation.

import { z } from "zod";
import { answerMembers, createEngineMembers } from "./engine-models.ts";

export function createImagesRequest(aliases: ReadonlySet<string>) {
  return z.looseObject({
    ...createEngineMembers(aliases),
    prompt: z.string().min(1),
    n: z.int().min(1).max(10).nullish(),
    size: z
      .string()
      .regex(/^(?:auto|\d{1,5}x\d{1,5})$/)
      .nullish()
      .meta({ description: "`1024x1024`; `auto`, or left out: the provider's usual" }),
    response_format: z
      .enum(["url", "b64_json"])
      .nullish()
      .meta({ description: "Left out: both. With `b64_json` the gateway keeps nothing." }),
    stream: z.literal(false).nullish().meta({ description: "Images are sent when they are done" }),
  });
}

/** As the documents show it: without aliases. */
export const imagesRequest = createImagesRequest(new Set());

export type ImagesRequest = z.infer<typeof imagesRequest>;

export const imagesAnswer = z.looseObject({
  created: z.int(),
  data: z.array(
    z.looseObject({
      url: z.string().optional().meta({ description: "Signed, served by this gateway, for a while" }),
      b64_json: z.string().optional(),
    }),
  ),
  model: z.string(),
  ...answerMembers,
});
