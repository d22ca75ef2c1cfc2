// With SWITCHYARD_ENCRYPTION_KEY the gateway's own secrets are encrypted in the store: the private keys of webhooks above all. What was stored
// before is encrypted at the next start, and a key that is missing or wrong ends the start.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWebhookKeys } from "../../src/jobs/webhook-keys.ts";
import type { Storage, StorageOptions } from "../../src/storage/storage.ts";
import { openStorage } from "../../src/storage/storage.ts";
import { catchError, createEngines, describeOn, quiet, withStorage } from "../contracts/engines.ts";
import { takeRsaPair } from "../support/rsa-pairs.ts";
import { waitFor } from "../support/wait.ts";

const keyA = randomBytes(32).toString("base64");
const keyB = randomBytes(32).toString("hex");

for (const engine of createEngines())
  describeOn(engine, "secrets at rest", () => {
    /** As the tables hold them. */
    function readStored(options: StorageOptions): Promise<Map<string, string>> {
      return withStorage(options, async ({ secrets }) => {
        const names = await secrets.list();
        const values = await Promise.all(names.map((name) => secrets.find(name)));
        return new Map(names.map((name, at) => [name, Buffer.from(values[at] ?? []).toString("latin1")]));
      });
    }

    async function publish(storage: Storage): Promise<readonly string[]> {
      const keys = openWebhookKeys({ secrets: storage.secrets, log: quiet, createRsaPair: takeRsaPair });
      await keys.signing();
      return (await keys.published()).map(({ keyId }) => keyId);
    }

    /** The ids of the webhook keys and another secret, which this creates. */
    const fill = (options: StorageOptions) =>
      withStorage(options, async (storage) => ({
        published: await publish(storage),
        secret: await storage.secrets.getOrCreate("files", 32),
      }));

    test("webhook keys and all other secrets are stored encrypted, and read by every process with the key", async () => {
      const options = await engine.createStore();
      const withKey = { ...options, encryptionKey: keyA };
      const { published, secret } = await fill(withKey);
      const stored = await readStored(options);
      expect([...stored.keys()].sort()).toEqual(["files", "webhook-keys"]);
      for (const value of stored.values()) expect(value).toStartWith("sealed\0");
      expect(stored.get("webhook-keys")).not.toContain("PRIVATE KEY");
      await withStorage(withKey, (one) =>
        withStorage(withKey, async (other) => {
          expect([await publish(one), await publish(other)]).toEqual([published, published]);
          expect(await other.secrets.getOrCreate("files", 32)).toEqual(secret);
          // Both make one that is not there: the first one counts.
          const [made, same] = await Promise.all([
            one.secrets.getOrCreate("new", 32),
            other.secrets.getOrCreate("new", 32),
          ]);
          expect(made).toEqual(same);
        }),
      );
    });

    test("what lies in the clear is encrypted at the next start, and stays the same", async () => {
      const options = await engine.createStore();
      const { published, secret } = await fill({ ...options, encryptionKey: null });
      expect((await readStored(options)).get("webhook-keys")).toContain("PRIVATE KEY");
      await withStorage({ ...options, encryptionKey: keyA }, async (storage) => {
        for (const value of (await readStored(options)).values()) expect(value).toStartWith("sealed\0");
        expect(await publish(storage)).toEqual(published);
        expect(await storage.secrets.getOrCreate("files", 32)).toEqual(secret);
      });
    });

    test("keys are rotated and dropped as before, and two that rotate at once do not overwrite each other", async () => {
      const options = { ...(await engine.createStore()), encryptionKey: keyA };
      await withStorage(options, (one) =>
        withStorage(options, async (other) => {
          const keys = [one, other].map(({ secrets }) =>
            openWebhookKeys({ secrets: secrets, log: quiet, createRsaPair: takeRsaPair }),
          );
          const [first] = await publish(one);
          const settled = await Promise.allSettled(keys.map((each) => each.rotate({ isUrgent: true })));
          const rotated = settled.filter(({ status }) => status === "fulfilled");
          expect(rotated.length).toBeGreaterThan(0);
          const now = await openWebhookKeys({
            secrets: other.secrets,
            log: quiet,
            createRsaPair: takeRsaPair,
          }).published();
          expect(now.map(({ keyId }) => keyId)).toContain(first ?? "");
          expect(now).toHaveLength(1 + rotated.length);
        }),
      );
      const { encryptionKey: _, ...raw } = options;
      expect((await readStored(raw)).get("webhook-keys")).not.toContain("PRIVATE KEY");
    });

    test("a new key in front encrypts again, so that the old one can be left out", async () => {
      const options = await engine.createStore();
      const published = await withStorage({ ...options, encryptionKey: keyA }, publish);
      expect(await withStorage({ ...options, encryptionKey: `${keyB},${keyA}` }, publish)).toEqual(published);
      expect(await withStorage({ ...options, encryptionKey: keyB }, publish)).toEqual(published);
      expect(String(await catchError(openStorage({ ...options, encryptionKey: keyA })))).toContain("NEW,OLD");
    });

    test("a key that is missing or wrong is an error that says what to do, and nothing is made anew", async () => {
      const options = await engine.createStore();
      const published = await withStorage({ ...options, encryptionKey: keyA }, publish);
      const before = await readStored(options);
      const missing = await catchError(openStorage({ ...options, encryptionKey: null }));
      expect(String(missing)).toContain(
        "The secret 'webhook-keys' in the store is encrypted, and SWITCHYARD_ENCRYPTION_KEY is not set",
      );
      const wrong = await catchError(openStorage({ ...options, encryptionKey: keyB }));
      expect(String(wrong)).toContain("was encrypted with a key that SWITCHYARD_ENCRYPTION_KEY does not hold");
      expect(await readStored(options)).toEqual(before);
      expect(await withStorage({ ...options, encryptionKey: keyA }, publish)).toEqual(published);
      // One that was moved to another name does not open.
      await withStorage(options, async ({ secrets }) => {
        const value = await secrets.find("webhook-keys");
        await secrets.createOnce("copied", value ?? new Uint8Array());
      });
      expect(String(await catchError(openStorage({ ...options, encryptionKey: keyA })))).toContain(
        "cannot be decrypted",
      );
    });
  });

