// Chooses a model: a search over the list, or any name that the gateway may know besides.

import { Autocomplete, type ComboboxItem, Group, type OptionsFilter, Text } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useState } from "react";
import type { ModelList } from "../api/types.ts";
import { formatCompact, formatUnitPrice } from "../lib/format.ts";

export type Model = ModelList["data"][number];

/** The sandbox last: it is for tests. */
export function sortModels(models: readonly Model[]): readonly Model[] {
  const rank = ({ owned_by }: Model) => (owned_by === "sandbox" ? 1 : 0);
  return models.toSorted((one, other) => rank(one) - rank(other) || one.id.localeCompare(other.id));
}

const maxShown = 60;

interface ModelPickerProps {
  readonly label: string;
  readonly models: readonly Model[];
  readonly value: string;
  readonly onChange: (model: string) => void;
  readonly rightSection?: ReactNode;
}

export function ModelPicker({ label, models, value, onChange, rightSection }: ModelPickerProps) {
  const [text, setText] = useState(value);
  const byId = useMemo(() => new Map(models.map((model) => [model.id, model])), [models]);
  useEffect(() => setText(value), [value]);

  function choose(name: string): void {
    const chosen = name.trim() === "" ? value : name.trim();
    setText(chosen);
    if (chosen !== value) onChange(chosen);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.key === "Escape") setText(value);
    // With an option marked, Enter takes that.
    if (event.key === "Enter" && !event.currentTarget.hasAttribute("aria-activedescendant")) choose(text);
  }

  return (
    <Autocomplete
      aria-label={label}
      placeholder="Search models"
      value={text}
      data={models.map(({ id }) => id)}
      limit={maxShown}
      filter={(options) => search(options, value, byId)}
      maxDropdownHeight={380}
      onChange={setText}
      onOptionSubmit={choose}
      onFocus={(event) => event.currentTarget.select()}
      // What was only searched for is not a name.
      onBlur={() => choose(byId.has(text.trim()) || text.includes("/") ? text : value)}
      onKeyDown={onKeyDown}
      rightSection={rightSection}
      renderOption={({ option }) => <ModelOption id={option.value} model={byId.get(option.value)} />}
      spellCheck={false}
    />
  );
}

/** Every word has to occur. The chosen name does not filter, so that the list shows what else there is. */
function search(
  { options, search, limit }: Parameters<OptionsFilter>[0],
  chosen: string,
  byId: ReadonlyMap<string, Model>,
) {
  const items = options as ComboboxItem[];
  const words = search === chosen ? [] : search.toLowerCase().split(/\s+/);
  const fits = ({ value }: ComboboxItem) => {
    const model = byId.get(value);
    const searched = `${value} ${model === undefined ? "" : abilitiesOf(model).join(" ")}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  };
  return items.filter(fits).slice(0, limit);
}

function ModelOption({ id, model }: { readonly id: string; readonly model: Model | undefined }) {
  return (
    <div className="model-option">
      <Text size="sm" fw={550} className="wrap-anywhere">
        {id}
      </Text>
      {model !== undefined && <ModelFacts model={model} />}
    </div>
  );
}

/** Abilities, context and price, in one line. */
export function ModelFacts({ model }: { readonly model: Model }) {
  const { pricing, context_length } = model;
  const facts = [...abilitiesOf(model)];
  if (context_length !== null) facts.push(`${formatCompact(context_length)} context`);
  if (pricing !== null && pricing.input_cost_per_token !== null && pricing.output_cost_per_token !== null)
    facts.push(toPrice(pricing.input_cost_per_token, pricing.output_cost_per_token));
  return (
    <Group gap={6} className="model-facts">
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
    </Group>
  );
}

function toPrice(input: number, output: number): string {
  if (input === 0 && output === 0) return "free";
  const short = (price: number) => formatUnitPrice(price).replace(" / million", "");
  return `${short(input)} in, ${short(output)} out per million`;
}

function abilitiesOf({ capabilities }: Model): string[] {
  const {
    supports_vision,
    supports_audio_input,
    supports_function_calling,
    supports_reasoning,
    supports_response_schema,
  } = capabilities;
  return [
    ...(supports_vision ? ["vision"] : []),
    ...(supports_audio_input ? ["audio"] : []),
    ...(supports_function_calling === true ? ["tools"] : []),
    ...(supports_response_schema === true ? ["JSON schema"] : []),
    ...(supports_reasoning === true ? ["reasoning"] : []),
  ];
}
