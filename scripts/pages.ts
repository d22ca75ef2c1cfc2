// Pages and types that are generated, completely or in part. This script writes them; `npm run check` compares them.

import { readFileSync } from "node:fs";
import { errorCatalogue } from "../src/errors.ts";
import { rows } from "../src/providers/index.ts";
import { importsTable } from "./arrows.ts";
import { describePlans } from "./capacity.ts";
import { readMeasurements } from "./capacity-model.ts";
import { commandLinePage } from "./command-line-page.ts";
import { faultsPage } from "./faults-page.ts";
import { peersTable } from "./peers-table.ts";
import { providersPage } from "./providers-page.ts";
import { sbom } from "./sbom.ts";
import { configJsonSchema, settingsPage } from "./settings-page.ts";
import { taskTypes } from "./task-types.ts";
import { tasksPage, tasksTable } from "./tasks-table.ts";
import { thirdPartyPage } from "./third-party-page.ts";

export async function pages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ["docs/settings.md", settingsPage()],
    ["docs/switchyard.schema.json", configJsonSchema()],
    ["docs/errors.md", errorsPage()],
    ["docs/providers.md", providersPage(rows)],
    ["docs/faults.md", faultsPage()],
    ["docs/third-party.md", await thirdPartyPage()],
    ["docs/tasks.md", tasksPage()],
    ["docs/sbom.cdx.json", await sbom()],
    ["docs/command-line.md", await commandLinePage()],
    ["src/contract/task-types.ts", taskTypes()],
    ["README.md", withBlocks("README.md", { peers: peersTable(), tasks: tasksTable() })],
    ["docs/scaling.md", withBlocks("docs/scaling.md", { capacity: capacityTables() })],
    ["ARCHITECTURE.md", withBlocks("ARCHITECTURE.md", { imports: importsTable() })],
  ]);
}

/** The page with the lines between each two markers replaced. */
function withBlocks(path: string, blocks: Readonly<Record<string, string>>): string {
  let page = readFileSync(path, "utf8");
  for (const [name, content] of Object.entries(blocks)) {
    const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
    const parts = page.split(new RegExp(`${begin}[^]*${end}`));
    const [before, after] = parts;
    if (parts.length !== 2) throw new Error(`${path} needs ${begin} and ${end}, once each`);
    page = `${before}${begin}\n\n${content}\n\n${end}${after}`;
  }
  return page;
}

/** What the bench measured on one machine, and the plans for it. */
function capacityTables(): string {
  const result = JSON.parse(readFileSync("bench/results/reference.json", "utf8")) as { readonly note: string };
  return `${result.note}\n\n${describePlans(readMeasurements(result))}`;
}

function errorsPage(): string {
  const lines = Object.entries(errorCatalogue).map(
    ([code, { status, type, mayRetry, meaning }]) =>
      `| ${status} | \`${type}\` | \`${code}\` | ${mayRetry ? "" : "no"} | ${meaning} |`,
  );
  return `# Errors

Made from \`src/errors.ts\`. Every answer that is not a success carries both forms, so that OpenAI clients and FastAPI
clients are at home: \`{"error": {"message", "type", "param", "code"}, "detail": …}\`. On 422, \`detail\` is the list of
problems \`{loc, msg, type}\` and \`code\` the type of the first one. "no" under retry: the answer says
\`x-should-retry: false\`, because an SDK's own retry would be wrong.

| status | type | code | retry | meaning |
|---|---|---|---|---|
${lines.join("\n")}
`;
}

if (import.meta.main) for (const [path, text] of await pages()) await Bun.write(path, text);
