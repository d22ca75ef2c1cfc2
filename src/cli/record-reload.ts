// The record of a reload in the audit log. The supervisor holds no connection to the store, so it opens one for the record.

import { createAudit } from "../access/audit.ts";
import { commandActor } from "../access/roles.ts";
import { type Config, storageSettings } from "../config.ts";
import type { ServedConfiguration } from "../contract/health.ts";
import { shorten } from "../errors.ts";
import type { Log } from "../log.ts";
import { openStorage } from "../storage/storage.ts";
import type { ReloadOutcome } from "../supervisor.ts";

const maxReasonLength = 500;

/** Written after the reload. If the store does not answer, the log has the outcome all the same. */
export async function recordReload(
  config: Config,
  { before, outcome, at, log }: { before: ServedConfiguration; outcome: ReloadOutcome; at: number; log: Log },
): Promise<void> {
  const { reloaded, reason, configuration } = outcome;
  const target = { kind: "configuration", id: null, name: configuration.file, team: null };
  const event = { action: "configuration.reload", target, before, at };
  try {
    const storage = await openStorage({ ...storageSettings(config), encryptionKey: undefined, log });
    try {
      const actor = commandActor();
      if (reloaded) await createAudit(storage.audit, log).record(actor, { ...event, after: configuration });
      else {
        const code = shorten(reason ?? "", maxReasonLength);
        await createAudit(storage.audit, log).record(actor, { ...event, outcome: "failed", code });
      }
    } finally {
      await storage.close();
    }
  } catch (error) {
    log.error("a reload could not be recorded in the audit log", { error });
  }
}
