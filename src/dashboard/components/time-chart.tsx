// Values over time, as lines or as stacked bars. The same values can be shown as a table, for people who do not see the drawing.

import { Button, Table, useComputedColorScheme } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { formatDateTime, formatDay, noValue } from "../lib/format.ts";

export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** The number of a colour, from 1 to 8, or the name of a variable. Default: by position. */
  readonly color?: string;
}

interface TimeChartProps {
  readonly label: string;
  /** Epoch milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly kind?: "lines" | "bars";
  readonly height?: number;
  /** Shows this many milliseconds up to the last value, also where there are no values yet. */
  readonly windowMs?: number;
  readonly formatTime?: (time: number) => string;
}

interface Tip {
  readonly index: number;
  readonly left: number;
}

const colorCount = 8;
const tipWidth = 190;

export function TimeChart(props: TimeChartProps) {
  const { label, times, series, format, kind = "lines", height = 220, windowMs, formatTime = formatDateTime } = props;
  const [isTable, setTable] = useState(false);
  const [tip, setTip] = useState<Tip | null>(null);
  const { ref: sizeRef, width } = useElementSize<HTMLDivElement>();
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const scheme = useComputedColorScheme("light");
  const names = series.map(({ name }) => name).join("\n");

  // biome-ignore lint/correctness/useExhaustiveDependencies: new data reaches the chart through the effect below
  useEffect(() => {
    if (holder.current === null || width === 0 || isTable) return;
    const options = toOptions({ series, kind, width, height, format, windowMs, onTip: setTip });
    const created = new uPlot(options, toData(times, series, kind), holder.current);
    plot.current = created;
    return () => {
      created.destroy();
      plot.current = null;
    };
  }, [width, height, kind, scheme, names, isTable]);

  useEffect(() => {
    plot.current?.setData(toData(times, series, kind));
  }, [times, series, kind]);

  return (
    <div>
      <div className="chart-head">
        <ul className="chart-legend">
          {series.map(({ name, color }, index) => (
            <li key={name}>
              <span className="chart-key" style={{ background: toColor(color, index) }} />
              <span className="truncate">{name}</span>
            </li>
          ))}
        </ul>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          onClick={() => setTable(!isTable)}
          aria-label={`${label}: ${isTable ? "show as chart" : "show as table"}`}
        >
          {isTable ? "Chart" : "Table"}
        </Button>
      </div>
      {isTable ? (
        <ValueTable {...{ label, times, series, format, formatTime, height }} />
      ) : (
        <div
          ref={sizeRef}
          className="chart"
          style={{ height }}
          role="img"
          aria-label={`${label}. The button shows the values as a table.`}
        >
          <div ref={holder} />
          {tip !== null && <TipBox tip={tip} {...{ times, series, format, formatTime, width }} />}
        </div>
      )}
    </div>
  );
}

interface ValuesProps extends Required<Pick<TimeChartProps, "times" | "series" | "format" | "formatTime">> {}

