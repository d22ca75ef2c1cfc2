// `/v3/universal-ai/async`: tasks as jobs, and their webhook deliveries.

import * as contract from "../../contract/async-jobs.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import { hasOddNumbers } from "../../lib/exact-json.ts";
import { modelCallErrors } from "../model-call.ts";
import type { JsonBody } from "../read-body.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Jobs", key: "inference", scope: "universal" } as const;
const path = "/v3/universal-ai/async";
const one = { path: `${path}/{job_id}`, params: contract.jobPath, example: { path: { job_id: "$JOB_ID" } } } as const;
const ignored = { kind: "ignored-json" } as const;

export function asyncJobRoutes({ jobs, universalAi, aliases }: RouteDependencies): Route[] {
  return [
    defineRoute("submitJob", "Run a task as a job", {
      ...common,
      description:
        "The job is stored before it is accepted, and survives restarts. Poll it with GET, or name a `webhook_receiver` that is " +
        "called when it has ended. With the header `Idempotency-Key`, the same key and body return the same job within a day.",
      method: "POST",
      path,
      headers: contract.submitJobHeaders,
      body: { kind: "json", schema: contract.createAsyncJobRequest(aliases) },
      answers: [{ status: 202, description: "The job.", schema: contract.jobObject }],
      errors: [...modelCallErrors, "feature_not_found", "subfeature_not_found"],
      example: { body: { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } } },
      async run({ caller, body, json, headers, requestId, baseUrl, trace }) {
        const key = headers["idempotency-key"];
        const job = await jobs.submit({
          caller,
          // Resolved once, so that a retried job does not change its provider.
          request: universalAi.aliases.resolve(body),
          userParameters: textOfMember(json, "user_webhook_parameters"),
          requestId,
          idempotency: key === undefined ? null : { key, bodyHash: toBodyHash(json) },
          baseUrl,
          trace: trace.span?.headers ?? null,
        });
        return replyJson(job, { status: 202, headers: { location: `${path}/${job.job_id}` } });
      },
    }),
    defineRoute("listJobs", "List jobs", {
      ...common,
      description:
        "The jobs of this key or its owner, newest first, with their results. A page whose results exceed 32 MiB together is refused " +
        "with 422: ask for a smaller `limit`. A page of one job is never refused.",
      method: "GET",
      path,
      query: contract.listJobsQuery,
      answers: [{ status: 200, description: "A page of jobs.", schema: contract.jobList }],
      async run({ caller, query }) {
        const { total, items } = await jobs.list(caller, {
          status: query.status ?? null,
          feature: query.feature ?? null,
          subfeature: query.subfeature ?? null,
          limit: query.limit,
          offset: toOffset(query),
        });
        return replyJson(toPage(items, total, query));
      },
    }),
    defineRoute("retrieveJob", "Retrieve a job", {
      ...common,
      ...one,
      method: "GET",
      answers: [{ status: 200, description: "The job as it is now.", schema: contract.jobObject }],
      errors: ["job_not_found"],
      run: async ({ caller, params }) => replyJson(await jobs.find(params.job_id, caller)),
    }),
    defineRoute("deleteJob", "Delete a finished job", {
      ...common,
      ...one,
      method: "DELETE",
      answers: [{ status: 200, description: "The job was deleted.", schema: contract.deletedJob }],
      errors: ["job_not_found", "job_processing"],
      async run({ caller, params: { job_id } }) {
        await jobs.remove(job_id, caller);
        return replyJson({ job_id, deleted: true });
      },
    }),
    defineRoute("cancelJob", "Cancel a job", {
      ...common,
      ...one,
      description:
        "A job that is queued or running ends as `fail` with the message `The job was cancelled.`, and its receiver is called. A " +
        "call that a provider has already begun is abandoned, and may still be billed. Cancelling again changes nothing.",
      method: "POST",
      path: `${one.path}/cancel`,
      body: ignored,
      answers: [{ status: 200, description: "The cancelled job.", schema: contract.jobObject }],
      errors: ["job_not_found", "job_finished"],
      run: async ({ caller, params }) => replyJson(await jobs.cancel(params.job_id, caller)),
    }),
    defineRoute("listDeliveries", "List a job's webhook deliveries", {
      ...common,
      ...one,
      description: "Every attempt to call the receiver, with its outcome.",
      method: "GET",
      path: `${one.path}/deliveries`,
      answers: [{ status: 200, description: "The deliveries, oldest first.", schema: contract.deliveryList }],
      errors: ["job_not_found"],
      run: async ({ caller, params: { job_id } }) =>
        replyJson({ job_id, items: await jobs.listDeliveries(job_id, caller) }),
    }),
    defineRoute("redeliver", "Send a job's webhook again", {
      ...common,
      ...one,
      method: "POST",
      path: `${one.path}/deliveries/redeliver`,
      body: ignored,
      answers: [{ status: 202, description: "The new delivery.", schema: contract.deliveryObject }],
      errors: ["job_not_found", "job_processing", "no_webhook_receiver", "too_many_deliveries"],
      run: async ({ caller, params }) => replyJson(await jobs.redeliver(params.job_id, caller), { status: 202 }),
    }),
  ];
}

/** Bodies that differ in white space only have the same hash. A number that JavaScript cannot represent must not lose its digits. */
function toBodyHash({ text, value }: JsonBody): string {
  return Bun.SHA256.hash(hasOddNumbers(text) ? text : JSON.stringify(value), "hex");
}

function textOfMember({ text, scan }: JsonBody, name: string): string | null {
  const member = scan.members.find((one) => one.name === name);
  return member === undefined ? null : text.slice(member.valueStart, member.valueEnd);
}
