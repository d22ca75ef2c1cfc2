// `switchyard keys create|list|revoke|rotate`: on the store itself, so it works beside a running gateway and without one.

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
import { type CommandSpec, type Input, runInGroup, toOutput, UsageError } from "./command-line.ts";

export interface KeysContext {
  openStorage(): Promise<Storage>;
  print(line: string): void;
  /** Messages for people, kept apart from what `--json` prints. */
  printError?(line: string): void;
}

interface Command {
  readonly spec: CommandSpec;
  /** Checks everything before the store is opened; what it returns does the work. */
  readonly prepare: (input: Input) => (keyring: Keyring) => Promise<Result>;
}

interface Result {
  readonly json: unknown;
  readonly lines: readonly string[];
}

const json = { json: { meaning: "prints JSON" } };
const keyId = { shown: "<key id>", least: 1, most: 1, hint: " (see: switchyard keys list)" };

const commands: Readonly<Record<string, Command>> = {
  create: {
    spec: {
      name: "keys create",
      summary: "Creates a key and prints it this once.",
      options: {
        name: { takes: "<name>", meaning: "needed: what the key is for" },
        kind: { takes: "<kind>", meaning: "inference, management or sandbox; default: inference" },
        owner: { takes: "<text>", meaning: "a person or team" },
        scope: {
          takes: "<scope>",
          meaning: "chat, responses, universal or embeddings; repeat for several; default: all",
          multiple: true,
        },
        model: {
          takes: "<pattern>",
          meaning: "an allowed model, such as openai/*; repeat for several; default: all",
          multiple: true,
        },
        expires: { takes: "<time>", meaning: "ISO 8601, or days such as 90d" },
        budget: { takes: "<amount>", meaning: "US dollars; only 0, which refuses every request, is enforced yet" },
        period: { takes: "<period>", meaning: "of the budget: none, daily, weekly or monthly" },
        "requests-per-second": { takes: "<n>", meaning: "rate limit" },
        "requests-per-minute": { takes: "<n>", meaning: "rate limit" },
        "tokens-per-minute": { takes: "<n>", meaning: "not enforced yet, and refused" },
        tag: { takes: "<name>=<value>", meaning: "repeat for several", multiple: true },
        ...json,
      },
      example: "npx switchyard keys create --name ci --scope chat --expires 90d",
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
    spec: {
      name: "keys list",
      summary: "Lists keys without their secrets.",
      options: {
        kind: { takes: "<kind>", meaning: "inference, management or sandbox" },
        owner: { takes: "<text>", meaning: "keys of this owner" },
        enabled: { takes: "true|false", meaning: "enabled or disabled keys" },
        page: { takes: "<n>", meaning: "default: 1" },
        limit: { takes: "<n>", meaning: "keys per page" },
        ...json,
      },
      example: "npx switchyard keys list --kind inference",
    },
    prepare: (input) => {
      const names = ["kind", "owner", "enabled", "page", "limit"];
      const given = names.flatMap((name) => (input.text(name) === undefined ? [] : [[name, input.text(name)]]));
      const { kind, owner, enabled, page, limit } = parse(listKeysQuery, Object.fromEntries(given));
      return async (keyring) => {
        const found = await keyring.list({
          kind: kind ?? null,
          owner: owner ?? null,
          enabled: enabled ?? null,
          page,
          limit,
        });
        const json = { ...found, page, limit, total_pages: Math.ceil(found.total / limit) };
        return { json, lines: toTable(found.items) };
      };
    },
  },

  revoke: {
    spec: {
      name: "keys revoke",
      summary: "Revokes a key for good.",
      words: keyId,
      options: json,
      example: "npx switchyard keys revoke 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11",
    },
    prepare: (input) => {
      const id = readKeyId(input);
      return async (keyring) => {
        await keyring.revoke(id);
        return { json: { id, deleted: true }, lines: [`Key ${id} is revoked.`] };
      };
    },
  },

  rotate: {
    spec: {
      name: "keys rotate",
      summary: "Gives a key a new secret and prints it this once.",
      words: keyId,
      options: {
        "grace-seconds": { takes: "<n>", meaning: "how long the old secret still works; default: 0" },
        ...json,
      },
      example: "npx switchyard keys rotate 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11 --grace-seconds 3600",
    },
    prepare: (input) => {
      const id = readKeyId(input);
      const grace = toNumber(input, "grace-seconds");
      const request = parse(rotateKeyRequest, grace === undefined ? {} : { grace_seconds: grace });
      return async (keyring) => {
        const made = await keyring.rotate(id, request.grace_seconds);
        return { json: made, lines: [made.key, `id ${made.id}. The key is shown this once.`] };
      };
    },
  },
};

/** The exit code: 0 done, 1 it could not be done, 2 the command was not understood. */
export async function runKeysCommand(args: string[], context: KeysContext): Promise<number> {
  const output = toOutput(context);
  return await runInGroup("keys", commands, args, output, async (command, input) => {
    try {
      const { json, lines } = await withKeyring(context, command.prepare(input));
      if (input.has("json")) context.print(JSON.stringify(json, null, 2));
      else for (const line of lines) context.print(line);
      return 0;
    } catch (error) {
      if (error instanceof ValidationError) {
        for (const { loc, msg } of error.problems) output.printError(`${loc.slice(1).join(".")}: ${msg}`);
        return 2;
      }
      if (!(error instanceof GatewayError)) throw error;
      output.printError(error.message);
      return 1;
    }
  });
}

async function withKeyring(context: KeysContext, work: (keyring: Keyring) => Promise<Result>): Promise<Result> {
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

function readKeyId({ words: [id = ""] }: Input): string {
  parse(keyPath, { key_id: id }, "path");
  return id.toLowerCase();
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
    ...(input.list("scope").length === 0 ? {} : { scopes: input.list("scope") }),
    allowed_models: input.list("model").length === 0 ? null : input.list("model"),
    expires_at: toTime(input.text("expires")),
    budget: amount === undefined ? null : { amount, ...(period === undefined ? {} : { period }) },
    rate_limit: Object.values(rates).every((rate) => rate === null) ? null : rates,
    tags: Object.fromEntries(input.list("tag").map(toPair)),
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
