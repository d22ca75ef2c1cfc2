// Writes docs/faults.md from the table that test/inference/fault-matrix.slow.test.ts holds the gateway to.

import { type FaultRow, faultTable, helps, type Seen } from "../test/support/fault-table.ts";

export function faultsPage(): string {
  return `# What a caller sees when a provider fails

Made from \`test/support/fault-table.ts\`, to which a test holds the gateway, in the chat format and in a translated dialect, with the
default two retries. The fallback that fails answers with a 500. "once more" and "twice more": the same provider was
asked again before this answer.

## Whole answers

${table("whole")}

## Streams

"200, then": the stream had begun, so the error is its last event, and there is no \`[DONE]\`.

${table("stream")}
`;
}

function table(kind: "whole" | "stream"): string {
  const lines = faultTable.map((row) => `| ${row.fault} | ${cells(row, kind).join(" | ")} |`);
  return [`| fault | ${helps.join(" | ")} |`, "|---|---|---|---|", ...lines].join("\n");
}

function cells(row: FaultRow, kind: "whole" | "stream"): string[] {
  return helps.map((help) => describe(row[kind][help]));
}

const again = ["", "", ", once more", ", twice more"];

function describe({ status, code, retryAfter, attempts, calls }: Seen): string {
  if (code === null) return "200, by the fallback";
  const wish = retryAfter === null ? "" : `, \`Retry-After: ${retryAfter}\``;
  const isAlone = calls[1] === 0;
  const what = status === 200 ? `200, then \`${code}\`` : `${status} \`${code}\``;
  return `${what}${wish}${isAlone ? (again[attempts] ?? "") : ", by the fallback"}`;
}
