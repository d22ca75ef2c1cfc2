// From rows and settings to providers that can be called: address and credentials filled in once, at start.

import { SettingError } from "../errors.ts";
import { suggest } from "../lib/find-nearest.ts";
import type { Authorizer } from "./authorizer.ts";
import { createAuthorizer } from "./authorizer.ts";
import type { Dialect } from "./dialect.ts";
import { dialects } from "./dialects/index.ts";
import type { Origin } from "./http-client.ts";
import { type Authorization, dialectNames, findModelFacts, type ProviderRow } from "./provider.ts";

export interface Provider {
  readonly row: ProviderRow;
  readonly name: string;
  /** Null: it speaks as our callers do. */
  readonly dialect: Dialect | null;
  /** Empty while a setting is missing. */
  readonly deployments: readonly Deployment[];
  /** The setting without which it cannot be called, or null. */
  readonly missingSetting: string | null;
  /** Whether the operator set it up: then it is listed. */
  readonly configured: boolean;
  /** Values that must appear in no log and no answer. */
  readonly secrets: readonly string[];
  /** Tasks that it answers in our own shape, as the operator says. */
  readonly tasks: readonly string[];
  /** The operator's default models, by task; `*` is any task. */
  readonly defaultModels: Readonly<Record<string, string>>;
}

/** One way to reach a provider: an address and a key. An operator may declare several. */
export interface Deployment {
  /** The provider's name, with a mark where there are several. */
  readonly name: string;
  /** How much of the calls it gets, beside the others. */
  readonly weight: number;
  readonly baseUrl: string;
  readonly origin: Origin;
  readonly host: string;
  /** The path of the address, before the path of an endpoint. */
  readonly basePath: string;
  readonly chatPath: string;
  readonly embeddingsPath: string;
  readonly responsesPath: string;
  /** Sent with every call, credentials included, as they go over the wire. Never log them. */
  readonly headerLines: string;
  /** For credentials that are made for each call, or that run out. */
  readonly authorizer: Authorizer | null;
  /** The models that it serves; null: all. */
  readonly models: ReadonlySet<string> | null;
}

/** What the operator's file says of a provider. */
interface Declared extends DeclaredDeployment {
  readonly dialect?: string;
  readonly models?: readonly string[];
  readonly stream_usage?: string;
  readonly stream_end?: string;
  readonly responses?: string;
  readonly tasks?: readonly string[];
  /** One for all tasks, or by task. */
  readonly default_model?: string | Readonly<Record<string, string>>;
  readonly deployments?: readonly DeclaredDeployment[];
}

