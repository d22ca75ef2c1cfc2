// Writes docs/providers.md from the rows of chat providers and of vendors that do tasks. A test compares the page with what this prints.

import { vendorRows } from "../src/engines/vendors/index.ts";
import type { VendorRow } from "../src/engines/vendors/vendor-engine.ts";
import { rows } from "../src/providers/index.ts";
import type { ProviderRow } from "../src/providers/provider.ts";

export function providersPage(rows: readonly ProviderRow[], vendors: readonly VendorRow[]): string {
  // A row with its own transport is answered in the process: it has no key and no address.
  const dialled = rows.filter((row) => row.transport === undefined);
  const lines = dialled.toSorted(byName).map(tableLine);
  const vendorLines = vendors.toSorted(byName).map(vendorLine);
  return `${introduction}\n${lines.join("\n")}\n${conclusion}\n${vendorIntroduction}\n${vendorLines.join("\n")}\n${vendorConclusion}`;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

const introduction = `# Providers

Generated from \`src/providers/rows/\` and \`src/engines/vendors/\` by \`scripts/providers-page.ts\`.

A provider is configured as soon as its key is set. A model is called as \`<name>/<model>\`, for example
\`openai/gpt-5.6\`; a model that is not in the catalogue is called all the same. \`<NAME>_BASE_URL\` (upper case, \`-\` as
\`_\`) replaces the address.

| name | provider | key setting | address |
|---|---|---|---|`;

const conclusion = `
A key is optional where the operator runs the server. Where several key settings are named, the first that is set counts.
Settings after an address fill its \`{placeholders}\` or say which version of it is meant; one after "or" holds a whole address.
`;

const vendorIntroduction = `## Vendors of tasks

They do tasks of [\`/v3/universal-ai\`](universal-ai.md) through APIs of their own, as \`<feature>/<subfeature>/<name>[/<model>]\`. A name that stands
above as well has the same key. The README says who does which task.

| name | vendor | key setting | address | some tasks also need |
|---|---|---|---|---|`;

const vendorConclusion = `
Settings after an address have to be there for all tasks of the vendor; those in the last column for the tasks before them, which are not listed and answer
503 \`provider_not_configured\` without.
`;

function tableLine(row: ProviderRow): string {
  return `| \`${row.name}\` | [${row.title}](${row.docs}) | ${keySettings(row)} | ${address(row)} |`;
}

function keySettings(row: ProviderRow): string {
  if (row.auth.kind === "none") return "none";
  const names = [settingName(row, "API_KEY"), ...(row.keyNames ?? [])].map((name) => `\`${name}\``).join(", ");
  return row.auth.kind === "optional-bearer" ? `${names} (optional)` : names;
}

function address(row: ProviderRow): string {
  if (row.baseUrl === null) return `\`${settingName(row, "BASE_URL")}\``;
  const settings = [...Object.values(row.placeholders ?? {}), row.otherAddressing?.setting ?? []].flat();
  const named = settings.map((name) => `\`${name}\``);
  const whole = (row.addressNames ?? []).map((name) => ` or \`${name}\``).join("");
  return `${[`\`${row.baseUrl}\``, ...named].join(", ")}${whole}`;
}

function vendorLine(row: VendorRow): string {
  const cells = [
    `\`${row.name}\``,
    `[${row.title}](${row.docs})`,
    vendorKeys(row),
    vendorAddress(row),
    furtherNeeds(row),
  ];
  return `| ${cells.join(" | ")} |`;
}

function vendorKeys(row: VendorRow): string {
  const names =
    row.auth.kind === "aws-sigv4"
      ? ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
      : [settingName(row, "API_KEY"), ...(row.keyNames ?? [])];
  return names.map(asCode).join(row.auth.kind === "aws-sigv4" ? " and " : ", ");
}

function vendorAddress(row: VendorRow): string {
  const own = row.baseUrl === null && row.services === undefined ? settingName(row, "BASE_URL") : null;
  const address = row.baseUrl ?? own;
  const settings = Object.values(row.placeholders ?? {}).map((name) => {
    const other = row.settingFallbacks?.[name];
    return other === undefined ? asCode(name) : `${asCode(name)} or ${asCode(other)}`;
  });
  const whole = (row.addressNames ?? []).map((name) => ` or ${asCode(name)}`).join("");
  return `${[address === null ? "one for each service" : asCode(address), ...settings].join(", ")}${whole}`;
}

/** By settings, since several tasks often need the same. */
function furtherNeeds({ tasks }: VendorRow): string {
  const needing = tasks.filter(({ needs = {} }) => Object.keys(needs).length > 0);
  const bySettings = Map.groupBy(needing, ({ needs = {} }) => Object.values(needs).map(asCode).join(", "));
  return [...bySettings]
    .map(([settings, those]) => `${[...new Set(those.map(({ task }) => asCode(task)))].join(", ")}: ${settings}`)
    .join("; ");
}

function asCode(text: string): string {
  return `\`${text}\``;
}

function settingName(row: Pick<ProviderRow, "name">, ending: string): string {
  return `${row.name.toUpperCase().replaceAll("-", "_")}_${ending}`;
}

if (import.meta.main) await Bun.write(`${import.meta.dir}/../docs/providers.md`, providersPage(rows, vendorRows));
