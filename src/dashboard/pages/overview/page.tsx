// What happens: requests, errors, latency, tokens, spend and budgets of the period, and what happens right now.

import { Anchor, Code, Text } from "@mantine/core";
import { Link } from "react-router";
import { useApi } from "../../api/hooks.ts";
import type { BudgetList, LatencyReport, ModelList, ProviderList, UsageReport } from "../../api/types.ts";
import { BarList } from "../../components/bar-list.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { LoadErrors, Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { ListLink } from "../../components/page-parts.tsx";
import { type Period, PeriodPicker, usePeriod } from "../../components/period-picker.tsx";
import { Stat } from "../../components/stat.tsx";
import { TimeChart } from "../../components/time-chart.tsx";
import {
  formatCompact,
  formatDate,
  formatDateTime,
  formatMs,
  formatPercent,
  formatUsd,
  noValue,
} from "../../lib/format.ts";
import { linkToModelRequests, linkToRequests, linkWithPeriod } from "../../lib/links.ts";
import { modelName, periodBefore, type Sums, stepsAt, sumRows, toCourse } from "../../lib/usage.ts";
import { useSession } from "../../session/session.ts";
import { LivePanel } from "./live-panel.tsx";
import { listCachingProviders, sumSavings } from "./savings.ts";

const usagePath = "/v3/manage/usage";
const refreshMs = 15_000;
const topRows = 7;

export default function OverviewPage() {
  const period = usePeriod();
  const { from, to, time_zone } = period;
  const unit = period.isShort ? "hour" : "day";
  const report = useApi<UsageReport>(usagePath, { from, to, time_zone, group_by: `${unit},outcome` }, { refreshMs });
  const { team } = useSession();
  return (
    <Page title="Overview" actions={<PeriodPicker />}>
      {team === null && <LivePanel />}
      <Loaded query={report} height={420}>
        {(data) => (data.totals.lines === 0 ? <FirstSteps /> : <Figures report={data} period={period} />)}
      </Loaded>
    </Page>
  );
}

