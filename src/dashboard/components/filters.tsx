// Filters of a list. Their values are in the address.

import { Button, Group, NumberInput, SegmentedControl, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useUrlState } from "../lib/url-state.ts";
import { useTextParameter } from "./use-text-parameter.ts";

export function Filters({ children }: { readonly children: ReactNode }) {
  return (
    <Group gap="xs" role="search">
      {children}
    </Group>
  );
}

/** `names`: the parameters of the address that it removes. */
export function RemoveFilters({ names }: { readonly names: readonly string[] }) {
  const url = useUrlState();
  return (
    <Button variant="light" size="xs" onClick={() => url.set(Object.fromEntries(names.map((name) => [name, null])))}>
      Remove the filters
    </Button>
  );
}

interface FilterProps {
  /** The parameter of the address. */
  readonly name: string;
  readonly label: string;
  readonly width?: number;
}

function look(label: string, width: number) {
  return { "aria-label": label, placeholder: label, size: "xs", w: width } as const;
}

/** Applied a moment after the last key. */
export function TextFilter({ name, label, width = 170 }: FilterProps) {
  const [text, change] = useTextParameter(name);
  return <TextInput {...look(label, width)} value={text} onChange={(event) => change(event.currentTarget.value)} />;
}

/** Applied a moment after the last key. `placeholder`: shorter than the label. */
export function NumberFilter({
  name,
  label,
  placeholder,
  width = 120,
}: FilterProps & { readonly placeholder: string }) {
  const [text, change] = useTextParameter(name);
  return (
    <NumberInput
      {...look(label, width)}
      placeholder={placeholder}
      min={0}
      hideControls
      value={text}
      onChange={(value) => change(String(value))}
    />
  );
}

interface ChoiceProps extends FilterProps {
  readonly choices: readonly (string | { readonly value: string; readonly label: string })[];
}

export function ChoiceFilter({ name, label, width = 150, choices }: ChoiceProps) {
  const url = useUrlState();
  const value = url.get(name);
  // An address may have a value that the list does not have.
  const isKnown = choices.some((choice) => (typeof choice === "string" ? choice : choice.value) === value);
  return (
    <Select
      {...look(label, width)}
      searchable
      clearable
      data={value === "" || isKnown ? choices : [...choices, value]}
      value={value || null}
      // A list that is filtered in another way begins with its first page.
      onChange={(chosen) => url.set({ [name]: chosen, page: null })}
    />
  );
}

interface SegmentFilterProps {
  readonly label: string;
  /** What is shown for each value. */
  readonly choices: Readonly<Record<string, string>>;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** All values beside one another, one of which is chosen. */
export function SegmentFilter({ label, choices, value, onChange }: SegmentFilterProps) {
  const data = Object.entries(choices).map(([name, title]) => ({ value: name, label: title }));
  return <SegmentedControl aria-label={label} size="xs" data={data} value={value} onChange={onChange} />;
}
