// /v3/universal-ai/async: tasks as jobs. Submitted, asked for, listed, cancelled, deleted, and the reports that were sent about them.
// /v3/manage/jobs: what the operator sees of unfinished ones, and cancels.

import {
  createAsyncJobRequest,
  jobPath,
  listJobsQuery,
  listUnfinishedQuery,
  longestIdempotencyKey,
} from "../../contract/async-jobs.ts";
import { parse } from "../../contract/problems.ts";
import { ValidationError } from "../../errors.ts";
import type { UniversalAi } from "../../inference/universal-ai/universal-ai.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { hasOddNumbers } from "../../lib/exact-json.ts";
import type { JsonBody } from "../read-body.ts";
import { type Reply, replyJson } from "../reply.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";

interface Dependencies {
  readonly jobs: Jobs;
  readonly universalAi: UniversalAi;
  /** Names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  /** Where callers reach the gateway, when the operator says so. */
  readonly publicUrl: string | null;
}

const key = "inference" as const;
const path = "/v3/universal-ai/async";

export function asyncJobRoutes({ jobs, universalAi, aliases, publicUrl }: Dependencies): Route[] {
  const requestSchema = createAsyncJobRequest(aliases);
  return [
    { method: "POST", path, key, body: "json", run: submit },
    { method: "GET", path, key, run: list },
    { method: "GET", path: `${path}/{job_id}`, key, run: retrieve },
    { method: "DELETE", path: `${path}/{job_id}`, key, run: remove },
    { method: "POST", path: `${path}/{job_id}/cancel`, key, body: "optional-json", run: cancel },
    { method: "GET", path: `${path}/{job_id}/deliveries`, key, run: listDeliveries },
    { method: "POST", path: `${path}/{job_id}/deliveries/redeliver`, key, body: "optional-json", run: redeliver },
    { method: "GET", path: "/v3/manage/jobs", key: "management", run: listUnfinished },
    {
      method: "POST",
      path: "/v3/manage/jobs/{job_id}/cancel",
      key: "management",
      body: "optional-json",
      run: cancelAny,
    },
  ];

  async function submit(call: Call): Promise<Reply> {
    const { request, requestId, caller, body } = call;
    const parsed = parse(requestSchema, body?.value);
    const idempotencyKey = readIdempotencyKey(request.headers);
    const job = await jobs.submit({
      caller: requireCaller(caller, "universal"),
      // Here, once: the job would else change places with each of its runs.
      request: universalAi.aliases.resolve(parsed),
      userParameters: body === null ? null : textOfMember(body, "user_webhook_parameters"),
      requestId,
      idempotency:
        idempotencyKey === null
          ? null
          : {
              key: idempotencyKey,
              bodyHash: toBodyHash(body),
            },
      baseUrl: publicUrl ?? call.origin,
    });
    return replyJson(job, { status: 202, headers: { location: `${path}/${job.job_id}` } });
  }

  async function list({ caller, query }: Call): Promise<Reply> {
    const { status, feature, subfeature, page, limit } = parse(listJobsQuery, Object.fromEntries(query), "query");
    const { total, items } = await jobs.list(requireCaller(caller, "universal"), {
      status: status ?? null,
      feature: feature ?? null,
      subfeature: subfeature ?? null,
      limit,
      offset: (page - 1) * limit,
    });
    return replyJson({ items, total, page, limit, total_pages: Math.ceil(total / limit) });
  }

  async function retrieve({ caller, params }: Call): Promise<Reply> {
    const { job_id } = parse(jobPath, params, "path");
    return replyJson(await jobs.find(job_id, requireCaller(caller, "universal")));
  }

  async function remove({ caller, params }: Call): Promise<Reply> {
    const { job_id } = parse(jobPath, params, "path");
    await jobs.remove(job_id, requireCaller(caller, "universal"));
    return replyJson({ job_id, deleted: true });
  }

  async function cancel({ caller, params }: Call): Promise<Reply> {
    const { job_id } = parse(jobPath, params, "path");
    return replyJson(await jobs.cancel(job_id, requireCaller(caller, "universal")));
  }

  async function cancelAny({ params }: Call): Promise<Reply> {
    const { job_id } = parse(jobPath, params, "path");
    return replyJson(await jobs.cancel(job_id, null));
  }

  async function listUnfinished({ query }: Call): Promise<Reply> {
    const { owner, page, limit } = parse(listUnfinishedQuery, Object.fromEntries(query), "query");
    const items = await jobs.listUnfinished(owner ?? null, { limit, offset: (page - 1) * limit });
    return replyJson({ items, page, limit });
  }

  async function listDeliveries({ caller, params }: Call): Promise<Reply> {
    const { job_id } = parse(jobPath, params, "path");
    const items = await jobs.listDeliveries(job_id, requireCaller(caller, "universal"));
    return replyJson({ job_id, items });
  }

  async function redeliver({ caller, params }: Call): Promise<Reply> {
    const { job_id } = parse(jobPath, params, "path");
    return replyJson(await jobs.redeliver(job_id, requireCaller(caller, "universal")), { status: 202 });
  }
}

/** White space does not make another body; a number that JavaScript cannot keep does. */
function toBodyHash(body: JsonBody | null): string {
  const text = body === null ? "" : hasOddNumbers(body.text) ? body.text : JSON.stringify(body.value);
  return Bun.SHA256.hash(text, "hex");
}

function textOfMember({ text, scan }: JsonBody, name: string): string | null {
  const member = scan.members.find((one) => one.name === name);
  return member === undefined ? null : text.slice(member.valueStart, member.valueEnd);
}

/** Visible characters, so that two that look the same are the same. */
function readIdempotencyKey(headers: Headers): string | null {
  const text = headers.get("idempotency-key");
  if (text === null) return null;
  if (text.length <= longestIdempotencyKey && /^[\x21-\x7e]+$/.test(text)) return text;
  throw new ValidationError([
    {
      loc: ["header", "idempotency-key"],
      msg: `Input should be 1 to ${longestIdempotencyKey} visible ASCII characters`,
      type: "string_pattern_mismatch",
    },
  ]);
}
