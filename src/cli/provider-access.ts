// Opens the providers and their stored credentials for commands, without a gateway.

import { readFileSync, writeFileSync } from "node:fs";
import { type AuditNote, createAudit } from "../access/audit.ts";
import type { Caller } from "../access/caller.ts";
import { adminKeyId } from "../access/keys.ts";
import { commandActor } from "../access/roles.ts";
import { type Config, readConfig, storageSettings, withConfigFile } from "../config.ts";
import { messageOf } from "../errors.ts";
import { HealthBook } from "../inference/health.ts";
import { type CredentialStore, createProviderCredentials } from "../inference/provider-credentials.ts";
import { Trace } from "../inference/trace.ts";
import { setUpProviders } from "../provider-setup.ts";
import { openStorage, requireStore, type Storage } from "../storage/storage.ts";
import { type Output, UsageError } from "./command-line.ts";
import { createCommandLog } from "./command-log.ts";
import type { OpenedProviders, OpenProviders } from "./providers.ts";

export function toContext(output: Output) {
  return { ...output, openProviders, testProvider, readFile, createFile, readInput: () => Bun.stdin.text() };
}

const openProviders: OpenProviders = async (file, needs) => {
  const config = readConfig(withConfigFile(file));
  const { live } = setUpProviders(config);
  const { storage, problem } = await openStore(config, needs);
  const credentials = createProviderCredentials({
    store: storage?.secrets ?? emptyStore,
    live,
    isEncrypted: config.encryptionKey !== null,
    switchedOff: config.switchedOff,
    health: new HealthBook(config),
    // A running gateway notices the change by itself.
    waitForPropagation: (refreshed) => refreshed,
    log: createCommandLog(config),
  });
  await credentials.refresh();
  return {
    credentials,
    names: [...live.providers.keys()],
    storeProblem: problem,
    record: async (action, name, work) => {
      if (storage === null) return await work();
      const readStored = () => ({ stored: credentials.describe(name).stored });
      const note: AuditNote = { before: readStored(), after: null };
      const target = { kind: "provider", id: name, name: null, team: null };
      const audit = createAudit(storage.audit, createCommandLog(config));
      return await audit.around(commandActor(), { action, target }, note, async () => {
        const result = await work();
        note.after = readStored();
        return result;
      });
    },
    async close() {
      await storage?.close();
    },
  } satisfies OpenedProviders;
};

async function openStore(
  config: Config,
  needs: "store" | "store if there is one",
): Promise<{ storage: Storage | null; problem: string | null }> {
  try {
    await requireStore(config.dataDir, config.databaseUrl);
    return { storage: await openStorage({ ...storageSettings(config), log: createCommandLog(config) }), problem: null };
  } catch (error) {
    if (needs === "store") throw error;
    return { storage: null, problem: messageOf(error) };
  }
}

const emptyStore: CredentialStore = {
  listUnder: () => Promise.resolve([]),
  find: () => Promise.resolve(null),
  replace: () => Promise.resolve(false),
  put: () => Promise.reject(new Error("There is no store.")),
  remove: () => Promise.resolve(false),
};

/** The services of a gateway make the call, so that it is the same call, and recorded like it. */
async function testProvider(name: string, model: string | null) {
  const config = readConfig();
  await requireStore(config.dataDir, config.databaseUrl);
  const { createServices } = await import("../services.ts");
  const services = await createServices(config, createCommandLog(config), { works: false });
  try {
    const trace = new Trace(performance.now(), 0);
    trace.path = "/v3/manage/providers/{name}/test";
    const connection = { signal: new AbortController().signal };
    const context = { caller: operator, connection, requestId: crypto.randomUUID(), trace, wantsMetadata: false };
    return await services.testProvider(services.credentials.provider(name), model, context);
  } finally {
    await services.close();
    await services.storage.close();
  }
}

const operator: Caller = {
  keyId: adminKeyId,
  kind: "management",
  name: "command line",
  owner: null,
  scopes: new Set(),
  allowedModels: null,
  rateLimit: null,
  budget: null,
  team: null,
  role: "administrator",
  rules: [],
  tags: {},
};

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be read (${(error as { readonly code?: string }).code}).`);
  }
}

function createFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const { code } = error as { readonly code?: string };
    throw new UsageError(
      code === "EEXIST"
        ? `The file ${path} exists already; name another one, or remove it first.`
        : `The file ${path} cannot be written (${code}).`,
    );
  }
}
