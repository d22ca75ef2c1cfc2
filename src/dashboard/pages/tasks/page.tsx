// Every task: what it does, who serves it, at what price, and a way to try it.

import { Badge, Button, Group, SegmentedControl, Switch, Text, TextInput, Title } from "@mantine/core";
import { useMemo } from "react";
import { Link } from "react-router";
import { useApi } from "../../api/hooks.ts";
import type { Feature, FeatureList, Subfeature } from "../../api/types.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { RemoveFilters } from "../../components/filters.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { IconPlayground, IconSearch } from "../../icons.ts";
import { formatLowestPrice, isLocal } from "../../lib/task-offers.ts";
import { useUrlState } from "../../lib/url-state.ts";

const maxProviders = 4;

export default function TasksPage() {
  const url = useUrlState();
  const list = useApi<FeatureList>("/v3/info", { include: "unconfigured" });
  return (
    <Page title="Tasks" description="What this gateway does besides chat, and which providers and engines do it.">
      <Loaded query={list} height={420}>
        {({ features }) => (
          <>
            <Filters features={features} />
            <TaskList
              features={features}
              search={url.get("q")}
              feature={url.get("feature")}
              isLocalOnly={url.get("local") === "1"}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Filters({ features }: { readonly features: readonly Feature[] }) {
  const url = useUrlState();
  return (
    <Group gap="sm" role="search">
      <TextInput
        aria-label="Search tasks"
        placeholder="Search by name, purpose or provider"
        leftSection={<IconSearch size={15} />}
        value={url.get("q")}
        onChange={(event) => url.set({ q: event.currentTarget.value })}
        className="task-search"
      />
      <div className="task-features">
        <SegmentedControl
          size="xs"
          aria-label="Feature"
          data={[
            { value: "", label: "All" },
            ...features.map(({ name, fullname }) => ({ value: name, label: fullname })),
          ]}
          value={url.get("feature")}
          onChange={(feature) => url.set({ feature })}
        />
      </div>
      <Switch
        label="Without an account"
        checked={url.get("local") === "1"}
        onChange={(event) => url.set({ local: event.currentTarget.checked ? "1" : null })}
      />
    </Group>
  );
}

interface TaskListProps {
  readonly features: readonly Feature[];
  readonly search: string;
  readonly feature: string;
  readonly isLocalOnly: boolean;
}

function TaskList({ features, search, feature, isLocalOnly }: TaskListProps) {
  const shown = useMemo(() => {
    const words = search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const isWanted = (one: Subfeature, of: Feature) => {
      if (isLocalOnly && !hasLocalEngine(one)) return false;
      const text = [one.name, one.fullname, one.description, of.fullname, ...providersOf(one)].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return features
      .filter(({ name }) => feature === "" || name === feature)
      .map((of) => ({ of, tasks: of.subfeatures.filter((one) => isWanted(one, of)) }))
      .filter(({ tasks }) => tasks.length > 0);
  }, [features, search, feature, isLocalOnly]);
  if (shown.length === 0)
    return (
      <Panel>
        <EmptyState title="No task fits these filters" action={<RemoveFilters names={["q", "feature", "local"]} />}>
          Search for what a task does, such as “invoice”, “speech” or “faces”.
        </EmptyState>
      </Panel>
    );
  return shown.map(({ of, tasks }) => (
    <section key={of.name} className="panel flush" aria-labelledby={`feature-${of.name}`}>
      <div className="task-feature">
        <Title order={2} size="h5" id={`feature-${of.name}`}>
          {of.fullname}
        </Title>
        <Text size="xs" c="dimmed">
          {of.description}
        </Text>
      </div>
      <ul className="task-list">
        {tasks.map((one) => (
          <TaskRow key={one.name} feature={of.name} task={one} />
        ))}
      </ul>
    </section>
  ));
}

function TaskRow({ feature, task }: { readonly feature: string; readonly task: Subfeature }) {
  const providers = providersOf(task);
  const name = `${feature}/${task.name}`;
  const isJob = task.models.some(({ mode }) => mode === "async") || task.name.endsWith("_async");
  return (
    <li className="task-item">
      <div className="task-item-name">
        <Link className="row-link" to={`/playground/tasks?task=${name}`}>
          {task.fullname}
        </Link>
        <Group gap={5} component="span">
          {hasLocalEngine(task) && (
            <Badge color="green" size="sm" radius="xl">
              On this gateway
            </Badge>
          )}
          {isJob && (
            <Badge color="gray" size="sm" radius="xl">
              Job
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {task.description}
        </Text>
      </div>
      <div className="task-item-providers">
        {providers.slice(0, maxProviders).map((provider) => (
          <span key={provider} className="task-provider" data-ready={isReady(task, provider) || undefined}>
            {provider}
          </span>
        ))}
        {providers.length > maxProviders && (
          <span className="task-provider" title={providers.slice(maxProviders).join(", ")}>
            +{providers.length - maxProviders}
          </span>
        )}
      </div>
      <span className="task-item-price numeric">{formatLowestPrice(task)}</span>
      <Button
        component={Link}
        to={`/playground/tasks?task=${name}`}
        size="compact-sm"
        variant={task.configured ? "light" : "default"}
        leftSection={<IconPlayground size={14} />}
        aria-label={`Try ${task.fullname}`}
      >
        Try
      </Button>
    </li>
  );
}

function hasLocalEngine({ models }: Subfeature): boolean {
  return models.some((one) => isLocal(one) && one.configured);
}

/** Those that can be called now come first. */
function providersOf({ models }: Subfeature): string[] {
  const ready = models.filter(({ configured }) => configured);
  return [...new Set([...ready, ...models].map(({ provider }) => provider))];
}

function isReady({ models }: Subfeature, provider: string): boolean {
  return models.some((one) => one.provider === provider && one.configured);
}
