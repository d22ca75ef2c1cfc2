// The sessions of people who signed in. A session is a row in the store, so all processes and replicas know it and it survives restarts; the
// browser holds a random token. Nothing here is used by the routes that call models.

import { createHash, randomBytes } from "node:crypto";
import type { Role } from "../contract/roles.ts";
import type { ListedSession, SessionObject } from "../contract/sessions.ts";
import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Actor } from "../storage/audit.ts";
import type { SessionRecord } from "../storage/sessions.ts";
import type { Storage } from "../storage/storage.ts";
import type { Caller, CallerSession } from "./caller.ts";
import { hashSecret } from "./key-records.ts";
import type { Keyring } from "./keys.ts";
import { type Origin, toActor } from "./roles.ts";

/** What a group of the issuer may do. The first entry whose group a person belongs to decides. */
export interface GroupRole {
  readonly group: string;
  readonly role: Role;
  /** The name or id of a team; null: all teams. */
  readonly team: string | null;
}

/** A person as an issuer identified them. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
}

export interface SessionsOptions {
  readonly storage: Pick<Storage, "sessions">;
  readonly keyring: Pick<Keyring, "lookUpById" | "findTeam">;
  readonly idleTimeoutMs: number;
  readonly lifetimeMs: number;
  /** The issuer whose people may sign in, and their roles; null: OpenID Connect is off. */
  readonly people: { readonly issuer: string; readonly roles: readonly GroupRole[] } | null;
  readonly log: Log;
  readonly now?: () => number;
}

export interface StartedSession {
  /** For the cookie. */
  readonly token: string;
  readonly caller: Caller;
}

export type Sessions = ReturnType<typeof createSessions>;

const tokenForm = /^[A-Za-z0-9_-]{43}$/;
// A row is read with every request of a session, and some issuers state thousands of groups.
const maxGroups = 200;
const maxGroupLength = 256;
const maxNameLength = 256;
// The time of the last use is written at most this often.
const longestTouchMs = 60_000;

