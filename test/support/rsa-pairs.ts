// RSA pairs for tests. To generate one takes a third of a second on average, and seconds on a busy machine.

import { createPrivateKey, createPublicKey } from "node:crypto";
import type { KeyPair } from "../../src/jobs/webhook-keys.ts";
import keys from "./rsa-keys.json";

let taken = 0;

/** Another pair than the last seven calls. */
export async function takeRsaPair(): Promise<KeyPair> {
  const privateKey = createPrivateKey(keys[taken % keys.length] ?? "");
  taken += 1;
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
