// The caller of a request: a key and its permissions.

import type { KeyKind, KeyScope } from "../contract/keys.ts";
import type { Budget, RateLimit } from "../contract/limits.ts";
import type { LimitRule } from "./limit-rules.ts";

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
  /** The name of the team that the key belongs to. */
  readonly team: string | null;
  /** The limits of the key and of its team. */
  readonly rules: readonly LimitRule[];
  readonly tags: Readonly<Record<string, string>>;
}

/** Stored data belongs to an owner and is shared by all keys of that owner; a key without an owner shares it with no other key. */
export function ownerOf({ owner, keyId }: Caller): string {
  return owner === null ? `key:${keyId}` : `owner:${owner}`;
}
