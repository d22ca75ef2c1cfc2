// `/v3/manage/jobs`: the jobs of all owners, for operators. Results are content of callers, so only administrators read them.

import { deliveryObject, jobPath } from "../../contract/async-jobs.ts";
import * as contract from "../../contract/managed-jobs.ts";
import type { ManagedJobs } from "../../jobs/managed-jobs.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

const common = { tag: "Jobs", key: "management", reach: "team" } as const;
const path = "/v3/manage/jobs";
const one = { path: `${path}/{job_id}`, params: jobPath, example: { path: { job_id: "$JOB_ID" } } } as const;
const ignored = { kind: "ignored-json" } as const;

export function managedJobRoutes(jobs: ManagedJobs): Route[] {
  return [
    defineRoute("listManagedJobs", "List the jobs of all owners", {
      ...common,
      description: "Newest first, without their results. Follow `next_cursor` until it is null.",
      method: "GET",
      path,
      role: "viewer",
      query: contract.listManagedJobsQuery,
      answers: [{ status: 200, description: "A page of jobs.", schema: contract.managedJobList }],
      errors: ["team_not_found"],
      example: { query: "status=fail&from=24h" },
      run: async ({ query, caller }) => replyJson(await jobs.list(query, caller.team)),
    }),
    defineRoute("retrieveManagedJob", "Describe a job of any owner", {
      ...common,
      ...one,
      description: "With every attempt to deliver its webhook, and without its result.",
      method: "GET",
      role: "viewer",
      answers: [{ status: 200, description: "The job.", schema: contract.managedJobDetail }],
      errors: ["job_not_found"],
      run: async ({ params, caller }) => replyJson(await jobs.find(params.job_id, caller.team)),
    }),
    defineRoute("retrieveManagedJobResult", "Retrieve the result of a job of any owner", {
      ...common,
      ...one,
      description: "A record of the audit log says who read it. While it cannot be written, the answer is 503.",
      method: "GET",
      path: `${one.path}/result`,
      role: "administrator",
      answers: [{ status: 200, description: "The result.", schema: contract.managedJobResult }],
      errors: ["job_not_found"],
      run: async ({ params, actor }) => replyJson(await jobs.readResult(params.job_id, actor)),
    }),
    defineRoute("cancelAnyJob", "Cancel a job of any owner", {
      ...common,
      ...one,
      description: "As the owner does it. Its receiver is called. Cancelling again changes nothing.",
      method: "POST",
      path: `${one.path}/cancel`,
      role: "operator",
      audit: "stored",
      body: ignored,
      answers: [{ status: 200, description: "The cancelled job.", schema: contract.managedJobDetail }],
      errors: ["job_not_found", "job_finished"],
      run: async ({ params, actor }) => replyJson(await jobs.cancel(params.job_id, actor)),
    }),
    defineRoute("redeliverAnyJob", "Send the webhook of a job of any owner again", {
      ...common,
      ...one,
      method: "POST",
      path: `${one.path}/redeliver`,
      role: "operator",
      audit: "stored",
      body: ignored,
      answers: [{ status: 202, description: "The new delivery.", schema: deliveryObject }],
      errors: ["job_not_found", "job_processing", "no_webhook_receiver", "too_many_deliveries"],
      run: async ({ params, actor }) => replyJson(await jobs.redeliver(params.job_id, actor), { status: 202 }),
    }),
  ];
}
