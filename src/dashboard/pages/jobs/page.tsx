// The jobs of all keys: filters in the address, the newest first, refreshed while one looks.

import { Group, Switch } from "@mantine/core";
import { useNavigate } from "react-router";
import { usePages } from "../../api/pages.ts";
import type { Job } from "../../api/types.ts";
import type { Column } from "../../components/data-table.tsx";
import { ChoiceFilter, Filters, KeyFilter, TeamFilter, TextFilter } from "../../components/filters.tsx";
import { ListPanel } from "../../components/list-panel.tsx";
import { Page } from "../../components/page.tsx";
import { PeriodPicker, usePeriod } from "../../components/period-picker.tsx";
import { TimeLink, TwoLines } from "../../components/row-parts.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { IconJobs } from "../../icons.ts";
import { formatMs, formatPercent, formatUsd, noValue } from "../../lib/format.ts";
import { toInstants } from "../../lib/instants.ts";
import { durationOf, performerOf, statusOf, taskOf } from "../../lib/jobs.ts";
import { useUrlState } from "../../lib/url-state.ts";

const jobsPerPage = 100;
const liveEveryMs = 3_000;
const filterNames = ["status", "task", "provider", "key", "team"] as const;

export default function JobsPage() {
  const url = useUrlState();
  const period = usePeriod("7d");
  const isLive = url.get("live") !== "0";
  const filters = Object.fromEntries(filterNames.map((name) => [name, url.get(name)]));
  const query = { ...filters, ...toInstants(period), limit: jobsPerPage };
  const jobs = usePages<Job>("/v3/manage/jobs", query, { refreshMs: isLive ? liveEveryMs : undefined });
  const navigate = useNavigate();
  return (
    <Page
      title="Jobs"
      description="Tasks that run in the background, of all keys. A job and its result are kept for a few days."
      actions={
        <>
          <Switch
            label="Live"
            checked={isLive}
            onChange={(event) => url.set({ live: event.currentTarget.checked ? null : "0" })}
          />
          <PeriodPicker initial="7d" />
        </>
      }
    >
      <JobFilters />
      <ListPanel
        label="Jobs"
        list={jobs}
        nouns={["job", "jobs"]}
        filterNames={filterNames}
        icon={IconJobs}
        empty={{
          title: "No jobs in this period",
          hint: (
            <>
              Programs submit jobs with <code>POST /v3/universal-ai/async</code>.
            </>
          ),
        }}
        columns={columns}
        rowKey={({ job_id }) => job_id}
        rowHeight={52}
        onRowClick={({ job_id }) => void navigate(`/jobs/${job_id}`)}
      />
    </Page>
  );
}

const columns: readonly Column<Job>[] = [
  {
    title: "Submitted",
    width: "150px",
    cell: ({ job_id, created_at }) => <TimeLink to={`/jobs/${job_id}`} time={created_at} />,
  },
  {
    title: "Status",
    width: "145px",
    cell: (job) => (
      <Group gap={6} wrap="nowrap">
        <StatusBadge status={statusOf(job)} />
        {job.progress !== null && <span>{formatPercent(job.progress)}</span>}
      </Group>
    ),
  },
  {
    title: "Task",
    width: "minmax(200px, 1.5fr)",
    cell: (job) => <TwoLines first={taskOf(job)} second={performerOf(job)} />,
  },
  {
    title: "Key",
    width: "minmax(150px, 1fr)",
    cell: ({ key_name, key_id, team }) => <TwoLines first={key_name ?? key_id} second={team ?? "no team"} />,
  },
  {
    title: "Webhook",
    width: "110px",
    cell: ({ webhook }) => (webhook === null ? noValue : <StatusBadge status={webhook.state ?? "waiting"} />),
  },
  { title: "Duration", width: "110px", align: "right", cell: (job) => formatMs(durationOf(job)) },
  { title: "Cost", width: "90px", align: "right", cell: ({ cost }) => formatUsd(cost) },
];

const statuses = [
  { value: "processing", label: "Queued or running" },
  { value: "success", label: "Successful" },
  { value: "fail", label: "Failed or cancelled" },
];

function JobFilters() {
  return (
    <Filters<(typeof filterNames)[number]>
      controls={{
        status: <ChoiceFilter name="status" label="Status" width={175} choices={statuses} />,
        task: <TextFilter name="task" label="Task, such as ocr/ocr_async" width={205} />,
        provider: <TextFilter name="provider" label="Provider" width={140} />,
        team: <TeamFilter />,
        key: <KeyFilter width={170} />,
      }}
    />
  );
}
