// A secret store in memory, for webhook keys.

import type { WebhookKeyOptions } from "../../src/jobs/webhook-keys.ts";

export interface MemorySecrets {
  readonly store: WebhookKeyOptions["secrets"];
  readonly reads: () => number;
  readonly text: () => string;
  /** Takes over what another one holds. */
  readonly copy: (other: MemorySecrets) => void;
  isAway: boolean;
}

export function createMemorySecrets(): MemorySecrets {
  let kept: Uint8Array | null = null;
  let reads = 0;
  const secrets: MemorySecrets = {
    isAway: false,
    reads: () => reads,
    text: () => new TextDecoder().decode(kept ?? new Uint8Array()),
    copy: (other) => {
      kept = new TextEncoder().encode(other.text());
    },
    store: {
      async find() {
        await reach();
        reads += 1;
        return kept;
      },
      async createOnce(_name, bytes) {
        await reach();
        kept ??= bytes;
        return kept;
      },
      async replace(_name, old, next) {
        await reach();
        if (kept === null || Buffer.compare(kept, old) !== 0) return false;
        kept = next;
        return true;
      },
    },
  };
  async function reach(): Promise<void> {
    await Promise.resolve();
    if (secrets.isAway) throw new Error("the store is away");
  }
  return secrets;
}
