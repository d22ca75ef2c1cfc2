// Who is calling: a key and what it may do, as the hot path sees it.

export const scopes = ["chat", "responses", "universal", "embeddings"] as const;
export type Scope = (typeof scopes)[number];

export type KeyKind = "inference" | "management" | "sandbox";

export interface RateLimit {
  readonly requests_per_second: number | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
}

export interface Budget {
  /** USD. */
  readonly amount: number;
  readonly period: "none" | "daily" | "weekly" | "monthly";
}

export interface Caller {
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly owner: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** Patterns such as `openai/*`; null allows every model. */
  readonly allowedModels: readonly string[] | null;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** Who shares what is kept: keys of one owner; a key without an owner keeps it to itself. */
export function ownerOf({ owner, keyId }: Caller): string {
  return owner === null ? `key:${keyId}` : `owner:${owner}`;
}
