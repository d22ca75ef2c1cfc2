// The key of the playground, kept for this tab and this session: another session, or another tab, never sees it.

import type { SessionObject } from "../../contract/sessions.ts";
import { type ApiClient, ApiError, sessionChanged } from "../api/client.ts";

export interface StoredKey {
  readonly secret: string;
  /** Null: a person pasted it, so it is not the playground's to revoke. */
  readonly id: string | null;
  /** Epoch milliseconds; null: not known. */
  readonly expiresAt: number | null;
  readonly session: string;
}

const storageName = "switchyard-playground-key";
const listeners = new Set<() => void>();

/** Tells sessions apart: two of them do not end at the same millisecond. */
export function toSessionMark({ name, expires_at }: Pick<SessionObject, "name" | "expires_at">): string {
  return `${name} ${expires_at}`;
}

/** The text as it is stored. It is equal while nothing changes, as React expects of a snapshot. */
export function readStoredText(): string {
  return sessionStorage.getItem(storageName) ?? "";
}

export function parseStoredKey(text: string, session: string): StoredKey | null {
  if (text === "") return null;
  const stored = JSON.parse(text) as StoredKey;
  return stored.session === session ? stored : null;
}

export function storeKey(key: StoredKey | null): void {
  if (key === null) sessionStorage.removeItem(storageName);
  else sessionStorage.setItem(storageName, JSON.stringify(key));
  for (const listener of listeners) listener();
}

export function onStoredKey(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For the end of a session. A key that cannot be revoked expires within the hour. */
export async function revokeStoredKey(client: ApiClient): Promise<void> {
  const text = readStoredText();
  if (text === "") return;
  const { id } = JSON.parse(text) as StoredKey;
  storeKey(null);
  if (id === null) return;
  await client.send("DELETE", `/v3/manage/keys/${id}`).catch((error: unknown) => {
    // The session of the other person must not be ended instead.
    if (error instanceof ApiError && error.code === sessionChanged) throw error;
  });
}
