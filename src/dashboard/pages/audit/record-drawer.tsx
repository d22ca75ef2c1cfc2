// One record of the audit log.

import { Anchor, Drawer, Group, Stack, Text } from "@mantine/core";
import { Link } from "react-router";
import type { AuditRecord } from "../../api/types.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { formatDateTime, noValue } from "../../lib/format.ts";
import { listChanges, showValue } from "./changes.ts";

export function RecordDrawer({ record, onClose }: { readonly record: AuditRecord; readonly onClose: () => void }) {
  const { actor, target, code, request_id } = record;
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={560}
      title={<span className="mono">{record.action}</span>}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="lg">
        <dl className="facts">
          <dt>When</dt>
          <dd>{formatDateTime(record.time)}</dd>
          <dt>Who</dt>
          <dd>
            {actor.name} ({actor.kind === "user" ? "person" : actor.kind}, {actor.role})
          </dd>
          <dt>From</dt>
          <dd>{record.address ?? noValue}</dd>
          <dt>What</dt>
          <dd>
            {target.name ?? target.kind}
            {target.id !== null && (
              <Group gap={2} wrap="nowrap">
                <TargetLink target={target} />
                <CopyButton text={target.id} label="Copy the id" />
              </Group>
            )}
          </dd>
          <dt>Team</dt>
          <dd>{target.team ?? noValue}</dd>
          <dt>Outcome</dt>
          <dd>
            <StatusBadge status={record.outcome} /> {code}
          </dd>
          {request_id !== null && (
            <>
              <dt>Request</dt>
              <dd>
                <Group gap={2} wrap="nowrap">
                  <span className="mono">{request_id}</span>
                  <CopyButton text={request_id} label="Copy the request id" />
                </Group>
              </dd>
            </>
          )}
        </dl>
        <Changes record={record} />
      </Stack>
    </Drawer>
  );
}

const pagesOf: Readonly<Record<string, (id: string) => string>> = {
  job: (id) => `/jobs/${encodeURIComponent(id)}`,
  key: (id) => `/requests?key=${encodeURIComponent(id)}&from=7d`,
};

function TargetLink({ target: { kind, id } }: { readonly target: AuditRecord["target"] }) {
  const to = id === null ? undefined : pagesOf[kind]?.(id);
  if (to === undefined) return <span className="mono">{id}</span>;
  return (
    <Anchor component={Link} to={to} size="sm" className="mono">
      {id}
    </Anchor>
  );
}

function Changes({ record: { before, after } }: { readonly record: AuditRecord }) {
  const changes = listChanges(before, after);
  if (changes.length === 0)
    return (
      <Text size="sm" c="dimmed">
        The record states no members.
      </Text>
    );
  const isNew = before === null;
  const isGone = after === null;
  return (
    <table className="changes" aria-label="What changed">
      <thead>
        <tr>
          <th scope="col">Member</th>
          {!isNew && <th scope="col">Before</th>}
          {!isGone && <th scope="col">After</th>}
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.member}>
            <th scope="row">{change.member}</th>
            {!isNew && (
              <td>
                <Value value={change.before} side="before" />
              </td>
            )}
            {!isGone && (
              <td>
                <Value value={change.after} side="after" />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ value, side }: { readonly value: unknown; readonly side: "before" | "after" }) {
  if (value === undefined) return null;
  return (
    <span className="changed-value" data-side={side} data-empty={value === null}>
      {showValue(value)}
    </span>
  );
}
