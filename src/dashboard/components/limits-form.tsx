// The limits that keys and teams have in common, as fields of a form.

import { Group, NumberInput, Select, Stack, TagsInput } from "@mantine/core";
import type { ApiError } from "../api/client.ts";
import type { CreateTeam, Team } from "../api/types.ts";
import { viewerTimeZone } from "../lib/format.ts";

type Limits = Pick<Team, "allowed_models" | "rate_limit" | "budget" | "tags">;
type LimitsRequest = Pick<CreateTeam, "allowed_models" | "rate_limit" | "budget" | "tags">;

/** Empty texts: no limit. */
export interface LimitFields {
  readonly amount: number | string;
  readonly period: "none" | "daily" | "weekly" | "monthly";
  readonly requestsPerMinute: number | string;
  readonly tokensPerMinute: number | string;
  readonly concurrentRequests: number | string;
  readonly models: readonly string[];
  /** `name=value`. */
  readonly tags: readonly string[];
}

export function toFields(limits: Limits | null): LimitFields {
  const { budget = null, rate_limit = null, allowed_models = null, tags = {} } = limits ?? {};
  return {
    amount: budget?.amount ?? "",
    period: budget?.period ?? "monthly",
    requestsPerMinute: rate_limit?.requests_per_minute ?? "",
    tokensPerMinute: rate_limit?.tokens_per_minute ?? "",
    concurrentRequests: rate_limit?.concurrent_requests ?? "",
    models: allowed_models ?? [],
    tags: Object.entries(tags).map(([name, value]) => `${name}=${value}`),
  };
}

/** `before`: what the form does not show stays as it is. */
export function toLimits(fields: LimitFields, before: Limits | null): LimitsRequest {
  const rates = {
    requests_per_second: before?.rate_limit?.requests_per_second ?? null,
    requests_per_minute: toNumber(fields.requestsPerMinute),
    tokens_per_minute: toNumber(fields.tokensPerMinute),
    concurrent_requests: toNumber(fields.concurrentRequests),
  };
  const amount = toNumber(fields.amount);
  const { time_zone = viewerTimeZone, raise = null } = before?.budget ?? {};
  return {
    rate_limit: Object.values(rates).every((rate) => rate === null) ? null : rates,
    budget: amount === null ? null : { amount, period: fields.period, time_zone, raise },
    allowed_models: fields.models.length === 0 ? null : [...fields.models],
    tags: Object.fromEntries(fields.tags.map(toPair)),
  };
}

function toNumber(value: number | string): number | null {
  return value === "" ? null : Number(value);
}

function toPair(text: string): [string, string] {
  const end = text.indexOf("=");
  return end < 0 ? [text, "true"] : [text.slice(0, end).trim(), text.slice(end + 1).trim()];
}

interface LimitsFormProps {
  readonly fields: LimitFields;
  readonly onChange: (fields: LimitFields) => void;
  readonly error: ApiError | null;
}

const periods = [
  { value: "daily", label: "per day" },
  { value: "weekly", label: "per week" },
  { value: "monthly", label: "per month" },
  { value: "none", label: "in total" },
];

export function LimitsForm({ fields, onChange, error }: LimitsFormProps) {
  const set = (change: Partial<LimitFields>) => onChange({ ...fields, ...change });
  const rate = (name: "requestsPerMinute" | "tokensPerMinute" | "concurrentRequests", member: string) => ({
    value: fields[name],
    onChange: (value: number | string) => set({ [name]: value }),
    min: 1,
    allowDecimal: false,
    thousandSeparator: " ",
    placeholder: "no limit",
    error: error?.problemOf(`rate_limit.${member}`),
  });
  const list = (name: "models" | "tags", member: string) => ({
    value: [...fields[name]],
    onChange: (value: string[]) => set({ [name]: value }),
    error: error?.problemOf(member),
    acceptValueOnBlur: true,
  });
  return (
    <Stack gap="sm">
      <Group gap="sm" grow align="flex-start">
        <NumberInput
          label="Budget"
          prefix="$"
          placeholder="no limit"
          min={0}
          decimalScale={6}
          thousandSeparator=","
          value={fields.amount}
          onChange={(amount) => set({ amount })}
          error={error?.problemOf("budget")}
        />
        <Select
          label="Budget period"
          data={periods}
          value={fields.period}
          allowDeselect={false}
          onChange={(period) => set({ period: (period ?? "monthly") as LimitFields["period"] })}
        />
      </Group>
      <Group gap="sm" grow align="flex-start">
        <NumberInput label="Requests per minute" {...rate("requestsPerMinute", "requests_per_minute")} />
        <NumberInput label="Tokens per minute" {...rate("tokensPerMinute", "tokens_per_minute")} />
        <NumberInput label="At the same time" {...rate("concurrentRequests", "concurrent_requests")} />
      </Group>
      <TagsInput
        label="Allowed models"
        description="Patterns such as openai/* or */gpt-5*. Empty: every model."
        {...list("models", "allowed_models")}
      />
      <TagsInput
        label="Tags"
        description="Pairs such as department=research, for usage reports."
        {...list("tags", "tags")}
      />
    </Stack>
  );
}
