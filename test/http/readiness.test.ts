// GET /readyz: what a load balancer, the public and an operator learn.

import { expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { testGateway } from "../support/test-gateway.ts";

interface Readiness {
  readonly status: string;
  readonly degraded: readonly { readonly component: string; readonly name?: string; readonly reason?: string }[];
}

test("an open circuit is degraded: the public learns that much, an operator which provider and why", async () => {
  const env = { SWITCHYARD_BREAKER_FAILURES: "2", SWITCHYARD_RETRIES: "0" };
  await using gateway = await testGateway({ env, behaviour: answer(500, { error: { message: "boom" } }) });
  const key = await gateway.createKey();
  const read = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization: `Bearer ${authorization}` };
    const response = await fetch(`${gateway.url}/readyz?verbose`, { headers });
    return { status: response.status, body: (await response.json()) as Readiness };
  };
  expect((await read(gateway.adminKey)).body).toEqual({ status: "ok", degraded: [] });
  for (let call = 0; call < 3; call += 1) await (await ask(gateway.url, key, hello)).text();
  const details = { component: "provider", name: "mock", reason: expect.stringContaining("echo") };
  expect(await read(gateway.adminKey)).toEqual({ status: 200, body: { status: "degraded", degraded: [details] } });
  await gateway.manage("POST", "/teams", { name: "research" });
  const limited = { name: "of a team", kind: "management", team: "research" };
  const { key: ofTeam } = (await gateway.manage("POST", "/keys", limited)) as { key: string };
  for (const caller of [undefined, key, ofTeam])
    expect(await read(caller)).toEqual({
      status: 200,
      body: { status: "degraded", degraded: [{ component: "provider" }] },
    });
  expect((await read("mgmt-sy-wrong-wrong-wrong")).status).toBe(401);
});
