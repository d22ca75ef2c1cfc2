// What it costs: by team, key, model, provider or tag; the month so far, and what it will probably come to.

import { Anchor, Group, SegmentedControl, Text } from "@mantine/core";
import { useMemo } from "react";
import { Link } from "react-router";
import { toUrl } from "../../api/client.ts";
import { useApi } from "../../api/hooks.ts";
import type { BudgetList, UsageReport, UsageRow } from "../../api/types.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Meter } from "../../components/meter.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { CsvButton } from "../../components/page-parts.tsx";
import { type Period, PeriodPicker, startOfMonth, usePeriod } from "../../components/period-picker.tsx";
import { Stat } from "../../components/stat.tsx";
import { type Series, TimeChart } from "../../components/time-chart.tsx";
import { addDays } from "../../lib/days.ts";
import {
  formatCompact,
  formatDate,
  formatDateTime,
  formatDay,
  formatNumber,
  formatPercent,
  formatUsd,
  viewerTimeZone,
} from "../../lib/format.ts";
import { linkToModelRequests, linkToRequests } from "../../lib/links.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { addCost, modelName, sumCosts, timeOf, toCourse } from "../../lib/usage.ts";
import { forecastMonth } from "./forecast.ts";

const usagePath = "/v3/manage/usage";
const shownSeries = 6;
const mostRows = 2_000;

interface Dimension {
  readonly value: string;
  readonly label: string;
  readonly groupBy: string;
  readonly name: (row: UsageRow) => string;
  /** The address of the requests of a row; undefined if no filter selects them. */
  readonly link: (row: UsageRow, period: Period) => string | undefined;
}

const dimensions: readonly Dimension[] = [
  {
    value: "model",
    label: "Model",
    groupBy: "provider,model,task",
    name: modelName,
    link: linkToModelRequests,
  },
  {
    value: "team",
    label: "Team",
    groupBy: "team",
    name: ({ team }) => team ?? "no team",
    link: ({ team }, period) => linkToRequests({ team }, period),
  },
  {
    value: "key",
    label: "Key",
    groupBy: "key",
    name: ({ key, key_name }) => key_name ?? key ?? "no key",
    link: ({ key }, period) => linkToRequests({ key }, period),
  },
  {
    value: "provider",
    label: "Provider",
    groupBy: "provider",
    name: ({ provider }) => provider ?? "no provider",
    link: ({ provider }, period) => linkToRequests({ provider }, period),
  },
  {
    value: "tag",
    label: "Tag",
    groupBy: "tag",
    name: ({ tag }) => tag ?? "no tag",
    link: ({ tag }, period) => linkToRequests({ tag }, period),
  },
];

export default function SpendPage() {
  const url = useUrlState();
  const period = usePeriod("month");
  const by = dimensions.find(({ value }) => value === url.get("by")) ?? (dimensions[0] as Dimension);
  const csv = toUrl(usagePath, { ...toQuery(period), group_by: `day,${by.groupBy}`, format: "csv" });
  return (
    <Page
      title="Spend"
      description="Exact costs from the ledger, in USD."
      actions={
        <>
          <CsvButton href={csv} />
          <PeriodPicker initial="month" />
        </>
      }
    >
      <MonthTiles />
      <SegmentedControl
        aria-label="Spend by"
        size="xs"
        w="fit-content"
        data={dimensions.map(({ value, label }) => ({ value, label }))}
        value={by.value}
        onChange={(value) => url.set({ by: value === "model" ? null : value })}
      />
      <SpendBy dimension={by} period={period} />
      <Budgets />
    </Page>
  );
}

function toQuery({ from, to, time_zone }: Period) {
  return { from, to, time_zone };
}

function MonthTiles() {
  const start = startOfMonth();
  const report = useApi<UsageReport>(usagePath, { from: "45d", time_zone: viewerTimeZone, group_by: "day" });
  return (
    <Loaded query={report} height={110}>
      {({ rows }) => {
        const days = rows.map((row) => ({ time: timeOf(row), cost: row.cost }));
        const month = days.filter(({ time }) => time >= start.getTime());
        const known = days.map(({ time, cost }) => ({ time, cost: cost ?? 0 }));
        // Without a known cost there is no pace that could continue.
        const forecast = sumCosts(days) === null ? null : forecastMonth(known, new Date());
        const [today, yesterday] = [addDays(new Date(), 0), addDays(new Date(), -1)];
        const costOf = (date: Date) => sumCosts(days.filter(({ time }) => time === date.getTime()));
        const unknown = rows.reduce((sum, row) => sum + row.cost_unknown, 0);
        return (
          <div className="tiles">
            <Stat
              label="This month so far"
              value={formatUsd(sumCosts(month))}
              note={`since ${formatDay(start)}`}
              course={month.map(({ cost }) => cost)}
            />
            <Stat
              label="Forecast for this month"
              value={formatUsd(forecast)}
              note="at the pace of the last seven days"
            />
            <Stat label="Today" value={formatUsd(costOf(today))} note={`${formatUsd(costOf(yesterday))} yesterday`} />
            <Stat label="Calls of unknown cost" value={formatCompact(unknown)} note="in 45 days; not in the sums" />
          </div>
        );
      }}
    </Loaded>
  );
}

