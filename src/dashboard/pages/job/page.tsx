// One job: how far it is, its result, and every attempt to deliver its webhook.

import { Alert, Anchor, Button, Progress, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { useApi, useChange } from "../../api/hooks.ts";
import type { JobDetail, JobResult } from "../../api/types.ts";
import { Confirm } from "../../components/confirm.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { BackLink, IdLine } from "../../components/page-parts.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { IconAlert, IconClose, IconRefresh } from "../../icons.ts";
import { formatBytes, formatMs, formatPercent, formatUsd, noValue } from "../../lib/format.ts";
import { durationOf, performerOf, statusOf, taskOf } from "../../lib/jobs.ts";
import { useMay } from "../../session/session.ts";
import { Deliveries } from "./deliveries.tsx";

const refreshMs = 2_000;

export default function JobPage() {
  const { jobId = "" } = useParams();
  const path = `/v3/manage/jobs/${encodeURIComponent(jobId)}`;
  const [isChanging, setChanging] = useState(true);
  const job = useApi<JobDetail>(path, undefined, { refreshMs: isChanging ? refreshMs : undefined });
  const { data } = job;
  const mayChange = data === undefined || canChange(data);
  if (mayChange !== isChanging) setChanging(mayChange);
  return (
    <Page
      title="Job"
      description={<IdLine id={jobId} noun="job" />}
      actions={
        <>
          <BackLink to="/jobs">All jobs</BackLink>
          {data !== undefined && <Actions job={data} path={path} />}
        </>
      }
    >
      <Loaded query={job} height={360}>
        {(found) => (
          <>
            <Summary job={found} />
            <Result job={found} path={path} />
            <Panel
              title="Webhook"
              description={
                found.webhook === null ? "The job was submitted without a receiver." : <Receiver job={found} />
              }
            >
              {found.webhook !== null && <Deliveries deliveries={found.deliveries} status={found.status} />}
            </Panel>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Whether what the page shows may still change by itself. */
function canChange({ status, deliveries }: JobDetail): boolean {
  return status === "processing" || deliveries.some(({ state }) => state === "pending");
}

function Receiver({ job: { webhook } }: { readonly job: JobDetail }) {
  return <span className="mono wrap-anywhere">{webhook?.receiver}</span>;
}

function Summary({ job }: { readonly job: JobDetail }) {
  const { progress, error } = job;
  return (
    <Panel>
      <Facts>
        <Fact name="Status">
          <StatusBadge status={statusOf(job)} />
        </Fact>
        <Fact name="Task">
          <Anchor component={Link} to={`/playground/tasks?task=${encodeURIComponent(taskOf(job))}`} size="sm">
            {taskOf(job)}
          </Anchor>
        </Fact>
        <Fact name="Provider">{performerOf(job)}</Fact>
        <Fact name="Key">{job.key_name ?? job.key_id}</Fact>
        <Fact name="Team">{job.team ?? noValue}</Fact>
        <Fact name="Submitted">
          <TimeText time={job.created_at} />
        </Fact>
        <Fact name={job.finished_at === null ? "Running for" : "Duration"}>{formatMs(durationOf(job))}</Fact>
        <Fact name="Runs">{job.runs}</Fact>
        <Fact name="Cost">{formatUsd(job.cost)}</Fact>
        <Fact name="Deleted">
          <TimeText time={job.expires_at} ago />
        </Fact>
        {job.status !== "processing" && (
          <Fact name="Attempts">
            <Anchor component={Link} to={`/requests/${encodeURIComponent(job.request_id)}`} size="sm">
              Show the request
            </Anchor>
          </Fact>
        )}
      </Facts>
      {job.status === "processing" && progress !== null && (
        <div className="job-progress">
          <Text size="sm" mb={6}>
            {formatPercent(progress)} done
          </Text>
          <Progress value={progress * 100} aria-label="Progress" />
        </div>
      )}
      {error !== null && (
        <Alert color="red" variant="light" icon={<IconAlert size={18} />} title="Why it failed" mt="md">
          <Text size="sm" className="wrap-anywhere">
            {error.message}
          </Text>
        </Alert>
      )}
    </Panel>
  );
}

/** Read on request only: the audit log records who read a result. */
function Result({ job, path }: { readonly job: JobDetail; readonly path: string }) {
  const mayRead = useMay("administrator");
  const [isWanted, setWanted] = useState(false);
  const result = useApi<JobResult>(`${path}/result`, undefined, { enabled: isWanted, isRecorded: true });
  if (job.status !== "success") return null;
  return (
    <Panel
      title="Result"
      description={`${formatBytes(job.result_bytes)} of JSON`}
      actions={
        mayRead &&
        !isWanted && (
          <Button size="xs" variant="default" onClick={() => setWanted(true)}>
            Show the result
          </Button>
        )
      }
    >
      {!mayRead && (
        <Text size="sm" c="dimmed">
          Only administrators read results. Send the webhook again to deliver it to its receiver.
        </Text>
      )}
      {mayRead && !isWanted && (
        <Text size="sm" c="dimmed">
          The result belongs to the caller. The audit log records who reads it.
        </Text>
      )}
      {isWanted && (
        <Loaded query={result} height={160}>
          {({ output, original_response }) => (
            <>
              <JsonView value={output} label="the result" />
              {original_response !== undefined && (
                <details className="raw">
                  <summary>The provider's own answer</summary>
                  <JsonView value={original_response} label="the provider's answer" />
                </details>
              )}
            </>
          )}
        </Loaded>
      )}
    </Panel>
  );
}

function Actions({ job, path }: { readonly job: JobDetail; readonly path: string }) {
  const mayChange = useMay("operator");
  const [dialog, setDialog] = useState<"cancel" | "redeliver" | null>(null);
  const change = useChange(["/v3/manage/jobs"]);
  const close = () => {
    change.reset();
    setDialog(null);
  };
  if (!mayChange) return null;
  const send = (verb: string, message: string) =>
    change.mutate(
      { method: "POST", path: `${path}/${verb}` },
      {
        onSuccess: () => {
          close();
          notifications.show({ message });
        },
      },
    );
  return (
    <>
      {job.status === "processing" && (
        <Button
          size="xs"
          color="red"
          variant="light"
          leftSection={<IconClose size={14} />}
          onClick={() => setDialog("cancel")}
        >
          Cancel job
        </Button>
      )}
      {job.status !== "processing" && job.webhook !== null && (
        <Button
          size="xs"
          variant="light"
          leftSection={<IconRefresh size={14} />}
          onClick={() => setDialog("redeliver")}
        >
          Send webhook again
        </Button>
      )}
      {dialog === "cancel" && (
        <Confirm
          title="Cancel this job"
          action="Cancel job"
          change={change}
          onClose={close}
          onConfirm={() => send("cancel", "The job is cancelled.")}
        >
          The job ends as failed, and its receiver is told. The provider may still bill what it has begun.
        </Confirm>
      )}
      {dialog === "redeliver" && (
        <Confirm
          title="Send the webhook again"
          action="Send"
          isHarmless
          change={change}
          onClose={close}
          onConfirm={() => send("redeliver", "The webhook is queued.")}
        >
          <span className="wrap-anywhere">{job.webhook?.receiver}</span> gets the same content once more, signed anew. A
          receiver should recognize a job that it has already handled.
        </Confirm>
      )}
    </>
  );
}