function TipBox({
  tip,
  times,
  series,
  format,
  formatTime,
  width,
}: ValuesProps & { readonly tip: Tip; readonly width: number }) {
  const time = times[tip.index];
  if (time === undefined) return null;
  const left = tip.left + 16 + tipWidth > width ? tip.left - tipWidth - 8 : tip.left + 16;
  return (
    <div className="chart-tip" style={{ left: Math.max(0, left), top: 8 }}>
      <strong>{formatTime(time)}</strong>
      <table>
        <tbody>
          {series.map(({ name, values, color }, index) => (
            <tr key={name}>
              <td>
                <span className="chart-key chart-key-inline" style={{ background: toColor(color, index) }} /> {name}
              </td>
              <td>{toShown(values[tip.index], format)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ValueTable({
  label,
  times,
  series,
  format,
  formatTime,
  height,
}: ValuesProps & { readonly label: string; readonly height: number }) {
  return (
    <Table.ScrollContainer minWidth={320} maxHeight={height} tabIndex={0}>
      <Table stickyHeader aria-label={label} fz="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            {series.map(({ name }) => (
              <Table.Th key={name} ta="right">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {times.map((time, index) => (
            <Table.Tr key={time}>
              <Table.Td>{formatTime(time)}</Table.Td>
              {series.map(({ name, values }) => (
                <Table.Td key={name} ta="right">
                  {toShown(values[index], format)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function toShown(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? noValue : format(value);
}

function toColor(color: string | undefined, index: number): string {
  return `var(${color ?? `--series-${(index % colorCount) + 1}`})`;
}

/** The canvas knows no variables. */
function readColor(color: string | undefined, index: number): string {
  const name = color ?? `--series-${(index % colorCount) + 1}`;
  return readVariable(name);
}

function readVariable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Bars are drawn from the highest sum to the lowest, each over the one before, so that they look stacked. */
function toData(times: readonly number[], series: readonly Series[], kind: "lines" | "bars"): uPlot.AlignedData {
  const seconds = times.map((time) => time / 1_000);
  if (kind === "lines") return [seconds, ...series.map(({ values }) => [...values])];
  const sums = times.map(() => 0);
  const stacked = series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
  return [seconds, ...stacked.reverse()];
}

interface PlotOptions extends Required<Pick<TimeChartProps, "series" | "kind" | "height" | "format">> {
  readonly width: number;
  readonly windowMs: number | undefined;
  readonly onTip: (tip: Tip | null) => void;
}

function toOptions({ series, kind, width, height, format, windowMs, onTip }: PlotOptions): uPlot.Options {
  const text = readVariable("--text-muted");
  const grid = { stroke: readVariable("--row-border"), width: 1 };
  const axis = { stroke: text, grid, ticks: { show: false }, font: "11.5px system-ui, sans-serif" };
  const drawn: uPlot.Series[] = series.map(({ color }, index) => {
    const stroke = readColor(color, index);
    if (kind === "bars")
      return {
        fill: stroke,
        stroke,
        width: 0,
        paths: uPlot.paths.bars?.({ size: [0.72, 48] }),
        points: { show: false },
      };
    return {
      stroke,
      width: 1.8,
      paths: uPlot.paths.linear?.(),
      points: { show: false },
      spanGaps: true,
      ...(series.length === 1 && { fill: `${stroke}1f` }),
    };
  });
  return {
    width,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: kind === "lines" }, drag: { x: false, y: false } },
    scales: {
      x: { range: (plot, low, high) => toRange(plot.data[0], { low, high, kind, windowMs }) },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 30,
        incrs: tickSteps,
        values: (_plot, splits, _index, _space, step) => splits.map((at) => formatTick(at, step)),
      },
      { ...axis, size: 62, space: 34, values: (_plot, splits) => splits.map(format) },
    ],
    series: [{}, ...(kind === "bars" ? drawn.reverse() : drawn)],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left } }) =>
          onTip(typeof idx === "number" && left !== undefined && left >= 0 ? { index: idx, left: left + 62 } : null),
      ],
    },
  };
}

const dayFromSeconds = 86_400;
const daySteps = [1, 2, 3, 5, 7, 14, 30, 61, 92, 183, 365].map((days) => days * dayFromSeconds);
const shortSteps = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200];

/** Between values by the day there is nothing to mark. */
function tickSteps(plot: uPlot): number[] {
  return stepOf(plot.data[0]) >= dayFromSeconds * 0.9 ? daySteps : [...shortSteps, ...daySteps];
}

/** Seconds between the first two values; 0 with less. */
function stepOf([first, second]: ArrayLike<number> & Iterable<number>): number {
  return first === undefined || second === undefined ? 0 : second - first;
}

interface RangeOptions extends Pick<PlotOptions, "kind" | "windowMs"> {
  readonly low: number;
  readonly high: number;
}

/** Half a bar of space at both ends. */
function toRange(
  times: ArrayLike<number> & Iterable<number>,
  { low, high, kind, windowMs }: RangeOptions,
): [number, number] {
  const now = Date.now() / 1_000;
  if (windowMs !== undefined) {
    const end = high ?? now;
    return [end - windowMs / 1_000, end];
  }
  if (low === null || high === null) return [now - dayFromSeconds, now];
  const step = stepOf(times) || dayFromSeconds;
  if (low === high) return [low - step, high + step];
  return kind === "bars" ? [low - step / 2, high + step / 2] : [low, high];
}

/** `step`: seconds between two ticks. */
function formatTick(seconds: number, step: number): string {
  const date = new Date(seconds * 1_000);
  if (step >= dayFromSeconds || (date.getHours() === 0 && date.getMinutes() === 0)) return formatDay(date);
  return date.toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(step < 60 && { second: "2-digit" }),
  });
}
