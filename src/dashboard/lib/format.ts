// Numbers, money and times as people read them. Times are in the viewer's own time zone.

const locale = undefined;

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const cents = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const wholeDollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 0 });

/** For a value that is not known or does not exist. */
export const noValue = "–";

export function formatNumber(value: number | null | undefined): string {
  return value === null || value === undefined ? noValue : whole.format(value);
}

/** `12.3K` from 10,000 on. */
export function formatCompact(value: number | null | undefined): string {
  if (value === null || value === undefined) return noValue;
  return Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value);
}

export function formatPercent(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share) ? noValue : percent.format(share);
}

/** As many digits as tell the amount: `$1,204`, `$12.40`, `$0.0031`. */
export function formatUsd(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return noValue;
  const size = Math.abs(amount);
  if (size >= 10_000) return wholeDollars.format(amount);
  if (size >= 0.1 || size === 0) return cents.format(amount);
  return `$${Number(amount.toPrecision(3)).toFixed(Math.min(12, 2 - Math.floor(Math.log10(size))))}`;
}

/** A price to the last digit, which other amounts of money need not show: `$1.25`, `$0.125`, `$10.00`. */
export function formatPrice(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return noValue;
  const [whole = "", decimals = ""] = Number(amount.toPrecision(9)).toString().split(".");
  return whole.includes("e") ? formatUsd(amount) : `$${whole}.${decimals.padEnd(2, "0")}`;
}

/** The price of one unit. Prices of tokens are usually stated by the million. */
export function formatUnitPrice(amount: number): string {
  return amount > 0 && amount < 0.001
    ? `${formatUsd(Number((amount * 1_000_000).toPrecision(9)))} / million`
    : formatUsd(amount);
}

/** `180 ms`, `1.42 s`, `2 min 5 s`. */
export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return noValue;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** @public for pages that show files */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return noValue;
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1_000 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

const dayParts = { month: "short", day: "numeric" } as const;
const timeParts = { ...dayParts, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const;
const dateTime = new Intl.DateTimeFormat(locale, { ...timeParts, year: "numeric", timeZoneName: "short" });
const shortTime = new Intl.DateTimeFormat(locale, timeParts);
const day = new Intl.DateTimeFormat(locale, dayParts);
const dayAndYear = new Intl.DateTimeFormat(locale, { ...dayParts, year: "numeric" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "narrow" });

export const viewerTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

type Time = string | number | Date;

export function formatDateTime(time: Time): string {
  return dateTime.format(new Date(time));
}

export function formatTime(time: Time): string {
  return shortTime.format(new Date(time));
}

export function formatDay(time: Time): string {
  return day.format(new Date(time));
}

export function formatDate(time: Time): string {
  return dayAndYear.format(new Date(time));
}

const steps = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[];

/** `5 min. ago`, `in 3 days`. */
export function formatAgo(time: Time, now: number = Date.now()): string {
  let amount = (new Date(time).getTime() - now) / 1_000;
  for (const [unit, size] of steps) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return formatDate(time);
}
