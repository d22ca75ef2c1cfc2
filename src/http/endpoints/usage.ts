// `/v3/manage/usage`, `/v3/manage/keys/{key_id}/usage` and `/v3/manage/requests`.

import type { Caller } from "../../access/caller.ts";
import { type CapturedContent, type CapturedRequest, capturedContent } from "../../contract/captures.ts";
import { keyPath } from "../../contract/keys.ts";
import { latencyQuery, latencyReport } from "../../contract/latency.ts";
import * as contract from "../../contract/usage.ts";
import { GatewayError } from "../../errors.ts";
import { toReportCsv, toReportJson } from "../../usage/report-formats.ts";
import type { UsageReport } from "../../usage/reports.ts";
import { asksForCsv } from "../asks-for-csv.ts";
import { type Reply, reply, replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

export type UsageDependencies = Pick<
  RouteDependencies,
  "usageReports" | "latencyReports" | "requestLog" | "captures" | "audit" | "keyring"
>;

const common = { tag: "Usage", key: "management", role: "viewer", reach: "team", method: "GET" } as const;
const reportAnswers = [
  { status: 200, description: "The report.", schema: contract.usageReport },
  { status: 200, description: "As CSV, the same rows without the totals.", contentType: "text/csv" },
] as const;

export function usageRoutes(dependencies: UsageDependencies): Route[] {
  const { usageReports, latencyReports, requestLog, captures, audit, keyring } = dependencies;
  return [
    defineRoute("reportUsage", "Report usage", {
      ...common,
      description:
        "Lines, tokens and cost by any combination of dimensions, from totals that are kept by the hour. Costs are exact decimal numbers: read " +
        "them with a decimal type if every digit counts.",
      path: "/v3/manage/usage",
      query: contract.usageQuery,
      answers: reportAnswers,
      errors: ["team_not_found"],
      example: { query: "from=30d&group_by=day,model&time_zone=Europe/Berlin" },
      run: async ({ query, caller, request }) =>
        toReply(await usageReports.report(withinTeam(query, caller)), query.format, request.headers),
    }),
    defineRoute("reportKeyUsage", "Report the usage of a key", {
      ...common,
      description: "As the report of all usage, for one key.",
      path: "/v3/manage/keys/{key_id}/usage",
      params: keyPath,
      query: contract.keyUsageQuery,
      answers: reportAnswers,
      errors: ["key_not_found"],
      example: { path: { key_id: "$KEY_ID" }, query: "from=7d&group_by=day" },
      async run({ params, query, caller, request }) {
        const { id } = await keyring.get(params.key_id, caller.team);
        // The key may have belonged to another team before.
        const report = await usageReports.report(withinTeam({ ...query, key: [id], team: [] }, caller));
        return toReply(report, query.format, request.headers);
      },
    }),
    defineRoute("reportLatency", "Report latency", {
      ...common,
      description: "Percentiles of completed calls, from histograms that are kept by the hour.",
      path: "/v3/manage/latency",
      query: latencyQuery,
      answers: [{ status: 200, description: "The report.", schema: latencyReport }],
      errors: ["team_not_found"],
      example: { query: "from=7d&step_hours=24" },
      run: async ({ query, caller }) => replyJson(await latencyReports.report(withinTeam(query, caller))),
    }),
    defineRoute("listRequests", "List requests", {
      ...common,
      description:
        "The lines of the ledger, newest first: one for each attempt at a provider, and one for each request that was refused before. Follow " +
        "`next_cursor` until it is null; lines that are added meanwhile do not shift the pages.",
      path: "/v3/manage/requests",
      query: contract.listRequestsQuery,
      answers: [{ status: 200, description: "A page of lines.", schema: contract.requestList }],
      errors: ["team_not_found"],
      example: { query: "outcome=provider_timeout&limit=20" },
      run: async ({ query, caller }) => replyJson(await requestLog.list(withinTeam(query, caller))),
    }),
    defineRoute("retrieveRequest", "Retrieve a request", {
      ...common,
      description: "Every attempt of a request, and how the cost of each of them was computed.",
      path: "/v3/manage/requests/{request_id}",
      params: contract.requestPath,
      answers: [{ status: 200, description: "The attempts.", schema: contract.requestDetail }],
      errors: ["request_not_found"],
      example: { path: { request_id: "$REQUEST_ID" } },
      run: async ({ params, caller }) => replyJson(await requestLog.find(params.request_id, caller.team)),
    }),
    defineRoute("retrieveRequestContent", "Retrieve the captured content of a request", {
      ...common,
      description:
        "Headers and content of the request and of its answer, if they were captured (`SWITCHYARD_CAPTURE_CONTENT`). A record of the audit log says " +
        "who read them, one for each team that they belong to. While it cannot be written, the answer is 503.",
      path: "/v3/manage/requests/{request_id}/content",
      role: "administrator",
      params: contract.requestPath,
      answers: [{ status: 200, description: "What was captured.", schema: capturedContent }],
      errors: ["request_not_found"],
      example: { path: { request_id: "$REQUEST_ID" } },
      async run({ params: { request_id: id }, caller, actor }) {
        const content = await captures.find(id, caller.team);
        // A request that does not exist for the caller is answered as for the attempts.
        if (content.items.length === 0) await requestLog.find(id, caller.team);
        for (const { path, team } of newestOfTeams(content)) {
          const target = { kind: "request", id, name: path, team };
          await audit.recordRead(actor, { action: "request.read_content", target });
        }
        return replyJson(content);
      },
    }),
  ];
}

/** Callers choose request ids, so the items may belong to several teams, and the audit log tells each team who read its content. */
function newestOfTeams({ items }: CapturedContent): Iterable<CapturedRequest> {
  // The items begin with the newest, so it is set last.
  return new Map(items.toReversed().map((item) => [item.team, item])).values();
}

/** The same query for a caller whose role is limited to a team. Other teams do not exist for that caller. */
function withinTeam<Query extends { readonly team: readonly string[] }>(query: Query, { team }: Caller) {
  if (team === null) return query;
  if (query.team.length > 0 && !query.team.includes(team))
    throw new GatewayError("team_not_found", "There is no team with this name.");
  return { ...query, team: [team] };
}

function toReply(report: UsageReport, format: "json" | "csv" | undefined, headers: Headers): Reply {
  if ((format ?? (asksForCsv(headers) ? "csv" : "json")) === "json")
    return replyJson(toReportJson(report), { headers: { vary: "accept" } });
  return reply(toReportCsv(report), {
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": 'attachment; filename="usage.csv"',
      vary: "accept",
    },
  });
}
