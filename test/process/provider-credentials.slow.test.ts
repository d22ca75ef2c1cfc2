// Stored credentials are used by every process of a gateway, and by every replica on the same database, within a second.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { describeOnPostgres } from "../support/on-postgres.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const env = {
  SWITCHYARD_ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64"),
};
let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(async () => {
  await vendor?.stop();
});

/** Sends requests on connections of their own until every serving process has answered with the key. */
async function usesEverywhere(gateways: readonly GatewayProcess[], key: string, secret: string): Promise<void> {
  for (const gateway of gateways)
    await waitFor(`all processes to use the key that ends in ${secret.slice(-4)}`, async () => {
      vendor.clear();
      const statuses = new Set<number>();
      for (let count = 0; count < 12; count++) {
        const response = await ask(
          gateway.url,
          key,
          { ...hello, model: "openai/gpt-x" },
          { headers: { connection: "close" } },
        );
        await response.arrayBuffer();
        statuses.add(response.status);
      }
      // A process that has not seen the change knows no such provider, and perhaps not even the caller's key.
      for (const status of statuses) expect([200, 401, 503]).toContain(status);
      const isAnswered = statuses.size === 1 && statuses.has(200);
      return isAnswered && vendor.requests.every(({ headers }) => headers["authorization"] === `Bearer ${secret}`);
    });
}

test("a change is seen by all processes of a gateway", async () => {
  const gateway = await startGatewayProcess({ vendor, workers: 3, env });
  try {
    const key = await gateway.createKey();
    for (const secret of ["sk-the-first-stored-key", "sk-the-second-stored-key"]) {
      await gateway.manage("PUT", "/providers/openai", { api_key: secret, base_url: vendor.url });
      await usesEverywhere([gateway], key, secret);
    }
    expect(gateway.log()).not.toContain("sk-the-first-stored-key");
  } finally {
    await gateway.stop();
  }
}, 300_000);

describeOnPostgres("on one PostgreSQL", (createStore) => {
  test("a change at one replica is seen by the other, and so is its removal", async () => {
    const DATABASE_URL = await createStore();
    const started: GatewayProcess[] = [];
    try {
      for (let count = 0; count < 2; count++)
        started.push(await startGatewayProcess({ vendor, env: { ...env, DATABASE_URL } }));
      const [one, other] = started;
      if (!(one && other)) throw new Error("no gateways");
      const key = await one.createKey();
      await one.manage("PUT", "/providers/openai", { api_key: "sk-the-first-stored-key", base_url: vendor.url });
      await usesEverywhere(started, key, "sk-the-first-stored-key");
      await other.manage("POST", "/providers/openai/rotate", { api_key: "sk-the-second-stored-key" });
      await usesEverywhere(started, key, "sk-the-second-stored-key");
      await other.manage("DELETE", "/providers/openai");
      await waitFor("the first replica to forget the key", async () => {
        const { configured } = (await one.manage("GET", "/providers/openai")) as { configured: boolean };
        return !configured;
      });
    } finally {
      for (const gateway of started) await gateway.stop();
    }
  }, 300_000);
});
