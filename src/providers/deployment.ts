// A deployment of a provider: its addresses and credentials, read once at startup.

import { createHash } from "node:crypto";
import { SettingError } from "../errors.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import type { Origin } from "./http-client.ts";
import type { Access, Authorizer, ModelAccess, ProviderRow } from "./provider.ts";
import {
  createFill,
  type Fill,
  fillAll,
  firstSetting,
  MissingSetting,
  type ReadSetting,
  settingName,
  withFallbacks,
} from "./settings.ts";

export interface Address {
  /** Shown to operators, so without user name and password. */
  readonly baseUrl: string;
  /** The key of the connection pool. */
  readonly origin: Origin;
  readonly host: string;
  /** The path of the address, before the path of an endpoint. */
  readonly basePath: string;
  /** Includes credentials. Never log them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers as text, for a JSON body. Never log them. */
  readonly headerLines: string;
  readonly query: Readonly<Record<string, string>>;
  /** Members of the body of every task. Includes credentials. */
  readonly members: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | null;
}

/** An address and a key. An operator may declare several deployments of one provider. */
export interface Deployment extends Address {
  /** The provider's name, with a suffix if there are several deployments. */
  readonly name: string;
  /** A hash of address and key: the same in every process with the same configuration. */
  readonly id: string;
  /** Its share of the calls, relative to the other deployments. */
  readonly weight: number;
  /** Null: all models. */
  readonly models: ReadonlySet<string> | null;
  readonly chatPath: string;
  readonly embeddingsPath: string;
  readonly responsesPath: string;
  /** By name, for a vendor with several services. */
  readonly services: ReadonlyMap<string, Address>;
}

/** Where a value comes from: the store, a member of the file, or a variable of the environment. */
export type Source =
  | { readonly kind: "store" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "environment"; readonly variable: string };

