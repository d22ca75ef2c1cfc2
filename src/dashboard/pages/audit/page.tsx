// Who changed what: one line for each change, and what it was before and after.

import { Text } from "@mantine/core";
import { useCallback, useMemo } from "react";
import { toUrl } from "../../api/client.ts";
import { usePages } from "../../api/pages.ts";
import type { AuditRecord } from "../../api/types.ts";
import type { Column } from "../../components/data-table.tsx";
import { ChoiceFilter, Filters, TeamFilter, TextFilter } from "../../components/filters.tsx";
import { ListPanel } from "../../components/list-panel.tsx";
import { Page } from "../../components/page.tsx";
import { CsvButton } from "../../components/page-parts.tsx";
import { PeriodPicker, usePeriod } from "../../components/period-picker.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { IconShield } from "../../icons.ts";
import { noValue } from "../../lib/format.ts";
import { toInstants } from "../../lib/instants.ts";
import { useUrlState } from "../../lib/url-state.ts";
import { listChanges } from "./changes.ts";
import { RecordDrawer } from "./record-drawer.tsx";

const auditPath = "/v3/manage/audit";
const recordsPerPage = 100;
const filterNames = ["actor", "action", "target", "team", "outcome"] as const;

export default function AuditPage() {
  const url = useUrlState();
  const period = usePeriod("30d");
  const query = {
    ...Object.fromEntries(filterNames.map((name) => [name, url.get(name)])),
    ...toInstants(period),
  };
  const records = usePages<AuditRecord>(auditPath, { ...query, limit: recordsPerPage });
  const opened = records.items.find(({ id }) => id === url.get("record"));
  const { set } = url;
  const open = useCallback(({ id }: AuditRecord) => set({ record: id }), [set]);
  const columns = useMemo(() => toColumns(open), [open]);
  return (
    <Page
      title="Audit log"
      description="Every change, sign-in and reload: who, what, when and from where."
      actions={
        <>
          <CsvButton href={toUrl(auditPath, { ...query, format: "csv" })} />
          <PeriodPicker initial="30d" />
        </>
      }
    >
      <AuditFilters />
      <ListPanel
        label="Changes"
        list={records}
        nouns={["record", "records"]}
        filterNames={filterNames}
        icon={IconShield}
        empty={{
          title: "No changes in this period",
          hint: "Changes of keys, teams, jobs, files and providers appear here at once.",
        }}
        columns={columns}
        rowKey={({ id }) => id}
        rowHeight={52}
        onRowClick={open}
      />
      {opened !== undefined && <RecordDrawer record={opened} onClose={() => url.set({ record: null })} />}
    </Page>
  );
}

function toColumns(open: (record: AuditRecord) => void): readonly Column<AuditRecord>[] {
  return [
    {
      title: "Time",
      width: "155px",
      cell: (record) => (
        <button
          type="button"
          className="row-button"
          aria-haspopup="dialog"
          onClick={(event) => {
            event.stopPropagation();
            open(record);
          }}
        >
          <TimeText time={record.time} />
        </button>
      ),
    },
    {
      title: "Who",
      width: "minmax(150px, 1fr)",
      cell: ({ actor }) => (
        <>
          <Text size="sm" truncate>
            {actor.name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {actor.kind === "user" || actor.kind === "key" ? actor.role : actor.kind}
          </Text>
        </>
      ),
    },
    { title: "Action", width: "minmax(165px, 0.8fr)", cell: ({ action }) => <span className="mono">{action}</span> },
    {
      title: "What",
      width: "minmax(170px, 1.3fr)",
      cell: ({ target }) => (
        <>
          <Text size="sm" truncate>
            {target.name ?? target.id ?? noValue}
          </Text>
          {target.team !== null && (
            <Text size="xs" c="dimmed" truncate>
              {target.team}
            </Text>
          )}
        </>
      ),
    },
    {
      title: "Changed",
      width: "minmax(150px, 1.2fr)",
      cell: (record) => <span className="dimmed">{summarize(record)}</span>,
    },
    { title: "From", width: "minmax(110px, 0.7fr)", cell: ({ address }) => address ?? noValue },
    { title: "Outcome", width: "100px", cell: ({ outcome }) => <StatusBadge status={outcome} /> },
  ];
}

function summarize({ before, after, code }: AuditRecord): string {
  if (code !== null) return code;
  const changes = listChanges(before, after);
  if (before === null || after === null) return noValue;
  return changes.map(({ member }) => member.replaceAll("_", " ")).join(", ") || noValue;
}

const actions = [
  ...["key", "key.create", "key.update", "key.rotate", "key.revoke", "team", "team.create", "team.update"],
  ...["team.delete", "session", "session.start", "session.end", "job", "job.cancel", "job.redeliver"],
  ...[
    "job.read_result",
    "file",
    "file.delete",
    "file.read",
    "provider",
    "request.read_content",
    "configuration.reload",
    "webhook_keys",
  ],
  "storage.move",
];

const outcomes = ["done", "failed", "refused", "started"];

function AuditFilters() {
  return (
    <Filters<(typeof filterNames)[number]>
      controls={{
        action: <ChoiceFilter name="action" label="Action" width={180} choices={actions} />,
        actor: <TextFilter name="actor" label="Who: name or id" />,
        target: <TextFilter name="target" label="What: name or id" />,
        team: <TeamFilter />,
        outcome: <ChoiceFilter name="outcome" label="Outcome" width={130} choices={outcomes} />,
      }}
    />
  );
}
