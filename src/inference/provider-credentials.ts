// Credentials of providers in the store: set, changed and removed while the gateway runs. Every process holds them in memory, and reads them
// again when a change is announced.

import { z } from "zod";
import type { ProviderDetail, ProviderTest, RotateProviderRequest, SetProviderRequest } from "../contract/providers.ts";
import { type ErrorCode, GatewayError, messageOf, type Problem, ValidationError } from "../errors.ts";
import { suggest } from "../lib/find-nearest.ts";
import { shareRuns } from "../lib/share-runs.ts";
import type { Log } from "../log.ts";
import type { Provider } from "../providers/configure.ts";
import type { Source, StoredAccess } from "../providers/deployment.ts";
import type { LiveProviders, NamedProvider } from "../providers/live-providers.ts";
import { describeAccess, isSecretSetting, listFurtherSettings } from "../providers/settings.ts";
import type { HealthBook } from "./health.ts";
import { describeProvider, isBuiltIn, listDeployments } from "./provider-states.ts";

/** The part of the store that this file uses. It encrypts what it is given. */
export interface CredentialStore {
  listUnder(prefix: string): Promise<readonly { readonly name: string; readonly value: Uint8Array }[]>;
  find(name: string): Promise<Uint8Array | null>;
  put(name: string, value: Uint8Array): Promise<void>;
  /** False: the value is no longer `old` and was not changed. */
  replace(name: string, old: Uint8Array, next: Uint8Array): Promise<boolean>;
  remove(name: string): Promise<boolean>;
}

export interface ProviderCredentialsOptions {
  readonly store: CredentialStore;
  readonly live: LiveProviders;
  /** Whether the store encrypts. Without that, nothing is stored. */
  readonly isEncrypted: boolean;
  /** Providers of the operator's file that are switched off. */
  readonly switchedOff: ReadonlySet<string>;
  readonly health: HealthBook;
  /** Resolves when other processes have noticed a change. */
  readonly waitForPropagation: (refreshed: Promise<void>) => Promise<void>;
  readonly log: Log;
  readonly now?: () => number;
}

/** Calls the provider with its credentials, which need not be in use. */
export type TestProvider = (provider: Provider) => Promise<ProviderTest>;

export type ProviderCredentials = ReturnType<typeof createProviderCredentials>;

interface StoredRecord extends StoredAccess {
  readonly updated_at: string;
}

const prefix = "provider:";
const storedSchema = z.object({
  api_key: z.string().exactOptional(),
  base_url: z.string().exactOptional(),
  settings: z.record(z.string(), z.string()).exactOptional(),
  updated_at: z.string(),
});
// A shorter key would be given away by its last characters.
const shortestWithTail = 16;
const tailLength = 4;
const retryAfterMs = 500;