interface DeclaredDeployment {
  readonly name?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  /** The variable that `api_key` names and that is not set. */
  readonly unset_key?: string;
  readonly weight?: number;
  readonly models?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export type ReadSetting = (name: string) => string | null;

// Compressed bytes could not be passed on as they are.
const commonHeaders = {
  "content-type": "application/json",
  "accept-encoding": "identity",
  "user-agent": "Switchyard/1",
};

const customRow = { auth: { kind: "optional-bearer" } } as const;

export function configureProviders(
  rows: readonly ProviderRow[],
  declared: Readonly<Record<string, Declared>>,
  readSetting: ReadSetting,
  /** Declared names that are no chat providers, but somebody else's to set up. */
  others: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, Provider> {
  const providers = new Map<string, Provider>();
  for (const row of rows) providers.set(row.name, configure(row, declared[row.name] ?? null, readSetting));
  for (const [name, settings] of Object.entries(declared)) {
    if (providers.has(name) || others.has(name)) continue;
    if (![settings, ...(settings.deployments ?? [])].some(({ base_url }) => base_url)) {
      const nearest = suggest(name, [...providers.keys(), ...others]) || ".";
      const message = `there is no known provider '${name}'${nearest} A provider of your own needs base_url`;
      throw new SettingError(`providers.${name}`, message);
    }
    providers.set(name, configure(rowFor(name, settings.dialect, rows), settings, readSetting));
  }
  return providers;
}

/** A provider of the operator's own is like the vendor whose dialect it speaks, at another address and with other models. */
function rowFor(name: string, dialect: string | undefined, rows: readonly ProviderRow[]): ProviderRow {
  const own = { name, title: name, docs: "", baseUrl: null };
  const known = dialect === undefined || dialect === "openai" ? undefined : rows.find((row) => row.dialect === dialect);
  if (known === undefined) return { ...customRow, ...own, chat: { models: [] } };
  const { placeholders: _, keyNames: __, addressNames: ___, alsoNamed: ____, embeddings, chat, ...like } = known;
  const { defaultModel: _____, defaultVisionModel: ______, ...likeChat } = chat ?? {};
  return {
    ...like,
    ...own,
    ...(chat === undefined ? {} : { chat: { ...likeChat, models: [] } }),
    ...(embeddings?.path === undefined ? {} : { embeddings: { path: embeddings.path } }),
  };
}

/** `OPENAI_API_KEY` for `openai`: upper case, hyphens as underscores. */
export function settingName(provider: string, what: "API_KEY" | "BASE_URL"): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_${what}`;
}

function configure(plainRow: ProviderRow, declared: Declared | null, readSetting: ReadSetting): Provider {
  const row = withOverrides(plainRow, declared);
  const several = declared?.deployments ?? [];
  const all = several.length === 0 ? [{}] : several;
  const made = all.map((own, index) => {
    const mark = several.length === 0 ? "" : `#${own.name ?? index + 1}`;
    const place = `providers.${row.name}.deployments.${index}`;
    return deploy(row, { name: `${row.name}${mark}`, place, shared: declared, own, readSetting });
  });
  const missing = made.find((one) => one.missingSetting !== null);
  return {
    row,
    name: row.name,
    dialect: dialects[row.dialect ?? "openai"],
    deployments: made.flatMap((one) => (one.deployment === null ? [] : [one.deployment])),
    missingSetting: made.some((one) => one.deployment !== null) ? null : (missing?.missingSetting ?? null),
    configured: made.some((one) => one.isSetUp),
    secrets: made.flatMap((one) => one.secrets),
    tasks: declared?.tasks ?? [],
    defaultModels: readDefaultModels(declared?.default_model),
  };
}

function readDefaultModels(declared: Declared["default_model"] = {}): Readonly<Record<string, string>> {
  return typeof declared === "string" ? { "*": declared } : declared;
}

interface DeploymentOptions {
  readonly name: string;
  /** Where it stands in the operator's file. */
  readonly place: string;
  /** What holds for all deployments of the provider. */
  readonly shared: Declared | null;
  readonly own: DeclaredDeployment;
  readonly readSetting: ReadSetting;
}

interface Deployed {
  readonly deployment: Deployment | null;
  readonly missingSetting: string | null;
  readonly isSetUp: boolean;
  readonly secrets: readonly string[];
}

