// `switchyard keys create|list|revoke|rotate`. They work on the database, beside a running gateway and without one.

import type { Command } from "commander";
import { type Keyring, openKeyring } from "../access/keys.ts";
import {
  createKeyRequest,
  type KeyObject,
  keyKinds,
  keyPath,
  listKeysQuery,
  rotateKeyRequest,
} from "../contract/keys.ts";
import { toOffset } from "../contract/paging.ts";
import { parse } from "../contract/problems.ts";
import { createLog } from "../log.ts";
import type { Storage } from "../storage/storage.ts";
import { collect, createCommand, type Output, toNumber, UsageError } from "./command-line.ts";

export interface KeysContext extends Output {
  openStorage(): Promise<Storage>;
}

interface Result {
  readonly json: unknown;
  readonly lines: readonly string[];
}

/** Every command checks its arguments before it opens the store. */
export function createKeysCommand(context: KeysContext): Command {
  const group = createCommand("keys", "Create, list, revoke and rotate keys.", context);
  const perform = async (work: (keyring: Keyring) => Promise<Result>, isJson = false) => {
    const { json, lines } = await withKeyring(context, work);
    if (isJson) context.print(JSON.stringify(json, null, 2));
    else for (const line of lines) context.print(line);
  };

  group
    .command("create")
    .description("Create a key and print it. The key cannot be shown again.")
    .option("--name <name>", "purpose of the key; required")
    .option("--kind <kind>", "inference, management or sandbox; default: inference")
    .option("--owner <text>", "a person or team")
    .option("--scope <scope>", "chat, responses, universal or embeddings; repeatable; default: all", collect)
    .option("--model <pattern>", "an allowed model, such as openai/*; repeatable; default: all", collect)
    .option("--expires <time>", "ISO 8601, or days such as 90d")
    .option("--budget <amount>", "US dollars; only 0, which refuses every request, is enforced yet", toNumber)
    .option("--period <period>", "period of the budget: none, daily, weekly or monthly")
    .option("--requests-per-second <n>", "rate limit", toNumber)
    .option("--requests-per-minute <n>", "rate limit", toNumber)
    .option("--tokens-per-minute <n>", "refused, because it is not enforced yet", toNumber)
    .option("--tag <name=value>", "repeatable", collect)
    .option("--json", "print JSON")
    .action(async (options: CreateOptions) => {
      const request = parse(createKeyRequest, toCreateRequest(options));
      await perform(async (keyring) => toResult(await keyring.create(request)), options.json);
    })
    .addHelpText("after", "\nExample: npx switchyard keys create --name ci --scope chat --expires 90d");

  group
    .command("list")
    .description("List keys without their secrets.")
    .option("--kind <kind>", "inference, management or sandbox")
    .option("--owner <text>", "keys of this owner")
    .option("--enabled <true|false>", "enabled or disabled keys")
    .option("--page <n>", "default: 1")
    .option("--limit <n>", "keys per page")
    .option("--json", "print JSON")
    .action(async ({ json: isJson, ...query }: { json?: true }) => {
      const { kind = null, owner = null, team = owner, enabled = null, page, limit } = parse(listKeysQuery, query);
      await perform(async (keyring) => {
        const found = await keyring.list({ kind, team, enabled, limit, offset: toOffset({ page, limit }) });
        const json = { ...found, page, limit, total_pages: Math.ceil(found.total / limit) };
        return { json, lines: toTable(found.items) };
      }, isJson);
    })
    .addHelpText("after", "\nExample: npx switchyard keys list --kind inference");

  group
    .command("revoke")
    .description("Revoke a key. This cannot be undone.")
    .argument("<key id>", "as `switchyard keys list` prints it")
    .option("--json", "print JSON")
    .action(async (given: string, options: { json?: true }) => {
      const id = readKeyId(given);
      await perform(async (keyring) => {
        await keyring.revoke(id);
        return { json: { id, deleted: true }, lines: [`Key ${id} is revoked.`] };
      }, options.json);
    })
    .addHelpText("after", "\nExample: npx switchyard keys revoke 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11");

  group
    .command("rotate")
    .description("Give a key a new secret and print it. The secret cannot be shown again.")
    .argument("<key id>", "as `switchyard keys list` prints it")
    .option("--grace-seconds <n>", "seconds for which the old secret still works; default: 0", toNumber)
    .option("--json", "print JSON")
    .action(async (given: string, { graceSeconds, json }: { graceSeconds?: number; json?: true }) => {
      const id = readKeyId(given);
      const request = parse(rotateKeyRequest, graceSeconds === undefined ? {} : { grace_seconds: graceSeconds });
      await perform(async (keyring) => toResult(await keyring.rotate(id, request.grace_seconds)), json);
    })
    .addHelpText(
      "after",
      "\nExample: npx switchyard keys rotate 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11 --grace-seconds 3600",
    );

  return group;
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

function toResult(made: { readonly id: string; readonly key: string }): Result {
  return { json: made, lines: [made.key, `id ${made.id}. Store the key now: it cannot be shown again.`] };
}

function readKeyId(given: string): string {
  parse(keyPath, { key_id: given }, "path");
  return given.toLowerCase();
}

interface CreateOptions {
  readonly name?: string;
  readonly kind?: string;
  readonly owner?: string;
  readonly scope?: readonly string[];
  readonly model?: readonly string[];
  readonly expires?: string;
  readonly budget?: number;
  readonly period?: string;
  readonly requestsPerSecond?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly tag?: readonly string[];
  readonly json?: true;
}

function toCreateRequest(options: CreateOptions): unknown {
  const { name, kind = keyKinds[0], owner = null, scope, model = null, expires, budget, period, tag = [] } = options;
  if (name === undefined) throw new UsageError("--name is required.");
  if (budget === undefined && period !== undefined) throw new UsageError("--period needs --budget.");
  const rates = {
    requests_per_second: options.requestsPerSecond ?? null,
    requests_per_minute: options.requestsPerMinute ?? null,
    tokens_per_minute: options.tokensPerMinute ?? null,
  };
  return {
    name,
    kind,
    owner,
    ...(scope === undefined ? {} : { scopes: scope }),
    allowed_models: model,
    expires_at: toTime(expires),
    budget: budget === undefined ? null : { amount: budget, ...(period === undefined ? {} : { period }) },
    rate_limit: Object.values(rates).every((rate) => rate === null) ? null : rates,
    tags: Object.fromEntries(tag.map(toPair)),
  };
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
