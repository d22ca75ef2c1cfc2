// Chooses the period of a page. It is in the address as `from` and `to`, in the words of the usage reports.

import { Button, Group, Popover, SegmentedControl, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { viewerTimeZone } from "../lib/format.ts";
import { useUrlState } from "../lib/url-state.ts";

export interface Period {
  /** As the usage reports take it: `24h`, `7d`, or a date. */
  readonly from: string;
  readonly to: string;
  readonly time_zone: string;
  /** Whether the values should be shown by the hour. */
  readonly isShort: boolean;
}

const choices = [
  { value: "24h", label: "24 h" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
  { value: "month", label: "Month" },
];
const dayForm = /^\d{4}-\d{2}-\d{2}$/;
const shortDays = 3;

export function usePeriod(initial = "7d"): Period {
  const url = useUrlState();
  const chosen = url.get("from") || initial;
  const from = chosen === "month" ? toDay(startOfMonth()) : chosen;
  const to = url.get("to");
  return { from, to, time_zone: viewerTimeZone, isShort: isShort(from, to) };
}

function isShort(from: string, to: string): boolean {
  if (from.endsWith("h")) return true;
  if (!dayForm.test(from)) return false;
  const end = dayForm.test(to) ? Date.parse(to) : Date.now();
  return end - Date.parse(from) < shortDays * 86_400_000;
}

export function startOfMonth(): Date {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), 1);
}

function toDay(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function PeriodPicker({ initial = "7d" }: { readonly initial?: string }) {
  const url = useUrlState();
  const from = url.get("from") || initial;
  const to = url.get("to");
  const isChoice = to === "" && choices.some(({ value }) => value === from);
  return (
    <Group gap="xs">
      <SegmentedControl
        aria-label="Period"
        size="xs"
        data={choices}
        value={isChoice ? from : ""}
        onChange={(value) => url.set({ from: value, to: null })}
      />
      <DatePicker
        from={dayForm.test(from) ? from : ""}
        to={to}
        isActive={!isChoice}
        onChange={(range) => url.set(range)}
      />
    </Group>
  );
}

interface DatePickerProps {
  readonly from: string;
  readonly to: string;
  readonly isActive: boolean;
  readonly onChange: (range: { readonly from: string; readonly to: string }) => void;
}

function DatePicker({ from, to, isActive, onChange }: DatePickerProps) {
  const [isOpen, popover] = useDisclosure();
  const [start, setStart] = useState(from);
  const [end, setEnd] = useState(to);
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (start === "") return;
    onChange({ from: start, to: end });
    popover.close();
  }
  return (
    <Popover
      opened={isOpen}
      onChange={(opened) => (opened ? popover.open() : popover.close())}
      position="bottom-end"
      shadow="md"
      trapFocus
    >
      <Popover.Target>
        <Button size="xs" variant={isActive ? "light" : "default"} onClick={popover.toggle}>
          {isActive ? `${from}${to === "" ? "" : ` – ${to}`}` : "Dates"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={submit}>
          <Stack gap="xs">
            <TextInput
              type="date"
              label="From"
              value={start}
              onChange={(event) => setStart(event.currentTarget.value)}
              required
            />
            <TextInput
              type="date"
              label="To, included"
              value={end}
              onChange={(event) => setEnd(event.currentTarget.value)}
            />
            <Button type="submit" size="xs">
              Show
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
