// Checks of the data folder and the store.

import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { findNetworkFileSystem, inspectStore, listSharedFiles, type StoreState } from "../../storage/storage.ts";
import { type Finding, report } from "./finding.ts";

/** The oldest version of PostgreSQL that its developers still maintain. */
const oldestPostgres = 14;

export function checkDataDir({ dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">): Finding[] {
  const { ok, warning, problem, note } = report("data folder");
  const remedy = `Give this user the folder (\`chown\`), or name another one with SWITCHYARD_DATA_DIR or --data-dir.`;
  if (!existsSync(dataDir)) {
    const parent = existingParent(dataDir);
    return canWrite(parent)
      ? [note(`${dataDir} does not exist.`, "The first start creates it.")]
      : [problem(`${dataDir} does not exist, and this user may not create it in ${parent}.`, remedy)];
  }
  if (!statSync(dataDir).isDirectory()) return [problem(`${dataDir} is not a folder.`, remedy)];
  if (!canWrite(dataDir)) return [problem(`This user may not write to ${dataDir}.`, remedy)];
  const findings: Finding[] = [];
  if ((statSync(dataDir).mode & 0o077) !== 0)
    findings.push(warning(`Other users of this machine may read ${dataDir}.`, `Run: chmod 700 ${dataDir}`));
  const shared = listSharedFiles(dataDir);
  if (shared.length > 0)
    findings.push(
      warning(
        `Other users of this machine may read ${shared.join(", ")}, which may contain private keys.`,
        `Run: chmod 600 ${shared.join(" ")}`,
      ),
    );
  const network = databaseUrl === null ? findNetworkFileSystem(statfsSync(dataDir).type) : null;
  if (network !== null)
    findings.push(
      warning(
        `${dataDir} is on ${network}, where SQLite can lose data.`,
        "Use a local disk, or PostgreSQL (DATABASE_URL).",
      ),
    );
  const keys = join(dataDir, "first-keys");
  if (existsSync(keys))
    findings.push(
      note(`${keys} still holds the keys of the first start.`, "Store them elsewhere, then delete the folder."),
    );
  return findings.length > 0 ? findings : [ok(dataDir)];
}

/** Null: there is no store, or it could not be read. */
export async function checkStore(
  config: Pick<Config, "dataDir" | "databaseUrl">,
): Promise<{ readonly finding: Finding; readonly state: StoreState | null }> {
  const { ok, note, warning, problem } = report("database");
  try {
    const state = await inspectStore(config.dataDir, config.databaseUrl);
    if (state === null)
      return { state, finding: note("There is no store yet.", "The first start of the gateway creates it.") };
    const { database, applied, pending } = state;
    if (state.problem !== null) return { state, finding: problem(`${database}: ${state.problem}`, remedyOf(state)) };
    const [, major] = /^PostgreSQL (\d+)/.exec(database) ?? [];
    if (major !== undefined && Number(major) < oldestPostgres)
      return {
        state,
        finding: warning(`${database} is no longer maintained.`, `Upgrade to PostgreSQL ${oldestPostgres} or later.`),
      };
    if (pending > 0)
      return {
        state,
        finding: note(
          `${database}: ${pending} migrations are not applied.`,
          "The next start applies them; make a backup first.",
        ),
      };
    return { state, finding: ok(`${database}, ${applied} migrations, up to date.`) };
  } catch (error) {
    const remedy =
      config.databaseUrl === null
        ? "Check the permissions of the file, or restore a backup."
        : "Check that the server runs, and that DATABASE_URL names its host, user, password and database.";
    return { state: null, finding: problem(messageOf(error), remedy) };
  }
}

function remedyOf({ problem }: StoreState): string {
  return problem?.startsWith("The file is damaged") === true
    ? "Stop the gateway and restore a backup."
    : "Install the version of Switchyard that last used the store, or a newer one.";
}

function existingParent(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : existingParent(parent);
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
