// The models that the gateway knows: search, abilities, prices, and which providers serve each of them.

import { Anchor, Chip, Group, Select, Text } from "@mantine/core";
import { useMemo } from "react";
import { Link } from "react-router";
import { useApi } from "../../api/hooks.ts";
import type { ModelList } from "../../api/types.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { SegmentFilter } from "../../components/filters.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { ParameterLink } from "../../components/row-parts.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { IconBoxes } from "../../icons.ts";
import { formatCompact, formatNumber, formatPrice } from "../../lib/format.ts";
import { readAddress, type UrlState, useUrlState } from "../../lib/url-state.ts";
import { AbilityIcons } from "./ability-icons.tsx";
import type { Entry, SortName } from "./catalogue.ts";
import { abilities, abilityTitles, filterEntries, modelsQuery, sortEntries, sortNames, toEntry } from "./catalogue.ts";
import { ModelDrawer } from "./model-drawer.tsx";

export default function ModelsPage() {
  const url = useUrlState();
  const models = useApi<ModelList>("/v3/models", modelsQuery);
  const entries = useMemo(() => (models.data?.data ?? []).map(toEntry), [models.data]);
  const chosen = url.get("model");
  return (
    <Page
      title="Models"
      description="Every model of the catalogue, with its price and the providers that serve it. A model that is not listed can be called as well."
    >
      <Loaded query={models} height={420}>
        {() => <Catalogue entries={entries} url={url} />}
      </Loaded>
      {chosen !== "" && (
        <ModelDrawer
          id={chosen}
          entries={entries}
          onChoose={(model) => url.set({ model })}
          onClose={() => url.set({ model: null })}
        />
      )}
    </Page>
  );
}

function Catalogue({ entries, url }: { readonly entries: readonly Entry[]; readonly url: UrlState }) {
  const hasOwn = entries.some(({ model }) => model.configured && model.owned_by !== "sandbox");
  // A newcomer sees what there is; afterwards what can be called is of more interest.
  const state = url.get("state") || (hasOwn ? "ready" : "all");
  const filters = {
    search: url.get("search"),
    provider: url.get("provider"),
    abilities: url.getAll("ability"),
    isConfigured: state === "ready",
  };
  const { by, isDescending } = readSorting(url.get("sort"));
  const shown = sortEntries(filterEntries(entries, filters), by, isDescending);
  const columns = useColumns(entries);
  const sort = (name: string) => {
    // Of the address: a second click may come before the page is rendered again.
    const current = readSorting(readAddress().get("sort") ?? "");
    url.set({ sort: `${name === current.by && !current.isDescending ? "-" : ""}${name}` });
  };
  const providers = useMemo(() => [...new Set(entries.map(({ provider }) => provider))].toSorted(), [entries]);
  return (
    <>
      <Group gap="xs" role="search">
        <SearchField label="Search by model, provider or ability" placeholder="Search models" width={240} />
        <Select
          aria-label="Provider"
          placeholder="Provider"
          size="xs"
          w={160}
          searchable
          clearable
          data={providers}
          value={filters.provider || null}
          onChange={(provider) => url.set({ provider })}
        />
        <SegmentFilter
          label="State"
          choices={{ ready: "Ready to call", all: "All" }}
          value={state}
          onChange={(value) => url.set({ state: value })}
        />
      </Group>
      <Chip.Group multiple value={filters.abilities} onChange={(ability) => url.set({ ability })}>
        <Group gap={6} role="group" aria-label="Abilities">
          {abilities.map((ability) => (
            <Chip key={ability} value={ability} size="xs" variant="light">
              {abilityTitles[ability]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Panel className="flush">
        {shown.length === 0 ? (
          <EmptyState icon={IconBoxes} title="No model fits">
            {state === "ready" ? (
              <>
                Remove a filter, show all models, or{" "}
                <Anchor component={Link} to="/providers" size="sm" underline="always">
                  set up another provider
                </Anchor>
                .
              </>
            ) : (
              "Remove a filter, or search for another word."
            )}
          </EmptyState>
        ) : (
          <DataTable
            label="Models"
            rows={shown}
            columns={columns}
            rowKey={({ model }) => model.id}
            rowHeight={54}
            maxHeight="calc(100vh - 270px)"
            sorting={{ by, isDescending }}
            onSort={sort}
            onRowClick={({ model }) => url.set({ model: model.id })}
          />
        )}
      </Panel>
      <Text size="xs" c="dimmed" role="status">
        {formatNumber(shown.length)} of {formatNumber(entries.length)} models. Prices are in USD per million tokens.
      </Text>
    </>
  );
}

function readSorting(text: string): { readonly by: SortName; readonly isDescending: boolean } {
  const by = sortNames.find((name) => name === text.replace(/^-/, ""));
  return by === undefined ? { by: "model", isDescending: false } : { by, isDescending: text.startsWith("-") };
}

function useColumns(entries: readonly Entry[]): readonly Column<Entry>[] {
  return useMemo(() => {
    const families = Map.groupBy(entries, ({ family }) => family);
    return [
      {
        title: "Model",
        width: "minmax(240px, 1.6fr)",
        sortName: "model",
        cell: ({ model, name }) => (
          <>
            <ParameterLink name="model" value={model.id} className="model-link">
              {name}
            </ParameterLink>
            <Text size="xs" c="dimmed" className="mono" truncate>
              {model.id}
            </Text>
          </>
        ),
      },
      { title: "Provider", width: "minmax(105px, 0.5fr)", sortName: "provider", cell: ({ provider }) => provider },
      { title: "Abilities", width: "155px", cell: ({ abilities: has }) => <AbilityIcons has={has} /> },
      {
        title: "Context",
        width: "86px",
        align: "right",
        sortName: "context",
        cell: ({ model }) => formatCompact(model.context_length),
      },
      { title: "Input", width: "86px", align: "right", sortName: "input", cell: ({ input }) => formatPrice(input) },
      { title: "Cached", width: "86px", align: "right", sortName: "cached", cell: ({ cached }) => formatPrice(cached) },
      { title: "Output", width: "86px", align: "right", sortName: "output", cell: ({ output }) => formatPrice(output) },
      {
        title: "Served by",
        width: "minmax(185px, 0.9fr)",
        cell: ({ family, model }) => <Serving offers={families.get(family) ?? []} isReady={model.configured} />,
      },
    ];
  }, [entries]);
}

/** Whether this offer can be called, and how many providers serve the model. */
function Serving({ offers, isReady }: { readonly offers: readonly Entry[]; readonly isReady: boolean }) {
  const all = new Set(offers.map(({ provider }) => provider));
  return (
    <span className="with-dot">
      <span className="dot" data-state={isReady ? "good" : undefined} />
      <span className="truncate">
        {isReady ? "Ready" : "Not set up"}
        {all.size > 1 && <span className="muted">{` · ${all.size} providers`}</span>}
      </span>
    </span>
  );
}
