// The lines of the ledger: filters in the address, a live tail, and pages that load while one scrolls.

import { Switch } from "@mantine/core";
import { useNavigate } from "react-router";
import type { Query } from "../../api/client.ts";
import { useApi } from "../../api/hooks.ts";
import { usePages } from "../../api/pages.ts";
import type { LedgerLine, ProviderList, RequestList } from "../../api/types.ts";
import type { Column } from "../../components/data-table.tsx";
import { ChoiceFilter, Filters, KeyFilter, NumberFilter, TeamFilter, TextFilter } from "../../components/filters.tsx";
import { ListPanel, type ListPanelProps } from "../../components/list-panel.tsx";
import { OutcomeBadge } from "../../components/outcome-badge.tsx";
import { Page } from "../../components/page.tsx";
import { PeriodPicker, usePeriod } from "../../components/period-picker.tsx";
import { TimeLink, TwoLines } from "../../components/row-parts.tsx";
import { formatCompact, formatMs, formatUsd, noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { modelName } from "../../lib/usage.ts";

const requestsPath = "/v3/manage/requests";
const linesPerPage = 200;
const liveLines = 50;
const liveEveryMs = 2_000;
const filterNames = [
  "key",
  "team",
  "tag",
  "model",
  "provider",
  "task",
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
  const query = { ...filters, from, to, time_zone };
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
      <RequestFilters />
      {isLive ? <LiveLines query={query} /> : <StoredLines query={query} />}
    </Page>
  );
}

interface LinesProps {
  readonly query: Query;
}

function StoredLines({ query }: LinesProps) {
  const lines = usePages<LedgerLine>(requestsPath, { ...query, limit: linesPerPage });
  return <Lines list={lines} rowKey={({ id }) => id} />;
}

/** Apart from the page, which is not drawn again every two seconds. */
function LiveLines({ query }: LinesProps) {
  const tail = useApi<RequestList>(requestsPath, { ...query, limit: liveLines }, { refreshMs: liveEveryMs });
  const { data, error, isPending } = tail;
  const items = data?.items ?? [];
  const list = { items, error, isPending, refetch: () => void tail.refetch() };
  return <Lines list={list} status={`The newest ${items.length} lines, every two seconds`} />;
}

function Lines(props: Pick<ListPanelProps<LedgerLine>, "list" | "rowKey" | "status">) {
  const navigate = useNavigate();
  return (
    <ListPanel
      {...props}
      label="Requests"
      nouns={["request", "lines"]}
      filterNames={filterNames}
      empty={{
        title: "No requests in this period",
        hint: "Requests appear here a quarter of a second after they ended.",
      }}
      columns={columns}
      rowHeight={48}
      onRowClick={({ request_id }) => void navigate(`/requests/${request_id}`)}
    />
  );
}

const columns: readonly Column<LedgerLine>[] = [
  {
    title: "Time",
    width: "142px",
    cell: ({ time, request_id }) => <TimeLink to={`/requests/${request_id}`} time={time} />,
  },
  {
    title: "Outcome",
    width: "196px",
    cell: ({ outcome, status }) => <OutcomeBadge outcome={outcome} status={status} />,
  },
  {
    title: "Model",
    width: "minmax(225px, 1.4fr)",
    cell: (line) => <span title={modelName(line)}>{modelName(line)}</span>,
  },
  {
    title: "Key and team",
    width: "minmax(150px, 1fr)",
    cell: ({ key_name, team, count }) => (
      <TwoLines first={`${key_name ?? noValue}${count > 1 ? ` (×${count})` : ""}`} second={team} />
    ),
  },
  { title: "Latency", width: "85px", align: "right", cell: ({ latency_ms }) => formatMs(latency_ms) },
  { title: "First token", width: "95px", align: "right", cell: ({ first_token_ms }) => formatMs(first_token_ms) },
  {
    title: "Tokens",
    width: "135px",
    align: "right",
    cell: ({ input_tokens, output_tokens }) =>
      input_tokens === null && output_tokens === null
        ? noValue
        : `${formatCompact(input_tokens)} → ${formatCompact(output_tokens)}`,
  },
  { title: "Cost", width: "112px", align: "right", cell: ({ cost }) => formatUsd(cost) },
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

function RequestFilters() {
  const providers = useApi<ProviderList>("/v3/manage/providers");
  return (
    <Filters<(typeof filterNames)[number]>
      controls={{
        outcome: <ChoiceFilter name="outcome" label="Outcome" width={170} choices={outcomes} />,
        provider: (
          <ChoiceFilter
            name="provider"
            label="Provider"
            choices={providers.data?.items.map(({ name }) => name).toSorted() ?? []}
          />
        ),
        model: <TextFilter name="model" label="Model" />,
        team: <TeamFilter width={140} />,
        key: <KeyFilter />,
        endpoint: <TextFilter name="endpoint" label="Endpoint, such as /v3/chat/completions" />,
        min_latency_ms: (
          <NumberFilter name="min_latency_ms" label="Least latency in milliseconds" placeholder="Latency ≥ ms" />
        ),
        tag: "Tag",
        task: "Task",
        status: "Status",
        min_cost: "Least cost in USD",
      }}
    />
  );
}
