// Changes of teams in all serving processes: two of one gateway on SQLite, and two gateways on one PostgreSQL.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { isOverloaded } from "../support/gateway-settings.ts";
import { startPostgres, type TestPostgres, whyNoPostgres } from "../support/postgres.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor?.stop());

/** On a connection of its own, so that the kernel may choose another process each time. */
async function chat(gateway: GatewayProcess, key: string): Promise<string> {
  const { status, text } = await waitFor("a gateway that is not overloaded", async () => {
    const response = await fetch(`${gateway.url}/v3/chat/completions`, {
      method: "POST",
      keepalive: false,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] }),
    });
    const text = await response.text();
    return isOverloaded(response.status, text) ? null : { status: response.status, text };
  });
  return status === 200 ? "ok" : (JSON.parse(text) as { error: { code: string } }).error.code;
}

/** The different answers to many requests. */
async function ask(gateways: readonly GatewayProcess[], key: string): Promise<string[]> {
  const answers = new Set<string>();
  for (const gateway of gateways) for (let sent = 0; sent < 12; sent += 1) answers.add(await chat(gateway, key));
  return [...answers];
}

async function checkTeams(gateways: readonly [GatewayProcess, ...GatewayProcess[]]): Promise<void> {
  const [first] = gateways;
  const last = gateways.at(-1) ?? first;
  await first.manage("POST", "/teams", { name: "research" });
  const created = (await last.manage("POST", "/keys", { name: "a key", team: "research" })) as {
    id: string;
    key: string;
  };
  expect(await ask(gateways, created.key)).toEqual(["ok"]);
  await first.manage("PATCH", "/teams/research", { enabled: false });
  expect(await ask(gateways, created.key)).toEqual(["team_disabled"]);
  await last.manage("PATCH", "/teams/research", { enabled: true, allowed_models: ["openai/*"] });
  expect(await ask(gateways, created.key)).toEqual(["model_not_allowed"]);
  await first.manage("PATCH", `/keys/${created.id}`, { team: null });
  expect(await ask(gateways, created.key)).toEqual(["ok"]);
}

test("a change of a team applies in every process of a gateway once it is answered", async () => {
  const gateway = await startGatewayProcess({ vendor, workers: 2 });
  try {
    await checkTeams([gateway]);
  } finally {
    await gateway.stop();
  }
}, 120_000);

describe.skipIf(whyNoPostgres() !== null)("on PostgreSQL", () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 120_000);
  afterAll(() => server?.stop());

  test("a change of a team applies in every replica once it is answered", async () => {
    const env = { DATABASE_URL: await server.createStore() };
    const first = await startGatewayProcess({ vendor, env });
    try {
      const second = await startGatewayProcess({ vendor, env });
      try {
        await checkTeams([first, second]);
      } finally {
        await second.stop();
      }
    } finally {
      await first.stop();
    }
  }, 120_000);
});
