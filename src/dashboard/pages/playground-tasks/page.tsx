// Tries a task: a form made from its schema, and its result as it should be seen. The task and its provider are in the address.

import { Badge, type ComboboxData, Group, Select, Text } from "@mantine/core";
import { useApi } from "../../api/hooks.ts";
import type { FeatureList, SubfeatureDetail, TaskModel } from "../../api/types.ts";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { formatTaskPrice, isLocal, isSandbox, pickOffer } from "../../lib/task-offers.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { usePlaygroundKey } from "../../playground/key.ts";
import { KeyNotice } from "../../playground/key-notice.tsx";
import { PlaygroundTabs } from "../../playground/tabs.tsx";
import { TaskTrial } from "./trial.tsx";

const firstTask = "ocr/ocr";
const included = { include: "unconfigured,sandbox" };

export default function TaskPlaygroundPage() {
  const url = useUrlState();
  const named = url.get("task");
  const task = named.split("/").slice(0, 2).join("/") || firstTask;
  const playgroundKey = usePlaygroundKey();
  // The sandbox performs every task, so this is the shortest list of all of them.
  const features = useApi<FeatureList>("/v3/info", { include: "sandbox" });
  const detail = useApi<SubfeatureDetail>(`/v3/info/${task.split("/").map(encodeURIComponent).join("/")}`, included);
  // While another task loads, the answer of the one before is still there.
  const shown = detail.data !== undefined && `${detail.data.feature}/${detail.data.name}` === task ? detail.data : null;
  const choose = (model: string) => url.set({ task: model });
  return (
    <Page title="Playground" description={<PlaygroundTabs />}>
      <KeyNotice playgroundKey={playgroundKey} />
      <Panel>
        <div className="task-picker">
          <div>
            <Loaded query={features} height={60}>
              {(list) => <TaskSelect list={list} task={task} onChange={choose} />}
            </Loaded>
            {shown !== null && (
              <Text size="xs" c="dimmed" mt={8}>
                {shown.description}
              </Text>
            )}
          </div>
          {shown !== null && <OfferSelect task={task} offers={shown.models} named={named} onChange={choose} />}
        </div>
      </Panel>
      {detail.error !== null && shown === null && (
        <ErrorNotice error={detail.error} onRetry={() => void detail.refetch()} />
      )}
      {shown !== null && (
        <TaskTrial
          key={task}
          task={task}
          detail={shown}
          model={pickOffer(shown.models, task, named)}
          playgroundKey={playgroundKey}
        />
      )}
    </Page>
  );
}

interface SearchSelectProps {
  readonly label: string;
  readonly data: ComboboxData;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function SearchSelect({ label, data, value, onChange }: SearchSelectProps) {
  return (
    <Select
      searchable
      allowDeselect={false}
      maxDropdownHeight={420}
      // What is typed replaces the name that stands there.
      onFocus={({ currentTarget }) => currentTarget.select()}
      label={label}
      data={data}
      value={value}
      nothingFoundMessage={`No ${label.toLowerCase()} has this name`}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
    />
  );
}

interface TaskSelectProps {
  readonly list: FeatureList;
  readonly task: string;
  readonly onChange: (task: string) => void;
}

function TaskSelect({ list, task, onChange }: TaskSelectProps) {
  const data = list.features.map(({ name, fullname, subfeatures }) => ({
    group: fullname,
    items: subfeatures.map((one) => ({ value: `${name}/${one.name}`, label: one.fullname })),
  }));
  return <SearchSelect label="Task" data={data} value={task} onChange={onChange} />;
}

interface OfferSelectProps {
  readonly task: string;
  readonly offers: readonly TaskModel[];
  readonly named: string;
  readonly onChange: (model: string) => void;
}

function OfferSelect({ task, offers, named, onChange }: OfferSelectProps) {
  const value = pickOffer(offers, task, named);
  const chosen = offers.find(({ model }) => model === value);
  const toItem = ({ model, configured }: TaskModel) => ({
    value: model,
    label: model.slice(task.length + 1),
    disabled: !configured,
  });
  const groups = [
    { group: "Ready", items: offers.filter((one) => one.configured && !isSandbox(one)).map(toItem) },
    { group: "Sandbox: invented results, free", items: offers.filter(isSandbox).map(toItem) },
    { group: "Needs an account or an engine", items: offers.filter(({ configured }) => !configured).map(toItem) },
  ].filter(({ items }) => items.length > 0);
  if (chosen === undefined)
    groups.unshift({
      group: "From the address",
      items: [{ value, label: value.slice(task.length + 1), disabled: false }],
    });
  return (
    <div>
      <SearchSelect label="Provider" data={groups} value={value} onChange={onChange} />
      {chosen !== undefined && (
        <Group gap={6} mt={8}>
          {isLocal(chosen) && (
            <Badge color="green" radius="xl">
              Runs on this gateway
            </Badge>
          )}
          {isSandbox(chosen) && (
            <Badge color="orange" radius="xl">
              Invented result
            </Badge>
          )}
          <Badge color="gray" radius="xl">
            {formatTaskPrice(chosen.pricing)}
          </Badge>
          <Badge color="gray" radius="xl">
            {chosen.mode === "async" ? "Runs as a job" : "Answers at once"}
          </Badge>
        </Group>
      )}
    </div>
  );
}
