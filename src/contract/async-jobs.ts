// `/v3/universal-ai/async` and the webhook: requests, answers and the callback.

import { z } from "zod";
import { strictComponent } from "./component.ts";
import { checkedText, findUrlTooLong } from "./media-urls.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { closedObject } from "./problems.ts";
import { uuidText } from "./text-values.ts";
import { createUniversalAiRequest } from "./universal-ai.ts";

const maxParametersBytes = 16_384;
const maxIdempotencyKeyLength = 255;

export function createAsyncJobRequest(aliases: ReadonlySet<string>) {
  return closedObject({
    ...createUniversalAiRequest(aliases).shape,
    webhook_receiver: z
      .nullish(checkedText(findUrlTooLong))
      .describe("An https URL that receives a callback when the job has ended."),
    user_webhook_parameters: z
      .record(z.string(), z.unknown())
      .refine((parameters) => Buffer.byteLength(JSON.stringify(parameters)) <= maxParametersBytes, {
        message: `Input should be at most ${maxParametersBytes} bytes of JSON`,
        params: { type: "too_long" },
      })
      .nullish()
      .describe("Sent to the receiver as `user_parameters`."),
  }).meta({ id: "JobRequest" });
}

export type AsyncJobRequest = z.infer<ReturnType<typeof createAsyncJobRequest>>;

/** Only visible characters, so that two keys that look the same are the same. */
export const submitJobHeaders = z.object({
  "idempotency-key": z
    .string()
    .regex(
      new RegExp(`^[\\x21-\\x7e]{1,${maxIdempotencyKeyLength}}$`),
      `Input should be 1 to ${maxIdempotencyKeyLength} visible ASCII characters`,
    )
    .optional()
    .describe("Within 24 hours, the same key and body return the same job. The same key with another body is refused."),
});

export const jobPath = z.object({ job_id: uuidText.describe("The job's id.") });

const jobStatus = z.enum(["processing", "success", "fail"]);

export const listJobsQuery = z.object({
  status: jobStatus.optional().describe("Only jobs with this status."),
  feature: z.string().min(1).max(64).optional().describe("Only jobs of this feature."),
  subfeature: z.string().min(1).max(64).optional().describe("Only jobs of this subfeature."),
  ...pageQuery,
});

export const jobObject = strictComponent("Job", {
  job_id: z.uuid(),
  public_id: z.uuid().describe("The same as `job_id`."),
  status: jobStatus,
  feature: z.string(),
  subfeature: z.string(),
  provider: z.string().describe("The requested provider; of a finished job, the provider that performed it."),
  model: z.string().nullable(),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  cost: z.number().nullable().describe("USD; null while the job runs, and when the price is not known."),
  cost_reason: z.string().optional().describe("Why the cost of a finished job is not known."),
  progress: z
    .optional(z.number().min(0).max(1))
    .describe("From 0 to 1, while the job runs and if the engine reports it."),
  output: z
    .nullable(z.looseObject({}))
    .describe("As the task's output schema defines it; null unless the job succeeded."),
  error: z.looseObject({ message: z.string() }).nullable(),
  original_response: z.unknown().optional(),
});

export const jobList = pageOf(jobObject).meta({ id: "JobList" });

export const deletedJob = strictComponent("DeletedJob", { job_id: z.uuid(), deleted: z.literal(true) });

export const deliveryObject = strictComponent("Delivery", {
  id: z.uuid(),
  state: z
    .enum(["pending", "delivered", "failed", "blocked"])
    .describe("`blocked`: the gateway does not connect to the receiver's address."),
  receiver: z.string(),
  created_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().nullable(),
  attempts: z.array(
    z.strictObject({
      number: z.int(),
      started_at: z.iso.datetime(),
      duration_ms: z.int(),
      status: z.int().nullable().describe("The status of the receiver's answer; null when there was no answer."),
      error: z.string().nullable(),
      key_id: z.string().describe("`kid` of the key that signed the callback; see GET /v3/webhooks/keys."),
    }),
  ),
});

export const deliveryList = strictComponent("DeliveryList", { job_id: z.uuid(), items: z.array(deliveryObject) });

export const webhookKeySet = strictComponent("WebhookKeySet", {
  keys: z.array(z.looseObject({ kid: z.string(), kty: z.string(), alg: z.string(), use: z.literal("sig") })),
});

/** The body of a callback. Members that do not apply are absent. */
export const webhookPayload = strictComponent("WebhookPayload", {
  event: z.literal("async_job_completed"),
  job_id: z.string(),
  status: z.enum(["success", "fail"]),
  feature: z.string(),
  subfeature: z.string(),
  provider: z.string(),
  model: z.string().nullable(),
  created_at: z.string().describe("ISO 8601 with the offset `+00:00`; without a fraction when it is zero."),
  finished_at: z.string().describe("As `created_at`."),
  output: z.unknown().optional().describe("As the task's output schema defines it; only with `success`."),
  error: z.strictObject({ message: z.string() }).optional().describe("Only with `fail`."),
  original_response: z.unknown().optional().describe("Only if the job asked for it, and the provider sent one."),
  user_parameters: z.unknown().optional().describe("The job's `user_webhook_parameters`; absent when it had none."),
});

export const webhookHeaders = z.object({
  "webhook-id": z.string().describe("The same in every attempt of one delivery."),
  "webhook-timestamp": z.string().describe("Unix time in seconds."),
  "webhook-signature": z
    .string()
    .describe(
      "`v1a,` and an Ed25519 signature in base64, as in Standard Webhooks; several while a key is being replaced.",
    ),
  "x-service-signature": z
    .string()
    .describe("RSA PKCS #1 v1.5 over the hexadecimal SHA-256 of the body, in hexadecimal."),
  "x-service-hash-algorithm": z.literal("SHA256"),
  "x-service-webhook": z.literal("true"),
});

export type JobObject = z.output<typeof jobObject>;
export type DeliveryObject = z.output<typeof deliveryObject>;
export type WebhookPayload = Readonly<z.output<typeof webhookPayload>>;
