// The store of a test, which waits longer for each operation than a gateway does: the machine may be busy.

import { createLog } from "../../src/log.ts";
import { openStorage } from "../../src/storage/storage.ts";
import type { Storage, StorageOptions } from "../../src/storage/stores.ts";

const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });

type Options = Partial<StorageOptions> & Pick<StorageOptions, "dataDir">;

/** SQLite in `dataDir`, unless the options say otherwise. */
export function openTestStorage(options: Options): Promise<Storage> {
  return openStorage({ databaseUrl: null, log, deadlineMs: 60_000, ...options });
}

/** For commands: `openStorage` opens the store each time that a command needs it, and `timesOpened` tells how often that was. */
export function countOpenings(options: Options) {
  let opened = 0;
  const openStorage = () => {
    opened += 1;
    return openTestStorage(options);
  };
  return { openStorage, timesOpened: () => opened };
}
