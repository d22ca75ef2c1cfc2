// The thread of `backUpDatabase`: SQLite copies the database in one call, which blocks.

import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, fsyncSync, openSync } from "node:fs";
import type { BackupRequest } from "./backup.ts";
import { packError } from "./sqlite-messages.ts";

declare const self: Worker;

self.onmessage = ({ data: { from, to } }: MessageEvent<BackupRequest>) => {
  try {
    copy(from, to);
    self.postMessage(null);
  } catch (error) {
    self.postMessage(packError(error));
  }
};

function copy(from: string, to: string): void {
  const source = new SqliteFile(from, { readonly: true });
  try {
    source.run("pragma busy_timeout = 5000");
    source.run("vacuum into ?", [to]);
  } finally {
    source.close();
  }
  // SQLite does not sync the copy to the disk.
  const file = openSync(to, "r+");
  fsyncSync(file);
  closeSync(file);
}
