// From rows and settings to providers that can be called: address and credentials filled in once, at start.

import type { Origin } from "./http-client.ts";
import type { Authorization, ProviderRow } from "./provider.ts";

export interface Provider {
  readonly row: ProviderRow;
  readonly name: string;
  /** Null while a setting is missing. */
  readonly baseUrl: string | null;
  readonly origin: Origin | null;
  /** The path of the address, before the path of an endpoint. */
  readonly basePath: string;
  /** Sent with every call, credentials included, as they go over the wire. Never log them. */
  readonly headerLines: string;
  /** The setting without which it cannot be called, or null. */
  readonly missingSetting: string | null;
  /** Whether the operator set it up: then it is listed. */
  readonly configured: boolean;
  /** Values that must appear in no log and no answer. */
  readonly secrets: readonly string[];
}

/** What the operator's file says of a provider. */
interface Declared {
  readonly dialect?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  readonly models?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream_usage?: string;
  readonly stream_end?: string;
}

type ReadSetting = (name: string) => string | null;

// Compressed bytes could not be passed on as they are.
const commonHeaders = {
  "content-type": "application/json",
  "accept-encoding": "identity",
  "user-agent": "Switchyard/1",
};

const customRow = {
  docs: "",
  dialect: "openai",
  baseUrl: null,
  auth: { kind: "optional-bearer" },
  streamUsage: "ask",
  models: [],
} as const;

export function configureProviders(
  rows: readonly ProviderRow[],
  declared: Readonly<Record<string, Declared>>,
  readSetting: ReadSetting,
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const row of rows) providers.set(row.name, configure(row, declared[row.name] ?? null, readSetting));
  for (const [name, settings] of Object.entries(declared)) {
    if (providers.has(name)) continue;
    if (settings.base_url === undefined || settings.base_url === "")
      throw new Error(`providers.${name}: base_url is missing, and there is no known provider of that name`);
    providers.set(name, configure({ ...customRow, name, title: name }, settings, readSetting));
  }
  return providers;
}

/** `OPENAI_API_KEY` for `openai`: upper case, hyphens as underscores. */
export function settingName(provider: string, what: "API_KEY" | "BASE_URL"): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_${what}`;
}

function configure(plainRow: ProviderRow, declared: Declared | null, readSetting: ReadSetting): Provider {
  const row = withOverrides(plainRow, declared);
  const ownAddress = declared?.base_url || readSetting(settingName(row.name, "BASE_URL"));
  const keyName = settingName(row.name, "API_KEY");
  const key = declared?.api_key || firstSetting([keyName, ...(row.keyNames ?? [])], readSetting);
  const address = ownAddress ? { url: ownAddress, missing: null } : fillPlaceholders(row, readSetting);
  // A key that is declared and empty comes from a variable that is not set: it was meant to be there.
  const needsKey = row.auth.kind === "bearer" || row.auth.kind === "header" || declared?.api_key === "";
  const missingSetting = needsKey && !key ? keyName : address.missing;
  const url = address.url === null ? null : new URL(address.url);
  const own = { ...commonHeaders, ...row.headers, ...declared?.headers, ...credentials(row.auth, key) };
  const isOnMachine = row.auth.kind === "optional-bearer";
  return {
    row,
    name: row.name,
    baseUrl: url === null ? null : url.href.replace(/\/+$/, ""),
    origin: url === null ? null : { hostname: hostnameOf(url), port: portOf(url), isTls: url.protocol === "https:" },
    basePath: url === null ? "" : url.pathname.replace(/\/+$/, ""),
    headerLines: url === null ? "" : toHeaderLines({ host: url.host, ...own }),
    missingSetting,
    configured: missingSetting === null && (!isOnMachine || declared !== null || ownAddress !== null || key !== null),
    secrets: [...(key ? [key] : []), ...Object.values(declared?.headers ?? {})],
  };
}

function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

/** `Headers` refuses names and values that would not stay on their line. */
function toHeaderLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const [name, value] of new Headers(headers)) lines += `${name}: ${value}\r\n`;
  return lines;
}

function withOverrides(row: ProviderRow, declared: Declared | null): ProviderRow {
  if (declared === null) return row;
  const { dialect = row.dialect, stream_usage = row.streamUsage, stream_end = row.streamEnd ?? "done" } = declared;
  if (dialect !== "openai")
    throw new Error(`providers.${row.name}: dialect '${dialect}' is not known; known is openai`);
  if (stream_usage !== "ask" && stream_usage !== "always" && stream_usage !== "never")
    throw new Error(`providers.${row.name}: stream_usage should be ask, always or never`);
  if (stream_end !== "done" && stream_end !== "finish")
    throw new Error(`providers.${row.name}: stream_end should be done or finish`);
  const models = declared.models?.map((id) => row.models.find((model) => model.id === id) ?? { id }) ?? row.models;
  return { ...row, dialect, streamUsage: stream_usage, streamEnd: stream_end, models };
}

function firstSetting(names: readonly string[], readSetting: ReadSetting): string | null {
  for (const name of names) {
    const value = readSetting(name);
    if (value !== null) return value;
  }
  return null;
}

function fillPlaceholders(row: ProviderRow, readSetting: ReadSetting): { url: string | null; missing: string | null } {
  if (row.baseUrl === null) return { url: null, missing: settingName(row.name, "BASE_URL") };
  let url = row.baseUrl;
  for (const [placeholder, setting] of Object.entries(row.placeholders ?? {})) {
    const value = readSetting(setting);
    if (value === null) return { url: null, missing: setting };
    url = url.replaceAll(`{${placeholder}}`, encodeURIComponent(value));
  }
  return { url, missing: null };
}

function credentials(auth: Authorization, key: string | null): Record<string, string> {
  if (key === null || key === undefined || key === "") return {};
  switch (auth.kind) {
    case "bearer":
    case "optional-bearer":
      return { authorization: `Bearer ${key}` };
    case "header":
      return { [auth.name]: key };
    case "none":
      return {};
  }
}