function deploy(row: ProviderRow, options: DeploymentOptions): Deployed {
  const { name, place, shared, own, readSetting: readPlain } = options;
  const readSetting: ReadSetting = (setting) => {
    const other = row.settingFallbacks?.[setting];
    return readPlain(setting) ?? (other === undefined ? null : readPlain(other));
  };
  const keyName = settingName(row.name, "API_KEY");
  const declaredKey = own.api_key ?? shared?.api_key;
  // Of several keys each is named: one whose variable is not set must not become another one's double.
  const key = own.api_key === "" ? null : declaredKey || firstSetting([keyName, ...(row.keyNames ?? [])], readSetting);
  const other = row.otherAddressing;
  const otherValue = other === undefined ? null : readSetting(other.setting);
  const addressing = other !== undefined && otherValue !== null ? other : toAddressing(row);
  const ownAddress =
    own.base_url ||
    shared?.base_url ||
    firstSetting([settingName(row.name, "BASE_URL"), ...(row.addressNames ?? [])], readSetting);
  const address =
    own.base_url === ""
      ? { url: null, missing: `${place}.base_url` }
      : ownAddress
        ? { url: ownAddress, missing: null }
        : fillPlaceholders(row, addressing.baseUrl, readSetting);
  const authorization = authorize(row.auth, key, readSetting);
  // A key that is declared and empty comes from a variable that is not set: it was meant to be there.
  const lacksKey = !authorization.isComplete || (declaredKey === "" && !key);
  const ownKeyName = describeKeyPlace(row, options) ?? keyName;
  const missingSetting = lacksKey ? (authorization.missing ?? ownKeyName) : address.missing;
  const declaredHeaders = { ...shared?.headers, ...own.headers };
  const secrets = [...(key ? [key] : []), ...Object.values(declaredHeaders), ...authorization.secrets];
  const isOnMachine = row.auth.kind === "optional-bearer";
  const isDeclared = shared !== null || Boolean(ownAddress) || key !== null;
  const isSetUp = missingSetting === null && (!isOnMachine || isDeclared);
  if (address.url === null || missingSetting !== null) return { deployment: null, missingSetting, isSetUp, secrets };
  const url = URL.parse(withoutSuffix(address.url, row.strippedSuffix));
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new SettingError(
      firstName([settingName(row.name, "BASE_URL"), ...(row.addressNames ?? [])], readSetting) ??
        `providers.${row.name}.base_url`,
      `should be an address such as https://example.com/v1, and is '${address.url}'`,
    );
  const headers = { ...commonHeaders, ...row.headers, ...declaredHeaders, ...authorization.headers };
  const fill = (path: string) => path.replaceAll("{value}", encodeURIComponent(otherValue ?? ""));
  const deployment: Deployment = {
    name,
    weight: own.weight ?? 1,
    // Shown to operators, so without a user's name and password.
    baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    origin: { hostname: hostnameOf(url), port: portOf(url), isTls: url.protocol === "https:" },
    host: url.host,
    basePath: url.pathname.replace(/\/+$/, ""),
    chatPath: fill(addressing.chatPath ?? "/chat/completions"),
    embeddingsPath: fill(addressing.embeddingsPath ?? "/embeddings"),
    responsesPath: fill(addressing.responsesPath ?? "/responses"),
    headerLines: toHeaderLines({ host: url.host, ...headers }, row.name),
    authorizer: authorization.authorizer,
    models: own.models === undefined ? null : new Set(own.models),
  };
  return { deployment, missingSetting: null, isSetUp, secrets };
}

function toAddressing({ baseUrl, chat, embeddings, responses }: ProviderRow) {
  return { baseUrl, chatPath: chat?.path, embeddingsPath: embeddings?.path, responsesPath: responses?.path };
}

function withoutSuffix(url: string, suffixes: ProviderRow["strippedSuffix"] = []): string {
  const trimmed = url.replace(/\/+$/, "");
  const suffix = [suffixes].flat().find((one) => trimmed.endsWith(one));
  return suffix === undefined ? trimmed : trimmed.slice(0, -suffix.length);
}

function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

/** `Headers` refuses names and values that would not stay on their line. */
function toHeaderLines(headers: Readonly<Record<string, string>>, provider: string): string {
  let lines = "";
  try {
    for (const [name, value] of new Headers(headers)) lines += `${name}: ${value}\r\n`;
  } catch {
    // The error of `Headers` repeats the value, which may be a key.
    throw new SettingError(
      `providers.${provider}`,
      "its key or one of its headers holds a character that a header cannot carry, such as a line break; correct it",
    );
  }
  return lines;
}

/** Where a key was declared whose variable is not set. */
function describeKeyPlace(
  { name }: ProviderRow,
  { own, shared, place }: Pick<DeploymentOptions, "own" | "shared" | "place">,
): string | null {
  if (own.api_key === "")
    return own.unset_key === undefined ? `${place}.api_key` : `${own.unset_key} (${place}.api_key)`;
  if (shared?.api_key === "" && shared.unset_key !== undefined)
    return `${shared.unset_key} (providers.${name}.api_key)`;
  return null;
}

