// `/v3/manage/session`: sign in with a management key or with OpenID Connect, and sign out.

import type { Audit } from "../../access/audit.ts";
import { gatewayActor } from "../../access/roles.ts";
import type { Sessions, StartedSession } from "../../access/sessions.ts";
import { type Oidc, transactionLifetimeMs } from "../../access/sessions-oidc.ts";
import { toOffset, toPage } from "../../contract/paging.ts";
import * as contract from "../../contract/sessions.ts";
import { type ErrorCode, errorCatalogue, GatewayError } from "../../errors.ts";
import type { Authenticator } from "../authenticate.ts";
import { type Reply, reply, replyJson } from "../reply.ts";
import { type Call, defineRoute, type Route } from "../route.ts";
import {
  endedSessionCookie,
  readSignInCookie,
  refuseOtherSites,
  toSessionCookie,
  toSignInCookie,
} from "../session-cookie.ts";
import type { SignInLimit } from "../sign-in-limit.ts";

export interface SessionDependencies {
  readonly sessions: Sessions;
  readonly authenticator: Authenticator;
  readonly signInLimit: SignInLimit;
  readonly oidc: { readonly name: string; readonly client: Oidc } | null;
  readonly audit: Audit;
}

type AnyCall = Pick<Call, "address" | "requestId" | "baseUrl" | "request">;

const path = "/v3/manage/session";
const oidcPath = `${path}/oidc`;
const signInPage = "/dashboard";
const common = { tag: "Access" } as const;
const own = { ...common, path, key: "management", role: "viewer", reach: "team" } as const;
const all = {
  ...common,
  path: "/v3/manage/sessions",
  key: "management",
  role: "administrator",
  reach: "gateway",
} as const;
const noStore = { "cache-control": "no-store" };