export function createSessions(options: SessionsOptions) {
  const { storage, keyring, idleTimeoutMs, lifetimeMs, people, log, now = Date.now } = options;
  const touchEveryMs = Math.min(longestTouchMs, idleTimeoutMs / 10);

  async function start(
    token: string,
    row: Pick<SessionRecord, "keyId" | "keyProof" | "issuer" | "subject" | "groups" | "name">,
    origin: Origin,
  ): Promise<StartedSession> {
    const time = now();
    const times = { createdAt: time, seenAt: time, expiresAt: time + lifetimeMs };
    const session: SessionRecord = { id: Bun.randomUUIDv7(), tokenHash: hashSecret(token), ...row, ...times };
    const caller = findCaller(session, token, true);
    await storage.sessions.insert(session, toActor(caller, origin));
    return { token, caller };
  }

  /** The role may have changed since the session began: it is that of the key, or of the groups in the current configuration. */
  function findCaller(session: SessionRecord, token: string, isUse: boolean): Caller {
    const { id, keyId, keyProof, subject, expiresAt } = session;
    const held: CallerSession = { id, subject, csrfToken: toCsrfToken(token), expiresAt };
    if (keyId === null) return { ...toPerson(session), session: held };
    const found = keyring.lookUpById(keyId, (secretHash) => toKeyProof(token, secretHash) === keyProof, isUse);
    if ("caller" in found) return { ...found.caller, session: held };
    if (found.refused === "unavailable")
      throw new GatewayError("dependency_unavailable", "The key store does not answer; try again.", { retryAfter: 1 });
    throw ended("The key of this session no longer works. Sign in again.");
  }

  function toPerson({ id, issuer, name, groups }: SessionRecord): Caller {
    if (people === null || people.issuer !== issuer) throw ended("This way to sign in is no longer configured.");
    const { role, team } = findGrant(people.roles, groups ?? []);
    return {
      keyId: id,
      kind: "management",
      name,
      owner: team,
      scopes: new Set(),
      allowedModels: null,
      rateLimit: null,
      budget: null,
      team,
      role,
      rules: [],
      tags: {},
    };
  }

  function findGrant(grants: readonly GroupRole[], groups: readonly string[]): { role: Role; team: string | null } {
    const grant = grants.find(({ group }) => groups.includes(group));
    if (grant === undefined)
      throw new GatewayError("no_role", "None of your groups has a role at this gateway. Ask its administrator.");
    if (grant.team === null) return { role: grant.role, team: null };
    const team = keyring.findTeam(grant.team);
    if (team === null)
      throw new GatewayError(
        "no_role",
        `Your group belongs to the team '${grant.team}', which does not exist at this gateway.`,
      );
    if (!team.enabled)
      throw new GatewayError("team_disabled", "Your team is disabled. An administrator can enable it.");
    return { role: grant.role, team: team.name };
  }

  return {
    /** `caller` is that of the secret, which was just looked up. */
    async startWithKey(caller: Caller, secret: string, origin: Origin): Promise<StartedSession> {
      const token = createToken();
      const { keyId, name } = caller;
      const keyProof = toKeyProof(token, hashSecret(secret));
      return await start(token, { keyId, keyProof, issuer: null, subject: null, groups: null, name }, origin);
    },

    async startForPerson({ issuer, subject, name, groups }: Identity, origin: Origin): Promise<StartedSession> {
      const kept = selectGroups(groups, people?.roles ?? []);
      const row = { keyId: null, keyProof: null, issuer, subject, groups: kept, name: name.slice(0, maxNameLength) };
      return await start(createToken(), row, origin);
    },

    /** Throws unless the session is valid. `isUse`: whether the request shows that a person is there. */
    async authenticate(token: string, isUse: boolean): Promise<Caller> {
      const session = tokenForm.test(token) ? await storage.sessions.find(hashSecret(token)) : null;
      if (session === null) throw ended("The session has ended. Sign in again.");
      const time = now();
      if (time >= session.expiresAt) throw ended("The session has reached its longest duration. Sign in again.");
      if (time - session.seenAt >= idleTimeoutMs) throw ended("The session was not used for too long. Sign in again.");
      const caller = findCaller(session, token, isUse);
      if (isUse && time - session.seenAt >= touchEveryMs)
        await storage.sessions
          .touch(session.id, time)
          .catch((error) => log.warn("The last use of a session could not be recorded", { error }));
      return caller;
    },

    async end(caller: Caller, origin: Origin): Promise<void> {
      if (caller.session !== undefined) await storage.sessions.delete(caller.session.id, toActor(caller, origin));
    },

    /** Of all people and keys, newest first. */
    async list(page: { readonly limit: number; readonly offset: number }) {
      const time = now();
      const { total, items } = await storage.sessions.list({ now: time, usedAfter: time - idleTimeoutMs, ...page });
      return { total, items: items.map(toListedSession) };
    },

    /** Ends the session of another person or key. */
    async endOther(id: string, actor: Actor): Promise<void> {
      if (!(await storage.sessions.delete(id, actor)))
        throw new GatewayError("session_not_found", "There is no session with this id, or it has ended.");
    },

    describe({ name, role, team, session }: Caller): SessionObject {
      if (session === undefined || role === null)
        throw ended("This request has a key, and no session. POST /v3/manage/session starts one.");
      return {
        name,
        role,
        team: team === null ? null : (keyring.findTeam(team)?.id ?? null),
        team_name: team,
        csrf_token: session.csrfToken,
        expires_at: new Date(session.expiresAt).toISOString(),
        idle_timeout_seconds: Math.round(idleTimeoutMs / 1_000),
      };
    },
  };
}

/** Groups without a role are stored too, because a reload may give them one. Those that decide now come first, so that they are never left out. */
function selectGroups(groups: readonly string[], grants: readonly GroupRole[]): string[] {
  const stated = new Set(groups);
  const granted = grants.map(({ group }) => group).filter((group) => stated.has(group));
  const others = groups.filter(({ length }) => length <= maxGroupLength);
  return [...new Set([...granted, ...others])].slice(0, maxGroups);
}

function toListedSession(session: SessionRecord): ListedSession {
  return {
    id: session.id,
    name: session.name,
    method: session.keyId === null ? "oidc" : "key",
    key_id: session.keyId,
    subject: session.subject,
    created_at: new Date(session.createdAt).toISOString(),
    last_used_at: new Date(session.seenAt).toISOString(),
    expires_at: new Date(session.expiresAt).toISOString(),
  };
}

/** Anyone who knows the token can compute it, so it need not be stored; pages of other sites do not know the token. */
export function toCsrfToken(token: string): string {
  return createHash("sha256").update("switchyard csrf\0").update(token).digest("base64url");
}

/**
 * Shows that a session began with a certain secret. The hash of an administrator's key alone must not be stored: the operator chose that key,
 * so it might be guessed. The token is random, and is not stored.
 */
function toKeyProof(token: string, secretHash: string): string {
  return createHash("sha256").update("switchyard session\0").update(token).update(secretHash).digest("base64url");
}

function createToken(): string {
  return randomBytes(32).toString("base64url");
}

function ended(message: string): GatewayError {
  return new GatewayError("session_ended", message);
}
