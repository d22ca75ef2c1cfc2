// A choice of a key or of a team. There may be many thousands, so the gateway searches them.

import { Select, type SelectProps } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useApi } from "../api/hooks.ts";
import type { Key, KeyList, Team, TeamList } from "../api/types.ts";
import { formatNumber } from "../lib/format.ts";

interface RecordSelectProps extends Omit<SelectProps, "data" | "value" | "onChange" | "searchable" | "filter"> {
  /** Null or empty: none is chosen. */
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** The value is the id of a key. Management keys are left out if `callsModels`. */
export function KeySelect({ callsModels = false, ...props }: RecordSelectProps & { readonly callsModels?: boolean }) {
  return <RecordSelect<Key> {...props} path="/v3/manage/keys" toChoice={callsModels ? toCallingKey : toKeyChoice} />;
}

/** The value is the name of a team. */
export function TeamSelect({ toLabel, ...props }: RecordSelectProps & { readonly toLabel?: (team: Team) => string }) {
  const toChoice = (team: Team) => ({ value: team.name, label: toLabel?.(team) ?? team.name });
  return <RecordSelect<Team> {...props} path="/v3/manage/teams" toChoice={toChoice} />;
}

function toKeyChoice({ id, name }: Key): Choice {
  return { value: id, label: name };
}

function toCallingKey(key: Key): Choice | null {
  return key.kind === "management" ? null : toKeyChoice(key);
}

interface Props<Item> extends RecordSelectProps {
  readonly path: string;
  /** Null: cannot be chosen. */
  readonly toChoice: (item: Item) => Choice | null;
}

type Page = KeyList | TeamList;

const mostChoices = 100;
const pauseMs = 250;
/** Names have no line breaks. */
const moreValue = "\n";

function RecordSelect<Item extends Key | Team>({ path, toChoice, value, onChange, ...look }: Props<Item>) {
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed.trim(), pauseMs);
  const toChoices = (page: Page | undefined) =>
    (page?.items ?? []).map((item) => toChoice(item as Item)).filter((choice) => choice !== null);

  const newest = useApi<Page>(path, { limit: mostChoices });
  const isNewest = toChoices(newest.data).some((choice) => choice.value === value);
  const lookUp = useApi<Page>(
    path,
    { limit: mostChoices, search: value },
    { enabled: Boolean(value) && newest.data !== undefined && !isNewest },
  );
  const known = toChoices(isNewest ? newest.data : lookUp.data);
  // A deleted team, or a key of another team, can still be in the address.
  const chosen = value ? (known.find((choice) => choice.value === value) ?? { value, label: value }) : null;

  // The field shows the label of the chosen record. That text is not a search.
  const isSearch = search !== "" && search !== chosen?.label.trim();
  const found = useApi<Page>(path, { limit: mostChoices, search }, { enabled: isSearch });
  const page = isSearch ? found.data : newest.data;
  const shown = toChoices(page);
  const unlisted = page === undefined ? 0 : page.total - page.items.length;
  const more = { value: moreValue, label: `${formatNumber(unlisted)} more: type to search`, disabled: true };
  const offered = unlisted > 0 ? [...shown, more] : shown;
  const isOffered = chosen === null || shown.some((choice) => choice.value === chosen.value);
  const data = isOffered ? offered : [chosen, ...offered];
  return (
    <Select
      nothingFoundMessage={page === undefined ? "Searching" : "Nothing found"}
      {...look}
      searchable
      data={data}
      // The gateway has searched, also in what the labels do not show.
      filter={({ options }) => options}
      value={value || null}
      onChange={onChange}
      onSearchChange={setTyped}
    />
  );
}
