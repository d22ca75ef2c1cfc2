// A list that is read page by page: its rows, or what to do when there are none, and how many there are.

import { Text } from "@mantine/core";
import { type ComponentType, type ReactNode, useDeferredValue } from "react";
import type { ApiError } from "../api/client.ts";
import { formatNumber } from "../lib/format.ts";
import { useUrlState } from "../lib/url-state.ts";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { EmptyState } from "./empty-state.tsx";
import { ErrorNotice } from "./error-notice.tsx";
import { RemoveFilters } from "./filters.tsx";
import { Panel } from "./page.tsx";

interface LoadedList<Row> {
  readonly items: readonly Row[];
  readonly error: ApiError | null;
  readonly isPending: boolean;
  readonly refetch: () => void;
  readonly hasMore?: boolean;
  /** Of all pages. */
  readonly total?: number | undefined;
  readonly loadMore?: (() => void) | undefined;
}

export interface ListPanelProps<Row> extends Omit<DataTableProps<Row>, "rows" | "onEndReached" | "maxHeight"> {
  readonly list: LoadedList<Row>;
  /** One row and several, such as `job` and `jobs`. */
  readonly nouns: readonly [one: string, several: string];
  /** The parameters of the address that filter the list. */
  readonly filterNames: readonly string[];
  readonly icon?: ComponentType<{ readonly size?: number | string }> | undefined;
  /** Shown when there are no rows although nothing is filtered. */
  readonly empty: { readonly title: string; readonly hint: ReactNode; readonly action?: ReactNode };
  /** What helps when no row fits the filters. */
  readonly filteredHint?: string;
  /** Absent: the number of rows. */
  readonly status?: string | undefined;
}

export function ListPanel<Row>(props: ListPanelProps<Row>) {
  const { list, nouns, filterNames, icon, empty, status, ...others } = props;
  const { filteredHint = "Remove a filter, or choose a longer period.", ...table } = others;
  const url = useUrlState();
  const isFiltered = filterNames.some((name) => url.get(name) !== "");
  // New rows are drawn in the background, a few at a time, so that the page answers meanwhile.
  const rows = useDeferredValue(list.items);
  const { error, isPending } = list;
  return (
    <>
      {error !== null && <ErrorNotice error={error} onRetry={list.refetch} />}
      <Panel className="flush">
        {rows.length === 0 && list.items.length === 0 && !isPending && error === null ? (
          <EmptyState
            {...(icon !== undefined && { icon })}
            title={isFiltered ? `No ${nouns[0]} fits these filters` : empty.title}
            action={isFiltered ? <RemoveFilters names={filterNames} /> : empty.action}
          >
            {isFiltered ? filteredHint : empty.hint}
          </EmptyState>
        ) : (
          <DataTable {...table} rows={rows} onEndReached={list.loadMore} maxHeight="calc(100vh - 250px)" />
        )}
      </Panel>
      <Text size="xs" c="dimmed" role="status">
        {isPending ? "Loading" : (status ?? describeCount(list, nouns))}
      </Text>
    </>
  );
}

function describeCount(
  { items, total, hasMore = false }: LoadedList<unknown>,
  [one, several]: readonly [one: string, several: string],
): string {
  if (!hasMore) return `${items.length} ${items.length === 1 ? one : several}`;
  return total === undefined
    ? `${items.length} ${several}, more follow`
    : `The newest ${items.length} of ${formatNumber(total)} ${several}, more follow`;
}
