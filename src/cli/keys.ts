// `switchyard keys create|list|revoke|rotate`: on the store itself, so it works beside a running gateway and without one.

import { parseArgs } from "node:util";
import { type Keyring, openKeyring } from "../access/keys.ts";
import {
  createKeyRequest,
  type KeyObject,
  keyKinds,
  keyPath,
  listKeysQuery,
  rotateKeyRequest,
} from "../contract/keys.ts";
import { parse } from "../contract/problems.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import { createLog } from "../log.ts";
import type { Storage } from "../storage/storage.ts";

export interface KeysContext {
  openStorage(): Promise<Storage>;
  print(line: string): void;
  /** Messages for people, kept apart from what `--json` prints. */
  printError?(line: string): void;
}

export const keysUsage = `Usage:
  switchyard keys create --name <name> [options]
      --kind inference|management|sandbox   default: inference
      --owner <text>
      --scope chat|responses|universal|embeddings   repeat for several; default: all
      --model <pattern>                     allowed models, such as openai/*; repeat for several; default: all
      --expires <ISO 8601 time, or days such as 90d>
      --budget <US dollars> [--period none|daily|weekly|monthly]
      --requests-per-second <n> --requests-per-minute <n> --tokens-per-minute <n>
      --tag <name>=<value>                  repeat for several
  switchyard keys list [--kind <kind>] [--owner <text>] [--enabled true|false] [--page <n>] [--limit <n>]
  switchyard keys revoke <key id>
  switchyard keys rotate <key id> [--grace-seconds <n>]
Every command takes --json.`;

class UsageError extends Error {}

interface Command {
  readonly options: Readonly<Record<string, { readonly type: "string" | "boolean"; readonly multiple?: boolean }>>;
  readonly takesKeyId: boolean;
  /** Checks everything before the store is opened; what it returns does the work. */
  readonly prepare: (input: Input) => (keyring: Keyring) => Promise<Output>;
}

interface Input {
  readonly keyId: string;
  text(name: string): string | undefined;
  list(name: string): readonly string[] | undefined;
}

interface Output {
  readonly json: unknown;
  readonly lines: readonly string[];
}

const text = { type: "string" } as const;
const texts = { type: "string", multiple: true } as const;

const commands: Readonly<Record<string, Command>> = {
  create: {
    takesKeyId: false,
    options: {
      ...{ name: text, kind: text, owner: text, scope: texts, model: texts, expires: text, tag: texts },
      ...{ budget: text, period: text },
      ...{ "requests-per-second": text, "requests-per-minute": text, "tokens-per-minute": text },
    },
    prepare: (input) => {
      const request = parse(createKeyRequest, toCreateRequest(input));
      return async (keyring) => {
        const made = await keyring.create(request);
        return { json: made, lines: [`${made.key}`, `id ${made.id}. The key is shown this once.`] };
      };
    },
  },

  list: {
    takesKeyId: false,
    options: { kind: text, owner: text, enabled: text, page: text, limit: text },
    prepare: (input) => {
      const names = ["kind", "owner", "enabled", "page", "limit"];
      const given = names.flatMap((name) => (input.text(name) === undefined ? [] : [[name, input.text(name)]]));
      const { kind, owner, enabled, page, limit } = parse(listKeysQuery, Object.fromEntries(given));
      return async (keyring) => {
        const found = await keyring.list({
          kind: kind ?? null,
          owner: owner ?? null,
          enabled: enabled === undefined ? null : enabled === "true",
          page,
          limit,
        });
        const json = { ...found, page, limit, total_pages: Math.ceil(found.total / limit) };
        return { json, lines: toTable(found.items) };
      };
    },
  },

  revoke: {
    takesKeyId: true,
    options: {},
    prepare:
      ({ keyId }) =>
      async (keyring) => {
        await keyring.revoke(keyId);
        return { json: { id: keyId, deleted: true }, lines: [`Key ${keyId} is revoked.`] };
      },
  },

  rotate: {
    takesKeyId: true,
    options: { "grace-seconds": text },
    prepare: (input) => {
      const grace = toNumber(input, "grace-seconds");
      const request = parse(rotateKeyRequest, grace === undefined ? {} : { grace_seconds: grace });
      return async (keyring) => {
        const made = await keyring.rotate(input.keyId, request.grace_seconds);
        return { json: made, lines: [made.key, `id ${made.id}. The key is shown this once.`] };
      };
    },
  },
};

