// The result of a run: what it shows, the raw answer, and the provider, time and cost. Or its progress, or why it failed.

import { Button, Group, Loader, Progress, Tabs, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { Link } from "react-router";
import { ApiError } from "../../api/client.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { IconPlay } from "../../icons.ts";
import { formatMs, formatPercent, formatUsd } from "../../lib/format.ts";
import { ResultOfTask } from "./results/choose.tsx";
import type { RunState, TaskResult } from "./run.ts";

interface ResultPanelProps {
  readonly state: RunState;
  readonly onCancel: () => void;
  readonly onRetry: () => void;
}

export function ResultPanel({ state, onCancel, onRetry }: ResultPanelProps) {
  switch (state.phase) {
    case "idle":
      return (
        <EmptyState title="No result yet" icon={IconPlay}>
          Press Run. The example shows what the task does; change it, or use data of your own.
        </EmptyState>
      );
    case "uploading":
    case "running":
      return <Running state={state} onCancel={onCancel} />;
    case "cancelled":
      return <EmptyState title="Cancelled">Nothing more is billed for this run. Press Run to start again.</EmptyState>;
    case "failed":
      return <Failed error={state.error} onRetry={onRetry} />;
    case "done":
      return (
        <>
          <Facts result={state.result} />
          <Tabs defaultValue="result" keepMounted={false}>
            <Tabs.List mb="md">
              <Tabs.Tab value="result">Result</Tabs.Tab>
              <Tabs.Tab value="raw">Raw</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="result">
              <ResultOfTask task={state.request.task} input={state.request.input} output={state.result.output} />
            </Tabs.Panel>
            <Tabs.Panel value="raw">
              <Raw value={state.result.raw} />
            </Tabs.Panel>
          </Tabs>
        </>
      );
  }
}

function Facts({ result: { provider, elapsedMs, cost, costReason, requestId } }: { readonly result: TaskResult }) {
  const facts = [
    ["Provider", provider],
    ["Time", formatMs(elapsedMs)],
    ["Cost", cost === null ? "not known" : cost === 0 ? "free" : formatUsd(cost)],
  ] as const;
  return (
    <dl className="run-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="numeric" title={name === "Cost" ? (costReason ?? undefined) : undefined}>
            {value}
          </dd>
        </div>
      ))}
      {requestId !== null && (
        <div>
          <dt>Request</dt>
          <dd>
            <Link className="row-link" to={`/requests/${requestId}`}>
              Details
            </Link>
          </dd>
        </div>
      )}
    </dl>
  );
}

const tickMs = 200;

function Running({
  state,
  onCancel,
}: {
  readonly state: Extract<RunState, { readonly phase: "uploading" | "running" }>;
  readonly onCancel: () => void;
}) {
  const [elapsedMs, setElapsedMs] = useState(0);
  useEffect(() => {
    const start = performance.now();
    const timer = setInterval(() => setElapsedMs(performance.now() - start), tickMs);
    return () => clearInterval(timer);
  }, []);
  const { job, phase, request } = state;
  const progress = job?.progress ?? null;
  const step =
    phase === "uploading"
      ? "Sending the input"
      : job !== null
        ? "The job runs"
        : request.isJob
          ? "Submitting the job"
          : "Running";
  return (
    <div className="running">
      <Group gap="sm">
        <Loader size="sm" aria-hidden="true" />
        <Text size="sm" role="status">
          {step}
          {progress !== null && `, ${formatPercent(progress)}`}
        </Text>
        <Text size="sm" c="dimmed" className="numeric">
          {(elapsedMs / 1_000).toFixed(1)} s
        </Text>
        <Button size="compact-sm" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
      {request.isJob && (
        <Progress value={progress === null ? 100 : progress * 100} animated aria-label="Progress of the job" />
      )}
      {job !== null && (
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          Job <code>{job.job_id}</code>
        </Text>
      )}
    </div>
  );
}

function Failed({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const isAtFields =
    error instanceof ApiError &&
    error.problems.length > 0 &&
    error.problems.every(({ loc }) => loc[1] === "input" && loc.length > 2);
  if (isAtFields)
    return (
      <EmptyState title="Check the marked fields">
        The gateway did not accept the input. Nothing was sent to a provider, and nothing is billed.
      </EmptyState>
    );
  return <ErrorNotice error={error} onRetry={onRetry} />;
}

/** The copied text contains files in base64 completely; the preview shortens them. */
const longText = 1_000;
const maxShown = 200_000;

function Raw({ value }: { readonly value: unknown }) {
  const shown = JSON.stringify(
    value,
    (_, one: unknown) =>
      typeof one === "string" && one.length > longText ? `${one.slice(0, 60)}… (${one.length} characters)` : one,
    2,
  );
  return (
    <div className="raw">
      <span className="raw-copy">
        <CopyButton text={JSON.stringify(value, null, 2)} label="Copy the JSON" />
      </span>
      {/* A part that scrolls has to be reachable with the keyboard. */}
      <pre className="code-block" tabIndex={0} role="region" aria-label="Raw answer">
        {shown.length > maxShown ? `${shown.slice(0, maxShown)}\n… (copy for the rest)` : shown}
      </pre>
    </div>
  );
}