function Figures({ report, period }: { readonly report: UsageReport; readonly period: Period }) {
  const { from, to, time_zone, isShort } = period;
  const before = periodBefore(from, to);
  const earlier = useApi<UsageReport>(
    usagePath,
    { ...before, time_zone, group_by: "outcome" },
    { enabled: before !== null },
  );
  const { times, sums } = toCourse(report, report.rows);
  const latency = useApi<LatencyReport>("/v3/manage/latency", {
    ...{ from: report.from, to: report.to, time_zone },
    ...(isShort ? { step_hours: 1 } : { step: "day" }),
  });
  const now = sumRows(report.rows);
  const then = before === null || earlier.data === undefined ? null : sumRows(earlier.data.rows);
  const axis = { times, formatTime: isShort ? formatDateTime : formatDate };
  const errorShare = now.lines === 0 ? null : now.errors / now.lines;
  return (
    <>
      <LoadErrors queries={[latency, earlier]} />
      <div className="tiles">
        <Stat
          label="Requests"
          value={formatCompact(now.lines)}
          change={{ amount: now.lines, before: then?.lines ?? null, isGoodWhen: "neither" }}
          course={sums.map(({ lines }) => lines)}
        />
        <Stat
          label="Error rate"
          value={formatPercent(errorShare)}
          note={`${formatCompact(now.errors)} failed or refused`}
          change={{
            amount: errorShare,
            before: then === null || then.lines === 0 ? null : then.errors / then.lines,
            isGoodWhen: "down",
          }}
          course={sums.map(({ lines, errors }) => (lines === 0 ? null : errors / lines))}
        />
        <Stat
          label="Spend"
          value={formatUsd(report.totals.cost)}
          note={
            report.totals.cost_unknown > 0 ? `${formatCompact(report.totals.cost_unknown)} of unknown cost` : undefined
          }
          change={{ amount: report.totals.cost, before: then?.cost ?? null, isGoodWhen: "neither" }}
          course={sums.map(({ cost }) => cost)}
        />
        <Stat
          label="Tokens"
          value={formatCompact(now.input_tokens + now.output_tokens)}
          note={`${formatCompact(now.input_tokens)} in, ${formatCompact(now.output_tokens)} out`}
          course={sums.map(({ input_tokens, output_tokens }) => input_tokens + output_tokens)}
        />
        <Stat
          label="Latency p50"
          value={formatMs(latency.data?.total.latency.p50)}
          note={`p95 ${formatMs(latency.data?.total.latency.p95)}, p99 ${formatMs(latency.data?.total.latency.p99)}`}
          course={latency.data?.steps.map((step) => step.latency.p50)}
        />
        <Stat
          label="First token p50"
          value={formatMs(latency.data?.total.first_token.p50)}
          note={`p95 ${formatMs(latency.data?.total.first_token.p95)} in streams`}
          course={latency.data?.steps.map((step) => step.first_token.p50)}
        />
        <BudgetStat />
        <CacheStat period={period} now={now} course={sums.map(({ cached_tokens }) => cached_tokens)} />
      </div>
      <Panel title="Requests">
        <TimeChart
          label="Requests over time"
          kind="bars"
          series={[
            { name: "Answered", values: sums.map(({ lines, errors }) => lines - errors) },
            { name: "Failed or refused", values: sums.map(({ errors }) => errors), color: "--bad" },
          ]}
          format={formatCompact}
          {...axis}
        />
      </Panel>
      <div className="columns">
        <Panel title="Latency">
          <PercentileChart label="Latency" report={latency.data} kind="latency" {...axis} />
        </Panel>
        <Panel title="Time to first token">
          <PercentileChart label="Time to first token" report={latency.data} kind="first_token" {...axis} />
        </Panel>
      </div>
      <div className="columns">
        <Panel title="Spend">
          <TimeChart
            label="Spend over time"
            series={[{ name: "USD", values: sums.map(({ cost }) => cost) }]}
            format={formatUsd}
            {...axis}
          />
        </Panel>
        <Panel title="Tokens">
          <TimeChart
            label="Tokens over time"
            kind="bars"
            series={[
              { name: "Input", values: sums.map(({ input_tokens, cached_tokens }) => input_tokens - cached_tokens) },
              {
                name: "Input from caches",
                values: sums.map(({ cached_tokens }) => cached_tokens),
                color: "--series-2",
              },
              { name: "Output", values: sums.map(({ output_tokens }) => output_tokens), color: "--series-4" },
            ]}
            format={formatCompact}
            {...axis}
          />
        </Panel>
      </div>
      <div className="columns">
        <TopModels period={period} />
        <TopErrors report={report} period={period} />
      </div>
    </>
  );
}

/** The budget of which the largest part is spent. */
function BudgetStat() {
  const budgets = useApi<BudgetList>("/v3/manage/budgets", { limit: 1 });
  if (budgets.data === undefined)
    return <Stat label="Budgets" value={noValue} note={budgets.error === null ? "loading" : "could not be read"} />;
  const [fullest] = budgets.data.items;
  if (fullest === undefined) return <Stat label="Budgets" value={noValue} note="no key and no team has one" />;
  const { holder, name, spent, amount } = fullest;
  return (
    <Stat
      label="Fullest budget"
      value={formatPercent(amount === 0 ? 1 : spent / amount)}
      note={
        <>
          <Anchor component={Link} to={`/${holder}s`} inherit underline="always">
            {name}
          </Anchor>
          : {formatUsd(spent)} of {formatUsd(amount)}
        </>
      }
    />
  );
}

interface CacheStatProps {
  readonly period: Period;
  readonly now: Sums;
  readonly course: readonly number[];
}

