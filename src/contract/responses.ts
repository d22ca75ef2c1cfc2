// /v3/responses: what a request may hold. Members that are not named here are accepted.

import { z } from "zod";
import { createModelName } from "./model-names.ts";

const maxMetadataPairs = 16;

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= maxMetadataPairs, {
    message: `Input should have at most ${maxMetadataPairs} items`,
    params: { type: "too_long" },
  });

export function createResponseRequest(aliases: ReadonlySet<string>) {
  return z.looseObject({
    model: createModelName(aliases),
    input: z.union([z.string(), z.array(z.looseObject({}))]).optional(),
    instructions: z.string().nullish(),
    previous_response_id: z.string().nullish(),
    store: z.boolean().nullish(),
    stream: z.boolean().nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    max_output_tokens: z.int().min(1).max(1_000_000).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    tools: z
      .array(z.looseObject({ type: z.string() }))
      .max(128)
      .nullish(),
    tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
    truncation: z.enum(["auto", "disabled"]).nullish(),
    metadata: metadata.nullish(),
    user: z.string().max(512).nullish(),
  });
}

export const responseId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);
