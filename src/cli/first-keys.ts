// The keys of the very first start: printed to a terminal, and otherwise written to files that only this user can read. Other outputs
// end up in log collectors and build servers.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findGroup, stateOf } from "../engines/local/groups.ts";

interface Keys {
  readonly inference: string;
  /** Null: SWITCHYARD_ADMIN_KEY sets it. */
  readonly management: string | null;
}

/** `stored`: the paths of the files that hold the keys. */
export type FirstKeys = { readonly shown: Keys } | { readonly stored: Keys };

export function hasTerminal(): boolean {
  return process.stdout.isTTY === true;
}

export function storeKeys(keys: Keys, dataDir: string): Keys {
  const folder = join(dataDir, "first-keys");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return {
      inference: storeKey(join(folder, "inference.key"), keys.inference),
      management: keys.management === null ? null : storeKey(join(folder, "management.key"), keys.management),
    };
  } catch (cause) {
    throw new Error(
      `The keys of the first start could not be written to ${folder}. Make the folder writable, then create keys with: npx switchyard-gateway keys create --name first --kind management`,
      { cause },
    );
  }
}

/** The file gets its name once it is complete and private. */
function storeKey(path: string, key: string): string {
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, `${key}\n`, { mode: 0o600 });
  renameSync(unfinished, path);
  return path;
}

export function describeKeys(keys: FirstKeys): string {
  const isShown = "shown" in keys;
  const { inference, management } = isShown ? keys.shown : keys.stored;
  const describe = (key: string) => (isShown ? key : `in the file ${key}`);
  const note = isShown ? "Store them now: they are not shown again." : "Store them elsewhere, then delete the files.";
  return `
  inference key    ${describe(inference)}
  management key   ${management === null ? "as set by SWITCHYARD_ADMIN_KEY" : describe(management)}

  ${note} \`npx switchyard-gateway keys create --name <text>\` creates more keys.

`;
}

/** Where things are, one line each. */
export function describeStart(found: {
  readonly docs?: string;
  readonly dashboard?: string;
  readonly config_file: string | null;
  readonly data_dir: string;
  readonly providers: readonly string[];
}): string {
  const none = "none; set a key such as OPENAI_API_KEY (docs/providers.md)";
  const rows = [
    ["docs", found.docs],
    ["dashboard", found.dashboard],
    ["configuration", found.config_file ?? "environment only; there is no switchyard.yaml"],
    ["data folder", found.data_dir],
    ["providers", found.providers.length === 0 ? none : found.providers.join(", ")],
  ];
  const lines = rows.flatMap(([name = "", value]) => (value === undefined ? [] : [`  ${name.padEnd(16)} ${value}\n`]));
  return `\n${lines.join("")}`;
}

/** A command to paste into a shell. */
export function introduce(address: string, keys: FirstKeys, hasSandbox: boolean): string {
  if (!hasSandbox) return "";
  const key = "shown" in keys ? keys.shown.inference : `$(cat ${quote(keys.stored.inference)})`;
  return `
Try it without a vendor account:

curl ${address}/v3/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'

`;
}

/** The engine that most newcomers miss. It is not part of the plain install, because of its size and because it needs Python. */
export function suggestEngines(): string {
  const group = findGroup("ocr");
  if (group === null || stateOf(group) !== "absent") return "";
  return `
Text in pictures and scans is recognised better, and in fifty languages, by an engine that is installed separately (80 MB; the command needs Python 3 with pip):

npx switchyard-gateway engines add ocr

`;
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
