// `switchyard keys create|list|update|revoke|rotate`.

import type { Command } from "commander";
import {
  createKeyRequest,
  type KeyObject,
  keyPath,
  listKeysQuery,
  rotateKeyRequest,
  updateKeyRequest,
} from "../contract/keys.ts";
import { toOffset, toPage } from "../contract/paging.ts";
import { parse } from "../contract/problems.ts";
import { type Access, type AccessContext, perform, type Result, toMemberLines, toTable } from "./access-command.ts";
import { collect, createCommand, toBoolean, toNumber, UsageError } from "./command-line.ts";
import { addLimitOptions, anyLimits, type LimitOptions, toLimitMembers, toTime } from "./limit-options.ts";

interface KeyOptions extends LimitOptions {
  readonly name?: string;
  readonly kind?: string;
  readonly role?: string;
  readonly team?: string;
  readonly owner?: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
  readonly enabled?: boolean;
  readonly json?: true;
}

/** Every command checks its arguments before it opens the store. */
export function createKeysCommand(context: AccessContext): Command {
  const group = createCommand("keys", "Create, list, update, revoke and rotate keys.", context);
  const argument = ["<key id>", "as `switchyard keys list` prints it"] as const;

  addLimitOptions(
    group
      .command("create")
      .description("Create a key and print it. The key cannot be shown again.")
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
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway keys create --name ci --scope chat --expires 90d");

  group
    .command("list")
    .description("List keys without their secrets.")
    .option("--kind <kind>", "inference, management or sandbox")
    .option("--team <team>", "keys of this team: its name or id")
    .option("--owner <text>", "older name of --team")
    .option("--enabled <true|false>", "enabled or disabled keys")
    .option("--page <n>", "default: 1")
    .option("--limit <n>", "keys per page")
    .option("--json", "print JSON")
    .action(async ({ json: isJson, ...query }: { json?: true }) => {
      const { kind = null, owner = null, team = owner, enabled = null, page, limit } = parse(listKeysQuery, query);
      const list = async ({ keyring }: Access) => {
        const { items, total } = await keyring.list({ kind, team, enabled, limit, offset: toOffset({ page, limit }) });
        return { json: toPage(items, total, { page, limit }), lines: toTable([header, ...items.map(toRow)]) };
      };
      await perform(context, list, isJson);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway keys list --kind inference");

  addLimitOptions(
    group
      .command("update")
      .description("Change a key. What is not named keeps its value.")
      .argument(...argument)
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
    })
    .addHelpText(
      "after",
      "\nExample: npx switchyard-gateway keys update 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11 --requests-per-minute 60",
    );

  group
    .command("revoke")
    .description("Revoke a key. This cannot be undone.")
    .argument(...argument)
    .option("--json", "print JSON")
    .action(async (given: string, options: { json?: true }) => {
      const id = readKeyId(given);
      const revoke = async ({ keyring }: Access) => {
        await keyring.revoke(id);
        return { json: { id, deleted: true }, lines: [`Key ${id} is revoked.`] };
      };
      await perform(context, revoke, options.json);
    })
    .addHelpText("after", "\nExample: npx switchyard-gateway keys revoke 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11");

  group
    .command("rotate")
    .description("Give a key a new secret and print it. The secret cannot be shown again.")
    .argument(...argument)
    .option("--grace-seconds <n>", "seconds for which the old secret still works; default: 0", toNumber)
    .option("--json", "print JSON")
    .action(async (given: string, { graceSeconds, json }: { graceSeconds?: number; json?: true }) => {
      const id = readKeyId(given);
      const request = parse(rotateKeyRequest, graceSeconds === undefined ? {} : { grace_seconds: graceSeconds });
      await perform(context, async ({ keyring }) => toResult(await keyring.rotate(id, request.grace_seconds)), json);
    })
    .addHelpText(
      "after",
      "\nExample: npx switchyard-gateway keys rotate 0b6f2a52-6f0e-4c6e-9b1c-0d7c3f5a9e11 --grace-seconds 3600",
    );

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
