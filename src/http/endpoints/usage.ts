// `/v3/manage/usage`, `/v3/manage/keys/{key_id}/usage` and `/v3/manage/requests`.

import type { Keyring } from "../../access/keys.ts";
import { keyPath } from "../../contract/keys.ts";
import * as contract from "../../contract/usage.ts";
import { toReportCsv, toReportJson } from "../../usage/report-formats.ts";
import type { UsageReport, UsageReports } from "../../usage/reports.ts";
import type { RequestLog } from "../../usage/requests.ts";
import { type Reply, reply, replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

export interface UsageDependencies {
  readonly usageReports: UsageReports;
  readonly requestLog: RequestLog;
  readonly keyring: Pick<Keyring, "get">;
}

const common = { tag: "Usage", key: "management", method: "GET" } as const;
const reportAnswers = [
  { status: 200, description: "The report.", schema: contract.usageReport },
  { status: 200, description: "As CSV, the same rows without the totals.", contentType: "text/csv" },
] as const;

export function usageRoutes({ usageReports, requestLog, keyring }: UsageDependencies): Route[] {
  return [
    defineRoute({
      ...common,
      id: "reportUsage",
      summary: "Report usage",
      description:
        "Lines, tokens and cost by any combination of dimensions, from totals that are kept by the hour. Costs are exact decimal numbers: read " +
        "them with a decimal type if every digit counts.",
      path: "/v3/manage/usage",
      query: contract.usageQuery,
      answers: reportAnswers,
      example: { query: "from=30d&group_by=day,model&time_zone=Europe/Berlin" },
      run: async ({ query, request }) => toReply(await usageReports.report(query), query.format, request.headers),
    }),
    defineRoute({
      ...common,
      id: "reportKeyUsage",
      summary: "Report the usage of a key",
      description: "As the report of all usage, for one key.",
      path: "/v3/manage/keys/{key_id}/usage",
      params: keyPath,
      query: contract.keyUsageQuery,
      answers: reportAnswers,
      errors: ["key_not_found"],
      example: { path: { key_id: "$KEY_ID" }, query: "from=7d&group_by=day" },
      async run({ params, query, request }) {
        const { id } = await keyring.get(params.key_id);
        return toReply(await usageReports.report({ ...query, key: [id], team: [] }), query.format, request.headers);
      },
    }),
    defineRoute({
      ...common,
      id: "listRequests",
      summary: "List requests",
      description:
        "The lines of the ledger, newest first: one for each attempt at a provider, and one for each request that was refused before. Follow " +
        "`next_cursor` until it is null; lines that are added meanwhile do not shift the pages.",
      path: "/v3/manage/requests",
      query: contract.listRequestsQuery,
      answers: [{ status: 200, description: "A page of lines.", schema: contract.requestList }],
      example: { query: "outcome=provider_timeout&limit=20" },
      run: async ({ query }) => replyJson(await requestLog.list(query)),
    }),
    defineRoute({
      ...common,
      id: "retrieveRequest",
      summary: "Retrieve a request",
      description: "Every attempt of a request, and how the cost of each of them was computed.",
      path: "/v3/manage/requests/{request_id}",
      params: contract.requestPath,
      answers: [{ status: 200, description: "The attempts.", schema: contract.requestDetail }],
      errors: ["request_not_found"],
      example: { path: { request_id: "$REQUEST_ID" } },
      run: async ({ params }) => replyJson(await requestLog.find(params.request_id)),
    }),
  ];
}

function toReply(report: UsageReport, format: "json" | "csv" | undefined, headers: Headers): Reply {
  if ((format ?? (asksForCsv(headers.get("accept")) ? "csv" : "json")) === "json")
    return replyJson(toReportJson(report), { headers: { vary: "accept" } });
  return reply(toReportCsv(report), {
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": 'attachment; filename="usage.csv"',
      vary: "accept",
    },
  });
}

/** The first of the two types that the header names counts. */
function asksForCsv(accept: string | null): boolean {
  const types = (accept ?? "").split(",").map((part) => part.split(";")[0]?.trim().toLowerCase());
  return types.find((type) => type === "text/csv" || type === "application/json") === "text/csv";
}
