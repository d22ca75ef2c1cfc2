// The providers: which are set up and from where, how they do, and what it takes to set up another one.

import { Badge, Button, Group, Select, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { Provider, ProviderList, UsageReport } from "../../api/types.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { LoadErrors, Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { ParameterLink } from "../../components/row-parts.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Stat } from "../../components/stat.tsx";
import { IconProvider } from "../../icons.ts";
import { formatCompact, formatMs, formatNumber, formatPercent, noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";
import type { Sums } from "../../lib/usage.ts";
import { useMay, useSession } from "../../session/session.ts";
import { CredentialsForm } from "./credentials-form.tsx";
import { type FiguresByProvider, figuresOf, healthOf, sourceText, sumFigures, toFigures } from "./figures.ts";
import { providersPath } from "./paths.ts";
import { ProviderDrawer } from "./provider-drawer.tsx";

const refreshMs = 10_000;

export default function ProvidersPage() {
  const url = useUrlState();
  const { team } = useSession();
  const mayChange = useMay("administrator") && team === null;
  const providers = useApi<ProviderList>(providersPath, undefined, { refreshMs });
  const grouped = { group_by: "provider,outcome" };
  const hour = useApi<UsageReport>("/v3/manage/usage", { ...grouped, from: "1h" }, { refreshMs });
  const day = useApi<UsageReport>("/v3/manage/usage", { ...grouped, from: "24h" }, { refreshMs });
  const [setUp, setSetUp] = useState<string | null>(null);
  const chosen = url.get("provider");
  const close = () => url.set({ provider: null });
  return (
    <Page title="Providers" description="The providers that this gateway calls: their health, errors and credentials.">
      <LoadErrors queries={[hour, day]} />
      <Loaded query={providers} height={420}>
        {({ items }) => (
          <Content
            items={items}
            hour={toFigures(hour.data)}
            day={toFigures(day.data)}
            mayChange={mayChange}
            onSetUp={setSetUp}
          />
        )}
      </Loaded>
      {chosen !== "" && team === null && (
        <ProviderDrawer
          name={chosen}
          hour={toFigures(hour.data)}
          mayChange={mayChange}
          onSetUp={setSetUp}
          onClose={close}
        />
      )}
      {setUp !== null && <CredentialsForm name={setUp} onClose={() => setSetUp(null)} />}
    </Page>
  );
}

interface ContentProps {
  readonly items: readonly Provider[];
  /** Null: not read. */
  readonly hour: FiguresByProvider | null;
  readonly day: FiguresByProvider | null;
  readonly mayChange: boolean;
  readonly onSetUp: (name: string) => void;
}

/** What needs attention comes first, and what runs in the gateway itself last. */
const ranks = { bad: 0, warning: 1, good: 2, none: 3 } as const;

function Content({ items, hour, day, mayChange, onSetUp }: ContentProps) {
  const rank = (one: Provider) => ranks[healthOf(one, hour).level] + (one.built_in ? ranks.none : 0);
  const linesOf = ({ name }: Provider) => day?.get(name)?.lines ?? 0;
  const ready = items.filter(({ configured }) => configured);
  // A provider that was called and has lost its key belongs there as well.
  const used = items
    .filter(({ name, configured }) => configured || day?.has(name))
    .toSorted((one, other) => rank(one) - rank(other) || linesOf(other) - linesOf(one));
  const own = ready.filter(({ built_in }) => !built_in);
  const others = items.filter(({ configured }) => !configured);
  const failing = ready.filter((one) => ["bad", "warning"].includes(healthOf(one, hour).level));
  const [total, lastHour] = [sumFigures(day), sumFigures(hour)];
  const columns = useColumns(hour, day);
  const url = useUrlState();
  const { team } = useSession();
  return (
    <>
      {own.length === 0 && <FirstProvider items={others} mayChange={mayChange} onSetUp={onSetUp} />}
      {own.length > 0 && (
        <div className="tiles">
          <Stat
            label="Set up"
            value={formatNumber(own.length)}
            note={`of ${items.length - (ready.length - own.length)}`}
          />
          <Stat
            label="Failing now"
            value={formatNumber(failing.length)}
            note={failing.length === 0 ? "no open circuit" : failing.map(({ title }) => title).join(", ")}
          />
          <Stat label="Calls, last day" value={formatCompact(total?.lines)} note="to providers" />
          <Stat
            label="Errors, last day"
            value={formatCompact(total?.errors)}
            note={`${formatPercent(shareOfErrors(total))} of calls, ${formatNumber(lastHour?.errors)} in the last hour`}
          />
        </div>
      )}
      <Panel className="flush" title="In use">
        <DataTable
          label="Providers in use"
          rows={used}
          columns={columns}
          rowKey={({ name }) => name}
          rowHeight={56}
          maxHeight="none"
          {...(team === null && { onRowClick: ({ name }: Provider) => url.set({ provider: name }) })}
        />
      </Panel>
      <Available items={others} mayChange={mayChange} onSetUp={onSetUp} />
    </>
  );
}

function shareOfErrors(sums: Pick<Sums, "lines" | "errors"> | null): number | null {
  if (sums === null) return null;
  return sums.lines === 0 ? 0 : sums.errors / sums.lines;
}

function FirstProvider({ items, mayChange, onSetUp }: AvailableProps) {
  return (
    <Panel>
      <EmptyState
        icon={IconProvider}
        title="Set up your first provider"
        action={
          mayChange ? (
            <Select
              aria-label="Provider to set up"
              placeholder="Choose a provider"
              searchable
              w={260}
              data={items.map(({ name, title }) => ({ value: name, label: title }))}
              value={null}
              onChange={(name) => name !== null && onSetUp(name)}
            />
          ) : undefined
        }
      >
        {mayChange
          ? "Choose a provider and paste its key: calls work at once, without a restart. Until then, the built-in sandbox answers test requests for free."
          : "An administrator adds the key of a provider here. Until then, the built-in sandbox answers test requests for free."}
      </EmptyState>
    </Panel>
  );
}

function useColumns(hour: FiguresByProvider | null, day: FiguresByProvider | null): readonly Column<Provider>[] {
  const { team } = useSession();
  return [
    {
      title: "Provider",
      width: "minmax(190px, 1.3fr)",
      cell: ({ name, title, built_in }) => (
        <>
          <Group gap={6} wrap="nowrap">
            {team === null ? (
              <ParameterLink name="provider" value={name} className="provider-title">
                {title}
              </ParameterLink>
            ) : (
              <span className="provider-title">{title}</span>
            )}
            {built_in && (
              <Badge variant="default" size="xs" fw={500}>
                built in
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" className="mono" truncate>
            {name}
          </Text>
        </>
      ),
    },
    {
      title: "Health",
      width: "minmax(140px, 0.9fr)",
      cell: (provider) => {
        const { level, text } = healthOf(provider, hour);
        return (
          <span className="with-dot">
            <span className="dot" data-state={level} />
            <span className="truncate">{text}</span>
          </span>
        );
      },
    },
    {
      title: "Credentials",
      width: "minmax(120px, 0.8fr)",
      cell: ({ credentials, built_in }) => (built_in ? noValue : sourceText(credentials)),
    },
    {
      title: "Calls, 24 h",
      width: "100px",
      align: "right",
      cell: ({ name }) => formatCompact(figuresOf(day, name)?.lines),
    },
    {
      title: "Errors, 1 h",
      width: "100px",
      align: "right",
      cell: ({ name }) => <Errors count={figuresOf(hour, name)?.errors} />,
    },
    {
      title: "Errors, 24 h",
      width: "130px",
      align: "right",
      cell: ({ name }) => {
        const { errors, lines = 0 } = figuresOf(day, name) ?? {};
        return (
          <>
            <Errors count={errors} />
            {errors !== undefined && errors > 0 && (
              <span className="muted">{` · ${formatPercent(errors / lines)}`}</span>
            )}
          </>
        );
      },
    },
    {
      title: "Latency, 24 h",
      width: "110px",
      align: "right",
      cell: ({ name }) => {
        const sums = day?.get(name);
        return sums === undefined || sums.lines === 0 ? noValue : formatMs(sums.latency_ms / sums.lines);
      },
    },
  ];
}

function Errors({ count }: { readonly count: number | undefined }) {
  return <span className={count !== undefined && count > 0 ? "trend-bad" : "muted"}>{formatCompact(count)}</span>;
}

const fewProviders = 24;

interface AvailableProps {
  readonly items: readonly Provider[];
  readonly mayChange: boolean;
  readonly onSetUp: (name: string) => void;
}

function Available({ items, mayChange, onSetUp }: AvailableProps) {
  const url = useUrlState();
  const search = url.get("search").trim().toLowerCase();
  const shown = useMemo(
    () => items.filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes(search)),
    [items, search],
  );
  const listed = url.get("all") === "1" ? shown : shown.slice(0, fewProviders);
  return (
    <Panel
      title="Not set up"
      description={mayChange ? "Choose one to add its key." : "Administrators add keys here."}
      actions={<SearchField label="Search providers" placeholder="Search" width={200} />}
    >
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          No provider fits. Any server with an API in the format of OpenAI can be declared in switchyard.yaml.
        </Text>
      ) : (
        <ul className="provider-grid">
          {listed.map(({ name, title, dialect, missing_setting }) => (
            <li key={name} className="provider-card">
              <div className="provider-card-text">
                <span className="provider-title truncate">{title}</span>
                <Text size="xs" c="dimmed" truncate title={missing_setting ?? undefined}>
                  {dialect === null ? "Tasks" : "Models"} · <span className="mono">{name}</span>
                </Text>
              </div>
              {mayChange && (
                <Button size="compact-xs" variant="light" onClick={() => onSetUp(name)} aria-label={`Set up ${title}`}>
                  Set up
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {listed.length < shown.length && (
        <Button variant="subtle" size="xs" mt="sm" onClick={() => url.set({ all: "1" })}>
          Show all {shown.length}
        </Button>
      )}
    </Panel>
  );
}
