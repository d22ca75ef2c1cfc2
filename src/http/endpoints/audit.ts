// `GET /v3/manage/audit`: who changed what.

import type { Audit } from "../../access/audit.ts";
import * as contract from "../../contract/audit.ts";
import { asksForCsv } from "../asks-for-csv.ts";
import { type BodyStream, reply, replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

export function auditRoutes(audit: Audit): Route[] {
  return [
    defineRoute("listAudit", "List changes", {
      tag: "Access",
      description:
        "Every change through the management routes and the command line, every sign-in and every reload: who, what, when, from where, before " +
        "and after. Newest first; follow `next_cursor` until it is null. As CSV, all records that the filters select.",
      method: "GET",
      path: "/v3/manage/audit",
      key: "management",
      role: "viewer",
      reach: "team",
      query: contract.listAuditQuery,
      answers: [
        { status: 200, description: "A page of records.", schema: contract.auditList },
        { status: 200, description: "As CSV.", contentType: "text/csv" },
      ],
      errors: ["team_not_found"],
      example: { query: "action=key&from=7d" },
      async run({ query, caller, request }) {
        const format = query.format ?? (asksForCsv(request.headers) ? "csv" : "json");
        if (format === "json") return replyJson(await audit.list(query, caller.team), { headers: { vary: "accept" } });
        return reply(toStream(await audit.toCsvPages(query, caller.team)), {
          headers: {
            "content-type": "text/csv; charset=utf-8; header=present",
            "content-disposition": 'attachment; filename="audit.csv"',
            vary: "accept",
          },
        });
      },
    }),
  ];
}

/** No page is read before the one before it was sent. */
function toStream(pages: AsyncGenerator<string>): BodyStream {
  const encoder = new TextEncoder();
  let hasLeft = false;
  return {
    async writeTo(writer) {
      for await (const page of pages) {
        if (hasLeft) return;
        await writer.write([encoder.encode(page)]);
      }
    },
    abandon() {
      hasLeft = true;
    },
  };
}