function withOverrides(row: ProviderRow, declared: Declared | null): ProviderRow {
  if (declared === null) return row;
  const choose = <Choice extends string>(member: string, given: string | undefined, known: readonly Choice[]) => {
    if (given === undefined || isOneOf(known, given)) return given;
    throw wrongChoice(row, member, given, known);
  };
  const dialect = choose("dialect", declared.dialect, dialectNames) ?? row.dialect;
  const streamUsage = choose("stream_usage", declared.stream_usage, ["ask", "always", "never"]);
  const streamEnd = choose("stream_end", declared.stream_end, ["done", "finish"]);
  const kind = choose("responses", declared.responses, ["native", "stateless"]) ?? row.responses?.kind;
  const models = declared.models?.map((id) => findModelFacts(row, id) ?? { id });
  return {
    ...row,
    ...(dialect && { dialect }),
    ...(row.chat && {
      chat: {
        ...row.chat,
        ...(streamUsage && { streamUsage }),
        ...(streamEnd && { streamEnd }),
        ...(models && { models }),
      },
    }),
    ...(!row.chat && models && { embeddings: { ...row.embeddings, models } }),
    ...(kind && { responses: { ...row.responses, kind } }),
  };
}

function wrongChoice({ name }: ProviderRow, member: string, given: string, known: readonly string[]): SettingError {
  return new SettingError(`providers.${name}.${member}`, `should be one of ${known.join(", ")}, and is '${given}'`);
}

function isOneOf<Choice extends string>(known: readonly Choice[], given: string): given is Choice {
  return (known as readonly string[]).includes(given);
}

export function firstSetting(names: readonly string[], readSetting: ReadSetting): string | null {
  const name = firstName(names, readSetting);
  return name === null ? null : readSetting(name);
}

function firstName(names: readonly string[], readSetting: ReadSetting): string | null {
  return names.find((name) => readSetting(name) !== null) ?? null;
}

function fillPlaceholders(
  row: ProviderRow,
  baseUrl: string | null,
  readSetting: ReadSetting,
): { url: string | null; missing: string | null } {
  if (baseUrl === null) return { url: null, missing: settingName(row.name, "BASE_URL") };
  const filled: Record<string, string> = {};
  for (const [placeholder, setting] of Object.entries(row.placeholders ?? {})) {
    const value = readSetting(setting);
    if (value === null) return { url: null, missing: setting };
    filled[placeholder] = encodeURIComponent(value);
  }
  for (const [placeholder, derive] of Object.entries(row.derivedPlaceholders ?? {}))
    filled[placeholder] = derive(filled);
  const url = baseUrl.replace(/\{(\w+)\}/g, (written, name: string) => filled[name] ?? written);
  return { url, missing: null };
}

interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | null;
  readonly isComplete: boolean;
  /** The setting to name when it is not complete; null: the provider's own key. */
  readonly missing: string | null;
  readonly secrets: readonly string[];
}

function authorize(auth: Authorization, key: string | null, readSetting: ReadSetting): Credentials {
  const plain = { authorizer: null, missing: null, secrets: [] };
  const bearer: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  switch (auth.kind) {
    case "bearer":
      return { ...plain, headers: bearer, isComplete: Boolean(key) };
    case "optional-bearer":
      return { ...plain, headers: bearer, isComplete: true };
    case "header":
      if (!key) return { ...plain, headers: {}, isComplete: false };
      return { ...plain, headers: auth.orToken && isToken(key) ? bearer : { [auth.name]: key }, isComplete: true };
    case "none":
      return { ...plain, headers: {}, isComplete: true };
    case "aws-sigv4":
    case "google-service-account": {
      const made = createAuthorizer(auth.kind, key, readSetting);
      return { headers: {}, isComplete: made.authorizer !== null, ...made };
    }
  }
}

/** Three parts of base64url, the first of which is a JSON object. */
function isToken(key: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(key);
}
