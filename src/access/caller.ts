// The caller of a request: a key and its permissions.

import type { KeyKind, KeyScope } from "../contract/keys.ts";
import type { Budget, RateLimit } from "../contract/limits.ts";
import type { Role } from "../contract/roles.ts";
import { ownerOfTeam, teamOfOwner } from "../storage/owner.ts";
import type { LimitRule } from "./limit-rules.ts";

export { ownerOfTeam };

export interface Caller {
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly owner: string | null;
  readonly scopes: ReadonlySet<KeyScope>;
  /** Lists of patterns such as `openai/*`, of the key and of its team: a model must fit one pattern of each. Null allows every model. */
  readonly allowedModels: readonly (readonly string[])[] | null;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
  /** The name of the team that the key belongs to. A role is limited to this team. */
  readonly team: string | null;
  /** What the caller may manage; null for keys that call models. */
  readonly role: Role | null;
  /** Of a person who signed in: the session, instead of a key in each request. */
  readonly session?: CallerSession;
  /** The limits of the key and of its team. */
  readonly rules: readonly LimitRule[];
  readonly tags: Readonly<Record<string, string>>;
}

export interface CallerSession {
  readonly id: string;
  /** The subject at the issuer, of a person who signed in with OpenID Connect; null for a key. */
  readonly subject: string | null;
  readonly csrfToken: string;
  readonly expiresAt: number;
}

/** The team or the key that stored data belongs to. */
export function readOwner(owner: string): { readonly team: string | null; readonly keyId: string | null } {
  const team = teamOfOwner(owner);
  return { team, keyId: team === null ? owner.slice(owner.indexOf(":") + 1) : null };
}

/** Stored data belongs to an owner and is shared by all keys of that owner; a key without an owner shares it with no other key. */
export function ownerOf({ owner, keyId }: Caller): string {
  return owner === null ? `key:${keyId}` : ownerOfTeam(owner);
}
