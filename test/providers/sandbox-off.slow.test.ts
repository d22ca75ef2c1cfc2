// The sandbox can be switched off, and is the last in the listings where it is on.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ask, readError } from "../support/chat.ts";
import type { Gateway } from "../support/gateway-settings.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";

let vendor: Vendor;
let on: Gateway;
let off: Gateway;

beforeAll(async () => {
  vendor = await startVendor();
  const own = { dialect: "openai", base_url: vendor.url, models: ["small"] };
  on = await testGateway({ vendor, config: { providers: { own } } });
  off = await testGateway({ vendor, config: { providers: { sandbox: false } } });
});
afterAll(async () => {
  await on?.stop();
  await off?.stop();
  await vendor?.stop();
});

const messages = [{ role: "user", content: "hi" }];

async function listProviders({ url }: Gateway): Promise<string[]> {
  const { data } = (await (await fetch(`${url}/v3/models?include=sandbox`)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id.split("/")[0] ?? "");
}

test("switched off, it answers neither chat nor tasks nor sandbox keys, and is not listed", async () => {
  const key = await off.createKey();
  const chat = await readError(await ask(off.url, key, { model: "sandbox/echo", messages }));
  expect(chat).toMatchObject({ status: 404, code: "provider_not_found" });
  const body = { model: "text/moderation/sandbox", input: { text: "hi" } };
  const task = await readError(await ask(off.url, key, body, { path: "/v3/universal-ai" }));
  expect(task).toMatchObject({ status: 404, code: "provider_not_found" });
  const sandboxKey = await off.createKey({ kind: "sandbox" });
  const kept = await readError(await ask(off.url, sandboxKey, { model: "mock/echo", messages }));
  expect(kept).toMatchObject({ status: 404, code: "provider_not_found" });
  expect(await listProviders(off)).not.toContain("sandbox");
  expect((await ask(off.url, key, { model: "mock/echo", messages })).status).toBe(200);
});

test("switched on, it is the last in the list of models", async () => {
  const providers = await listProviders(on);
  expect(providers).toContain("own");
  expect(providers.indexOf("sandbox")).toBeGreaterThan(0);
  expect(new Set(providers.slice(providers.indexOf("sandbox")))).toEqual(new Set(["sandbox"]));
});

test("a misspelt name is refused at the start, with the nearest one", async () => {
  const started = testGateway({ vendor, config: { providers: { sandbx: false } } });
  await expect(started).rejects.toThrow(/providers\.sandbx.*did you mean 'sandbox'/);
});

test("moderations need no model", async () => {
  for (const gateway of [on, off]) {
    const answer = await ask(
      gateway.url,
      await gateway.createKey(),
      { input: "You are a bastard." },
      {
        path: "/v3/moderations",
      },
    );
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ provider: "local", results: [{ flagged: true }] });
  }
});
