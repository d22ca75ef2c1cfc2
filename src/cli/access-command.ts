// What the commands about keys and teams share. They work on the database, beside a running gateway and without one.

import { type AccessDefaults, type Keyring, openKeyring } from "../access/keys.ts";
import { commandActor } from "../access/roles.ts";
import { createTeams, type Teams } from "../access/teams.ts";
import type { Storage } from "../storage/storage.ts";
import { type Output, printResult, type Result } from "./command-line.ts";
import { createCommandLog } from "./command-log.ts";

export interface AccessContext extends Output {
  openStorage(): Promise<Storage>;
  /** The limits of new keys and teams. */
  readDefaults?(): AccessDefaults;
}

export interface Access {
  readonly keyring: Keyring;
  readonly teams: Teams;
}

/** Opens the store, does the work, and prints its result. */
export async function perform(
  context: AccessContext,
  work: (access: Access) => Promise<Result>,
  isJson = false,
): Promise<void> {
  printResult(context, isJson, await withAccess(context, work));
}

async function withAccess(context: AccessContext, work: (access: Access) => Promise<Result>): Promise<Result> {
  const defaults = context.readDefaults?.();
  const storage = await context.openStorage();
  try {
    const log = createCommandLog(null, "error");
    const settings = { actor: commandActor(), ...(defaults === undefined ? {} : { defaults }) };
    const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 60_000, log, ...settings });
    try {
      return await work({ keyring, teams: createTeams({ storage, keyring, ...settings }) });
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

/** The columns but the last have the width of their widest cell. */
export function toTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** One member per line, for people. */
export function toMemberLines(object: object): string[] {
  const rows = Object.entries(object).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return toTable(rows);
}
