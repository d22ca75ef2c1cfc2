// Finds keys of providers that cannot be right by their form alone, without a call: copied with quotes or spaces, a placeholder, or a key of
// another vendor.

import type { Declared } from "./configure.ts";
import { ownNamesOf, type ProviderRow } from "./provider.ts";
import { firstSetting, type ReadSetting, settingName } from "./settings.ts";

export interface KeyProblem {
  /** Where the key is set: `OPENAI_API_KEY` or `providers.openai.api_key`. */
  readonly setting: string;
  /** What is wrong, without the key itself. */
  readonly message: string;
  /** False: the vendor may have begun to issue keys of another form. */
  readonly isCertain: boolean;
}

interface WrittenKey {
  readonly setting: string;
  readonly key: string;
  /** The key goes to the vendor itself, and not to an address of the operator. */
  readonly isForVendor: boolean;
}

const placeholder =
  /^(?:x{3,}|\*{3,}|\.{3,}|<.*>|\$\{?\w+\}?|your[-_ ].*|.*(?:change[-_ ]?me|placeholder|[-_]here)|key|secret|todo|test)$/i;
const shortestKey = 8;

export function findKeyProblems(
  rows: readonly ProviderRow[],
  declared: Readonly<Record<string, Declared>>,
  readSetting: ReadSetting,
): KeyProblem[] {
  return rows.flatMap((row) =>
    listKeys(row, rows, declared, readSetting).flatMap((written) => {
      const problem = checkForm(written.key) ?? (written.isForVendor ? checkVendor(written.key, row, rows) : null);
      return problem === null ? [] : [{ setting: written.setting, ...problem }];
    }),
  );
}

function listKeys(
  row: ProviderRow,
  rows: readonly ProviderRow[],
  declared: Readonly<Record<string, Declared>>,
  readSetting: ReadSetting,
): WrittenKey[] {
  const names = [...ownNamesOf(row, rows), ...(row.modelAccess === undefined ? [] : [row.modelAccess.name])];
  const sections = names.flatMap((name) => (declared[name] === undefined ? [] : [{ name, settings: declared[name] }]));
  const isForVendor =
    names.every((name) => readSetting(settingName(name, "BASE_URL")) === null) &&
    sections.every(({ settings }) => settings.base_url === undefined && settings.deployments === undefined);
  const ofFile = sections.flatMap(({ name, settings }) =>
    settings.api_key === undefined || settings.api_key === ""
      ? []
      : [{ setting: `providers.${name}.api_key`, key: settings.api_key, isForVendor }],
  );
  const variables = [...names.map((name) => settingName(name, "API_KEY")), ...(row.keyNames ?? [])];
  const found = firstSetting(variables, readSetting);
  return found === null ? ofFile : [...ofFile, { setting: found.name, key: found.value, isForVendor }];
}

function checkForm(key: string): Omit<KeyProblem, "setting"> | null {
  const wrong = (message: string) => ({ message, isCertain: true });
  if (key !== key.trim()) return wrong("begins or ends with white space");
  if (/^(["'`]).*\1$/s.test(key)) return wrong("is in quotation marks, which are not a part of it");
  if (/^bearer\s/i.test(key)) return wrong("begins with 'Bearer', which the gateway adds itself");
  if (placeholder.test(key)) return wrong("is a placeholder");
  // A JSON document of a service account has white space.
  if (!key.startsWith("{") && /\s/.test(key)) return wrong("has white space in it");
  if (/[^\x20-\x7e\s]/.test(key)) return wrong("has characters that no header can carry");
  if (key.length < shortestKey) return wrong(`has only ${key.length} characters`);
  return null;
}

function checkVendor(key: string, row: ProviderRow, rows: readonly ProviderRow[]): Omit<KeyProblem, "setting"> | null {
  const own = row.keyPrefix;
  if (own === undefined) return null;
  // The longest prefix decides: `sk-ant-` is no key of a vendor whose keys begin with `sk-`.
  const [owner] = rows
    .filter(({ keyPrefix }) => keyPrefix !== undefined && key.startsWith(keyPrefix))
    .sort((one, other) => (other.keyPrefix?.length ?? 0) - (one.keyPrefix?.length ?? 0));
  if (owner === undefined)
    return { message: `does not begin with '${own}', as keys of ${row.title} do`, isCertain: false };
  if (owner.keyPrefix === own) return null;
  return { message: `is a key of ${owner.title} (it begins with '${owner.keyPrefix}')`, isCertain: true };
}
