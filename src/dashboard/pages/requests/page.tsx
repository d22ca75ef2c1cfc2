// The lines of the ledger: filters in the address, a live tail, and pages that load while one scrolls.

import { Button, Group, NumberInput, Select, Switch, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useNavigate } from "react-router";
import type { ApiError } from "../../api/client.ts";
import { useApi, useClient } from "../../api/hooks.ts";
import type { KeyList, LedgerLine, RequestList, TeamList } from "../../api/types.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { OutcomeBadge } from "../../components/outcome-badge.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { PeriodPicker, usePeriod } from "../../components/period-picker.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { formatCompact, formatMs, formatUsd, noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { modelName } from "../../lib/usage.ts";

const linesPerPage = 200;
const liveEveryMs = 2_000;
const filterNames = [
  "key",
  "team",
  "model",
  "provider",
  "outcome",
  "endpoint",
  "status",
  "min_latency_ms",
  "min_cost",
] as const;

export default function RequestsPage() {
  const url = useUrlState();
  const { from, to, time_zone } = usePeriod("24h");
  const isLive = url.get("live") === "1";
  const filters = Object.fromEntries(filterNames.map((name) => [name, url.get(name)]));
  const query = { ...filters, from, to, time_zone, limit: linesPerPage };
  const client = useClient();
  const lines = useInfiniteQuery<
    RequestList,
    ApiError,
    { readonly pages: RequestList[] },
    readonly unknown[],
    string | null
  >({
    queryKey: ["/v3/manage/requests", query],
    queryFn: ({ pageParam, signal }) =>
      client.call("GET", "/v3/manage/requests", { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: !isLive,
  });
  const tail = useApi<RequestList>("/v3/manage/requests", query, {
    enabled: isLive,
    refreshMs: isLive ? liveEveryMs : undefined,
  });
  const pages = isLive ? (tail.data === undefined ? [] : [tail.data]) : (lines.data?.pages ?? []);
  const items = useMemo(() => pages.flatMap((page) => page.items), [pages]);
  const error = isLive ? tail.error : lines.error;
  const isPending = isLive ? tail.isPending : lines.isPending;
  const navigate = useNavigate();
  const loadMore = () => {
    if (!isLive && lines.hasNextPage && !lines.isFetchingNextPage) void lines.fetchNextPage();
  };
  const isFiltered = filterNames.some((name) => url.get(name) !== "");
  return (
    <Page
      title="Requests"
      description="Every call to a provider, and every request that was refused."
      actions={
        <>
          <Switch
            label="Live"
            checked={isLive}
            onChange={(event) => url.set({ live: event.currentTarget.checked ? "1" : null })}
          />
          <PeriodPicker initial="24h" />
        </>
      }
    >
      <Filters />
      {error !== null && <ErrorNotice error={error} onRetry={() => void (isLive ? tail.refetch() : lines.refetch())} />}
      <Panel className="flush">
        {items.length === 0 && !isPending && error === null ? (
          <EmptyState
            title={isFiltered ? "No request fits these filters" : "No requests in this period"}
            action={
              isFiltered ? (
                <Button
                  variant="light"
                  size="xs"
                  onClick={() => url.set(Object.fromEntries(filterNames.map((name) => [name, null])))}
                >
                  Remove the filters
                </Button>
              ) : undefined
            }
          >
            {isFiltered
              ? "Remove a filter, or choose a longer period."
              : "Requests appear here a quarter of a second after they ended."}
          </EmptyState>
        ) : (
          <DataTable
            label="Requests"
            rows={items}
            columns={columns}
            rowKey={({ id }) => id}
            onRowClick={({ request_id }) => void navigate(`/requests/${request_id}`)}
            onEndReached={loadMore}
            maxHeight="calc(100vh - 250px)"
          />
        )}
      </Panel>
      <Text size="xs" c="dimmed" role="status">
        {isPending
          ? "Loading"
          : isLive
            ? `The newest ${items.length} lines, every two seconds`
            : `${items.length} lines${lines.hasNextPage ? ", more follow" : ""}`}
      </Text>
    </Page>
  );
}

const columns: readonly Column<LedgerLine>[] = [
  {
    title: "Time",
    width: "160px",
    cell: ({ time, request_id }) => (
      <Link className="row-link" to={`/requests/${request_id}`} onClick={(event) => event.stopPropagation()}>
        <TimeText time={time} />
      </Link>
    ),
  },
  {
    title: "Outcome",
    width: "minmax(130px, 210px)",
    cell: ({ outcome, status }) => <OutcomeBadge outcome={outcome} status={status} />,
  },
  {
    title: "Model",
    width: "minmax(170px, 1.4fr)",
    cell: (line) => <span title={modelName(line)}>{modelName(line)}</span>,
  },
  {
    title: "Key",
    width: "minmax(110px, 1fr)",
    cell: ({ key_name, count }) => (count > 1 ? `${key_name ?? noValue} (×${count})` : (key_name ?? noValue)),
  },
  { title: "Team", width: "minmax(90px, 0.8fr)", cell: ({ team }) => team ?? noValue },
  { title: "Latency", width: "100px", align: "right", cell: ({ latency_ms }) => formatMs(latency_ms) },
  { title: "First token", width: "100px", align: "right", cell: ({ first_token_ms }) => formatMs(first_token_ms) },
  {
    title: "Tokens",
    width: "115px",
    align: "right",
    cell: ({ input_tokens, output_tokens }) =>
      input_tokens === null && output_tokens === null
        ? noValue
        : `${formatCompact(input_tokens ?? 0)} → ${formatCompact(output_tokens ?? 0)}`,
  },
  { title: "Cost", width: "100px", align: "right", cell: ({ cost }) => formatUsd(cost) },
];

const outcomes = [
  "completed",
  "caller_left",
  "rate_limit_exceeded",
  "budget_exceeded",
  "provider_error",
  "provider_timeout",
  "provider_rate_limited",
  "provider_unreachable",
  "model_not_found",
];

function Filters() {
  const url = useUrlState();
  const keys = useApi<KeyList>("/v3/manage/keys", { limit: 1_000 });
  const teams = useApi<TeamList>("/v3/manage/teams", { limit: 1_000 });
  const setSoon = useDebouncedCallback((name: string, value: string) => url.set({ [name]: value }), 350);
  const field = (name: string, placeholder: string) => ({
    "aria-label": placeholder,
    placeholder,
    size: "xs",
    defaultValue: url.get(name),
    key: `${name} ${url.get(name) === ""}`,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setSoon(name, event.currentTarget.value.trim()),
  });
  const choice = (name: string, placeholder: string) => ({
    "aria-label": placeholder,
    placeholder,
    size: "xs",
    searchable: true,
    clearable: true,
    value: url.get(name) || null,
    onChange: (value: string | null) => url.set({ [name]: value }),
  });
  const known =
    url.get("outcome") === "" || outcomes.includes(url.get("outcome")) ? outcomes : [...outcomes, url.get("outcome")];
  const { key: modelKey, ...model } = field("model", "Model");
  const { key: endpointKey, ...endpoint } = field("endpoint", "Endpoint, such as /v3/chat/completions");
  return (
    <Group gap="xs" role="search">
      <Select {...choice("outcome", "Outcome")} data={known} w={170} />
      <TextInput key={modelKey} {...model} w={170} />
      <Select {...choice("team", "Team")} data={teams.data?.items.map(({ name }) => name) ?? []} w={140} />
      <Select
        {...choice("key", "Key")}
        data={keys.data?.items.map(({ id, name }) => ({ value: id, label: name })) ?? []}
        w={150}
      />
      <TextInput key={endpointKey} {...endpoint} w={170} />
      <NumberInput
        aria-label="Least latency in milliseconds"
        placeholder="Latency ≥ ms"
        size="xs"
        w={120}
        min={0}
        hideControls
        value={url.get("min_latency_ms")}
        onChange={(value) => setSoon("min_latency_ms", String(value))}
      />
    </Group>
  );
}