/** The exit code: 0 done, 1 it could not be done, 2 the command was not understood. */
export async function runKeysCommand(args: string[], context: KeysContext): Promise<number> {
  const printError = context.printError ?? ((line) => process.stderr.write(`${line}\n`));
  const [verb = "", ...rest] = args;
  if (verb === "--help" || verb === "-h" || rest.includes("--help")) {
    context.print(keysUsage);
    return 0;
  }
  try {
    const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
    if (command === undefined) throw new UsageError(verb === "" ? "Say what to do." : `Unknown command "${verb}".`);
    const { input, isJson } = readArguments(command, rest);
    const work = command.prepare(input);
    const output = await withKeyring(context, work);
    if (isJson) context.print(JSON.stringify(output.json, null, 2));
    else for (const line of output.lines) context.print(line);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      printError(`${error.message}\n\n${keysUsage}`);
      return 2;
    }
    if (error instanceof ValidationError) {
      for (const { loc, msg } of error.problems) printError(`${loc.slice(1).join(".")}: ${msg}`);
      return 2;
    }
    if (!(error instanceof GatewayError)) throw error;
    printError(error.message);
    return 1;
  }
}

async function withKeyring(context: KeysContext, work: (keyring: Keyring) => Promise<Output>): Promise<Output> {
  const storage = await context.openStorage();
  try {
    const log = createLog({
      level: "error",
      format: "text",
      secrets: [],
      write: (lines) => process.stderr.write(lines),
    });
    const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 60_000, log });
    try {
      return await work(keyring);
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

function readArguments(command: Command, args: string[]): { input: Input; isJson: boolean } {
  const options = { ...command.options, json: { type: "boolean" } as const };
  const { values, positionals } = parseOrExplain(args, options);
  const keyId = positionals[0] ?? "";
  if (positionals.length > (command.takesKeyId ? 1 : 0)) throw new UsageError(`Too many words: ${positionals.at(-1)}`);
  if (command.takesKeyId) {
    if (keyId === "") throw new UsageError("Name the key by its id (see: switchyard keys list).");
    parse(keyPath, { key_id: keyId }, "path");
  }
  const input: Input = {
    keyId: keyId.toLowerCase(),
    text: (name) => values[name] as string | undefined,
    list: (name) => values[name] as string[] | undefined,
  };
  return { input, isJson: values["json"] === true };
}

function parseOrExplain(args: string[], options: Command["options"]) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function toCreateRequest(input: Input): unknown {
  const rates = {
    requests_per_second: toNumber(input, "requests-per-second") ?? null,
    requests_per_minute: toNumber(input, "requests-per-minute") ?? null,
    tokens_per_minute: toNumber(input, "tokens-per-minute") ?? null,
  };
  const amount = toNumber(input, "budget");
  const period = input.text("period");
  if (amount === undefined && period !== undefined) throw new UsageError("--period needs --budget.");
  const name = input.text("name");
  if (name === undefined) throw new UsageError("--name is needed.");
  return {
    name,
    kind: input.text("kind") ?? keyKinds[0],
    owner: input.text("owner") ?? null,
    ...(input.list("scope") === undefined ? {} : { scopes: input.list("scope") }),
    allowed_models: input.list("model") ?? null,
    expires_at: toTime(input.text("expires")),
    budget: amount === undefined ? null : { amount, ...(period === undefined ? {} : { period }) },
    rate_limit: Object.values(rates).every((rate) => rate === null) ? null : rates,
    tags: Object.fromEntries((input.list("tag") ?? []).map(toPair)),
  };
}

function toNumber(input: Input, name: string): number | undefined {
  const given = input.text(name);
  if (given === undefined) return undefined;
  const value = Number(given);
  if (given.trim() === "" || !Number.isFinite(value)) throw new UsageError(`--${name} takes a number, not "${given}".`);
  return value;
}

function toTime(given: string | undefined): string | null {
  if (given === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(given)?.[1];
  return days === undefined ? given : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
}

function toPair(given: string): [string, string] {
  const equals = given.indexOf("=");
  if (equals < 1) throw new UsageError(`--tag takes name=value, not "${given}".`);
  return [given.slice(0, equals), given.slice(equals + 1)];
}

function toTable(keys: readonly KeyObject[]): string[] {
  const rows = keys.map((key) => [
    key.id,
    key.kind,
    key.masked,
    toState(key),
    key.last_used_at ?? "never used",
    key.name,
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
}

function toState(key: KeyObject): string {
  if (key.revoked_at !== null) return "revoked";
  if (!key.enabled) return "disabled";
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? "expired" : "active";
}
