// Writes docs/providers.md from the provider rows. A test compares the page with what this prints.

import { rows } from "../src/providers/index.ts";
import type { ProviderRow } from "../src/providers/provider.ts";

export function providersPage(rows: readonly ProviderRow[]): string {
  // A row with its own transport is answered in the process: it has no key and no address.
  const dialled = rows.filter((row) => row.transport === undefined);
  const lines = dialled.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(tableLine);
  return `${introduction}\n${lines.join("\n")}\n${conclusion}`;
}

const introduction = `# Providers

Generated from \`src/providers/rows/\` by \`scripts/providers-page.ts\`.

A provider is configured as soon as its key is set. A model is called as \`<name>/<model>\`, for example
\`openai/gpt-5.6\`; a model that is not in the catalogue is called all the same. \`<NAME>_BASE_URL\` (upper case, \`-\` as
\`_\`) replaces the address.

| name | provider | key setting | address |
|---|---|---|---|`;

const conclusion = `
A key is optional where the operator runs the server. Where several key settings are named, the first that is set counts.
Settings after an address fill its \`{placeholders}\` or say which version of it is meant; one after "or" holds a whole address.
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

function settingName(row: ProviderRow, ending: string): string {
  return `${row.name.toUpperCase().replaceAll("-", "_")}_${ending}`;
}

if (import.meta.main) await Bun.write(`${import.meta.dir}/../docs/providers.md`, providersPage(rows));
