// One provider: where its credentials come from, its circuits and errors, and what an administrator may do with it.

import { Alert, Anchor, Badge, Button, Drawer, Group, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { useApi, useChange } from "../../api/hooks.ts";
import type { LatencyReport, ProviderDetail, ProviderTest } from "../../api/types.ts";
import { Confirm } from "../../components/confirm.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { LoadErrors, Loaded } from "../../components/loaded.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { formatMs, formatNumber, noValue } from "../../lib/format.ts";
import { CredentialsForm } from "./credentials-form.tsx";
import { type FiguresByProvider, healthOf, sourceText } from "./figures.ts";
import { providersPath } from "./paths.ts";
import { TestResults } from "./test-results.tsx";

interface ProviderDrawerProps {
  readonly name: string;
  /** The calls of the last hour; null: not read. */
  readonly hour: FiguresByProvider | null;
  readonly mayChange: boolean;
  readonly onSetUp: (name: string) => void;
  readonly onClose: () => void;
}

export function ProviderDrawer({ name, hour, mayChange, onSetUp, onClose }: ProviderDrawerProps) {
  const detail = useApi<ProviderDetail>(`${providersPath}/${encodeURIComponent(name)}`, undefined, {
    refreshMs: 10_000,
  });
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={640}
      title={<Text fw={600}>{detail.data?.title ?? name}</Text>}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Loaded query={detail} height={240}>
        {(data) => <Details key={data.name} detail={data} hour={hour} mayChange={mayChange} onSetUp={onSetUp} />}
      </Loaded>
    </Drawer>
  );
}

interface DetailsProps {
  readonly detail: ProviderDetail;
  readonly hour: FiguresByProvider | null;
  readonly mayChange: boolean;
  readonly onSetUp: (name: string) => void;
}

function Details({ detail, hour, mayChange, onSetUp }: DetailsProps) {
  const { level, text } = healthOf(detail, hour);
  return (
    <div className="drawer-body">
      <Group justify="space-between" gap="xs">
        <span className="with-dot">
          <span className="dot" data-state={level} />
          {text}
        </span>
        <Group gap="md">
          <Anchor component={Link} size="sm" to={`/requests?provider=${encodeURIComponent(detail.name)}&from=24h`}>
            Requests
          </Anchor>
          {detail.dialect !== null && (
            <Anchor component={Link} size="sm" to={`/models?provider=${encodeURIComponent(detail.name)}&state=all`}>
              Models
            </Anchor>
          )}
        </Group>
      </Group>
      {mayChange && !detail.built_in && <Actions detail={detail} onSetUp={onSetUp} />}
      {!detail.built_in && <Credentials detail={detail} />}
      <Latency name={detail.name} />
      <Circuits detail={detail} />
    </div>
  );
}

function Actions({ detail, onSetUp }: Pick<DetailsProps, "detail" | "onSetUp">) {
  const [dialog, setDialog] = useState<"rotate" | "remove" | null>(null);
  const test = useChange<ProviderTest>([providersPath, "/v3/manage/usage"]);
  const remove = useChange([providersPath, "/v3/models"]);
  const [stored] = detail.stored;
  const path = `${providersPath}/${encodeURIComponent(detail.name)}`;
  const close = () => setDialog(null);
  return (
    <>
      <Group gap="xs">
        <Button
          variant="light"
          loading={test.isPending}
          disabled={!detail.configured}
          onClick={() => test.mutate({ method: "POST", path: `${path}/test`, body: {} })}
        >
          Test
        </Button>
        {stored === undefined ? (
          <Button variant="default" onClick={() => onSetUp(detail.name)}>
            {detail.configured ? "Store other credentials" : "Set up"}
          </Button>
        ) : (
          <>
            <Button variant="default" onClick={() => setDialog("rotate")}>
              Replace the key
            </Button>
            <Button variant="default" onClick={() => onSetUp(stored.name)}>
              Replace all
            </Button>
            <Button variant="subtle" color="red" onClick={() => setDialog("remove")}>
              Remove
            </Button>
          </>
        )}
      </Group>
      {test.error !== null && <ErrorNotice error={test.error} />}
      {test.data !== undefined && <TestResults test={test.data} />}
      {dialog === "rotate" && stored !== undefined && <CredentialsForm name={stored.name} isRotation onClose={close} />}
      {dialog === "remove" && stored !== undefined && (
        <Confirm
          title={`Remove the stored credentials of ${detail.title}`}
          action="Remove"
          change={remove}
          onClose={close}
          onConfirm={() =>
            remove.mutate(
              { method: "DELETE", path: `${providersPath}/${encodeURIComponent(stored.name)}` },
              { onSuccess: close },
            )
          }
        >
          {detail.overridden.length === 0
            ? "Calls to this provider are refused from then on."
            : `The gateway then uses ${detail.overridden.join(", ")} again.`}
        </Confirm>
      )}
    </>
  );
}

