// The request that creates or changes a key, from the fields of the form.

import type { CreateKey, Key, UpdateKey } from "../../api/types.ts";
import { type LimitFields, toLimits } from "../../components/limit-fields.ts";
import { withoutNull } from "../../lib/without-null.ts";

const dayMs = 86_400_000;

export interface KeyFields {
  readonly name: string;
  readonly kind: Key["kind"];
  /** Of a management key. */
  readonly role: NonNullable<Key["role"]>;
  readonly team: string | null;
  readonly scopes: readonly string[];
  /** `never`, `same`, or a number of days from now. */
  readonly expiry: string;
  readonly limits: LimitFields;
}

export function toNewKey(fields: KeyFields): CreateKey {
  // Without a team, a role that is limited to a team creates keys of that team.
  return { ...withoutNull(toMembers(fields, null)), name: fields.name.trim(), kind: fields.kind };
}

export function toChangedKey(fields: KeyFields, before: Key): UpdateKey {
  return toMembers(fields, before);
}

function toMembers({ name, kind, role, team, scopes, expiry, limits }: KeyFields, before: Key | null): UpdateKey {
  return {
    name: name.trim(),
    team,
    ...(kind === "management" ? { role } : { ...toLimits(limits, before), scopes: [...scopes] as Key["scopes"] }),
    ...(expiry !== "same" && { expires_at: toExpiry(expiry) }),
  };
}

function toExpiry(expiry: string): string | null {
  return expiry === "never" ? null : new Date(Date.now() + Number(expiry) * dayMs).toISOString();
}
