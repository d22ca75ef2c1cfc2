// `/v3/manage/usage`, `/v3/manage/keys/{key_id}/usage` and `/v3/manage/requests`: queries and answers.

import { z } from "zod";
import { suggest } from "../lib/find-nearest.ts";
import { dayMs, hourMs } from "../lib/time-units.ts";
import { openTimeZone } from "../lib/time-zone.ts";
import { component, looseComponent } from "./component.ts";
import { refuse } from "./problems.ts";
import { maxPairLength } from "./tags.ts";
import { uuidText, wholeNumberText } from "./text-values.ts";

/** What usage can be grouped by, apart from single tags. */
const usageDimensions = [
  ...(["day", "hour", "key", "team", "tag"] as const),
  ...(["provider", "model", "task", "endpoint", "outcome"] as const),
] as const;

type UsageDimension = (typeof usageDimensions)[number];
export type GroupBy = UsageDimension | `tag:${string}`;

/** A moment as a query names it: a calendar day of the time zone, an instant, or a time before now. */
export type Moment =
  | { readonly kind: "day"; readonly day: number }
  | { readonly kind: "instant"; readonly at: number }
  | { readonly kind: "ago"; readonly ms: number };

const maxDimensions = 10;
const maxFilterValues = 100;

export const momentText = z.string().transform((text, context): Moment => {
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? [];
  if (count !== undefined) return { kind: "ago", ms: Number(count) * (unit === "h" ? hourMs : dayMs) };
  if (z.iso.date().safeParse(text).success) return { kind: "day", day: Date.parse(text) };
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return { kind: "instant", at: Date.parse(text) };
  const forms =
    "a date such as 2026-11-30, a time such as 2026-11-30T12:00:00Z, or hours or days before now such as 7d";
  return refuse(context, "datetime_parsing", `Input should be ${forms}`);
});

const timeZone = z
  .string()
  .max(64)
  .refine((name) => openTimeZone(name) !== null, {
    message: "Input should be a time zone of the IANA database, such as Europe/Berlin",
    params: { type: "unknown_time_zone" },
  })
  .default("UTC");

const groupBy = z
  .array(z.string().max(1_000))
  .transform((texts, context): GroupBy[] => {
    const named = texts.flatMap((text) => text.split(",")).map((name) => name.trim());
    const wanted = [...new Set(named.filter((name) => name !== ""))];
    const unknown = wanted.find((name) => !isGroupBy(name));
    if (unknown !== undefined) {
      const known = `${usageDimensions.join(", ")} or tag:<name>`;
      const message = `'${unknown.slice(0, 64)}' is not a dimension${suggest(unknown, usageDimensions)}; use ${known}`;
      return refuse(context, "literal_error", message);
    }
    if (wanted.length > maxDimensions)
      return refuse(context, "too_long", `Input should have at most ${maxDimensions} dimensions`);
    return wanted as GroupBy[];
  })
  .default([]);

function isGroupBy(name: string): boolean {
  return (usageDimensions as readonly string[]).includes(name) || /^tag:.{1,64}$/.test(name);
}

/** The empty text stands for lines without a value. */
const filterText = createFilterText(256);

function createFilterText(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine((value) => !/[\u0000-\u001f\u007f]/.test(value), "Text must not contain control characters");
}

function filter(item: z.ZodType<string, string>, description: string) {
  return z.array(item).max(maxFilterValues).default([]).describe(description);
}

const keyFilter = z.string().transform((text, context) => {
  const id = uuidText.safeParse(text);
  if (text === "" || id.success) return id.data ?? "";
  return refuse(context, "uuid_parsing", "Input should be a valid UUID, the id of a key");
});
const commonFilters = {
  provider: filter(filterText, "Only lines of this provider."),
  model: filter(filterText, "Only lines of this model, written with or without its provider."),
  task: filter(filterText, "Only lines of this task, such as `text/moderation`."),
  endpoint: filter(filterText, "Only lines of this route, such as `/v3/chat/completions`."),
  outcome: filter(filterText, "`completed`, `caller_left`, or the code of an error."),
};
const holderFilters = {
  key: filter(keyFilter, "Only lines of the key with this id. Filters may be repeated: one of the values must match."),
  team: filter(filterText, "Only lines of this team; empty for lines without a team."),
};
const tagFilter = {
  tag: filter(
    createFilterText(maxPairLength),
    "Only lines with this tag: `name=value`, or a name alone. All given tags must match.",
  ),
};

