// The settings in force, each with its value, source and meaning; and the version, processes, store and local engines of this gateway.

import { Anchor, Badge, Group, Text } from "@mantine/core";
import { useApi } from "../../api/hooks.ts";
import type { Setting, SettingsInForce } from "../../api/types.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { SegmentFilter } from "../../components/filters.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Stat } from "../../components/stat.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { IconExternal, IconSettings } from "../../icons.ts";
import { formatBytes, formatNumber, noValue } from "../../lib/format.ts";
import { useUrlState } from "../../lib/url-state.ts";

export default function SettingsPage() {
  const settings = useApi<SettingsInForce>("/v3/manage/settings");
  return (
    <Page
      title="Settings"
      description={
        <>
          The settings in force, and the source of each value. Reload the gateway after a change of{" "}
          <code>switchyard.yaml</code>, and restart it after a change of the environment.
        </>
      }
    >
      <Loaded query={settings} height={420}>
        {(data) => (
          <>
            <Gateway data={data} />
            <Settings settings={data.settings} />
            <Engines engines={data.engines} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Gateway({ data }: { readonly data: SettingsInForce }) {
  const { version, store, configuration, file, data_dir } = data;
  return (
    <>
      <div className="tiles">
        <Stat label="Version" value={version} />
        <Stat
          label="Store"
          value={store === "sqlite" ? "SQLite" : "PostgreSQL"}
          note={store === "sqlite" ? "one machine" : "shared by all replicas"}
        />
        <Stat
          label="Serving processes"
          value={formatNumber(configuration?.serving_processes)}
          note={
            configuration === null ? "no answer from a supervisor" : `and ${configuration.worker_processes} for jobs`
          }
        />
        <Stat
          label="Configuration"
          value={configuration === null ? noValue : `#${configuration.number}`}
          note={
            configuration === null ? undefined : (
              <>
                read <TimeText time={configuration.read_at} ago />
              </>
            )
          }
        />
      </div>
      <Panel>
        <dl className="facts">
          <dt>File</dt>
          <dd className="mono">{file ?? "none"}</dd>
          <dt>Data folder</dt>
          <dd className="mono">{data_dir}</dd>
        </dl>
      </Panel>
    </>
  );
}

function Settings({ settings }: { readonly settings: readonly Setting[] }) {
  const url = useUrlState();
  const search = url.get("search").trim().toLowerCase();
  const changed = settings.filter(({ source }) => source.kind !== "default");
  const scope = url.get("show") || "changed";
  // A search covers all settings: the one that a reader looks for usually has its default.
  const searched = scope === "all" || search !== "" ? settings : changed;
  const shown = searched.filter((setting) => toSearchText(setting).includes(search));
  return (
    <Panel
      className="flush"
      title="Settings"
      actions={
        <Group gap="xs">
          <SearchField label="Search settings" placeholder="Search all settings" width={220} />
          <SegmentFilter
            label="Which settings"
            choices={{ changed: `Changed (${changed.length})`, all: `All (${settings.length})` }}
            value={scope}
            onChange={(show) => url.set({ show: show === "changed" ? null : show })}
          />
        </Group>
      }
    >
      {shown.length === 0 ? (
        <EmptyState
          icon={IconSettings}
          title={search === "" ? "All settings have their defaults" : "No setting matches"}
        >
          {search === ""
            ? "Show all settings to see the defaults."
            : "The search covers names, descriptions and values."}
        </EmptyState>
      ) : (
        <ul className="settings">
          {shown.map((setting) => (
            <SettingRow key={setting.name} setting={setting} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function toSearchText({ name, variable, description, value }: Setting): string {
  return `${name} ${variable ?? ""} ${description} ${toText(value)}`.toLowerCase();
}

function SettingRow({ setting }: { readonly setting: Setting }) {
  const { name, variable, value, description } = setting;
  const text = toText(value);
  return (
    <li className="setting">
      <div className="setting-text">
        <Group gap={6} wrap="nowrap">
          <span className="mono setting-name wrap-anywhere">{variable ?? name}</span>
          <Anchor
            href={docsOf(setting)}
            target="_blank"
            rel="noreferrer"
            aria-label={`Documentation of ${variable ?? name}`}
            className="setting-docs"
          >
            <IconExternal size={13} />
          </Anchor>
        </Group>
        <Text size="xs" c="dimmed">
          {description.replaceAll("`", "")}
        </Text>
      </div>
      <div className="mono setting-value wrap-anywhere" data-empty={text === noValue}>
        {text}
        {typeof value === "number" && <span className="muted">{toLargerUnit(name, value)}</span>}
      </div>
      <div>
        <Source setting={setting} />
      </div>
    </li>
  );
}

function Source({ setting: { source, variable } }: { readonly setting: Setting }) {
  if (source.kind === "default") return <span className="muted setting-source">default</span>;
  // The row already shows the setting's own variable. A secret may come from a file that another variable names.
  const [text, where] =
    source.kind === "file"
      ? ["file", `line ${source.line}`]
      : ["environment", source.variable === variable ? null : source.variable];
  return (
    <>
      <Badge>{text}</Badge>
      {where !== null && <span className="muted setting-source wrap-anywhere"> {where}</span>}
    </>
  );
}

/** Text fragments (`#:~:text=`) make the browser scroll to the variable in the table of settings. */
function docsOf({ name, variable }: Setting): string {
  if (variable !== null) return `/docs/settings#:~:text=${encodeURIComponent(variable)}`;
  return name.startsWith("oidc") ? "/docs/dashboard-access" : "/docs/budgets-and-limits";
}

function toText(value: unknown): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return noValue;
  if (Array.isArray(value)) return value.map(toText).join(", ");
  if (typeof value !== "object") return String(value);
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return members.map(([name, member]) => `${name}: ${toText(member)}`).join(", ") || noValue;
}

/** Repeats milliseconds and bytes in a larger unit, in parentheses. */
function toLargerUnit(name: string, value: number): string {
  if (name.endsWith("_bytes")) return value >= bytesPerKilobyte ? ` (${formatBytes(value)})` : "";
  return name.endsWith("_ms") && value >= msPerSecond ? ` (${toDuration(value)})` : "";
}

const bytesPerKilobyte = 1_000;
const msPerSecond = 1_000;
const durations = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const;

/** In the largest unit of which it is a whole number; otherwise in seconds. */
function toDuration(ms: number): string {
  const [unit, size] = durations.find(([, unitMs]) => ms % unitMs === 0) ?? ["s", msPerSecond];
  return `${ms / size} ${unit}`;
}

const engineStates = {
  added: ["installed", "green"],
  outdated: ["outdated", "orange"],
  absent: ["not installed", "gray"],
} as const;

function Engines({ engines }: { readonly engines: SettingsInForce["engines"] }) {
  const installed = engines.filter(({ state }) => state !== "absent");
  const others = engines.filter(({ state }) => state === "absent");
  return (
    <Panel
      title="Local engines"
      description={
        <>
          Groups of engines that run on the gateway's machine. <code>switchyard engines add &lt;group&gt;</code>{" "}
          installs a group.
        </>
      }
    >
      {installed.length > 0 && (
        <ul className="engines">
          {installed.map(({ name, state, description, tasks, improves }) => (
            <li key={name} className="engine">
              <Group gap={8}>
                <strong>{name}</strong>
                <Badge color={engineStates[state][1]}>{engineStates[state][0]}</Badge>
              </Group>
              <Text size="xs" c="dimmed">
                {description}
              </Text>
              <Text size="xs" c="dimmed" className="mono wrap-anywhere">
                {[...tasks, ...improves].join(", ")}
              </Text>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <details className="raw" open={installed.length === 0}>
          <summary>{others.length} not installed</summary>
          <dl className="facts">
            {others.map(({ name, description }) => [
              <dt key={`${name} name`} className="mono">
                {name}
              </dt>,
              <dd key={`${name} description`}>{description}</dd>,
            ])}
          </dl>
        </details>
      )}
    </Panel>
  );
}
