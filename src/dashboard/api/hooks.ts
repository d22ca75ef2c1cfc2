// Reading and changing data in components. Answers are cached by path and query, so that pages that show the same data ask once.

import { type QueryKey, type UseQueryResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { ApiClient, type ApiError, type CallOptions, type Query } from "./client.ts";

export const backgroundHeader = { "x-switchyard-background": "true" };

export const ClientContext = createContext(new ApiClient());

export function useClient(): ApiClient {
  return useContext(ClientContext);
}

interface ReadOptions {
  readonly enabled?: boolean;
  /** Whether the audit log records who reads it. */
  readonly isRecorded?: boolean;
  /** Asks again in this interval while the page is visible. */
  readonly refreshMs?: number | undefined;
}

/**
 * For data whose reads are recorded in the audit log: the page reads it only when a person asks for it. It does not refetch the data, and does not
 * cache it for a later visit.
 */
const recordedRead = {
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 0,
  retry: false,
  refetchOnMount: false,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
  meta: { isRecorded: true },
} as const;

/** `GET path`. Shows the previous answer while the answer to a changed query is on its way. */
export function useApi<T>(
  path: string,
  query?: Query,
  { enabled, isRecorded = false, refreshMs }: ReadOptions = {},
): UseQueryResult<T, ApiError> {
  const client = useClient();
  const queries = useQueryClient();
  return useQuery<T, ApiError>({
    queryKey: [path, query ?? {}],
    queryFn: ({ signal, queryKey }) => {
      // A page that refreshes itself does not keep an abandoned session alive.
      const isBackground = refreshMs !== undefined && queries.getQueryData(queryKey) !== undefined;
      return client.call<T>("GET", path, { query, signal, ...(isBackground && { headers: backgroundHeader }) });
    },
    placeholderData: (previous) => previous,
    ...(isRecorded && recordedRead),
    ...(enabled !== undefined && { enabled }),
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  });
}

export interface Change {
  readonly method: "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: CallOptions["body"];
}

/** A request that changes something. Afterwards, data whose path begins with one of `affects` is read again, unless its reads are recorded. */
export function useChange<Result = unknown>(affects: readonly string[]) {
  const client = useClient();
  const queries = useQueryClient();
  return useMutation<Result, ApiError, Change>({
    mutationFn: ({ method, path, body }) => client.call<Result>(method, path, { body }),
    onSuccess: async () => {
      await queries.invalidateQueries({
        predicate: ({ queryKey, meta }) =>
          meta?.["isRecorded"] !== true && affects.some((prefix) => startsWith(queryKey, prefix)),
      });
    },
  });
}

function startsWith([path]: QueryKey, prefix: string): boolean {
  return typeof path === "string" && path.startsWith(prefix);
}