const times = {
  from: momentText
    .optional()
    .describe(
      "The start: a date, a time with its offset from UTC, or hours or days before now such as `24h` or `7d`. " +
        "Default: 30 days before `to`.",
    ),
  to: momentText
    .optional()
    .describe("The end, which is not included; a date is included as a whole day. Default: now."),
  time_zone: timeZone.describe("The time zone of days, and of dates in `from` and `to`."),
};

const report = {
  ...times,
  group_by: groupBy.describe(
    "Dimensions, separated by commas: `day`, `hour`, `key`, `team`, `tag`, `tag:<name>`, `provider`, `model`, `task`, `endpoint`, " +
      "`outcome`. With `tag`, a line counts in the row of each of its tags.",
  ),
  sort: z
    .enum(["name", "cost", "lines", "tokens"])
    .optional()
    .describe(
      "The order of rows: by the values that they are grouped by, or by an amount, the largest first. Default: `name` with days or hours, " +
        "`cost` otherwise.",
    ),
  limit: wholeNumberText(1, 20_000).optional().describe("Only the first rows. Default: all rows."),
  format: z.enum(["json", "csv"]).optional().describe("Default: CSV if `Accept` asks for `text/csv`, otherwise JSON."),
};

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const usageQuery = z.object({ ...report, ...holderFilters, ...tagFilter, ...commonFilters });
export const keyUsageQuery = z.object({ ...report, ...tagFilter, ...commonFilters });

const amounts = {
  lines: z.int().describe("Lines of the ledger: calls that reached a provider, and refused requests."),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_tokens: z.int().describe("Input tokens that the provider read from its cache."),
  reasoning_tokens: z.int(),
  cost: z
    .number()
    .nullable()
    .describe(
      "USD: the exact sum of the known costs. Null if the cost of some calls is unknown and no other call cost anything.",
    ),
  cost_unknown: z.int().describe("Answered calls whose cost is unknown. `cost` does not include them."),
  average_latency_ms: z.number().nullable().describe("Null without lines."),
  average_first_token_ms: z.number().nullable().describe("Of streams; null without streams."),
};

export const usageSums = component("UsageSums", amounts);

const usageRow = looseComponent("UsageRow", {
  day: z.optional(z.iso.date()),
  hour: z.optional(z.iso.datetime()),
  key: z
    .optional(z.string().nullable())
    .describe("The id of a key. In every dimension, null stands for lines without a value."),
  key_name: z.optional(z.string().nullable()),
  team: z.optional(z.string().nullable()),
  tag: z
    .optional(z.string().nullable())
    .describe("`name=value`. A tag that was asked for as `tag:<name>` has a member of that name."),
  provider: z.optional(z.string().nullable()),
  model: z.optional(z.string().nullable()),
  task: z.optional(z.string().nullable()),
  endpoint: z.optional(z.string().nullable()),
  outcome: z.optional(z.string().nullable()),
  ...amounts,
});

export const usageReport = component("UsageReport", {
  from: z.iso.datetime().describe("The first hour of the report. Reports consist of whole hours."),
  to: z.iso.datetime().describe("The end of the last hour."),
  time_zone: z.string(),
  group_by: z.array(z.string()),
  rows: z.array(usageRow),
  row_count: z.int().describe("Rows before `limit`."),
  totals: usageSums.describe("Of all lines, each of them once."),
});

const requestIdText = z.string().regex(/^[A-Za-z0-9._-]{1,128}$/, "Input should be a request id");
export const requestPath = z.object({ request_id: requestIdText.describe("The `x-request-id` of the answer.") });

/** The place after which a page begins. */
export interface LineCursor {
  readonly time: number;
  readonly id: string;
}

export function toCursor({ time, id }: LineCursor): string {
  return Buffer.from(`${time} ${id}`).toString("base64url");
}

export const cursorText = z
  .string()
  .max(200)
  .transform((text, context): LineCursor => {
    const [, time, id] = /^(\d{1,15}) ([0-9a-f-]{1,64})$/.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
    if (time !== undefined && id !== undefined && toCursor({ time: Number(time), id }) === text)
      return { time: Number(time), id };
    return refuse(context, "unknown_cursor", "Input should be `next_cursor` of an earlier page");
  });

const picoDigits = 12;
/** USD as pico-dollars. */
const usdText = z
  .string()
  .transform((text, context): bigint => {
    const [, whole, decimals = ""] = /^(\d{1,7})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
    if (whole === undefined) return refuse(context, "decimal_parsing", "Input should be an amount in USD such as 0.05");
    return BigInt(whole + decimals.padEnd(picoDigits, "0"));
  })
  .meta({ type: "number", minimum: 0 });

