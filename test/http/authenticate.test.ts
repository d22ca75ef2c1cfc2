// A key that another process created a moment ago: this process has not noticed it yet.

import { afterAll, expect, test } from "bun:test";
import { openKeyring } from "../../src/access/keys.ts";
import { createAuthenticator } from "../../src/http/authenticate.ts";
import { createEngines, makeKey, quiet, withStorage } from "../contracts/engines.ts";

const [sqlite] = createEngines();
afterAll(() => sqlite.stop());

test("all requests of a burst with a new key are accepted, and not only the first of them", async () => {
  const options = await sqlite.createStore();
  await withStorage(options, async (own) => {
    const keyring = await openKeyring({ storage: own, adminKey: null, staleAfterMs: 60_000, log: quiet });
    const { authenticate } = createAuthenticator(keyring);
    await withStorage(options, async (other) => {
      const secret = `sk-sy-${crypto.randomUUID()}`;
      const key = makeKey({ secretHash: Bun.SHA256.hash(secret, "hex") });
      await other.keys.insert(key);
      const callers = await Promise.allSettled(
        Array.from({ length: 20 }, async () => await authenticate(`Bearer ${secret}`, () => "127.0.0.1")),
      );
      expect(callers.map((one) => (one.status === "fulfilled" ? one.value.keyId : one.reason))).toEqual(
        Array.from({ length: 20 }, () => key.id),
      );
    });
    await keyring.close();
  });
});