export function createProviderCredentials(options: ProviderCredentialsOptions) {
  const { store, live, isEncrypted, switchedOff, health, log, waitForPropagation, now = Date.now } = options;
  const listeners: (() => void)[] = [];
  let records: ReadonlyMap<string, StoredRecord> = new Map();
  let isClosed = false;
  let failure: string | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;

  /** Reads the store and applies what has changed. */
  const refresh = shareRuns(load);

  async function load(): Promise<void> {
    const found = await store.listUnder(prefix);
    const next = new Map(found.map(({ name, value }) => [name.slice(prefix.length), readRecord(value)]));
    if (Bun.deepEquals(records, next)) return;
    records = next;
    for (const { provider, error } of live.apply(new Map([...next].map(([name, one]) => [name, toAccess(one)])))) {
      for (const secret of provider.secrets) log.hide(secret);
      for (const deployment of listDeployments(provider)) health.forgetDeployment(deployment.name);
      if (error === null) log.info("the credentials of a provider have changed", { provider: provider.name });
      else
        log.error("the stored credentials of a provider cannot be used; it keeps its earlier ones", {
          provider: provider.name,
          error: messageOf(error),
        });
    }
    for (const listener of listeners) listener();
  }

  /** In the background, until the store answers: a change that was announced must not be missed. */
  function refreshQuietly(): void {
    refresh().then(
      () => {
        failure = null;
      },
      (error) => {
        if (isClosed) return;
        // Once, although it is tried again: an outage of the store is logged elsewhere, and a wrong encryption key stays wrong.
        const message = messageOf(error);
        if (failure !== message)
          log.warn("credentials of providers could not be read from the store", { error: message });
        failure = message;
        clearTimeout(retry);
        retry = setTimeout(refreshQuietly, retryAfterMs);
        retry.unref();
      },
    );
  }

  function find(name: string): NamedProvider {
    const found = live.find(name);
    if (!("nearest" in found)) return found;
    if (switchedOff.has(name))
      throw new GatewayError("provider_not_found", `The provider '${name}' is switched off in switchyard.yaml.`);
    throw new GatewayError("provider_not_found", `There is no provider '${name}'${found.nearest || "."}`);
  }

  function describe(name: string): ProviderDetail {
    const { provider } = find(name);
    const storedNames = [provider.name, provider.row.modelAccess?.name ?? provider.name];
    const names = [...new Set(storedNames)].filter((one) => records.has(one));
    return {
      ...describeProvider(provider, health),
      in_force: provider.sources.map(({ deployment, key, address }) => ({
        deployment,
        key: key === null ? null : toSource(key),
        address: address === null ? { kind: "default", name: null } : toSource(address),
      })),
      stored: names.map((one) => toShown(one, records.get(one) as StoredRecord)),
      overridden: names.length === 0 ? [] : listOverridden(provider),
      further_settings: [...listFurtherSettings(provider.row)],
      access: describeAccess(provider.row),
    };
  }

  /** What the provider would use without its credentials in the store, where these replace it. */
  function listOverridden(provider: Provider): string[] {
    const without = live.previewWithout(provider);
    const used = new Set(provider.sources.flatMap(({ key, address }) => [nameOf(key), nameOf(address)]));
    const others = without.sources.flatMap(({ key, address }) => [nameOf(key), nameOf(address)]);
    return [...new Set(others)].filter((name) => name !== null && !used.has(name)) as string[];
  }

  function check({ provider, storedName }: NamedProvider, access: StoredAccess): Provider {
    const { row } = provider;
    if (isBuiltIn(row))
      throw conflict(`The provider '${provider.name}' runs in the gateway itself, so it has no credentials.`);
    if (!isEncrypted)
      throw conflict(
        "Credentials are stored only encrypted: set SWITCHYARD_ENCRYPTION_KEY (make one with: openssl rand -base64 32) and restart the gateway.",
      );
    const known = listFurtherSettings(row);
    const unknown = Object.keys(access.settings ?? {}).filter((name) => !known.includes(name));
    refuse(
      unknown.map((name) => ({
        loc: ["body", "settings", name],
        msg:
          known.length === 0
            ? `The provider '${provider.name}' has no further settings`
            : `The provider '${provider.name}' has no such setting${suggest(name, known) || `; it has ${known.join(", ")}`}`,
        type: "extra_forbidden",
      })),
    );
    try {
      return live.preview({ provider, storedName }, access);
    } catch (error) {
      const member = access.base_url !== undefined && /address/.test(messageOf(error)) ? "base_url" : "api_key";
      throw new ValidationError([{ loc: ["body", member], msg: messageOf(error), type: "value_error" }]);
    }
  }

  /** Stores the record with `save`, and waits until all processes use it. */
  async function write(access: StoredAccess, save: (value: Uint8Array) => Promise<void>): Promise<void> {
    const record: StoredRecord = { ...access, updated_at: new Date(now()).toISOString() };
    for (const secret of [access.api_key, ...Object.values(access.settings ?? {})])
      if (secret !== undefined) log.hide(secret);
    await save(Buffer.from(JSON.stringify(record)));
    await waitForPropagation(refresh());
  }

  return {
    refresh,
    refreshQuietly,
    describe,
    /** Calls the listener after credentials have changed, in any process. */
    onChanged: (listener: () => void) => void listeners.push(listener),
    close() {
      isClosed = true;
    },
    /** The provider of this name. */
    provider: (name: string): Provider => find(name).provider,

    /** Replaces everything that is stored for the provider. */
    async set(name: string, request: SetProviderRequest): Promise<ProviderDetail> {
      const named = find(name);
      check(named, request);
      await write(request, (value) => store.put(`${prefix}${named.storedName}`, value));
      return describe(name);
    },

    /**
     * Changes single members. `test`: the new credentials are tried first, and refused unless the provider answers. A change that was made
     * during that call is not overwritten.
     */
    async rotate(name: string, request: RotateProviderRequest, test: TestProvider): Promise<ProviderDetail> {
      const named = find(name);
      const { storedName } = named;
      const before = await store.find(`${prefix}${storedName}`);
      if (before === null)
        throw new GatewayError(
          "credentials_not_found",
          `The store has no credentials of '${storedName}'. PUT /v3/manage/providers/${storedName} stores them.`,
        );
      const current = toAccess(readRecord(before));
      const { api_key = current.api_key, settings } = request;
      const access: StoredAccess = {
        ...current,
        ...(api_key === undefined ? {} : { api_key }),
        ...(settings === undefined ? {} : { settings: { ...current.settings, ...settings } }),
      };
      const next = check(named, access);
      if (request.test) refuseFailedTest(await test(next));
      await write(access, async (value) => {
        if (!(await store.replace(`${prefix}${storedName}`, before, value)))
          throw conflict(
            `The stored credentials of '${storedName}' were changed or removed in the meantime. The new ones were not stored; send the request again.`,
          );
      });
      return describe(name);
    },

    async remove(name: string): Promise<string> {
      const named = find(name);
      const isRemoved = await store.remove(`${prefix}${named.storedName}`);
      await waitForPropagation(refresh());
      if (!isRemoved)
        throw new GatewayError("credentials_not_found", `The store has no credentials of '${named.storedName}'.`);
      return named.storedName;
    },
  };
}

