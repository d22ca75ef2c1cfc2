// A response belongs to whoever made it, wherever it was made: at another process, another replica, before a restart.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { describeOnPostgres } from "../support/on-postgres.ts";
import { type Client, createClient, textOf } from "../support/responses.ts";
import { type ResponsesVendor, startResponsesVendor } from "../support/responses-vendor.ts";
import { testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const env = {
  SWITCHYARD_RESPONSES_STORE_FOR_ALL: "true",
  SWITCHYARD_ENCRYPTION_KEY: Buffer.alloc(32, 3).fill(5, 0, 16).toString("base64"),
};

let vendor: ResponsesVendor;
beforeAll(async () => {
  vendor = await startResponsesVendor();
});
afterAll(async () => {
  await vendor?.stop();
});

/** Made at one, everything else at the other: kept by the provider, by the gateway, and by nobody. */
async function passAround(from: Client, to: Client): Promise<void> {
  const first = await from.create({ model: "mock/echo", input: "one" });
  expect(textOf(await to.retrieve(first.id))).toBe("heard: one");
  const second = await to.stream({ model: "mock/echo", input: "two", previous_response_id: first.id });
  expect(second.said).toBe("heard: one | two");
  const item = first.output[0]?.["id"];
  expect((await to.post({ model: "mock/echo", input: [{ type: "item_reference", id: item }] })).status).toBe(200);
  const third = await from.create({ model: "mockchat/echo", input: "three", previous_response_id: second.id });
  expect(await to.retrieve(third.id)).toEqual(third);
  const fourth = await to.create({ model: "mockchat/echo", input: "four", previous_response_id: third.id });
  expect(((await (await from.get(`${fourth.id}/input_items`)).json()) as { data: unknown[] }).data).toHaveLength(7);
  const unstored = await from.create({ model: "mockchat/echo", input: "five", store: false });
  expect(await (await to.get(unstored.id)).json()).toMatchObject({ error: { code: "response_not_stored" } });
  expect((await to.remove(first.id)).status).toBe(200);
  expect((await from.get(first.id)).status).toBe(404);
}

describeOnPostgres("on one PostgreSQL", (createStore) => {
  test("what one replica made, the other reads, goes on from and deletes", async () => {
    const started: GatewayProcess[] = [];
    try {
      const databaseUrl = await createStore();
      for (let count = 0; count < 2; count += 1)
        started.push(await startGatewayProcess({ vendor, env: { ...env, DATABASE_URL: databaseUrl } }));
      const [one, other] = started;
      if (!(one && other)) throw new Error("no gateways");
      const key = await one.createKey();
      const [here, there] = [createClient(one, key), createClient(other, key)];
      await waitFor(
        "the key to be known at both",
        async () => (await there.get(`resp_${"0".repeat(48)}`)).status === 404,
      );
      await passAround(here, there);
      await passAround(there, here);
    } finally {
      await Promise.all(started.map((gateway) => gateway.stop()));
    }
  });
});

test("what was made before a restart is there after it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-replicas-"));
  const start = () => testGateway({ vendor, env: { ...env, SWITCHYARD_DATA_DIR: folder } });
  let gateway = await start();
  try {
    const key = await gateway.createKey();
    const before = createClient(gateway, key);
    const native = await before.create({ model: "mock/echo", input: "one" });
    const kept = await before.create({ model: "sandbox/echo", input: "two" });
    const unstored = await before.create({ model: "sandbox/echo", input: "three", store: false });
    await gateway.stop();
    gateway = await start();
    const after = createClient(gateway, key);
    expect(textOf(await after.create({ model: "mock/echo", input: "more", previous_response_id: native.id }))).toBe(
      "heard: one | more",
    );
    expect(await after.retrieve(kept.id)).toEqual(kept);
    expect(await (await after.get(unstored.id)).json()).toMatchObject({ error: { code: "response_not_stored" } });
    const reference = { type: "item_reference", id: native.output[0]?.["id"] };
    expect((await after.post({ model: "mock/echo", input: [reference] })).status).toBe(200);
  } finally {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test("two serving processes share what each of them made", async () => {
  const gateway = await startGatewayProcess({ vendor, env, workers: 2 });
  try {
    const client = createClient(gateway, await gateway.createKey());
    const fresh = { headers: { connection: "close" } };
    let inARow = 0;
    await waitFor("the key to be known everywhere", async () => {
      const response = await client.post({ model: "mock/echo", input: "x", store: false }, "", fresh);
      await response.arrayBuffer();
      inARow = response.status === 200 ? inARow + 1 : 0;
      return inARow >= 20;
    });
    // Each on a connection of its own, so that both processes have their share.
    const create = async (body: object) => {
      const response = await client.post(body, "", fresh);
      expect(response.status).toBe(200);
      return (await response.json()) as { id: string; output: Record<string, unknown>[] };
    };
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        let last = await create({ model: "mock/echo", input: "0" });
        for (let turn = 1; turn <= 5; turn += 1) {
          const model = turn % 2 === 0 ? "mock/echo" : "mockchat/echo";
          last = await create({ model, input: String(turn), previous_response_id: last.id });
        }
        const told = await create({ model: "mock/echo", input: "6", previous_response_id: last.id });
        expect(textOf(told)).toBe("heard: 0 | 1 | 2 | 3 | 4 | 5 | 6");
      }),
    );
  } finally {
    await gateway.stop();
  }
});
