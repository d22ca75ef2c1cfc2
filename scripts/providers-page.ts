// Writes docs/providers.md from the rows of all providers. A test compares the page with the output of this script.

import { rows } from "../src/providers/index.ts";
import { type Access, hasModels, modelNamesOf, type ProviderRow } from "../src/providers/provider.ts";
import { settingName } from "../src/providers/settings.ts";

export function providersPage(rows: readonly ProviderRow[]): string {
  // A row with its own transport is answered in the process: it has no key and no address.
  const dialled = rows.filter((row) => row.transport === undefined).toSorted(byName);
  const modelLines = dialled.filter(hasModels).map(modelLine);
  const taskLines = dialled.filter(({ tasks }) => tasks !== undefined).map(taskLine);
  return `${introduction}\n${modelLines.join("\n")}\n${conclusion}\n${taskIntroduction}\n${taskLines.join("\n")}\n${taskConclusion}`;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

const introduction = `# Providers

Generated from the providers' rows by \`scripts/providers-page.ts\`.

A provider is configured as soon as its key is set. \`<NAME>_BASE_URL\` (upper case, \`-\` as \`_\`) replaces its address. A provider with several names
accepts each of them in requests and settings. \`<NAME>_API_KEY_FILE\` names a file that holds the key ([settings](settings.md#secrets-from-files)).

A provider whose address is the gateway's own (\`SWITCHYARD_HOST\` and \`SWITCHYARD_PORT\`) counts as not configured. The llama.cpp server listens on port 8080 by
default, as the gateway does: give one of them another port (\`SWITCHYARD_PORT\`, or \`LLAMACPP_BASE_URL\` for a server that has moved).

## Credentials in the store

A key, an address and further settings of a provider can also be kept in the store, and changed while the gateway runs. They are encrypted with
\`SWITCHYARD_ENCRYPTION_KEY\`, without which nothing is stored.

\`\`\`sh
export MANAGEMENT_KEY=$(cat data/first-keys/management.key)
curl -X PUT http://127.0.0.1:8080/v3/manage/providers/openai \\
  -H "Authorization: Bearer $MANAGEMENT_KEY" -H "Content-Type: application/json" -d '{"api_key": "sk-your-key"}'
curl -X POST http://127.0.0.1:8080/v3/manage/providers/openai/test -H "Authorization: Bearer $MANAGEMENT_KEY"
curl -X POST http://127.0.0.1:8080/v3/manage/providers/openai/rotate \\
  -H "Authorization: Bearer $MANAGEMENT_KEY" -H "Content-Type: application/json" -d '{"api_key": "sk-your-new-key"}'
curl http://127.0.0.1:8080/v3/manage/providers/openai -H "Authorization: Bearer $MANAGEMENT_KEY"
curl -X DELETE http://127.0.0.1:8080/v3/manage/providers/openai -H "Authorization: Bearer $MANAGEMENT_KEY"
\`\`\`

- **Precedence**: the store, then \`switchyard.yaml\`, then the environment. A key or address of the store replaces all \`deployments\` of the file.
  \`in_force\` of the answer says where each value comes from, and \`overridden\` what the store takes precedence over. After DELETE, file and
  environment apply again.
- **Reach**: all processes of a gateway and all replicas on the same database use a change within a second. Running calls end with the credentials that
  they began with. The circuit breaker and the health record of the provider start anew.
- **Secrets** never come back: answers, logs and errors show the last four characters at most.
- \`test\` makes one cheap real call for each deployment, past the circuit breaker, and says what happened. \`rotate\` changes the key or single settings,
  and stores them only after such a call has shown that the provider accepts them (\`"test": false\` skips it). If the stored credentials are changed or
  removed during the call, \`rotate\` changes nothing and answers 409 \`provider_conflict\`.
- \`base_url\` may be private, because the operator sets it. \`settings\` holds further settings by their names in the environment, such as
  \`{"AWS_ACCESS_KEY_ID": "…", "AWS_SECRET_ACCESS_KEY": "…", "AWS_REGION": "eu-central-1"}\` for \`amazon\`; \`further_settings\` lists them.

The command line does the same on the store, beside a running gateway or without one:

\`\`\`sh
echo sk-your-key | npx switchyard-gateway providers set openai --api-key -
npx switchyard-gateway providers test openai
npx switchyard-gateway providers list
npx switchyard-gateway providers remove openai
\`\`\`

## Models

A model is called as \`<name>/<model>\`, for example \`openai/gpt-5.6\`. A model that is not in the catalogue is called all the same.

| name | provider | key setting | address |
|---|---|---|---|`;

const conclusion = `
A key is optional where the operator runs the server. Where several key settings are named, the first that is set counts.
Settings after an address fill its \`{placeholders}\` or select a version of the API; one after "or" holds a whole address.
\`google\`, \`amazon\` and \`microsoft\` have one address for models and others for tasks. A key or address under the provider's own name serves both; one
under the second name (\`gemini\`, \`bedrock\`, \`azure\`) serves its models alone, and takes precedence there. \`google/…\` means \`vertexai\` where only
that one is configured.
`;

const taskIntroduction = `## Tasks

These providers perform tasks of [\`/v3/universal-ai\`](universal-ai.md) through APIs of their own, as \`<feature>/<subfeature>/<name>[/<model>]\`. [Tasks](tasks.md)
lists the providers of each task.

| name | provider | key setting | address | some tasks also need |
|---|---|---|---|---|`;

const taskConclusion = `
All tasks of a provider need the settings after its address. The tasks in the last column also need the settings after them; without these they are not
listed, and answer 503 \`provider_not_configured\`.

\`ocr/ocr/google\` reads PDF and TIFF files of up to 100 pages, in requests of five pages; a longer file is 422, and \`ocr/ocr_async/google\` reads it. \`pages\` in
\`provider_params\` names up to five pages to read instead.
`;

function modelLine(row: ProviderRow): string {
  const access = row.modelAccess ?? row;
  const own = row.modelAccess?.name ?? row.name;
  const names = modelNamesOf(row).filter((name) => name === row.name || !rows.some((other) => other.name === name));
  const keys = [
    ...new Set([...keySettings(access, own), ...(row.modelAccess ? [settingName(row.name, "API_KEY")] : [])]),
  ];
  const optional = row.auth?.kind === "optional-bearer" ? " (optional)" : "";
  const cells = [
    names.map(asCode).join(", "),
    toLink(row),
    `${keys.map(asCode).join(", ")}${optional}`,
    toAddress(access, own),
  ];
  return `| ${cells.join(" | ")} |`;
}

function taskLine(row: ProviderRow): string {
  const names = [row.name, ...(row.aliases ?? [])];
  const isSigned = row.auth?.kind === "aws-sigv4";
  const keys = isSigned ? ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] : keySettings(row, ...names);
  const cells = [
    names.map(asCode).join(", "),
    toLink(row),
    keys.map(asCode).join(isSigned ? " and " : ", "),
    toAddress(row, row.name),
    furtherNeeds(row),
  ];
  return `| ${cells.join(" | ")} |`;
}

