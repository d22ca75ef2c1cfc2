// Lists that are read page by page while one scrolls.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ApiError, Query } from "./client.ts";
import { backgroundHeader, useClient } from "./hooks.ts";

interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

interface NumberedPage<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly page: number;
  readonly total_pages: number;
}

type AnyPage<Item> = ListPage<Item> | NumberedPage<Item>;

interface PagesOptions {
  /** Reads all loaded pages again in this interval while the page is visible. */
  readonly refreshMs?: number | undefined;
  readonly isEnabled?: boolean;
}

/** `GET path`, following `next_cursor` or the numbers of the pages. */
export function usePages<Item>(path: string, query: Query, { refreshMs, isEnabled = true }: PagesOptions = {}) {
  const client = useClient();
  const queries = useQueryClient();
  const list = useInfiniteQuery<
    AnyPage<Item>,
    ApiError,
    { readonly pages: AnyPage<Item>[] },
    readonly unknown[],
    Query
  >({
    queryKey: [path, "pages", query],
    queryFn: ({ pageParam, queryKey, signal }) => {
      // A page that refreshes itself does not keep an abandoned session alive.
      const isBackground = refreshMs !== undefined && queries.getQueryData(queryKey) !== undefined;
      const headers = isBackground ? backgroundHeader : {};
      return client.call("GET", path, { query: { ...query, ...pageParam }, headers, signal });
    },
    initialPageParam: {},
    getNextPageParam: findNextPage,
    enabled: isEnabled,
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  });
  const { data } = list;
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const last = data?.pages.at(-1);
  return {
    items,
    /** Of all pages; undefined if the list does not state it. */
    total: last !== undefined && "total" in last ? last.total : undefined,
    error: list.error,
    isPending: list.isPending,
    hasMore: list.hasNextPage,
    refetch: () => void list.refetch(),
    loadMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
    },
  };
}

function findNextPage(page: AnyPage<unknown>): Query | null {
  if ("next_cursor" in page) return page.next_cursor === null ? null : { cursor: page.next_cursor };
  return page.page < page.total_pages ? { page: page.page + 1 } : null;
}

/** As `usePages`, of records that are listed by numbered pages. */
export function useRecords<Item extends { readonly id: string }>(path: string, query: Query) {
  const list = usePages<Item>(path, query);
  // A record that was created after a page was read moves the last record of that page to the next one.
  const items = useMemo(() => [...new Map(list.items.map((item) => [item.id, item])).values()], [list.items]);
  return { ...list, items };
}
