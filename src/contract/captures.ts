// `GET /v3/manage/requests/{request_id}/content`: what was captured of a request and its answer.

import { z } from "zod";
import { component } from "./component.ts";

const message = {
  headers: z
    .record(z.string(), z.string())
    .describe("Names in lower case. Values that may be secrets are `[redacted]`."),
  body: z.string().nullable().describe("As text, with known forms of keys replaced by `[redacted]`; null: no text."),
  is_cut: z.boolean().describe("The body was longer than what is stored."),
};

const capturedRequest = component("CapturedExchange", {
  time: z.iso.datetime(),
  method: z.string(),
  path: z.string().describe("The path of the route."),
  key_id: z.string(),
  team: z.string().nullable(),
  request: z.strictObject(message),
  answer: z.strictObject({
    status: z.int(),
    ...message,
    text: z.string().nullable().describe("The text of the answer of a chat model, put together from its parts."),
  }),
});

export const capturedContent = component("CapturedContent", {
  request_id: z.string(),
  is_enabled: z.boolean().describe("Whether requests are captured now: `SWITCHYARD_CAPTURE_CONTENT`."),
  retention_hours: z.int(),
  items: z.array(capturedRequest).describe("Newest first. Several if a caller used the id more than once; at most 10."),
});

export type CapturedContent = z.output<typeof capturedContent>;
export type CapturedRequest = z.output<typeof capturedRequest>;
