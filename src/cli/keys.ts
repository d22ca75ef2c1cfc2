// `switchyard keys create|list|update|revoke|rotate`.

import type { Command } from "commander";
import type { KeyObject } from "../contract/keys.ts";
import { createKeyRequest, keyPath, listKeysQuery, rotateKeyRequest, updateKeyRequest } from "../contract/keys.ts";
import { toOffset, toPage } from "../contract/paging.ts";
import { parse } from "../contract/problems.ts";
import { type Access, type AccessContext, perform, toMemberLines, toTable } from "./access-command.ts";
import { collect, createCommand, explain, type Result, toBoolean, toNumber, UsageError } from "./command-line.ts";
import { type AccessOptions, addLimitOptions, anyLimits, toLimitMembers, toTime } from "./limit-options.ts";

interface KeyOptions extends AccessOptions {
  readonly kind?: string;
  readonly role?: string;
  readonly team?: string;
  readonly owner?: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
}

/** Every command checks its arguments before it opens the store. */
export function createKeysCommand(context: AccessContext): Command {
  const group = createCommand("keys", "Create, list, update, revoke and rotate keys.", context);
  /** A command for one key. */
  const add = (verb: string, summary: string, example: string) =>
    explain(group.command(verb), summary, example).argument("<key id>", "as `switchyard keys list` prints it");

  addLimitOptions(
    explain(
      group.command("create"),
      "Create a key and print it. The key cannot be shown again.",
      "keys create --name ci --scope chat --expires 90d",
    )
      .option("--name <name>", "purpose of the key; required")
      .option("--kind <kind>", "inference, management or sandbox; default: inference")
      .option("--role <role>", "of a management key: viewer, operator or administrator; default: administrator")
      .option("--team <team>", "name or id of the team that the key belongs to")
      .option("--owner <text>", "older name of --team: creates the team if it does not exist")
      .option("--scope <scope>", "chat, responses, universal or embeddings; repeatable; default: all", collect)
      .option("--expires <time>", "ISO 8601, or days such as 90d"),
  )
    .option("--json", "print JSON")
    .action(async ({ json: isJson, ...options }: KeyOptions) => {
      if (options.name === undefined) throw new UsageError("--name is required.");
      const { kind } = options;
      const members = { ...toMembers(options), ...toLimitMembers(options) };
      const request = parse(createKeyRequest, kind === undefined ? members : { ...members, kind });
      await perform(context, async ({ keyring }) => toResult(await keyring.create(request)), isJson);
    });

  explain(group.command("list"), "List keys without their secrets.", "keys list --kind inference")
    .option("--kind <kind>", "inference, management or sandbox")
    .option("--team <team>", "keys of this team: its name or id")
    .option("--owner <text>", "older name of --team")
    .option("--enabled <true|false>", "enabled or disabled keys")
    .option("--state <state>", "active, expired or revoked")
    .option("--search <text>", "keys with this text in their name or team, at the end of the key, or as their id")
    .option("--page <n>", "default: 1")
    .option("--limit <n>", "keys per page")
    .option("--json", "print JSON")
    .action(async ({ json: isJson, ...query }: { json?: true }) => {
      const { kind = null, owner = null, team = owner, ...others } = parse(listKeysQuery, query);
      const { enabled = null, state = null, search = null, page, limit } = others;
      const list = async ({ keyring }: Access) => {
        const offset = toOffset({ page, limit });
        const { items, total } = await keyring.list({ kind, team, enabled, state, search, limit, offset });
        return { json: toPage(items, total, { page, limit }), lines: toTable([header, ...items.map(toRow)]) };
      };
      await perform(context, list, isJson);
    });

  addLimitOptions(
    add(
      "update",
      "Change a key. What is not named keeps its value.",
      "keys update 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11 --requests-per-minute 60",
    )
      .option("--name <name>", "purpose of the key")
      .option("--team <team>", "name or id of the team that the key belongs to; none: no team")
      .option("--role <role>", "of a management key: viewer, operator or administrator")
      .option("--scope <scope>", "chat, responses, universal or embeddings; repeatable", collect)
      .option("--expires <time>", "ISO 8601, or days such as 90d; none: never"),
  )
    .option("--enabled <true|false>", "whether the key works", toBoolean)
    .option("--json", "print JSON")
    .action(async (given: string, { json: isJson, ...options }: KeyOptions) => {
      const id = readKeyId(given);
      const members = toMembers(options);
      // Checks what can be checked without the key.
      parse(updateKeyRequest, { ...members, ...toLimitMembers(options, anyLimits) });
      const change = async ({ keyring }: Access) => {
        const limits = toLimitMembers(options, await keyring.get(id));
        const key = await keyring.update(id, parse(updateKeyRequest, { ...members, ...limits }));
        return { json: key, lines: toMemberLines(key) };
      };
      await perform(context, change, isJson);
    });

  add("revoke", "Revoke a key. This cannot be undone.", "keys revoke 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11")
    .option("--json", "print JSON")
    .action(async (given: string, options: { json?: true }) => {
      const id = readKeyId(given);
      const revoke = async ({ keyring }: Access) => {
        await keyring.revoke(id);
        return { json: { id, deleted: true }, lines: [`Key ${id} is revoked.`] };
      };
      await perform(context, revoke, options.json);
    });

  add(
    "rotate",
    "Give a key a new secret and print it. The secret cannot be shown again.",
    "keys rotate 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11 --grace-seconds 3600",
  )
    .option("--grace-seconds <n>", "seconds for which the old secret still works; default: 0", toNumber)
    .option("--json", "print JSON")
    .action(async (given: string, { graceSeconds, json }: { graceSeconds?: number; json?: true }) => {
      const id = readKeyId(given);
      const request = parse(rotateKeyRequest, graceSeconds === undefined ? {} : { grace_seconds: graceSeconds });
      await perform(context, async ({ keyring }) => toResult(await keyring.rotate(id, request.grace_seconds)), json);
    });

  return group;
}

function toResult(made: { readonly id: string; readonly key: string }): Result {
  return { json: made, lines: [made.key, `id ${made.id}. Store the key now: it cannot be shown again.`] };
}

function readKeyId(given: string): string {
  parse(keyPath, { key_id: given }, "path");
  return given.toLowerCase();
}

/** The members of a request that are no limits. */
function toMembers({ name, team, owner, role, scope, expires, enabled }: KeyOptions) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(team === undefined ? {} : { team: team === "none" ? null : team }),
    ...(owner === undefined ? {} : { owner }),
    ...(role === undefined ? {} : { role }),
    ...(scope === undefined ? {} : { scopes: scope }),
    ...(expires === undefined ? {} : { expires_at: expires === "none" ? null : toTime(expires) }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

const header = ["id", "kind", "key", "state", "last used", "team", "name"];

function toRow(key: KeyObject): string[] {
  return [key.id, key.kind, key.masked, toState(key), key.last_used_at ?? "never", key.team ?? "-", key.name];
}

function toState(key: KeyObject): string {
  if (key.revoked_at !== null) return "revoked";
  if (!key.enabled) return "disabled";
  return key.expires_at !== null && Date.parse(key.expires_at) <= Date.now() ? "expired" : "active";
}
