// `/v3/manage/keys` and `/v3/manage/whoami`.

import type { Keyring } from "../../access/keys.ts";
import * as contract from "../../contract/keys.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

const common = { tag: "Keys", key: "management", reach: "team" } as const;
const reading = { ...common, role: "viewer" } as const;
const changing = { ...common, role: "operator", audit: "stored" } as const;
const one = { path: "/v3/manage/keys/{key_id}", params: contract.keyPath } as const;
const examplePath = { key_id: "$KEY_ID" };

export function keyRoutes(keyring: Keyring): Route[] {
  return [
    defineRoute("listKeys", "List keys", {
      ...reading,
      description: "Newest first, a page at a time. Secrets are never shown again.",
      method: "GET",
      path: "/v3/manage/keys",
      query: contract.listKeysQuery,
      answers: [{ status: 200, description: "A page of keys.", schema: contract.keyList }],
      example: { query: "kind=inference&limit=20" },
      async run({ query, caller }) {
        const { kind = null, enabled = null, state = null, owner = null, team = owner, search = null, limit } = query;
        const { items, total } = await keyring.list(
          { kind, enabled, state, team, search, limit, offset: toOffset(query) },
          caller.team,
        );
        return replyJson(toPage(items, total, query));
      },
    }),
    defineRoute("createKey", "Create a key", {
      ...changing,
      description:
        "`key` in the answer is the secret. It is shown only once: the gateway stores its hash. Only administrators create and change " +
        "management keys. A role that is limited to a team creates keys of that team.",
      method: "POST",
      path: "/v3/manage/keys",
      body: { kind: "json", schema: contract.createKeyRequest },
      answers: [{ status: 201, description: "The key and its secret.", schema: contract.keyWithSecret }],
      example: {
        body: {
          name: "website",
          scopes: ["chat"],
          allowed_models: ["sandbox/*"],
          rate_limit: { requests_per_minute: 600 },
        },
      },
      run: async ({ body, actor }) => replyJson(await keyring.create(body, actor), { status: 201 }),
    }),
    defineRoute("retrieveKey", "Retrieve a key", {
      ...reading,
      ...one,
      method: "GET",
      answers: [{ status: 200, description: "The key.", schema: contract.keyObject }],
      errors: ["key_not_found"],
      example: { path: examplePath },
      run: async ({ params, caller }) => replyJson(await keyring.get(params.key_id, caller.team)),
    }),
    defineRoute("updateKey", "Change a key", {
      ...changing,
      ...one,
      description: "Replaces the given members; members that are absent keep their values.",
      method: "PATCH",
      body: { kind: "json", schema: contract.updateKeyRequest },
      answers: [{ status: 200, description: "The key as it is now.", schema: contract.keyObject }],
      errors: ["key_not_found", "key_conflict"],
      example: { path: examplePath, body: { rate_limit: { requests_per_minute: 60 } } },
      run: async ({ params, body, actor }) => replyJson(await keyring.update(params.key_id, body, actor)),
    }),
    defineRoute("revokeKey", "Revoke a key", {
      ...changing,
      ...one,
      description: "Final: a revoked key cannot be enabled again.",
      method: "DELETE",
      answers: [{ status: 200, description: "The key is revoked.", schema: contract.deletedKey }],
      errors: ["key_not_found", "key_conflict"],
      example: { path: examplePath },
      async run({ params: { key_id }, actor }) {
        await keyring.revoke(key_id, actor);
        return replyJson({ id: key_id, deleted: true });
      },
    }),
    defineRoute("rotateKey", "Rotate a key", {
      ...changing,
      ...one,
      description: "Gives the key a new secret, shown only once. The old secret keeps working for `grace_seconds`.",
      method: "POST",
      path: `${one.path}/rotate`,
      body: { kind: "optional-json", schema: contract.rotateKeyRequest.nullable() },
      answers: [{ status: 200, description: "The key and its new secret.", schema: contract.keyWithSecret }],
      errors: ["key_not_found", "key_conflict"],
      example: { path: examplePath, body: { grace_seconds: 3600 } },
      run: async ({ params, body, actor }) =>
        replyJson(await keyring.rotate(params.key_id, body?.grace_seconds ?? 0, actor)),
    }),
    defineRoute("whoami", "Describe the calling key", {
      ...reading,
      method: "GET",
      path: "/v3/manage/whoami",
      answers: [{ status: 200, description: "The key that made the call.", schema: contract.keyObject }],
      run: async ({ caller }) => replyJson(await keyring.describe(caller)),
    }),
  ];
}
