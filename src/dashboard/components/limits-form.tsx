// The fields of the limits that keys and teams have in common.

import { Group, NumberInput, Select, Stack, TagsInput, Text } from "@mantine/core";
import type { ApiError } from "../api/client.ts";
import { type LimitFields, type Limits, startsAtZero } from "./limit-fields.ts";

interface LimitsFormProps {
  readonly fields: LimitFields;
  readonly onChange: (fields: LimitFields) => void;
  readonly error: ApiError | null;
  /** Null: something new, whose empty fields get the defaults of the configuration. */
  readonly before: Limits | null;
}

const periods = [
  { value: "daily", label: "per day" },
  { value: "weekly", label: "per week" },
  { value: "monthly", label: "per month" },
  { value: "none", label: "in total" },
];

export function LimitsForm({ fields, onChange, error, before }: LimitsFormProps) {
  const isNew = before === null;
  const empty = isNew ? "default" : "no limit";
  const set = (change: Partial<LimitFields>) => onChange({ ...fields, ...change });
  const rate = (name: "requestsPerMinute" | "tokensPerMinute" | "concurrentRequests", member: string) => ({
    value: fields[name],
    onChange: (value: number | string) => set({ [name]: value }),
    min: 1,
    allowDecimal: false,
    thousandSeparator: " ",
    placeholder: empty,
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
          placeholder={empty}
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
      {startsAtZero(fields, before) && (
        <Text size="sm" c="dimmed">
          With another period, the count starts at zero: what was spent before does not count.
        </Text>
      )}
      <Group gap="sm" grow align="flex-start">
        <NumberInput label="Requests per minute" {...rate("requestsPerMinute", "requests_per_minute")} />
        <NumberInput label="Tokens per minute" {...rate("tokensPerMinute", "tokens_per_minute")} />
        <NumberInput label="At the same time" {...rate("concurrentRequests", "concurrent_requests")} />
      </Group>
      <TagsInput
        label="Allowed models"
        description={`Patterns such as openai/* or */gpt-5*. Empty: ${isNew ? "the default, or every model" : "every model"}.`}
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
