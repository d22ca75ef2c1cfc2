// The settings of a gateway under test, and a client of its management interface.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeStore } from "./store-template.ts";
import type { Vendor } from "./vendor.ts";
import { waitFor } from "./wait.ts";

/** The test vendor's key at every mock provider. The gateway must send it to the vendor alone. */
export const providerSecret = "sk-PROVIDERSECRET-4f1c09d2a7";

export interface GatewaySettings {
  /** Processes that run jobs; none unless a test is about jobs. */
  readonly jobWorkers?: number;
  /** The store is empty before the gateway starts, as after an installation. */
  readonly isNewStore?: boolean;
  /** More settings, by their environment names. */
  readonly env?: Readonly<Record<string, string>>;
  /** More members of switchyard.yaml; `providers` is merged with the mock ones. */
  readonly config?: Readonly<Record<string, unknown>> & { readonly providers?: Readonly<Record<string, unknown>> };
}

export interface KeyRequest {
  readonly name?: string;
  readonly kind?: "inference" | "management" | "sandbox";
  readonly scopes?: readonly string[];
  readonly allowed_models?: readonly string[];
  readonly rate_limit?: Readonly<Record<string, number>>;
  readonly model_limits?: readonly { readonly model: string; readonly rate_limit: Readonly<Record<string, number>> }[];
  readonly budget?: { readonly amount: number; readonly period: string };
  readonly expires_at?: string;
  readonly enabled?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
}

/** What every gateway under test offers, in this process or in processes of its own. */
export interface Gateway {
  readonly url: string;
  readonly adminKey: string;
  readonly dataFolder: string;
  /** Everything that the gateway has logged so far. */
  log(): string;
  /** A new key's secret. */
  createKey(request?: KeyRequest): Promise<string>;
  /** A call of the management interface; throws unless it succeeds. */
  manage(method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export interface PreparedSettings {
  readonly folder: string;
  readonly dataFolder: string;
  readonly adminKey: string;
  readonly environment: Readonly<Record<string, string>>;
  removeFolder(): Promise<void>;
}

/** A temporary folder with a configuration whose providers mock, mock2 and mockchat are the vendor, and an environment that names it. */
export async function prepareSettings(
  vendor: Vendor,
  { jobWorkers = 0, isNewStore = false, env = {}, config = {} }: GatewaySettings,
): Promise<PreparedSettings> {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-test-"));
  const dataFolder = join(folder, "data");
  const configFile = join(folder, "switchyard.yaml");
  const adminKey = `mgmt-sy-${crypto.randomUUID().replaceAll("-", "")}`;
  const providers = { ...mockProviders(vendor), ...config.providers };
  const usesOwnStore = env["DATABASE_URL"] === undefined && env["SWITCHYARD_DATA_DIR"] === undefined;
  if (usesOwnStore && !isNewStore) await writeStore(dataFolder, "withWebhookKeys");
  // JSON is YAML.
  await writeFile(configFile, JSON.stringify({ ...config, providers }, null, 2));
  const environment = {
    ...ownEnvironment(),
    SWITCHYARD_HOST: "127.0.0.1",
    SWITCHYARD_DATA_DIR: dataFolder,
    SWITCHYARD_JOB_WORKERS: String(jobWorkers),
    SWITCHYARD_ADMIN_KEY: adminKey,
    SWITCHYARD_CONFIG: configFile,
    SWITCHYARD_LOG_FORMAT: "json",
    // The tests must pass beside programs that use every core.
    SWITCHYARD_LOCAL_NICENESS: "0",
    SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS: "110000",
    SWITCHYARD_OVERLOAD_DELAY_MS: "60000",
    // With PostgreSQL, calls may wait that long for a server that has just been killed.
    SWITCHYARD_STORE_TIMEOUT_MS: env["DATABASE_URL"] === undefined ? "60000" : "10000",
    // Tests store lines of years ago, which a gateway would delete after its first minute.
    SWITCHYARD_LEDGER_RETENTION_DAYS: "3650",
    SWITCHYARD_USAGE_RETENTION_DAYS: "36500",
    SWITCHYARD_AUDIT_RETENTION_DAYS: "36500",
    SWITCHYARD_DRAIN_DELAY_MS: "0",
    SWITCHYARD_DRAIN_TIMEOUT_MS: "2000",
    ...env,
  };
  return {
    folder,
    dataFolder,
    adminKey,
    environment,
    removeFolder: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The vendor tells the providers apart by their paths. */
function mockProviders(vendor: Vendor): Record<string, unknown> {
  const origin = `http://127.0.0.1:${vendor.port}`;
  return {
    mock: { dialect: "openai", base_url: `${origin}/v1`, api_key: providerSecret, responses: "native" },
    mock2: { dialect: "openai", base_url: `${origin}/mock2/v1`, api_key: providerSecret, responses: "native" },
    mockchat: { dialect: "openai", base_url: `${origin}/mockchat/v1`, api_key: providerSecret },
  };
}

/** Settings of the shell that runs the tests must not configure a gateway or a vendor. */
function ownEnvironment(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "TMPDIR", "LANG", "TZ"]) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** A gateway in processes of its own refuses requests while the machine is busy with other programs. */
export function isOverloaded(status: number, text: string): boolean {
  return status === 503 && text.includes('"overloaded"');
}

export function createManagementClient(url: string, adminKey: string): Pick<Gateway, "manage" | "createKey"> {
  async function manage(method: string, path: string, body?: unknown): Promise<unknown> {
    const { response, text } = await waitFor("a gateway that is not overloaded", async () => {
      const response = await fetch(`${url}/v3/manage${path}`, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return isOverloaded(response.status, text) ? null : { response, text };
    });
    if (!response.ok) throw new Error(`${method} /v3/manage${path} answered ${response.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
  }
  async function createKey(request: KeyRequest = {}): Promise<string> {
    const created = await manage("POST", "/keys", { name: "a test's key", ...request });
    if (typeof created !== "object" || created === null || !("key" in created) || typeof created.key !== "string")
      throw new Error(`no key in ${JSON.stringify(created)}`);
    return created.key;
  }
  return { manage, createKey };
}
