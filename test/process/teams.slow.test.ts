// Changes of teams in all serving processes: two of one gateway on SQLite, and two gateways on one PostgreSQL.

import { afterAll, beforeAll, test } from "bun:test";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { isOverloaded } from "../support/gateway-settings.ts";
import { describeOnPostgres } from "../support/on-postgres.ts";
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
  // A change is answered after 100 ms, in which an idle process notices it. A process that waits for a processor may take longer.
  const agree = (answer: string) =>
    waitFor(`${answer} from every process`, async () => (await ask(gateways, created.key)).join() === answer);
  await agree("ok");
  await first.manage("PATCH", "/teams/research", { enabled: false });
  await agree("team_disabled");
  await last.manage("PATCH", "/teams/research", { enabled: true, allowed_models: ["openai/*"] });
  await agree("model_not_allowed");
  await first.manage("PATCH", `/keys/${created.id}`, { team: null });
  await agree("ok");
}

test("a change of a team reaches every process of a gateway", async () => {
  const gateway = await startGatewayProcess({ vendor, workers: 2 });
  try {
    await checkTeams([gateway]);
  } finally {
    await gateway.stop();
  }
}, 300_000);

describeOnPostgres("on PostgreSQL", (createStore) => {
  test("a change of a team reaches every replica", async () => {
    const env = { DATABASE_URL: await createStore() };
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
  }, 300_000);
});