/** Prices are asked for the providers of the period only: the catalogue is long, and knows no provider that was removed. */
function CacheStat({ period: { from, to, time_zone }, now, course }: CacheStatProps) {
  const usage = useApi<UsageReport>(usagePath, { from, to, time_zone, group_by: "provider,model" });
  const known = useApi<ProviderList>("/v3/manage/providers", undefined, { enabled: now.cached_tokens > 0 });
  const rows = usage.data?.rows ?? [];
  const provider = listCachingProviders(rows, known.data?.items.map(({ name }) => name) ?? []);
  const query = { provider, include: "unconfigured" };
  const models = useApi<ModelList>("/v3/models", query, { enabled: provider.length > 0 });
  const saved = models.data === undefined ? null : sumSavings(rows, models.data.data);
  const share = formatPercent(now.input_tokens === 0 ? null : now.cached_tokens / now.input_tokens);
  return (
    <Stat
      label="Saved by caches"
      value={formatUsd(saved)}
      note={`${share} of the input tokens were read from caches`}
      course={course}
    />
  );
}

interface PercentileChartProps {
  readonly label: string;
  readonly report: LatencyReport | undefined;
  readonly kind: "latency" | "first_token";
  readonly times: readonly number[];
  readonly formatTime: (time: number) => string;
}

const percentiles = ["p50", "p95", "p99"] as const;

function PercentileChart({ label, report, kind, times, formatTime }: PercentileChartProps) {
  const steps = stepsAt(times, report?.steps ?? []);
  return (
    <TimeChart
      label={`${label} over time`}
      times={times}
      series={percentiles.map((name) => ({ name, values: steps.map((step) => step?.[kind][name] ?? null) }))}
      format={formatMs}
      formatTime={formatTime}
    />
  );
}

function TopModels({ period }: { readonly period: Period }) {
  const { from, to, time_zone } = period;
  const report = useApi<UsageReport>(usagePath, {
    from,
    to,
    time_zone,
    group_by: "provider,model,task",
    sort: "cost",
    limit: topRows,
  });
  return (
    <Panel title="Models by spend" actions={<ListLink to={linkWithPeriod("/spend", period)}>All spend</ListLink>}>
      <Loaded query={report}>
        {({ rows, totals }) => (
          <BarList
            total={totals.cost ?? 0}
            bars={rows.map((row) => ({
              id: `${row.provider} ${row.model} ${row.task}`,
              name: modelName(row),
              amount: row.cost,
              shown: formatUsd(row.cost),
              to: linkToModelRequests(row, period),
            }))}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function TopErrors({ report, period }: { readonly report: UsageReport; readonly period: Period }) {
  const byOutcome = new Map<string, number>();
  for (const { outcome, lines } of report.rows)
    if (outcome && outcome !== "completed") byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + lines);
  const sorted = [...byOutcome].toSorted(([, one], [, other]) => other - one).slice(0, topRows);
  return (
    <Panel
      title="What did not complete"
      actions={<ListLink to={linkWithPeriod("/requests", period)}>All requests</ListLink>}
    >
      {sorted.length === 0 ? (
        <Text size="sm" c="dimmed">
          Every request of this period was completed.
        </Text>
      ) : (
        <BarList
          total={report.totals.lines}
          bars={sorted.map(([outcome, lines]) => ({
            id: outcome,
            name: <span className="mono">{outcome}</span>,
            amount: lines,
            shown: formatCompact(lines),
            to: linkToRequests({ outcome }, period),
          }))}
        />
      )}
    </Panel>
  );
}

function FirstSteps() {
  const command = `curl ${location.origin}/v3/chat/completions -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'`;
  return (
    <Panel>
      <EmptyState title="No requests in this period">
        <p>
          Send a first one with an inference key, which you create under{" "}
          <Anchor component={Link} to="/keys" inherit underline="always">
            Keys
          </Anchor>
          . The sandbox answers without a provider and costs nothing.
        </p>
        <Code block ta="left">
          {command}
        </Code>
      </EmptyState>
    </Panel>
  );
}
