// What happens right now, from two readings of the gateway's counters every two seconds.

import { Group, Text } from "@mantine/core";
import { useEffect, useMemo, useRef, useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { LiveFigures, RequestList, UsageReport } from "../../api/types.ts";
import { Panel } from "../../components/page.tsx";
import { TimeChart } from "../../components/time-chart.tsx";
import { formatCompact, formatMs, formatUsd } from "../../lib/format.ts";
import { sumRows } from "../../lib/usage.ts";
import { type LivePoint, type RatePoint, toHistory, toPoint } from "./live.ts";

const everyMs = 2_000;
/** Five minutes. */
const keptPoints = 150;
/** Percentiles of fewer calls would jump: they are read over this many readings. */
const windowReadings = 15;
const historyLines = 1_000;

export function LivePanel() {
  const figures = useApi<LiveFigures>("/v3/manage/live", {}, { refreshMs: everyMs });
  const readings = useRef<LiveFigures[]>([]);
  const [points, setPoints] = useState<readonly LivePoint[]>([]);
  const [recent, setRecent] = useState<LivePoint | null>(null);
  const { data } = figures;
  useEffect(() => {
    if (data === undefined || readings.current.at(-1)?.time === data.time) return;
    const before = readings.current.at(-1);
    const point = before === undefined ? null : toPoint(before, data);
    if (before !== undefined && point === null) readings.current = [];
    readings.current = [...readings.current.slice(-windowReadings), data];
    const [oldest = data] = readings.current;
    setRecent(toPoint(oldest, data));
    if (point !== null) setPoints((known) => [...known.slice(-keptPoints), point]);
  }, [data]);
  const last = points.at(-1);
  const [firstReading, setFirstReading] = useState<number | null>(null);
  if (firstReading === null && data !== undefined) setFirstReading(Date.parse(data.time));
  const shown = [...useHistory(firstReading), ...points].slice(-keptPoints);
  return (
    <Panel
      title={
        <Group gap={8}>
          <span className="dot live-dot" data-state={figures.error === null ? "good" : "bad"} />
          Right now
        </Group>
      }
      description={
        figures.error === null
          ? "the last five minutes, by the second; percentiles of the last 30 seconds"
          : figures.error.message
      }
    >
      <div className="live">
        <div className="live-figures">
          <Figure
            name="Requests / s"
            value={last === undefined ? "–" : last.requestsPerSecond.toFixed(last.requestsPerSecond < 10 ? 1 : 0)}
          />
          <Figure name="Errors / s" value={last === undefined ? "–" : last.errorsPerSecond.toFixed(1)} />
          <Figure name="Latency p50" value={formatMs(recent?.p50)} />
          <Figure name="Latency p95" value={formatMs(recent?.p95)} />
          <Figure name="Latency p99" value={formatMs(recent?.p99)} />
          <Figure name="First token p50" value={formatMs(recent?.firstToken50)} />
          <Figure
            name="Tokens / s"
            value={formatCompact(last === undefined ? null : Math.round(last.tokensPerSecond))}
          />
          <Figure name="USD / min" value={formatUsd(recent?.usdPerMinute)} />
        </div>
        <TimeChart
          label="Requests per second"
          height={124}
          windowMs={everyMs * keptPoints}
          times={shown.map(({ time }) => time)}
          series={[
            { name: "Requests per second", values: shown.map(({ requestsPerSecond }) => requestsPerSecond) },
            { name: "Errors per second", values: shown.map(({ errorsPerSecond }) => errorsPerSecond), color: "--bad" },
          ]}
          format={(value) => (value >= 10 ? formatCompact(value) : String(Number(value.toPrecision(2))))}
        />
      </div>
    </Panel>
  );
}

/** What happened in the minutes before the page was opened, from the ledger: the counters do not remember it. */
function useHistory(to: number | null): readonly RatePoint[] {
  const from = (to ?? 0) - everyMs * keptPoints;
  const period = { from: new Date(from).toISOString(), to: new Date(to ?? 0).toISOString() };
  const enabled = to !== null;
  const newest = useApi<RequestList>("/v3/manage/requests", { ...period, limit: historyLines }, { enabled });
  const sums = useApi<UsageReport>("/v3/manage/usage", { ...period, group_by: "outcome" }, { enabled });
  return useMemo(() => {
    if (to === null || newest.data === undefined || sums.data === undefined) return [];
    const { items: lines, next_cursor } = newest.data;
    const { lines: all, errors } = sumRows(sums.data.rows);
    return toHistory({ from, to, lines, hasMore: next_cursor !== null, totals: { lines: all, errors } });
  }, [from, to, newest.data, sums.data]);
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="lg" fw={600} className="numeric">
        {value}
      </Text>
    </div>
  );
}
