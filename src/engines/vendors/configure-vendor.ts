// From a vendor's row and the settings to addresses that can be called, credentials filled in, once, at start.

import { createHash } from "node:crypto";
import { SettingError } from "../../errors.ts";
import { createAwsAuthorizer } from "../../providers/authorize/aws.ts";
import { createGoogleAuthorizer } from "../../providers/authorize/google.ts";
import type { Authorizer } from "../../providers/authorizer.ts";
import { firstSetting, type ReadSetting, settingName } from "../../providers/configure.ts";
import type { Origin } from "../../providers/http-client.ts";
import type { VendorRow, VendorTask } from "./vendor-engine.ts";

/** What the operator's file says of a provider, as far as it concerns tasks. */
export interface DeclaredVendor extends DeclaredPlace {
  readonly deployments?: readonly DeclaredPlace[];
}

interface DeclaredPlace {
  readonly base_url?: string;
  readonly api_key?: string;
  readonly models?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface VendorSetup {
  /** Empty while a setting is missing. */
  readonly places: readonly VendorPlace[];
  /** The setting without which it cannot be called, or null. */
  readonly missing: string | null;
  /** Values that must appear in no log and no answer. */
  readonly secrets: readonly string[];
}

/** One address and key of the vendor, or one for each of its services. */
export interface VendorPlace {
  /** The same in every process that is configured alike. Tells addresses and keys apart, and tells nothing of them. */
  readonly id: string;
  /** The models that it serves; null: all. */
  readonly models: ReadonlySet<string> | null;
  readonly secrets: readonly string[];
  /** By the name of the service, "" being the row's own. */
  readonly addresses: ReadonlyMap<string, VendorAddress>;
}

export interface VendorAddress {
  /** Connections are kept by this very object. */
  readonly origin: Origin;
  readonly host: string;
  /** The path of the address, before the path of a request. */
  readonly basePath: string;
  /** Sent with every call, credentials included. Never log them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** What goes into every body, credentials included. */
  readonly members: Readonly<Record<string, string>>;
  /** For credentials that are made for each call, or that run out. */
  readonly authorizer: Authorizer | null;
}

/** Thrown inside only: the vendor cannot be called without this setting. */
class MissingSetting extends Error {}

export function configureVendor(row: VendorRow, declared: DeclaredVendor | null, readPlain: ReadSetting): VendorSetup {
  const readSetting = withFallbacks(row, readPlain);
  const several = declared?.deployments ?? [];
  const places: VendorPlace[] = [];
  let missing: string | null = null;
  for (const [index, own] of (several.length === 0 ? [{}] : several).entries()) {
    const where = `providers.${row.name}.deployments.${index}`;
    try {
      places.push(configurePlace(row, { own, shared: declared, where, readSetting }));
    } catch (error) {
      if (!(error instanceof MissingSetting)) throw error;
      missing ??= error.message;
    }
  }
  return {
    places,
    missing: places.length > 0 ? null : missing,
    secrets: places.flatMap(({ secrets }) => secrets),
  };
}

interface Needs {
  readonly values: Readonly<Record<string, string>>;
  /** The first setting that is not there, or null. */
  readonly missing: string | null;
}

/** What one of the vendor's tasks needs beyond what all of them do. */
export function readNeeds(row: VendorRow, needs: VendorTask["needs"] = {}, readPlain: ReadSetting): Needs {
  const readSetting = withFallbacks(row, readPlain);
  const values: Record<string, string> = {};
  let missing: string | null = null;
  for (const [name, setting] of Object.entries(needs)) {
    const value = readSetting(setting);
    if (value === null) missing ??= setting;
    else values[name] = value;
  }
  return { values, missing };
}

function withFallbacks({ settingFallbacks = {} }: VendorRow, readSetting: ReadSetting): ReadSetting {
  return (setting) => {
    const other = settingFallbacks[setting];
    return readSetting(setting) ?? (other === undefined ? null : readSetting(other));
  };
}

interface PlaceOptions {
  readonly own: DeclaredPlace;
  /** What holds for all deployments of the vendor. */
  readonly shared: DeclaredVendor | null;
  /** Where it stands in the operator's file. */
  readonly where: string;
  readonly readSetting: ReadSetting;
}

function configurePlace(row: VendorRow, { own, shared, where, readSetting }: PlaceOptions): VendorPlace {
  // Declared and empty comes from a variable that is not set: it was meant to be there.
  if (own.api_key === "") throw new MissingSetting(`${where}.api_key`);
  if (own.base_url === "") throw new MissingSetting(`${where}.base_url`);
  const keyNames = [settingName(row.name, "API_KEY"), ...(row.keyNames ?? [])];
  const key = own.api_key || (shared?.api_key ?? firstSetting(keyNames, readSetting));
  const addressNames = [settingName(row.name, "BASE_URL"), ...(row.addressNames ?? [])];
  const ownAddress = own.base_url || shared?.base_url || firstSetting(addressNames, readSetting);
  const fill = createFill(row, readSetting);
  const credentials = readCredentials(row, { key, fill, readSetting });
  const declaredHeaders = { ...shared?.headers, ...own.headers };
  const addresses = new Map<string, VendorAddress>();
  for (const [service, baseUrl] of listAddresses(row)) {
    const url = ownAddress ?? (baseUrl === null ? null : fill(baseUrl, encodeURIComponent));
    if (url === null) throw new MissingSetting(settingName(row.name, "BASE_URL"));
    addresses.set(service, {
      ...toAddress(row, url),
      headers: { ...fillAll(row.headers, fill), ...declaredHeaders, ...credentials.headers },
      query: { ...fillAll(row.query, fill), ...credentials.query },
      members: { ...fillAll(row.members, fill), ...credentials.members },
      authorizer: credentials.createAuthorizer?.(service) ?? null,
    });
  }
  const secrets = [...(key ? [key] : []), ...Object.values(declaredHeaders), ...(credentials.secrets ?? [])];
  const told = [...addresses.values()].map(({ host, basePath }) => host + basePath);
  return {
    id: createHash("sha256")
      .update(JSON.stringify([told, secrets]))
      .digest("base64url")
      .slice(0, 12),
    models: own.models === undefined ? null : new Set(own.models),
    secrets,
    addresses,
  };
}

function listAddresses({ baseUrl, services = {} }: VendorRow): readonly (readonly [string, string | null])[] {
  const all: readonly (readonly [string, string | null])[] = Object.entries(services);
  return baseUrl === null && all.length > 0 ? all : [["", baseUrl], ...all];
}

function toAddress(row: VendorRow, written: string): Pick<VendorAddress, "origin" | "host" | "basePath"> {
  const trimmed = written.replace(/\/+$/, "");
  const suffix = [row.strippedSuffix ?? []].flat().find((one) => trimmed.endsWith(one));
  const url = URL.parse(suffix === undefined ? trimmed : trimmed.slice(0, -suffix.length));
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new SettingError(
      settingName(row.name, "BASE_URL"),
      `should be an address such as https://example.com/v1, and is '${written}'`,
    );
  const isTls = url.protocol === "https:";
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
  return {
    origin: { hostname: url.hostname.replace(/^\[|\]$/g, ""), port, isTls },
    host: url.host,
    basePath: url.pathname.replace(/\/+$/, ""),
  };
}

type Fill = (text: string, encode?: (value: string) => string) => string;

function createFill({ placeholders = {} }: VendorRow, readSetting: ReadSetting): Fill {
  return (text, encode = (value) => value) =>
    text.replace(/\{(\w+)\}/g, (written, name: string) => {
      const setting = placeholders[name];
      if (setting === undefined) return written;
      return encode(need(setting, readSetting));
    });
}

function fillAll(texts: Readonly<Record<string, string>> = {}, fill: Fill): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, fill(value)]));
}

