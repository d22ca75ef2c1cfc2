// `/v3/manage/keys` and `/v3/manage/whoami`.

import type { Keyring } from "../../access/keys.ts";
import {
  createKeyRequest,
  type KeyList,
  keyPath,
  listKeysQuery,
  rotateKeyRequest,
  updateKeyRequest,
} from "../../contract/keys.ts";
import { parse } from "../../contract/problems.ts";
import { GatewayError } from "../../errors.ts";
import { type Reply, replyJson } from "../reply.ts";
import type { Call, Route } from "../route.ts";

const key = "management" as const;
const body = "json" as const;

export function keyRoutes(keyring: Keyring): Route[] {
  return [
    { method: "GET", path: "/v3/manage/keys", key, run: list },
    { method: "POST", path: "/v3/manage/keys", key, body, run: create },
    { method: "GET", path: "/v3/manage/keys/{key_id}", key, run: get },
    { method: "PATCH", path: "/v3/manage/keys/{key_id}", key, body, run: update },
    { method: "DELETE", path: "/v3/manage/keys/{key_id}", key, run: revoke },
    { method: "POST", path: "/v3/manage/keys/{key_id}/rotate", key, body: "optional-json", run: rotate },
    { method: "GET", path: "/v3/manage/whoami", key, run: whoAmI },
  ];

  async function list(call: Call): Promise<Reply> {
    const { kind, enabled, owner, page, limit } = parse(listKeysQuery, readQuery(call.query), "query");
    const { items, total } = await keyring.list({
      kind: kind ?? null,
      enabled: enabled === undefined ? null : enabled === "true",
      owner: owner ?? null,
      page,
      limit,
    });
    const answer: KeyList = { items, total, page, limit, total_pages: Math.ceil(total / limit) };
    return replyJson(answer);
  }

  async function create(call: Call): Promise<Reply> {
    return replyJson(await keyring.create(parse(createKeyRequest, call.body?.value, "body")), { status: 201 });
  }

  async function get(call: Call): Promise<Reply> {
    return replyJson(await keyring.get(readKeyId(call)));
  }

  async function update(call: Call): Promise<Reply> {
    const id = readKeyId(call);
    return replyJson(await keyring.update(id, parse(updateKeyRequest, call.body?.value, "body")));
  }

  async function rotate(call: Call): Promise<Reply> {
    const id = readKeyId(call);
    const request = parse(rotateKeyRequest, call.body?.value ?? {}, "body");
    return replyJson(await keyring.rotate(id, request.grace_seconds));
  }

  async function revoke(call: Call): Promise<Reply> {
    const id = readKeyId(call);
    await keyring.revoke(id);
    return replyJson({ id: id.toLowerCase(), deleted: true });
  }

  async function whoAmI(call: Call): Promise<Reply> {
    if (call.caller === null) throw new GatewayError("missing_api_key", "This address needs a management key.");
    return replyJson(await keyring.describe(call.caller));
  }
}

function readKeyId(call: Call): string {
  return parse(keyPath, { key_id: call.params["key_id"] }, "path").key_id;
}

/** A parameter that is given twice counts once, with its last value. */
function readQuery(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(query);
}
