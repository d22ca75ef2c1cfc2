// Shows the answer of a query, or that it is on its way, or why it failed.

import { Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiError } from "../api/client.ts";
import { ErrorNotice } from "./error-notice.tsx";

interface LoadedProps<T> {
  readonly query: UseQueryResult<T, ApiError>;
  /** The height of the space that the answer will take. */
  readonly height?: number;
  readonly children: (data: T) => ReactNode;
}

/** Why figures are missing that a page shows beside its own data. */
export function LoadErrors({ queries }: { readonly queries: readonly UseQueryResult<unknown, ApiError>[] }) {
  return queries.map(
    ({ error, refetch }, index) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: a page has always the same queries
      error !== null && <ErrorNotice key={index} error={error} onRetry={() => void refetch()} />,
  );
}

export function Loaded<T>({ query, height = 120, children }: LoadedProps<T>) {
  const { data, error } = query;
  if (data !== undefined)
    return (
      <>
        {error !== null && <ErrorNotice error={error} onRetry={() => void query.refetch()} />}
        {children(data)}
      </>
    );
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void query.refetch()} />;
  return <Skeleton height={height} radius="md" aria-label="Loading" role="status" />;
}
