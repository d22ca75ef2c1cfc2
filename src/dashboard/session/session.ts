// The session of the person who uses the dashboard, and what its role allows.

import { notifications } from "@mantine/notifications";
import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { SessionObject } from "../../contract/sessions.ts";
import { type ApiClient, ApiError, sessionPath } from "../api/client.ts";
import { useClient } from "../api/hooks.ts";
import { revokeStoredKey } from "../playground/stored-key.ts";

export type Role = SessionObject["role"];

export const SessionContext = createContext<SessionObject | null>(null);

/** Only below the sign-in page. */
export function useSession(): SessionObject {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("there is no session");
  return session;
}

const ranks: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, administrator: 2 };

export function hasRole({ role }: Pick<SessionObject, "role">, needed: Role): boolean {
  return ranks[role] >= ranks[needed];
}

/** Whether the person may do what needs this role, and, with the reach `gateway`, what concerns all teams. */
export function mayOpen(
  session: Pick<SessionObject, "role" | "team">,
  { role, reach }: { readonly role: Role; readonly reach?: "gateway" },
): boolean {
  return hasRole(session, role) && (reach === undefined || session.team === null);
}

/** Whether the person may do what needs this role. */
export function useMay(needed: Role): boolean {
  return hasRole(useSession(), needed);
}

const sessionKey = [sessionPath];

/** Tells people apart. Those with the same name, role and team see the same data and may do the same. */
export function toPerson({ name, role, team }: Pick<SessionObject, "name" | "role" | "team">): string {
  return [name, role, team ?? ""].join("\n");
}

/** Null: the visitor is not signed in. */
export function useSessionQuery() {
  const client = useClient();
  const queries = useQueryClient();
  return useQuery<SessionObject | null, ApiError>({
    queryKey: sessionKey,
    queryFn: ({ signal }) => readSession(client, queries, signal),
    staleTime: Number.POSITIVE_INFINITY,
    // Another tab may have signed in as another person.
    refetchOnWindowFocus: "always",
  });
}

async function readSession(
  client: ApiClient,
  queries: QueryClient,
  signal?: AbortSignal,
): Promise<SessionObject | null> {
  const session = await client
    .call<SessionObject>("GET", sessionPath, { ...(signal && { signal }) })
    .catch((error: unknown) => {
      if (isNotSignedIn(error)) return null;
      throw error;
    });
  enter(session, client, queries);
  return session;
}

export async function readSessionAgain(client: ApiClient, queries: QueryClient): Promise<void> {
  queries.setQueryData(sessionKey, await readSession(client, queries));
}

/** From now on, the client acts for the person of this session. */
function enter(session: SessionObject | null, client: ApiClient, queries: QueryClient): void {
  const before = client.session;
  client.session = session === null ? null : { csrfToken: session.csrf_token, person: toPerson(session) };
  if (before?.person === client.session?.person) return;
  forgetPerson(queries);
  // Within a session, only the role changes: its token stays.
  if (before !== null && session !== null && session.csrf_token !== before.csrfToken)
    notifications.show({
      title: `You are signed in as ${session.name}`,
      message: "Another tab of this browser has signed in. What you were changing here was not saved.",
      autoClose: false,
    });
}

function isNotSignedIn(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 404);
}

/** Shows the page for signing in, however the session ended. */
export function forgetSession(client: ApiClient, queries: QueryClient): void {
  enter(null, client, queries);
  queries.setQueryData(sessionKey, null);
}

/** Nothing of one person may be shown to the next. */
function forgetPerson(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionPath });
  notifications.clean();
}

export function useSignIn() {
  const client = useClient();
  const queries = useQueryClient();
  return {
    async signIn(key: string): Promise<void> {
      const session = await client.call<SessionObject>("POST", sessionPath, { body: { key } });
      enter(session, client, queries);
      queries.setQueryData(sessionKey, session);
    },
    async signOut(): Promise<void> {
      await revokeStoredKey(client);
      await client.send("DELETE", sessionPath).catch((error: unknown) => {
        if (!isNotSignedIn(error)) throw error;
      });
      forgetSession(client, queries);
    },
  };
}