export function sessionRoutes({ sessions, authenticator, signInLimit, oidc, audit }: SessionDependencies): Route[] {
  function toSessionReply({ token, caller }: StartedSession, call: AnyCall, location?: string): Reply {
    const lifetimeMs = (caller.session?.expiresAt ?? 0) - Date.now();
    const cookie = toSessionCookie(token, { lifetimeMs, isSecure: isSecure(call) });
    const headers = { ...noStore, "set-cookie": cookie };
    if (location !== undefined) return reply(null, { status: 303, headers: { ...headers, location } });
    return replyJson(sessions.describe(caller), { headers });
  }

  /** Of refused attempts, only the address is known for certain. */
  async function recordRefusal(error: unknown, name: string, { address, requestId }: AnyCall): Promise<void> {
    const code = error instanceof GatewayError ? error.code : "internal_error";
    if (!refusals.has(code)) return;
    const actor = { ...gatewayActor, address, requestId, role: "viewer" as const, name };
    const target = { kind: "session", id: null, name: null, team: null };
    await audit.recordRefusal(actor, { action: "session.start", target, code });
  }

  async function signInWithKey(secret: string, call: AnyCall): Promise<Reply> {
    refuseOtherSites(call.request.headers, () => call.baseUrl);
    signInLimit.check(call.address);
    try {
      const caller = await authenticator.authenticate(`Bearer ${secret}`, () => call.address);
      if (caller.role === null)
        throw new GatewayError(
          "insufficient_scope",
          "This key calls models. Sign in with a management key, mgmt-sy-….",
        );
      return toSessionReply(await sessions.startWithKey(caller, secret, call), call);
    } catch (error) {
      if (error instanceof GatewayError && errorCatalogue[error.code].status < 500) signInLimit.count(call.address);
      await recordRefusal(error, "unknown key", call);
      throw error;
    }
  }

  async function finishOidc(call: AnyCall): Promise<Reply> {
    let name = "unknown person";
    try {
      const client = oidc?.client ?? refuseOidc();
      const { search } = new URL(call.request.url);
      const { identity, returnTo } = await client.finish(search, readSignInCookie(call.request.headers));
      name = identity.name;
      return toSessionReply(await sessions.startForPerson(identity, call), call, returnTo);
    } catch (error) {
      await recordRefusal(error, name, call);
      return refuseInBrowser(error, call);
    }
  }

  return [
    defineRoute("listSignInMethods", "List the ways to sign in", {
      ...common,
      method: "GET",
      path: `${path}/methods`,
      key: "none",
      answers: [{ status: 200, description: "The ways to sign in.", schema: contract.signInMethods }],
      run: () =>
        replyJson({ key: true, oidc: oidc === null ? null : { name: oidc.name, url: oidcPath } }, { headers: noStore }),
    }),
    defineRoute("signIn", "Sign in with a management key", {
      ...common,
      description:
        "Starts a session and sets the cookie `switchyard_session`, which management routes accept instead of a key. Wrong keys are limited " +
        "in rate for each address.",
      method: "POST",
      path,
      key: "none",
      body: { kind: "json", schema: contract.signInRequest },
      answers: [{ status: 200, description: "The session.", schema: contract.sessionObject }],
      errors: [
        ...(["invalid_api_key", "api_key_expired", "api_key_revoked", "insufficient_scope", "team_disabled"] as const),
        ...(["cross_origin_refused", "too_many_auth_failures", "dependency_unavailable"] as const),
      ],
      example: { body: { key: "mgmt-sy-…" } },
      run: async (call) => await signInWithKey(call.body.key, call),
    }),
    defineRoute("retrieveSession", "Describe the session", {
      ...own,
      method: "GET",
      answers: [{ status: 200, description: "The session.", schema: contract.sessionObject }],
      run: ({ caller }) => replyJson(sessions.describe(caller)),
    }),
    defineRoute("signOut", "Sign out", {
      ...own,
      description: "Ends the session at once, in all processes, and removes the cookie.",
      method: "DELETE",
      audit: "stored",
      answers: [{ status: 204, description: "The session has ended." }],
      async run({ caller, address, requestId }) {
        sessions.describe(caller);
        await sessions.end(caller, { address, requestId });
        return reply(null, { status: 204, headers: { "set-cookie": endedSessionCookie } });
      },
    }),
    defineRoute("listSessions", "List sessions", {
      ...all,
      description: "The open sessions, newest first.",
      method: "GET",
      query: contract.listSessionsQuery,
      answers: [{ status: 200, description: "A page of sessions.", schema: contract.sessionList }],
      async run({ query }) {
        const { total, items } = await sessions.list({ limit: query.limit, offset: toOffset(query) });
        return replyJson(toPage(items, total, query));
      },
    }),
    defineRoute("endSession", "End a session of somebody else", {
      ...all,
      description:
        "At once, in all processes. Remove the person from the group or revoke the key first, or they sign in again.",
      method: "DELETE",
      path: `${all.path}/{session_id}`,
      params: contract.sessionPath,
      audit: "stored",
      answers: [{ status: 200, description: "The session has ended.", schema: contract.endedSession }],
      errors: ["session_not_found"],
      example: { path: { session_id: "$SESSION_ID" } },
      async run({ params: { session_id: id }, actor }) {
        await sessions.endOther(id, actor);
        return replyJson({ id, deleted: true });
      },
    }),
    defineRoute("startOidcSignIn", "Sign in with OpenID Connect", {
      ...common,
      description: "Sends the browser to the issuer, which sends it back to the callback.",
      method: "GET",
      path: oidcPath,
      key: "none",
      query: contract.startOidcQuery,
      answers: [{ status: 303, description: "The address of the issuer." }],
      errors: ["not_found", "issuer_unavailable"],
      async run(call) {
        try {
          const client = oidc?.client ?? refuseOidc();
          const { url, transaction } = await client.start(`${call.baseUrl}${oidcPath}/callback`, call.query.return_to);
          const cookie = toSignInCookie(transaction, { lifetimeMs: transactionLifetimeMs, isSecure: isSecure(call) });
          return reply(null, { status: 303, headers: { ...noStore, location: url, "set-cookie": cookie } });
        } catch (error) {
          return refuseInBrowser(error, call);
        }
      },
    }),
    defineRoute("finishOidcSignIn", "Finish a sign-in with OpenID Connect", {
      ...common,
      description:
        "The issuer sends the browser here. Starts a session as a sign-in with a key does. A browser is sent to the dashboard, after a failure " +
        "with the error code in `sign_in_error`; other clients get the error itself.",
      method: "GET",
      path: `${oidcPath}/callback`,
      key: "none",
      answers: [{ status: 303, description: "The page to open." }],
      errors: ["not_found", "sign_in_failed", "no_role", "team_disabled", "issuer_unavailable"],
      run: finishOidc,
    }),
  ];
}

const refusals: ReadonlySet<ErrorCode> = new Set([
  ...(["invalid_api_key", "api_key_expired", "api_key_revoked", "insufficient_scope", "team_disabled"] as const),
  ...(["sign_in_failed", "no_role"] as const),
]);

/** A person would not understand JSON, so the sign-in page explains the code. */
function refuseInBrowser(error: unknown, { request }: Pick<Call, "request">): Reply {
  const isPage = request.headers.get("accept")?.includes("text/html") === true;
  if (!isPage || !(error instanceof GatewayError)) throw error;
  const query = new URLSearchParams({ sign_in_error: error.code, message: error.message });
  return reply(null, { status: 303, headers: { ...noStore, location: `${signInPage}?${query}` } });
}

function refuseOidc(): never {
  throw new GatewayError("not_found", "Sign-in with OpenID Connect is not configured.");
}

function isSecure({ baseUrl }: Pick<Call, "baseUrl">): boolean {
  return baseUrl.startsWith("https:");
}
