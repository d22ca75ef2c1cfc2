// Names and reads the settings of providers.

import type { ProviderDetail } from "../contract/providers.ts";
import type { Access, ProviderRow } from "./provider.ts";

type AccessForm = ProviderDetail["access"];

export type ReadSetting = (name: string) => string | null;

/** The message is the name of a setting that the provider needs. Caught in deployment.ts. */
export class MissingSetting extends Error {}

/** `OPENAI_API_KEY` for `openai`: upper case, hyphens as underscores. */
export function settingName(provider: string, suffix: "API_KEY" | "BASE_URL"): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_${suffix}`;
}

export function withFallbacks({ settingFallbacks = {} }: Access, readSetting: ReadSetting): ReadSetting {
  return (setting) => firstSetting([setting, ...(settingFallbacks[setting] ?? [])], readSetting)?.value ?? null;
}

export function firstSetting(
  names: readonly string[],
  readSetting: ReadSetting,
): { readonly name: string; readonly value: string } | null {
  for (const name of names) {
    const value = readSetting(name);
    if (value !== null) return { name, value };
  }
  return null;
}

/** The settings of a provider beside its key and its address. */
export function listFurtherSettings({ modelAccess, tasks = [], ...row }: ProviderRow): readonly string[] {
  const ofAccess = ({ placeholders = {}, otherAddressing, auth }: Access) => [
    ...(auth?.kind === "aws-sigv4" ? awsSettings : []),
    ...Object.values(placeholders),
    ...(otherAddressing === undefined ? [] : [otherAddressing.setting]),
  ];
  const ofTasks = tasks.flatMap(({ requiredSettings = {} }) => Object.values(requiredSettings));
  return [...new Set([...ofAccess(row), ...(modelAccess === undefined ? [] : ofAccess(modelAccess)), ...ofTasks])];
}

/** What an operator may state to set up a provider. */
export function describeAccess(row: ProviderRow): AccessForm {
  const accesses: readonly Access[] = row.modelAccess === undefined ? [row] : [row, row.modelAccess];
  const [need = "required", ...others] = new Set(accesses.map(({ auth }) => needOfKey(auth)));
  const names = [row.name, ...(row.modelAccess === undefined ? [] : [row.modelAccess.name])];
  const own = names.map((name) => settingName(name, "API_KEY"));
  return {
    // One of its APIs may need a key that another one does not use.
    key: row.transport !== undefined ? "none" : others.length > 0 ? "optional" : need,
    variables: [...new Set([...own, ...accesses.flatMap(({ keyNames = [] }) => keyNames)])],
    address: (row.modelAccess ?? row).baseUrl,
    settings: listFurtherSettings(row).map((name) => ({ name, is_secret: isSecretSetting(name) })),
    docs: row.docs,
  };
}

function needOfKey(auth: Access["auth"] = { kind: "bearer" }): AccessForm["key"] {
  if (auth.kind === "none") return "none";
  if (auth.kind === "aws-sigv4") return auth.orBearer === true ? "optional" : "none";
  return auth.kind === "optional-bearer" ? "optional" : "required";
}

const secretName = /KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL/;

export function isSecretSetting(name: string): boolean {
  return secretName.test(name);
}

const awsSettings = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_SESSION_TOKEN"];

export function requireSetting(setting: string, readSetting: ReadSetting): string {
  const value = readSetting(setting);
  if (value === null) throw new MissingSetting(setting);
  return value;
}

/** Fills the `{placeholders}` of a text. Unknown ones, such as `{model}`, stay. */
export type Fill = (text: string, encode?: (value: string) => string) => string;

export function createFill(access: Access, readSetting: ReadSetting): Fill {
  const { placeholders = {}, derivedPlaceholders = {} } = access;
  const fillOne = (written: string, name: string, encode: (value: string) => string): string => {
    const derive = derivedPlaceholders[name];
    if (derive !== undefined) {
      const names = Object.keys(placeholders);
      return derive(Object.fromEntries(names.map((other) => [other, fillOne("", other, encode)])));
    }
    const setting = placeholders[name];
    return setting === undefined ? written : encode(requireSetting(setting, readSetting));
  };
  return (text, encode = (value) => value) =>
    text.replace(/\{(\w+)\}/g, (written, name: string) => fillOne(written, name, encode));
}

export function fillAll(texts: Readonly<Record<string, string>> = {}, fill: Fill): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, fill(value)]));
}
