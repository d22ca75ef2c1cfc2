// What we promise about jobs: `/v3/universal-ai/async` and what hangs below it, requests and answers.

import { z } from "zod";
import { checkedText, findUrlTooLong } from "./media-urls.ts";
import { pageOf, pageQuery, uuidText } from "./paging.ts";
import { closedObject } from "./problems.ts";
import { createUniversalAiRequest } from "./universal-ai.ts";

const maxParametersBytes = 16_384;

export function createAsyncJobRequest(aliases: ReadonlySet<string>) {
  return closedObject({
    ...createUniversalAiRequest(aliases).shape,
    webhook_receiver: checkedText(findUrlTooLong).nullish().meta({
      description: "An HTTPS address that is told when the job is over",
    }),
    user_webhook_parameters: z
      .record(z.string(), z.unknown())
      .refine((parameters) => Buffer.byteLength(JSON.stringify(parameters)) <= maxParametersBytes, {
        message: `Input should be at most ${maxParametersBytes} bytes of JSON`,
        params: { type: "too_long" },
      })
      .nullish()
      .meta({ description: "Given back to the receiver as `user_parameters`" }),
  });
}

/** As the documents show it: without aliases. */
export const asyncJobRequest = createAsyncJobRequest(new Set());

export type AsyncJobRequest = z.infer<typeof asyncJobRequest>;

export const longestIdempotencyKey = 255;

export const jobPath = z.object({ job_id: uuidText });

const jobStatus = z.enum(["processing", "success", "fail"]);

export const listJobsQuery = z.object({
  status: jobStatus.optional(),
  feature: z.string().min(1).max(64).optional(),
  subfeature: z.string().min(1).max(64).optional(),
  ...pageQuery,
});

export const jobObject = z.strictObject({
  job_id: z.uuid(),
  public_id: z.uuid().meta({ description: "The same as `job_id`" }),
  status: jobStatus,
  feature: z.string(),
  subfeature: z.string(),
  provider: z.string().meta({ description: "Who was asked; once it is done, who did it" }),
  model: z.string().nullable(),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  cost: z.number().nullable().meta({ description: "USD; null while it runs, and when the price is not known" }),
  cost_reason: z.string().optional().meta({ description: "Why the cost of a finished job is not known" }),
  progress: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: "0..1, while it runs and where the engine tells it" }),
  output: z
    .looseObject({})
    .nullable()
    .meta({ description: "As the task's output schema says; null unless it succeeded" }),
  error: z.looseObject({ message: z.string() }).nullable(),
  original_response: z.unknown().optional(),
});

export const jobList = pageOf(jobObject);

/** A job as the operator sees it. */
export const unfinishedJobObject = jobObject.extend({
  owner: z.string().meta({ description: "The owner of the key that submitted it, or the key itself" }),
  key_id: z.string(),
  runs: z.int().meta({ description: "How often it was begun; 0: it is queued" }),
});

export const unfinishedJobList = z.strictObject({
  items: z.array(unfinishedJobObject),
  page: z.int(),
  limit: z.int(),
});

export const listUnfinishedQuery = z.object({ owner: z.string().min(1).max(256).optional(), ...pageQuery });

export const deletedJob = z.strictObject({ job_id: z.uuid(), deleted: z.literal(true) });

export const deliveryObject = z.strictObject({
  id: z.uuid(),
  state: z.enum(["pending", "delivered", "failed", "blocked"]).meta({
    description: "`blocked`: the address is not one that the gateway connects to",
  }),
  receiver: z.string(),
  created_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().nullable(),
  attempts: z.array(
    z.strictObject({
      number: z.int(),
      started_at: z.iso.datetime(),
      duration_ms: z.int(),
      status: z.int().nullable().meta({ description: "Of the receiver's answer; null when there was none" }),
      error: z.string().nullable(),
      key_id: z.string().meta({ description: "`kid` of the key that signed it, see GET /v3/webhooks/keys" }),
    }),
  ),
});

export const deliveryList = z.strictObject({ job_id: z.uuid(), items: z.array(deliveryObject) });

export const webhookKeySet = z.strictObject({
  keys: z.array(z.looseObject({ kid: z.string(), kty: z.string(), alg: z.string(), use: z.literal("sig") })),
});

export type JobObject = z.output<typeof jobObject>;
export type UnfinishedJobObject = z.output<typeof unfinishedJobObject>;
export type DeliveryObject = z.output<typeof deliveryObject>;
