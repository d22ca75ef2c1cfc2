// Filters of a list. Their values are in the address.

import { Button, Group, NumberInput, SegmentedControl, Select, TextInput } from "@mantine/core";
import { Fragment, type ReactElement } from "react";
import { IconClose } from "../icons.ts";
import { useUrlState } from "../lib/url-state.ts";
import { KeySelect, TeamSelect } from "./record-select.tsx";
import { useTextParameter } from "./use-text-parameter.ts";

interface FiltersProps<Name extends string> {
  /**
   * For every parameter of the address that filters the list: its control, or, of filters that only links set, a label. A filter with a label is shown
   * while it applies, and can be removed.
   */
  readonly controls: Readonly<Record<Name, ReactElement | string>>;
}

export function Filters<Name extends string>({ controls }: FiltersProps<Name>) {
  return (
    <Group gap="xs" role="search">
      {Object.entries<ReactElement | string>(controls).map(([name, control]) =>
        typeof control === "string" ? (
          <AppliedFilter key={name} name={name} label={control} />
        ) : (
          <Fragment key={name}>{control}</Fragment>
        ),
      )}
    </Group>
  );
}

function AppliedFilter({ name, label }: FilterProps) {
  const url = useUrlState();
  const value = url.get(name);
  if (value === "") return null;
  const text = `${label}: ${value}`;
  return (
    <Button
      variant="light"
      size="xs"
      fw={500}
      maw={280}
      title={text}
      aria-label={`${text}. Remove this filter`}
      rightSection={<IconClose size={14} />}
      onClick={() => url.set({ [name]: null })}
    >
      <span className="truncate">{text}</span>
    </Button>
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

type RecordFilterProps = Pick<FilterProps, "width">;

export function KeyFilter({ width = 150 }: RecordFilterProps) {
  const url = useUrlState();
  return (
    <KeySelect
      {...look("Key", width)}
      clearable
      value={url.get("key")}
      onChange={(key) => url.set({ key, page: null })}
    />
  );
}

export function TeamFilter({ width = 150 }: RecordFilterProps) {
  const url = useUrlState();
  return (
    <TeamSelect
      {...look("Team", width)}
      clearable
      value={url.get("team")}
      onChange={(team) => url.set({ team, page: null })}
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