/** With the other outcomes, the provider has accepted the credentials, or there is no cheap call. */
const failures: ReadonlySet<string> = new Set(["credentials_refused", "unreachable", "failed"]);

function refuseFailedTest({ results }: ProviderTest): void {
  const failed = results.find(({ outcome }) => failures.has(outcome));
  if (failed === undefined || failed.error === null) return;
  const message = `The new credentials were not stored, because a call with them failed: ${failed.error.message}`;
  throw new GatewayError(failed.error.code as ErrorCode, message);
}

function readRecord(value: Uint8Array): StoredRecord {
  return storedSchema.parse(JSON.parse(Buffer.from(value).toString()));
}

function toAccess({ updated_at: _, ...access }: StoredRecord): StoredAccess {
  return access;
}

function toShown(name: string, { api_key, base_url, settings = {}, updated_at }: StoredRecord) {
  return {
    name,
    api_key: api_key === undefined ? null : mask(api_key),
    base_url: base_url ?? null,
    settings: Object.fromEntries(
      Object.entries(settings).map(([setting, value]) => [setting, isSecretSetting(setting) ? mask(value) : value]),
    ),
    updated_at,
  };
}

/** Enough to recognise a secret by. */
export function mask(secret: string): string {
  return secret.length < shortestWithTail ? "…" : `…${secret.slice(-tailLength)}`;
}

function toSource(source: Source): ProviderDetail["in_force"][number]["address"] {
  return { kind: source.kind, name: nameOf(source) };
}

function nameOf(source: Source | null): string | null {
  if (source === null || source.kind === "store") return null;
  return source.kind === "file" ? source.path : source.variable;
}

function conflict(message: string): GatewayError {
  return new GatewayError("provider_conflict", message);
}

function refuse([first, ...others]: readonly Problem[]): void {
  if (first !== undefined) throw new ValidationError([first, ...others]);
}