function need(setting: string, readSetting: ReadSetting): string {
  const value = readSetting(setting);
  if (value === null) throw new MissingSetting(setting);
  return value;
}

interface Credentials {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly members?: VendorAddress["members"];
  readonly createAuthorizer?: (service: string) => Authorizer;
  /** Beside the key. */
  readonly secrets?: readonly string[];
}

interface Given {
  readonly key: string | null;
  readonly fill: Fill;
  readonly readSetting: ReadSetting;
}

function readCredentials({ name, auth }: VendorRow, { key, fill, readSetting }: Given): Credentials {
  if (auth.kind === "aws-sigv4") return readAwsCredentials(readSetting);
  if (!key) throw new MissingSetting(settingName(name, "API_KEY"));
  switch (auth.kind) {
    case "bearer":
      return { headers: { authorization: `Bearer ${key}` } };
    case "header":
      return { headers: { [auth.name.toLowerCase()]: `${fill(auth.prefix ?? "")}${key}` } };
    case "query":
      return { query: { [auth.name]: key } };
    case "member":
      return { members: { [auth.name]: key } };
    case "basic": {
      const pair =
        auth.user !== undefined
          ? `${fill(auth.user)}:${key}`
          : auth.password === undefined
            ? key
            : `${key}:${fill(auth.password)}`;
      const encoded = Buffer.from(pair).toString("base64");
      return { headers: { authorization: `Basic ${encoded}` }, secrets: [encoded] };
    }
    case "google-service-account": {
      const authorizer = createGoogleAuthorizer({ credentials: key });
      return { createAuthorizer: () => authorizer, secrets: authorizer.secrets };
    }
  }
}

function readAwsCredentials(readSetting: ReadSetting): Credentials {
  const accessKeyId = need("AWS_ACCESS_KEY_ID", readSetting);
  const secretAccessKey = need("AWS_SECRET_ACCESS_KEY", readSetting);
  const region = need("AWS_REGION", readSetting);
  const sessionToken = readSetting("AWS_SESSION_TOKEN");
  const session = sessionToken === null ? {} : { sessionToken };
  return {
    createAuthorizer: (service) => createAwsAuthorizer({ region, service, accessKeyId, secretAccessKey, ...session }),
    secrets: [secretAccessKey, ...(sessionToken === null ? [] : [sessionToken])],
  };
}
