// Each process has circuits of its own. The list of providers counts the open ones of all processes, whichever of them answers, and a role of a
// team is told that the provider is not healthy; and the settings say how many processes there are.

import { expect, test } from "bun:test";
import type { ProviderStates } from "../../src/contract/providers.ts";
import type { SettingsInForce } from "../../src/contract/settings.ts";
import { answer } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

test("an open circuit of one process is counted by all", async () => {
  const vendor = await startVendor(answer(500, { error: { message: "down" } }));
  const gateway = await startGatewayProcess({
    vendor,
    workers: 2,
    env: { SWITCHYARD_BREAKER_FAILURES: "1", SWITCHYARD_BREAKER_OPEN_MS: "3600000", SWITCHYARD_RETRIES: "0" },
  });
  try {
    await ask(gateway.url, await gateway.createKey(), { ...hello, model: "mock/down" });
    await gateway.manage("POST", "/teams", { name: "blue" });
    const viewer = { name: "viewer", kind: "management", role: "viewer", team: "blue" };
    const ofTeam = (await gateway.manage("POST", "/keys", viewer)) as { key: string };
    for (const [key, open] of [
      [gateway.adminKey, 1],
      [ofTeam.key, null],
    ] as const) {
      const seen = new Map<number, readonly [healthy: boolean | null, open: number | null]>();
      await waitFor("an answer of each process", async () => {
        const response = await fetch(`${gateway.url}/v3/manage/providers`, {
          headers: { authorization: `Bearer ${key}`, connection: "close" },
        });
        const { process, items } = (await response.json()) as ProviderStates;
        const mock = items.find(({ name }) => name === "mock");
        seen.set(process, [mock?.healthy ?? null, mock?.open_circuits ?? null]);
        return seen.size === 2 ? true : null;
      });
      expect([...seen.values()]).toEqual([
        [false, open],
        [false, open],
      ]);
    }
    const settings = (await gateway.manage("GET", "/settings")) as SettingsInForce;
    expect(settings.configuration).toMatchObject({ number: 1, serving_processes: 2, file: settings.file });
    expect(settings.settings.find(({ name }) => name === "breaker_failures")?.source.kind).toBe("environment");
  } finally {
    await gateway.stop();
    await vendor.stop();
  }
});