describe("switchyard", () => {
  const root = join(import.meta.dir, "../..");
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "switchyard-sealed-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function run(args: readonly string[], encryptionKey: string | null) {
    const child = Bun.spawn(["node", join(root, "bin", "switchyard.mjs"), ...args], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        SWITCHYARD_DATA_DIR: join(folder, "data"),
        SWITCHYARD_PORT: "0",
        SWITCHYARD_WORKERS: "1",
        SWITCHYARD_LOG_FORMAT: "json",
        ...(encryptionKey === null ? {} : { SWITCHYARD_ENCRYPTION_KEY: encryptionKey }),
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    return { child, output: async () => (await child.stdout.text()) + (await child.stderr.text()) };
  }

  /** Starts, and stops as soon as it serves. */
  async function serve(encryptionKey: string | null): Promise<{ code: number; output: string }> {
    const { child } = await run(["serve"], encryptionKey);
    let output = "";
    const collect = async (stream: ReadableStream<Uint8Array>) => {
      for await (const bytes of stream) output += Buffer.from(bytes).toString();
    };
    const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
    await waitFor("it to serve, or to end", () => child.exitCode !== null || output.includes('"serving"'), {
      everyMs: 20,
    });
    if (child.exitCode === null) child.kill("SIGTERM");
    const code = await child.exited;
    await collected;
    return { code, output };
  }

  test("does not start without the key that was used, and the CLI rotates with it", async () => {
    expect(await serve(keyA)).toMatchObject({ code: 0 });
    const refused = await serve(null);
    expect(refused.code).toBe(2);
    expect(refused.output).toContain("is encrypted, and SWITCHYARD_ENCRYPTION_KEY is not set");
    expect((await serve(keyB)).output).toContain("does not hold");
    const command = await run(["webhooks", "rotate-key", "--now"], keyA);
    expect([await command.child.exited, await command.output()]).toEqual([0, expect.any(String)]);
    const without = await run(["webhooks", "rotate-key"], null);
    expect(await without.child.exited).not.toBe(0);
    expect(await without.output()).toContain("SWITCHYARD_ENCRYPTION_KEY is not set");
    // In no file of the data folder.
    for (const name of await readdir(join(folder, "data"), { recursive: true })) {
      const bytes = await readFile(join(folder, "data", name)).catch(() => Buffer.alloc(0));
      expect({ name, isPlain: bytes.includes("PRIVATE KEY") }).toEqual({ name, isPlain: false });
    }
  }, 300_000);
});