/** Credentials that an operator has set at run time. They take precedence over the file and the environment. */
export interface StoredAccess {
  readonly api_key?: string;
  readonly base_url?: string;
  /** Further settings of the provider, by their names in the environment, such as `AWS_REGION`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A deployment in the operator's file. */
export interface DeclaredDeployment {
  readonly name?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  /** The variable in `api_key`, if it is not set. */
  readonly unset_key?: string;
  readonly weight?: number;
  readonly models?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A part of the operator's file. */
export interface Section<Settings extends DeclaredDeployment = DeclaredDeployment> {
  /** `providers.openai` */
  readonly path: string;
  readonly settings: Settings;
}

/** The settings of a provider, or of one of its APIs. */
export interface Level {
  /** `openai` for `OPENAI_API_KEY`, in the order in which they are read. */
  readonly names: readonly string[];
  readonly section: Section | null;
  readonly stored: StoredAccess | null;
}

export interface DeployOptions {
  readonly row: ProviderRow;
  readonly access: Access | ModelAccess;
  /** The deployment's own part of the file, if several are declared. */
  readonly own: Section | null;
  readonly ownIndex: number;
  /** Whether that part is declared for the whole provider. */
  readonly isOwnOfProvider: boolean;
  /** The settings of the API. */
  readonly level: Level;
  /** The settings of the whole provider, if the API has its own. */
  readonly providerLevel: Level | null;
  readonly readSetting: ReadSetting;
  readonly isOwnAddress: IsOwnAddress;
}

/** Whether the gateway itself listens there. */
export type IsOwnAddress = (url: URL) => boolean;

export interface Deployed {
  readonly deployment: Deployment | null;
  readonly missingSetting: string | null;
  /** A server that needs no key counts as set up only if the operator configures it. */
  readonly isSetUp: boolean;
  readonly secrets: readonly string[];
  /** Null: there is no key, or it is not a single value. */
  readonly keySource: Source | null;
  /** Null: the provider's own address. */
  readonly addressSource: Source | null;
}

// Compressed bytes could not be forwarded unchanged.
const commonHeaders = {
  "content-type": "application/json",
  "accept-encoding": "identity",
  "user-agent": "Switchyard/1",
};

export function deploy(options: DeployOptions): Deployed {
  const { access, own, level, providerLevel } = options;
  const secrets: string[] = [];
  let keySource: Source | null = null;
  let addressSource: Source | null = null;
  const sections = [level.section, providerLevel?.section ?? null].filter((section) => section !== null);
  try {
    const readSetting = withFallbacks(access, options.readSetting);
    const operatorAddress = readOperatorAddress(options, readSetting);
    addressSource = operatorAddress?.source ?? null;
    const found = readKey(options, readSetting);
    const key = found?.value ?? null;
    keySource = found?.source ?? null;
    if (key !== null) secrets.push(key);
    const headers = Object.assign({}, ...[...sections.toReversed(), own].map((section) => section?.settings.headers));
    secrets.push(...Object.values<string>(headers));
    const fill = createFill(access, readSetting);
    const keyName = settingName(level.names[0] ?? "", "API_KEY");
    const credentials = readCredentials(access.auth ?? { kind: "bearer" }, { key, keyName, fill, readSetting });
    secrets.push(...(credentials.secrets ?? []));
    const deployment = create(options, { credentials, headers, operatorAddress, fill, readSetting, secrets });
    const isConfigured = sections.length > 0 || operatorAddress !== null || key !== null;
    const isSetUp = access.auth?.kind !== "optional-bearer" || isConfigured;
    return { deployment, missingSetting: null, isSetUp, secrets, keySource, addressSource };
  } catch (error) {
    if (!(error instanceof MissingSetting)) throw error;
    return { deployment: null, missingSetting: error.message, isSetUp: false, secrets, keySource, addressSource };
  }
}

interface Sourced {
  readonly value: string;
  readonly source: Source;
}

function readKey(options: DeployOptions, readSetting: ReadSetting): Sourced | null {
  const { access, own, isOwnOfProvider, level, providerLevel } = options;
  const keyPattern = "keyPattern" in access ? access.keyPattern : undefined;
  const matches = (key: string | undefined) => key !== undefined && (keyPattern?.test(key) ?? true);
  const providerStored = providerLevel?.stored?.api_key;
  const stored = level.stored?.api_key ?? (matches(providerStored) ? providerStored : undefined);
  if (stored !== undefined) return { value: stored, source: { kind: "store" } };
  // A deployment whose variable is not set must not use the key of another deployment.
  if (own?.settings.api_key === "") throw new MissingSetting(describeKey(own));
  const ifMatching = (section: Section | null) => (matches(section?.settings.api_key) ? section : null);
  const ofProvider = ifMatching(providerLevel?.section ?? null);
  const sections = [isOwnOfProvider ? ifMatching(own) : own, level.section, ofProvider];
  const declaring = sections.find((section) => section?.settings.api_key !== undefined);
  const names = [...level.names.map(toKeyName), ...(access.keyNames ?? [])];
  if (declaring?.settings.api_key)
    return { value: declaring.settings.api_key, source: { kind: "file", path: `${declaring.path}.api_key` } };
  const key = firstSetting(names, readSetting);
  if (key !== null) return toSourced(key);
  const providerKey = firstSetting((providerLevel?.names ?? []).map(toKeyName), readSetting);
  if (providerKey !== null && matches(providerKey.value)) return toSourced(providerKey);
  // A declared key that is empty comes from a variable that is not set.
  if (declaring) throw new MissingSetting(declaring.settings.unset_key ? describeKey(declaring) : (names[0] ?? ""));
  return null;
}

function toSourced({ name, value }: { readonly name: string; readonly value: string }): Sourced {
  return { value, source: { kind: "environment", variable: name } };
}

function toKeyName(name: string): string {
  return settingName(name, "API_KEY");
}

function toAddressName(name: string): string {
  return settingName(name, "BASE_URL");
}

function describeKey({ path, settings: { unset_key } }: Section): string {
  return unset_key === undefined ? `${path}.api_key` : `${unset_key} (${path}.api_key)`;
}

interface OperatorAddress extends Sourced {
  /** The setting, or the member of the file, for messages. */
  readonly name: string;
}

function readOperatorAddress(options: DeployOptions, readSetting: ReadSetting): OperatorAddress | null {
  const { access, own, isOwnOfProvider, level, providerLevel } = options;
  if (own?.settings.base_url === "") throw new MissingSetting(`${own.path}.base_url`);
  const names = [...level.names.map(toAddressName), ...(access.addressNames ?? [])];
  const ofApi =
    storedAddress(level) ??
    readAddress(isOwnOfProvider ? null : own) ??
    (providerLevel?.stored?.base_url ? null : (readAddress(level.section) ?? addressSetting(names, readSetting)));
  if (ofApi !== null) return ofApi;
  const ofProvider =
    storedAddress(providerLevel) ??
    readAddress(isOwnOfProvider ? own : null) ??
    readAddress(providerLevel?.section ?? null) ??
    addressSetting((providerLevel?.names ?? []).map(toAddressName), readSetting);
  if (ofProvider === null) return null;
  const basePath = ("basePath" in access ? access.basePath : undefined) ?? "";
  return { ...ofProvider, value: `${ofProvider.value.replace(/\/+$/, "")}${basePath}` };
}

function storedAddress(level: Level | null): OperatorAddress | null {
  const value = level?.stored?.base_url;
  return value === undefined ? null : { name: "base_url", value, source: { kind: "store" } };
}

function readAddress(section: Section | null): OperatorAddress | null {
  const value = section?.settings.base_url;
  if (section === null || !value) return null;
  const path = `${section.path}.base_url`;
  return { name: path, value, source: { kind: "file", path } };
}

function addressSetting(names: readonly string[], readSetting: ReadSetting): OperatorAddress | null {
  const found = firstSetting(names, readSetting);
  return found === null ? null : { name: found.name, ...toSourced(found) };
}

const endpointAddress = /^(.*?)(\/chat\/completions|(?<=\/v\d\w*)\/(?:completions|embeddings|responses|messages))\/*$/;

interface Parts {
  readonly credentials: Credentials;
  /** From the operator's file. */
  readonly headers: Readonly<Record<string, string>>;
  readonly operatorAddress: OperatorAddress | null;
  readonly fill: Fill;
  readonly readSetting: ReadSetting;
  readonly secrets: readonly string[];
}

function create({ row, access, own, ownIndex, level, isOwnAddress }: DeployOptions, parts: Parts): Deployment {
  const { credentials, operatorAddress, fill, readSetting } = parts;
  const other = access.otherAddressing;
  const otherValue = other === undefined ? null : readSetting(other.setting);
  const paths = other !== undefined && otherValue !== null ? other : pathsOf(row);
  const baseUrl = (otherValue === null ? undefined : other?.baseUrl) ?? access.baseUrl;
  const headers = { ...fillAll(access.headers, fill), ...parts.headers, ...credentials.headers };
  const query = { ...fillAll(access.query, fill), ...credentials.query };
  const members = { ...fillAll(access.members, fill), ...credentials.members };
  const toAddress = (service: string, publicUrl: string | null): Address => {
    const written = operatorAddress?.value ?? (publicUrl === null ? null : fill(publicUrl, encodeURIComponent));
    const addressName = toAddressName(level.names[0] ?? "");
    if (written === null) throw new MissingSetting(addressName);
    const url = URL.parse(withoutSuffix(written, access.strippedSuffix));
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new SettingError(
        operatorAddress?.name ?? `providers.${row.name}.base_url`,
        `should be an address such as https://example.com/v1, and is '${written}'`,
      );
    const [, before, endpoint] = operatorAddress === null ? [] : (endpointAddress.exec(written) ?? []);
    if (endpoint !== undefined)
      throw new SettingError(
        operatorAddress?.name ?? "",
        `should be '${before}', without '${endpoint}', which the gateway adds`,
      );
    if (isOwnAddress(url))
      throw new MissingSetting(`${operatorAddress?.name ?? addressName} (${url.origin} is this gateway itself)`);
    return {
      baseUrl: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
      origin: { hostname: url.hostname.replace(/^\[|\]$/g, ""), port: portOf(url), isTls: url.protocol === "https:" },
      host: url.host,
      basePath: url.pathname.replace(/\/+$/, ""),
      headers,
      headerLines: toHeaderLines({ host: url.host, ...commonHeaders, ...headers }, row.name),
      query,
      members,
      authorizer: credentials.createAuthorizer?.(service) ?? null,
    };
  };
  const services = new Map(Object.entries(access.services ?? {}).map(([name, url]) => [name, toAddress(name, url)]));
  // A vendor with several services has no other address.
  const [first] = baseUrl === null ? services.values() : [];
  const address = first ?? toAddress("", baseUrl);
  const fillPath = (path: string) => path.replaceAll("{value}", encodeURIComponent(otherValue ?? ""));
  const addresses = [...new Set([address, ...services.values()])].map(({ host, basePath }) => host + basePath);
  return {
    ...address,
    name: nameDeployment(row.name, own, ownIndex),
    id: createHash("sha256")
      .update(JSON.stringify([addresses, parts.secrets]))
      .digest("base64url")
      .slice(0, 12),
    weight: own?.settings.weight ?? 1,
    models: own?.settings.models === undefined ? null : new Set(own.settings.models),
    chatPath: fillPath(paths.chatPath ?? "/chat/completions"),
    embeddingsPath: fillPath(paths.embeddingsPath ?? "/embeddings"),
    responsesPath: fillPath(paths.responsesPath ?? "/responses"),
    services,
  };
}

/** `openai`, or `openai#europe` and `openai#2` where the operator lists deployments. */
export function nameDeployment(provider: string, own: Section | null, ownIndex: number): string {
  return own === null ? provider : `${provider}#${own.settings.name ?? ownIndex + 1}`;
}

function pathsOf({ chat, embeddings, responses }: ProviderRow) {
  return { chatPath: chat?.path, embeddingsPath: embeddings?.path, responsesPath: responses?.path };
}

export function withoutSuffix(url: string, suffixes: Access["strippedSuffix"] = []): string {
  const trimmed = url.replace(/\/+$/, "");
  const suffix = [suffixes].flat().find((one) => trimmed.endsWith(one));
  return suffix === undefined ? trimmed : trimmed.slice(0, -suffix.length);
}

function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

/** `Headers` refuses names and values with line breaks. */
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
