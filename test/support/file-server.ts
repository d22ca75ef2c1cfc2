// The real door in front of the routes of files, with real keys and a real store. As a script it is a process of its own that
// prints its address and a key, to be measured and killed.

import { join } from "node:path";
import { openKeyring } from "../../src/access/keys.ts";
import { createLimits } from "../../src/access/limits.ts";
import type { CreateKeyRequest } from "../../src/contract/keys.ts";
import { createFileStore, type FileStore } from "../../src/files/file-store.ts";
import { createResourceUrls, type ResourceUrls } from "../../src/files/resource-urls.ts";
import type { S3Settings } from "../../src/files/s3-bytes.ts";
import { createUploads, type UploadsOptions } from "../../src/files/uploads.ts";
import { createAuthenticator } from "../../src/http/authenticate.ts";
import { fileRoutes } from "../../src/http/endpoints/files.ts";
import { resourceRoutes } from "../../src/http/endpoints/resources.ts";
import { startServer } from "../../src/http/server.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { openStorage, type Storage } from "../../src/storage/storage.ts";
import { openPatientAdmission } from "./patient-admission.ts";

export interface FileServerOptions {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly limits?: Partial<UploadsOptions>;
  readonly maxOwnerBytes?: number;
  readonly s3?: S3Settings | null;
  readonly reservedBytes?: number;
  readonly orphanAfterMs?: number;
  readonly baseUrl?: string | null;
}

export interface FileServer {
  readonly url: string;
  readonly folder: string;
  readonly files: FileStore;
  readonly resources: ResourceUrls;
  readonly storage: Storage;
  /** What was logged. */
  readonly lines: string[];
  createKey(about?: Partial<CreateKeyRequest>): Promise<string>;
  stop(): Promise<void>;
}

export async function openFileServer(options: FileServerOptions): Promise<FileServer> {
  const { databaseUrl, dataDir } = options;
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "text", secrets: [], write: (line) => void lines.push(line) });
  const storage = await openStorage({ databaseUrl, dataDir, log, deadlineMs: 60_000 });
  const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 60_000, log });
  const ticker = createTicker(50);
  const admission = openPatientAdmission(log);
  const folder = join(dataDir, "files");
  const secret = await storage.secrets.getOrCreate("files", 32);
  const files = createFileStore({
    rows: storage.files,
    folder,
    s3: options.s3 ?? null,
    storeId: Bun.SHA256.hash(secret, "hex"),
    log,
    reservedBytes: options.reservedBytes ?? 0,
    maxOwnerBytes: options.maxOwnerBytes ?? 2 ** 34,
    ...(options.orphanAfterMs !== undefined && { orphanAfterMs: options.orphanAfterMs }),
  });
  const resources = createResourceUrls({ secret, store: files, baseUrl: options.baseUrl ?? null, lifetimeMs: 60_000 });
  const uploads = createUploads({
    store: files,
    ticker,
    maxFileBytes: 100 * 1_048_576,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: 600_000,
    ...options.limits,
  });
  const server = startServer({
    host: "127.0.0.1",
    port: 0,
    routes: [...fileRoutes({ files, uploads }), ...resourceRoutes(resources)],
    authenticator: createAuthenticator(keyring),
    limits: createLimits(),
    bodyLimits: { maxBodyBytes: 1_048_576, bodyTimeoutMs: 60_000 },
    ticker,
    admission,
    log,
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    folder,
    files,
    resources,
    storage,
    lines,
    async createKey(about = {}) {
      const request = {
        name: "a test's key",
        kind: "inference" as const,
        owner: null,
        allowed_models: null,
        rate_limit: null,
        budget: null,
        expires_at: null,
        tags: {},
        enabled: true,
        ...about,
      };
      return (await keyring.create(request)).key;
    },
    async stop() {
      server.stopNow();
      ticker.close();
      admission.close();
      await keyring.close();
      await storage.close();
    },
  };
}

if (import.meta.main) {
  const door = await openFileServer(JSON.parse(process.argv[2] ?? "{}"));
  console.log(JSON.stringify({ url: door.url, key: await door.createKey() }));
}
