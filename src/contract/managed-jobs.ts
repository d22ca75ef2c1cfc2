// `/v3/manage/jobs`: the jobs of all owners, for operators. Queries and answers.

import { z } from "zod";
import { deliveryObject, jobObject } from "./async-jobs.ts";
import { strictComponent } from "./component.ts";
import { plainText, uuidText, wholeNumberText } from "./text-values.ts";
import { cursorText, momentText } from "./usage.ts";

const { job_id, status, feature, subfeature, provider, model, created_at, finished_at, cost, cost_reason, error } =
  jobObject.shape;
const { output, original_response } = jobObject.shape;
const deliveryStates = deliveryObject.shape.state;

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const listManagedJobsQuery = z.object({
  from: momentText
    .optional()
    .describe("Only jobs of this time or later: a date (UTC), a time, or hours or days before now such as `7d`."),
  to: momentText.optional().describe("Only jobs before this time; a date is included as a whole day."),
  status: status.optional().describe("Only jobs with this status."),
  task: plainText(129)
    .optional()
    .describe("Only jobs of this task, such as `ocr/ocr_async`, or feature, such as `ocr`."),
  provider: plainText(64).optional().describe("Only jobs of this provider."),
  key: uuidText.optional().describe("Only jobs of the key with this id."),
  team: plainText(256).optional().describe("Only jobs of this team: its name."),
  limit: wholeNumberText(1, 1_000).default(100).describe("Jobs per page."),
  cursor: cursorText.optional().describe("`next_cursor` of the previous page."),
});

export const managedJob = strictComponent("ManagedJob", {
  ...{ job_id, status, feature, subfeature, provider, model, created_at, finished_at },
  expires_at: z.iso.datetime().describe("When the job and its result are deleted."),
  progress: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("From 0 to 1, while the job runs and if the engine reports it."),
  runs: z.int().describe("How often the job was started; 0: it is queued."),
  ...{ cost, cost_reason, error },
  team: z.string().nullable().describe("The team that the job belongs to; null: the key alone."),
  key_id: z.string(),
  key_name: z.string().nullable().describe("Null if the key no longer exists."),
  webhook: z
    .strictObject({
      receiver: z.string().describe("Its address, without the query."),
      state: deliveryStates.nullable().describe("Of the last delivery; null while the job runs."),
    })
    .nullable()
    .describe("Null: the job has no receiver."),
});

export const managedJobDetail = managedJob
  .extend({
    request_id: z
      .string()
      .describe("The request that submitted the job; `GET /v3/manage/requests/{request_id}` lists its attempts."),
    result_bytes: z.int().nullable().describe("The size of the stored result; null while the job runs."),
    deliveries: z.array(deliveryObject).describe("The newest 100, the oldest of them first."),
  })
  .meta({ id: "ManagedJobDetail" });

export const managedJobList = strictComponent("ManagedJobList", {
  items: z.array(managedJob).describe("Newest first."),
  next_cursor: z.string().nullable().describe("Null on the last page."),
});

export const managedJobResult = strictComponent("ManagedJobResult", {
  job_id,
  status,
  output,
  error,
  original_response,
});

export type ListManagedJobsRequest = z.output<typeof listManagedJobsQuery>;
export type ManagedJob = z.output<typeof managedJob>;
export type ManagedJobDetail = z.output<typeof managedJobDetail>;
export type ManagedJobResult = z.output<typeof managedJobResult>;