function toLink({ title, docs }: ProviderRow): string {
  return `[${title}](${docs})`;
}

function keySettings({ keyNames = [] }: Access, ...names: readonly string[]): string[] {
  return [...names.map((name) => settingName(name, "API_KEY")), ...keyNames];
}

function toAddress(access: Access, name: string): string {
  const own = access.baseUrl === null && access.services === undefined ? settingName(name, "BASE_URL") : null;
  const address = access.baseUrl ?? own;
  const placeholders = Object.values(access.placeholders ?? {});
  const settings = [...placeholders, ...(access.otherAddressing ? [access.otherAddressing.setting] : [])].map(
    (setting) => [setting, ...(access.settingFallbacks?.[setting] ?? [])].map(asCode).join(" or "),
  );
  const whole = (access.addressNames ?? []).map((setting) => ` or ${asCode(setting)}`).join("");
  return `${[address === null ? "one for each service" : asCode(address), ...settings].join(", ")}${whole}`;
}

/** By settings, since several tasks often need the same. */
function furtherNeeds({ tasks = [] }: ProviderRow): string {
  const needing = tasks.filter(({ requiredSettings = {} }) => Object.keys(requiredSettings).length > 0);
  const bySettings = Map.groupBy(needing, ({ requiredSettings = {} }) =>
    Object.values(requiredSettings).map(asCode).join(", "),
  );
  return [...bySettings]
    .map(([settings, those]) => `${[...new Set(those.map(({ task }) => asCode(task)))].join(", ")}: ${settings}`)
    .join("; ");
}

function asCode(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) await Bun.write(`${import.meta.dir}/../docs/providers.md`, providersPage(rows));
