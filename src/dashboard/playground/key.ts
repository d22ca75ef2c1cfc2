// The inference key with which the playground calls models: one of its own that lives for an hour, or one that the person pastes.

import { useLayoutEffect, useMemo, useSyncExternalStore } from "react";
import type { SessionObject } from "../../contract/sessions.ts";
import { type ApiClient, ApiError, sendRequest, sessionPath } from "../api/client.ts";
import { useClient } from "../api/hooks.ts";
import type { CreateKey, KeyWithSecret } from "../api/types.ts";
import { hasRole, useSession } from "../session/session.ts";
import type { StoredKey } from "./stored-key.ts";
import { onStoredKey, parseStoredKey, readStoredText, revokeStoredKey, storeKey, toSessionMark } from "./stored-key.ts";

export interface PlaygroundKey {
  /** Whether calls can be made: the role may create keys, or a key was pasted. */
  readonly isReady: boolean;
  readonly mayCreate: boolean;
  readonly isPasted: boolean;
  paste(secret: string): void;
  /** Forgets a pasted key. */
  forget(): void;
}

const keysPath = "/v3/manage/keys";
const lifetimeMs = 3_600_000;
/** A key that is about to expire is renewed before it is used. */
const marginMs = 120_000;
/** Well below the shortest idle timeout that is of use. */
const keepSessionMs = 60_000;
const maxNameLength = 128;
const endedCodes = new Set(["api_key_expired", "api_key_revoked", "invalid_api_key"]);

export function usePlaygroundKey(): PlaygroundKey {
  const client = useClient();
  const session = useSession();
  const mark = toSessionMark(session);
  const text = useSyncExternalStore(onStoredKey, readStoredText);
  const stored = useMemo(() => parseStoredKey(text, mark), [text, mark]);
  const mayCreate = hasRole(session, "operator");
  const isPasted = stored !== null && stored.id === null;
  useLayoutEffect(() => {
    calls.context = { client, session, mayCreate };
  }, [client, session, mayCreate]);
  return {
    isReady: mayCreate || isPasted,
    mayCreate,
    isPasted,
    paste: (secret) => storeKey({ secret, id: null, expiresAt: null, session: mark }),
    forget: () => storeKey(null),
  };
}

interface KeyContext {
  readonly client: ApiClient;
  readonly session: SessionObject;
  readonly mayCreate: boolean;
}

/** Calls the gateway with the key. Throws an ApiError for every status but success. Only on pages that use the hook. */
export function fetchWithKey(path: string, init: RequestInit = {}): Promise<Response> {
  return calls.fetch(path, init);
}

/** Creates or renews the key if that is necessary, so that the time of the next call is that of the call alone. */
export function prepareKey(): Promise<void> {
  return calls.prepare();
}

class KeyedCalls {
  /** Of the page that uses the hook. */
  context: KeyContext | null = null;
  /** Several calls that begin together share one new key. */
  #creating: Promise<StoredKey> | null = null;
  #sessionUsedAt = 0;

  async prepare(): Promise<void> {
    await this.#findKey(this.#expectContext());
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    const context = this.#expectContext();
    this.#keepSession(context.client);
    const key = await this.#findKey(context);
    try {
      return await send(key, path, init);
    } catch (error) {
      // Somebody revoked the key meanwhile. A pasted key is not replaced: its owner has to know.
      if (!(error instanceof ApiError && endedCodes.has(error.code)) || key.id === null) throw error;
      if (parseStoredKey(readStoredText(), key.session)?.secret === key.secret) storeKey(null);
      return send(await this.#findKey(context), path, init);
    }
  }

  #expectContext(): KeyContext {
    if (this.context === null) throw new Error("the page does not use usePlaygroundKey");
    return this.context;
  }

  /** Someone who uses the playground uses the dashboard, although its calls do not carry the session. */
  #keepSession(client: ApiClient): void {
    if (Date.now() - this.#sessionUsedAt < keepSessionMs) return;
    this.#sessionUsedAt = Date.now();
    client.call("GET", sessionPath).catch(() => {}); // the next call of the dashboard reports that the session has ended
  }

  async #findKey(context: KeyContext): Promise<StoredKey> {
    const stored = parseStoredKey(readStoredText(), toSessionMark(context.session));
    if (stored !== null && (stored.expiresAt === null || stored.expiresAt - marginMs > Date.now())) return stored;
    if (!context.mayCreate)
      throw new ApiError("Your role does not create keys. Paste an inference key to call models.", {
        status: 403,
        code: "insufficient_role",
        requestId: null,
      });
    this.#creating ??= renewKey(context, stored)
      .then((key) => {
        storeKey(key);
        return key;
      })
      .finally(() => {
        this.#creating = null;
      });
    return this.#creating;
  }
}

const calls = new KeyedCalls();

function send({ secret }: StoredKey, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${secret}`);
  // Without the session's cookie: the call is the key's alone.
  return sendRequest(path, { ...init, headers, credentials: "omit" });
}

/** The same key for longer, if there is one: files, jobs and stored responses belong to the key that created them. */
async function renewKey({ client, session }: KeyContext, stored: StoredKey | null): Promise<StoredKey> {
  const expiresAt = Date.now() + lifetimeMs;
  const expiry = { expires_at: new Date(expiresAt).toISOString() };
  if (stored !== null)
    try {
      await client.call("PATCH", `${keysPath}/${stored.id}`, { body: expiry });
      return { ...stored, expiresAt };
    } catch (error) {
      // It was revoked, or belongs to another gateway at the same address.
      if (!(error instanceof ApiError && (error.status === 404 || error.status === 409))) throw error;
    }
  // A key of an earlier session of this tab is of no use to anyone.
  if (stored === null) await revokeStoredKey(client);
  // Without a team: a role that is limited to a team creates keys of that team.
  const body: CreateKey = {
    ...expiry,
    name: `Playground of ${session.name}`.slice(0, maxNameLength).trim(),
    tags: { source: "playground" },
  };
  const { id, key } = await client.call<KeyWithSecret>("POST", keysPath, { body });
  return { id, secret: key, expiresAt, session: toSessionMark(session) };
}
