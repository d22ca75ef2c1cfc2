// Lists that are read page by page while one scrolls.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ApiError, Query } from "./client.ts";
import { backgroundHeader, useClient } from "./hooks.ts";

interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

interface PagesOptions {
  /** Reads all loaded pages again in this interval while the page is visible. */
  readonly refreshMs?: number | undefined;
  readonly isEnabled?: boolean;
}

/** `GET path`, following `next_cursor`. */
export function usePages<Item>(path: string, query: Query, { refreshMs, isEnabled = true }: PagesOptions = {}) {
  const client = useClient();
  const queries = useQueryClient();
  const list = useInfiniteQuery<
    ListPage<Item>,
    ApiError,
    { readonly pages: ListPage<Item>[] },
    readonly unknown[],
    string | null
  >({
    queryKey: [path, "pages", query],
    queryFn: ({ pageParam, queryKey, signal }) => {
      // A page that refreshes itself does not keep an abandoned session alive.
      const isBackground = refreshMs !== undefined && queries.getQueryData(queryKey) !== undefined;
      const headers = isBackground ? backgroundHeader : {};
      return client.call("GET", path, { query: { ...query, cursor: pageParam }, headers, signal });
    },
    initialPageParam: null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: isEnabled,
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  });
  const { data } = list;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  return {
    items,
    error: list.error,
    isPending: list.isPending,
    hasMore: list.hasNextPage,
    refetch: () => void list.refetch(),
    loadMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
    },
  };
}