function Credentials({ detail }: { readonly detail: ProviderDetail }) {
  const { in_force, stored, overridden, missing_setting } = detail;
  return (
    <section className="drawer-section">
      <h3>Credentials</h3>
      {missing_setting !== null && (
        <Alert variant="light" color="orange" p="xs" mb="xs">
          Missing: <code>{missing_setting}</code>
        </Alert>
      )}
      {in_force.length > 0 && (
        <table className="plain-table">
          <thead>
            <tr>
              <th>Deployment</th>
              <th>Key from</th>
              <th>Address from</th>
            </tr>
          </thead>
          <tbody>
            {in_force.map(({ deployment, key, address }) => (
              <tr key={deployment}>
                <td className="mono">{deployment}</td>
                <td>
                  <SourceText source={key} />
                </td>
                <td>
                  <SourceText source={address} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {stored.map(({ name, api_key, base_url, settings, updated_at }) => (
        <dl key={name} className="facts stored-credentials">
          <dt>Stored as</dt>
          <dd className="mono">{name}</dd>
          <dt>Key</dt>
          <dd className="mono">{api_key ?? noValue}</dd>
          {base_url !== null && (
            <>
              <dt>Address</dt>
              <dd className="mono">{base_url}</dd>
            </>
          )}
          {Object.entries(settings).map(([setting, value]) => [
            <dt key={`${setting} name`} className="mono">
              {setting}
            </dt>,
            <dd key={`${setting} value`} className="mono">
              {value}
            </dd>,
          ])}
          <dt>Changed</dt>
          <dd>
            <TimeText time={updated_at} ago />
          </dd>
        </dl>
      ))}
      {overridden.length > 0 && (
        <Text size="xs" c="dimmed">
          The stored credentials take precedence over {overridden.join(", ")}.
        </Text>
      )}
    </section>
  );
}

function SourceText({ source }: { readonly source: ProviderDetail["in_force"][number]["key"] }) {
  if (source === null) return <>{noValue}</>;
  return (
    <>
      {sourceText(source.kind)}
      {source.name !== null && <div className="mono muted wrap-anywhere">{source.name}</div>}
    </>
  );
}

function Latency({ name }: { readonly name: string }) {
  const report = useApi<LatencyReport>("/v3/manage/latency", { provider: name, from: "24h" });
  const total = report.data?.total;
  if (total === undefined && report.error !== null) return <LoadErrors queries={[report]} />;
  if (total === undefined || total.latency.count === 0) return null;
  const rows = [
    ["Whole answer", total.latency],
    ["First token", total.first_token],
  ] as const;
  return (
    <section className="drawer-section">
      <h3>Latency, last day</h3>
      <table className="plain-table">
        <thead>
          <tr>
            <th>Of completed calls</th>
            <th data-align="right">p50</th>
            <th data-align="right">p95</th>
            <th data-align="right">p99</th>
            <th data-align="right">Calls</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([title, { count, p50, p95, p99 }]) => (
            <tr key={title}>
              <td>{title}</td>
              <td data-align="right">{formatMs(p50)}</td>
              <td data-align="right">{formatMs(p95)}</td>
              <td data-align="right">{formatMs(p99)}</td>
              <td data-align="right">{formatNumber(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const circuits = {
  closed: ["closed", "green"],
  open: ["open", "red"],
  half_open: ["being tested", "orange"],
} as const;

function Circuits({ detail: { deployments } }: { readonly detail: ProviderDetail }) {
  return deployments.map(({ name, base_url, weight, models, offers }) => (
    <section key={name} className="drawer-section">
      <h3>{deployments.length === 1 ? "Models that were called" : `Deployment ${name}`}</h3>
      <Text size="xs" c="dimmed" className="mono wrap-anywhere">
        {base_url}
        {deployments.length > 1 && ` · weight ${weight}`}
        {models !== null && ` · only ${models.join(", ")}`}
      </Text>
      {offers.length === 0 ? (
        <Text size="sm" c="dimmed">
          None since this process started.
        </Text>
      ) : (
        <table className="plain-table">
          <thead>
            <tr>
              <th>Model</th>
              <th>Circuit</th>
              <th data-align="right">Calls</th>
              <th data-align="right">Failed</th>
              <th data-align="right">First byte</th>
            </tr>
          </thead>
          <tbody>
            {offers.map(({ model, state, calls, failures, latency_ms, retry_in_ms, last_error }) => (
              <tr key={model}>
                <td>
                  <span className="wrap-anywhere">{model}</span>
                  {last_error !== null && (
                    <div className="last-error wrap-anywhere">
                      <TimeText time={last_error.at} ago /> {last_error.code}: {last_error.message}
                    </div>
                  )}
                </td>
                <td>
                  <Badge color={circuits[state][1]}>{circuits[state][0]}</Badge>
                  {state === "open" && <div className="muted">tested in {formatMs(retry_in_ms)}</div>}
                </td>
                <td data-align="right">{formatNumber(calls)}</td>
                <td data-align="right">{formatNumber(failures)}</td>
                <td data-align="right">{formatMs(latency_ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  ));
}
