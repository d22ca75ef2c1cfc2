// Pages that are generated from the code, completely or in part. This script writes them; `npm run check` compares them.

import { readFileSync } from "node:fs";
import { settings } from "../src/config.ts";
import { vendorRows } from "../src/engines/vendors/index.ts";
import { errorCatalogue } from "../src/errors.ts";
import { errorMeanings } from "../src/http/openapi/error-answers.ts";
import { rows } from "../src/providers/index.ts";
import { importsTable } from "./arrows.ts";
import { faultsPage } from "./faults-page.ts";
import { providersPage } from "./providers-page.ts";
import { tasksTable } from "./tasks-table.ts";

export function pages(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/settings.md", settingsPage()],
    ["docs/errors.md", errorsPage()],
    ["docs/providers.md", providersPage(rows, vendorRows)],
    ["docs/faults.md", faultsPage()],
    ["README.md", withBlock("README.md", "tasks", tasksTable())],
    ["ARCHITECTURE.md", withBlock("ARCHITECTURE.md", "imports", importsTable())],
  ]);
}

/** The page with the lines between its two markers replaced. */
function withBlock(path: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const parts = readFileSync(path, "utf8").split(new RegExp(`${begin}[^]*${end}`));
  const [before, after] = parts;
  if (parts.length !== 2) throw new Error(`${path} needs ${begin} and ${end}, once each`);
  return `${before}${begin}\n\n${content}\n\n${end}${after}`;
}

function settingsPage(): string {
  const lines = Object.values(settings).map(
    ({ name, shownDefault, meaning }) => `| \`${name}\` | ${shownDefault} | ${meaning} |`,
  );
  return `# Settings

Made from \`src/config.ts\`. Each can also stand in \`switchyard.yaml\`, in lower case and without \`SWITCHYARD_\`
(\`SWITCHYARD_LOG_LEVEL\` is \`log_level\`); the environment wins.

| setting | default | meaning |
|---|---|---|
| \`SWITCHYARD_CONFIG\` | \`./switchyard.yaml\` if there | the file with settings, providers and aliases |
${lines.join("\n")}
| \`<PROVIDER>_API_KEY\`, \`<PROVIDER>_BASE_URL\` | unset | key and address of a provider, e.g. \`OPENAI_API_KEY\`; \`-\` as \`_\` |
| \`NODE_EXTRA_CA_CERTS\` | unset | a file of more trusted certificates |

\`\`\`yaml
providers:
  openai: { api_key: "\${OPENAI_API_KEY}" }     # a known provider: any member may be overridden
  in-house:                                     # a new one
    dialect: openai
    base_url: http://127.0.0.1:9000/v1
    api_key: "\${IN_HOUSE_KEY}"
    models: [small, large]                      # for /v3/models; others are called all the same
    default_model: small                        # does tasks that name no model; by task: { text/moderation: small }
    stream_usage: ask                           # ask | always | never: how usage arrives in a stream
    stream_end: done                            # done | finish: what ends a complete stream
  sandbox: false                                # switches a known provider off
aliases:
  fast: groq/llama-3.3-70b-versatile            # callers may say "fast"
  safe: [openai/gpt-5, azure/gpt-5]             # tried in this order
\`\`\`
`;
}

function errorsPage(): string {
  const lines = Object.entries(errorCatalogue).map(([code, entry]) => {
    const meaning = errorMeanings[code as keyof typeof errorCatalogue];
    return `| ${entry.status} | \`${entry.type}\` | \`${code}\` | ${"retry" in entry ? "no" : ""} | ${meaning} |`;
  });
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

if (import.meta.main) for (const [path, text] of pages()) await Bun.write(path, text);