export const listRequestsQuery = z.object({
  ...holderFilters,
  ...tagFilter,
  ...commonFilters,
  status: wholeNumberText(100, 599).optional().describe("Only lines with this HTTP status."),
  ...times,
  from: times.from.describe("Only lines that began at this time or later. As in usage reports."),
  to: times.to.describe("Only lines that began before this time. As in usage reports."),
  min_cost: usdText.optional().describe("Only lines that cost at least this many USD."),
  min_latency_ms: wholeNumberText(0, 1_000_000_000).optional().describe("Only lines that took at least this long."),
  limit: wholeNumberText(1, 1_000).default(100).describe("Lines per page."),
  cursor: cursorText.optional().describe("`next_cursor` of the previous page."),
});

const line = {
  id: z.uuid(),
  request_id: z.string().describe("The `x-request-id` of the answer."),
  job_id: z.string().nullable(),
  time: z.iso.datetime().describe("When the attempt began."),
  key: z.string().nullable().describe("The id of the key; null if the request had no valid key."),
  key_name: z.string().nullable(),
  team: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  endpoint: z.string(),
  provider: z.string().nullable().describe("Null: the request was refused before a provider was chosen."),
  model: z.string().nullable(),
  task: z.string().nullable(),
  deployment: z.string().nullable(),
  attempt: z.int().describe("1 for the first attempt; 0 for a request that was refused before any attempt."),
  outcome: z.string().describe("`completed`, `caller_left`, or the code of an error."),
  status: z.int().nullable(),
  reason: z.string().nullable().describe("Why the request was refused."),
  count: z.int().describe("More than 1: so many refusals of the same kind were merged into this line."),
  is_stream: z.boolean(),
  is_cached: z.boolean().describe("Whether the provider read a part of the prompt from its cache."),
  latency_ms: z.int(),
  first_token_ms: z.int().nullable(),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cached_tokens: z.int().nullable(),
  reasoning_tokens: z.int().nullable(),
  cost: z.number().nullable().describe("USD, exact; null when it is unknown."),
  cost_reason: z.string().nullable().describe("Why the cost is unknown."),
  price_version: z.string().nullable().describe("The version of the prices by which the cost was computed."),
};

export const requestList = component("RequestList", {
  items: z.array(component("LedgerLine", line)),
  next_cursor: z
    .string()
    .nullable()
    .describe(
      "Null on the last page. A page may have fewer items than its limit, or none, although another page follows.",
    ),
});

const costPart = component("CostPart", {
  kind: z.string().describe("What was billed: a kind of token, a unit of a task, or a tool of the provider."),
  model: z.string().nullable().describe("The model, where it differs from that of the call."),
  quantity: z.number(),
  unit_price: z.number().describe("USD for one of them, exact."),
  amount: z.number().describe("USD: `quantity` times `unit_price`, exact."),
});

const attempt = component("RequestAttempt", {
  ...line,
  tokens: z.record(z.string(), z.int()).nullable().describe("Tokens by the kind in which they are billed."),
  units: z.record(z.string(), z.unknown()).nullable().describe("Units of a task, such as pages or seconds."),
  usage: z.unknown().describe("The usage as the provider reported it."),
  counted_cost: z.number().describe("USD that count towards budgets."),
  price: component("UsedPrice", {
    version: z.string(),
    source: z
      .string()
      .nullable()
      .describe("The page that the price comes from; null if the operator set it, or it is free."),
    updated_at: z.string().nullable().describe("When the price was read there."),
  })
    .nullable()
    .describe("The price by which the parts of the cost are computed; null if they are not."),
  cost_parts: z.array(costPart).nullable().describe("Adds up to `cost`. Null when the cost cannot be computed again."),
  cost_note: z.string().nullable().describe("Why there are no parts, or what they do not show."),
});

export const requestDetail = component("RequestDetail", {
  request_id: z.string(),
  cost: z
    .number()
    .nullable()
    .describe("USD: the sum of all attempts; null when the cost of an answered attempt is unknown."),
  attempts: z.array(attempt).describe("In the order in which they began; of more than 200, the newest."),
  has_more: z.boolean().describe("Whether the request has older attempts that are not listed."),
});

export type UsageRequest = z.output<typeof usageQuery>;
export type ListRequestsRequest = z.output<typeof listRequestsQuery>;