function SpendBy({ dimension, period }: { readonly dimension: Dimension; readonly period: Period }) {
  const query = toQuery(period);
  const unit = period.isShort ? "hour" : "day";
  const totals = useApi<UsageReport>(usagePath, {
    ...query,
    group_by: dimension.groupBy,
    sort: "cost",
    limit: mostRows,
  });
  const course = useApi<UsageReport>(usagePath, { ...query, group_by: `${unit},${dimension.groupBy}` });
  const columns = useMemo(
    () => toColumns(dimension, period, totals.data?.totals.cost ?? 0),
    [dimension, period, totals.data],
  );
  const { label, name } = dimension;
  return (
    <>
      <Panel title={`Spend by ${label.toLowerCase()}`}>
        <Loaded query={course} height={260}>
          {(report) => {
            const { times, series } = toSeries(report, (row) => name(row));
            return (
              <TimeChart
                label={`Spend by ${label.toLowerCase()} over time`}
                kind="bars"
                height={260}
                times={times}
                series={series}
                format={formatUsd}
                formatTime={period.isShort ? formatDateTime : formatDate}
              />
            );
          }}
        </Loaded>
      </Panel>
      <Loaded query={totals} height={240}>
        {({ rows, row_count }) => (
          <Panel className="flush">
            {rows.length === 0 ? (
              <EmptyState title="Nothing was spent in this period">
                Choose a longer period, or send requests with an inference key.
              </EmptyState>
            ) : (
              <DataTable
                label={`Spend by ${label.toLowerCase()}`}
                rows={rows}
                columns={columns}
                rowKey={(row) => JSON.stringify([row.provider, row.model, row.task, row.team, row.key, row.tag])}
                maxHeight={440}
              />
            )}
            {row_count > rows.length && (
              <Text size="xs" c="dimmed" p="sm" role="status">
                The {formatNumber(rows.length)} rows of {formatNumber(row_count)} that cost most.
              </Text>
            )}
          </Panel>
        )}
      </Loaded>
    </>
  );
}

function toColumns({ label, name, link }: Dimension, period: Period, total: number): Column<UsageRow>[] {
  return [
    {
      title: label,
      width: "minmax(200px, 2fr)",
      cell: (row) => {
        const to = link(row, period);
        return to === undefined ? (
          name(row)
        ) : (
          <Link className="row-link" to={to}>
            {name(row)}
          </Link>
        );
      },
    },
    { title: "Spend", width: "110px", align: "right", cell: ({ cost }) => formatUsd(cost) },
    {
      title: "Share",
      width: "90px",
      align: "right",
      cell: ({ cost }) => formatPercent(cost === null || total === 0 ? null : cost / total),
    },
    { title: "Requests", width: "110px", align: "right", cell: ({ lines }) => formatCompact(lines) },
    {
      title: "Per request",
      width: "110px",
      align: "right",
      cell: ({ cost, lines }) => formatUsd(cost === null || lines === 0 ? null : cost / lines),
    },
    { title: "Input tokens", width: "120px", align: "right", cell: ({ input_tokens }) => formatCompact(input_tokens) },
    {
      title: "Output tokens",
      width: "120px",
      align: "right",
      cell: ({ output_tokens }) => formatCompact(output_tokens),
    },
    {
      title: "From caches",
      width: "110px",
      align: "right",
      cell: ({ input_tokens, cached_tokens }) =>
        formatPercent(input_tokens === 0 ? null : cached_tokens / input_tokens),
    },
  ];
}

/** The names that cost most, and all others together. */
function toSeries(
  report: UsageReport,
  name: (row: UsageRow) => string,
): { times: readonly number[]; series: Series[] } {
  const { times } = toCourse(report, report.rows);
  const byName = Map.groupBy(report.rows, name);
  const costOf = (rows: readonly UsageRow[]) => sumCosts(rows) ?? 0;
  const sorted = [...byName].toSorted(([, one], [, other]) => costOf(other) - costOf(one));
  const place = new Map(times.map((time, index) => [time, index]));
  const toValues = (rows: readonly UsageRow[]) => {
    const values = times.map((): number | null => 0);
    for (const row of rows) {
      const index = place.get(timeOf(row));
      if (index !== undefined) values[index] = addCost(values[index] ?? null, row.cost);
    }
    return values;
  };
  const series: Series[] = sorted.slice(0, shownSeries).map(([one, rows]) => ({ name: one, values: toValues(rows) }));
  const rest = sorted.slice(shownSeries).flatMap(([, rows]) => rows);
  if (rest.length > 0) series.push({ name: "others", values: toValues(rest), color: "--series-8" });
  return { times, series };
}

function Budgets() {
  const budgets = useApi<BudgetList>("/v3/manage/budgets", { limit: 12 });
  return (
    <Panel
      title="Budgets"
      description="Those of which most is spent"
      actions={
        <Group gap="sm">
          <Anchor component={Link} to="/teams" size="sm">
            Teams
          </Anchor>
          <Anchor component={Link} to="/keys" size="sm">
            Keys
          </Anchor>
        </Group>
      }
    >
      <Loaded query={budgets}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              No key and no team has a budget. Set one under Teams or Keys.
            </Text>
          ) : (
            <div className="budget-grid">
              {items.map(({ holder, id, name, model, spent, amount, resets_at }) => (
                <div key={`${id} ${model}`}>
                  <Group gap={6} mb={4} wrap="nowrap">
                    <Text size="sm" fw={550} truncate>
                      {name}
                    </Text>
                    <Text size="xs" c="dimmed" truncate>
                      {model === null ? holder : `${holder}, ${model}`}
                    </Text>
                  </Group>
                  <Meter
                    label={`Budget of ${holder} ${name}`}
                    used={spent}
                    of={amount}
                    left={`${formatUsd(spent)} of ${formatUsd(amount)}`}
                    right={resets_at === null ? "in total" : `until ${formatDay(resets_at)}`}
                  />
                </div>
              ))}
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
