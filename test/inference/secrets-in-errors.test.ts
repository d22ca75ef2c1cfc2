// Vendors quote keys in their errors, also keys that are not configured here: one of an account behind them, or one that was replaced. None
// of them reaches a caller or the log.

import { beforeEach, expect, test } from "bun:test";
import { answer, event, lastHttpChunk, streamHead } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway({ env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0" } });
const { vendor } = gateway;
const key = await gateway.createKey();
beforeEach(() => vendor.clear());

const secrets = [
  "sk-proj-9aZ81QkPq77LmN",
  "sk-ant-api03-9aZ81QkPq77LmN",
  "pk-lf-9aZ81QkPq77LmN",
  "key-9aZ81QkPq77LmN",
  "gsk_9aZ81QkPq77LmN",
  "xai-9aZ81QkPq77LmN",
  "nvapi-9aZ81QkPq77LmN",
  "hf_9aZ81QkPq77LmN",
  "csk-9aZ81QkPq77LmN",
  "Bearer 9aZ81QkPq77LmN",
  "sk-9aZ8****77LmN",
];

const shapes: Readonly<Record<string, (said: string) => Parameters<typeof vendor.next>[0]>> = {
  "a refusal": (said) => answer(400, { error: { message: said } }),
  "an unknown model": (said) => answer(404, { error: { message: said } }),
  "a failure": (said) => answer(500, said),
  "an error in an answer of status 200": (said) => answer(200, { error: { message: said } }),
};

for (const [shape, script] of Object.entries(shapes))
  test.each(secrets)(`${shape} that quotes %s hides it, and keeps the words around it`, async (secret) => {
    vendor.next(script(`Before it ${secret}, after it.`));
    const text = await (await ask(gateway.url, key, hello)).text();
    expect(text).toContain("Before it [hidden], after it.");
    expect(text).not.toContain("9aZ8");
    expect(gateway.log()).not.toContain("9aZ8");
  });

test("an error event of a stream hides it as well", async () => {
  vendor.next([
    streamHead(),
    event({ error: { message: "It was sk-proj-9aZ81QkPq77LmN, which is wrong." } }),
    lastHttpChunk,
  ]);
  const text = await (await ask(gateway.url, key, { ...hello, stream: true })).text();
  expect(text).toContain("It was [hidden], which is wrong.");
  expect(gateway.log()).not.toContain("9aZ8");
});

test("words that only begin like a key stay", async () => {
  const said = "The key name must be set; see sk-ip or pk-5.";
  vendor.next(answer(400, { error: { message: said } }));
  expect(await (await ask(gateway.url, key, hello)).text()).toContain(said);
});
