// The life of one request: its attempts on a common time line, and how the cost of each was computed.

import { Anchor, Badge, Group, Table, Text } from "@mantine/core";
import { Link, useParams } from "react-router";
import { useApi } from "../../api/hooks.ts";
import type { RequestAttempt, RequestDetail } from "../../api/types.ts";
import { Fact, Facts } from "../../components/facts.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { OutcomeBadge } from "../../components/outcome-badge.tsx";
import { Page, Panel } from "../../components/page.tsx";
import { BackLink, IdLine } from "../../components/page-parts.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { formatDateTime, formatMs, formatNumber, formatUnitPrice, formatUsd, noValue } from "../../lib/format.ts";
import { modelName } from "../../lib/usage.ts";
import { ContentPanel } from "./content-panel.tsx";

export default function RequestPage() {
  const { requestId = "" } = useParams();
  const request = useApi<RequestDetail>(`/v3/manage/requests/${encodeURIComponent(requestId)}`);
  return (
    <Page
      title="Request"
      description={<IdLine id={requestId} noun="request" />}
      actions={<BackLink to="/requests">All requests</BackLink>}
    >
      <Loaded query={request} height={360}>
        {(data) => <Life request={data} />}
      </Loaded>
      {request.data !== undefined && <ContentPanel requestId={requestId} />}
    </Page>
  );
}

function Life({ request: { attempts, cost, has_more } }: { readonly request: RequestDetail }) {
  const [first] = attempts;
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) return null;
  const start = Date.parse(first.time);
  const end = Math.max(...attempts.map(({ time, latency_ms }) => Date.parse(time) + latency_ms));
  return (
    <>
      <Panel>
        <Facts>
          <Fact name="Outcome">
            <OutcomeBadge outcome={last.outcome} status={last.status} />
          </Fact>
          <Fact name="Time">
            <TimeText time={first.time} />
          </Fact>
          <Fact name="Duration">{formatMs(end - start)}</Fact>
          <Fact name="Cost">{formatUsd(cost)}</Fact>
          <Fact name="Endpoint">
            <span className="mono">{first.endpoint}</span>
          </Fact>
          <Fact name="Key">{first.key_name ?? noValue}</Fact>
          <Fact name="Team">{first.team ?? noValue}</Fact>
          {first.job_id !== null && (
            <Fact name="Job">
              <Anchor component={Link} to={`/jobs/${first.job_id}`} size="sm" className="mono">
                {first.job_id}
              </Anchor>
            </Fact>
          )}
          <Fact name="Tags">
            <Tags tags={first.tags} />
          </Fact>
        </Facts>
      </Panel>
      <Panel
        title={attempts.length === 1 ? "One attempt" : `${attempts.length} attempts`}
        description={has_more ? "Older attempts are not listed." : undefined}
      >
        <Waterfall attempts={attempts} start={start} end={end} />
      </Panel>
      {attempts.map((attempt) => (
        <AttemptPanel key={attempt.id} attempt={attempt} />
      ))}
    </>
  );
}

function Tags({ tags }: { readonly tags: RequestAttempt["tags"] }) {
  const pairs = Object.entries(tags);
  if (pairs.length === 0) return <>{noValue}</>;
  return (
    <Group gap={4}>
      {pairs.map(([name, value]) => (
        <Badge key={name} variant="default" fw={500}>
          {name}={value}
        </Badge>
      ))}
    </Group>
  );
}

interface WaterfallProps {
  readonly attempts: readonly RequestAttempt[];
  readonly start: number;
  readonly end: number;
}

/** Until the first token, then until the end. */
function Waterfall({ attempts, start, end }: WaterfallProps) {
  const span = Math.max(1, end - start);
  return (
    <ol className="waterfall">
      {attempts.map((attempt) => {
        const { id, time, latency_ms, first_token_ms, outcome, status } = attempt;
        const offset = Date.parse(time) - start;
        const waited = first_token_ms ?? latency_ms;
        return (
          <li key={id} className="waterfall-row">
            <span className="waterfall-name truncate">
              {attempt.attempt}. {modelName(attempt)}
            </span>
            <span className="waterfall-track">
              <span
                className="waterfall-wait"
                data-failed={outcome !== "completed"}
                style={{ left: `${(offset / span) * 100}%`, width: `${(waited / span) * 100}%` }}
              />
              {first_token_ms !== null && (
                <span
                  className="waterfall-stream"
                  style={{
                    left: `${((offset + waited) / span) * 100}%`,
                    width: `${((latency_ms - waited) / span) * 100}%`,
                  }}
                />
              )}
            </span>
            <span className="waterfall-time numeric">{formatMs(latency_ms)}</span>
            <span className="waterfall-outcome">
              <OutcomeBadge outcome={outcome} status={status} />
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function AttemptPanel({ attempt }: { readonly attempt: RequestAttempt }) {
  const { reason, cost_parts, cost_note, price, usage, units } = attempt;
  return (
    <Panel
      title={`Attempt ${attempt.attempt}: ${modelName(attempt)}`}
      actions={<OutcomeBadge outcome={attempt.outcome} status={attempt.status} />}
    >
      <div className="columns">
        <dl className="facts">
          <dt>Began</dt>
          <dd>{formatDateTime(attempt.time)}</dd>
          <dt>First token after</dt>
          <dd>{formatMs(attempt.first_token_ms)}</dd>
          <dt>Ended after</dt>
          <dd>{formatMs(attempt.latency_ms)}</dd>
          <dt>Deployment</dt>
          <dd>{attempt.deployment ?? noValue}</dd>
          {attempt.task !== null && (
            <>
              <dt>Task</dt>
              <dd>{attempt.task}</dd>
            </>
          )}
          <dt>Streamed</dt>
          <dd>{attempt.is_stream ? "yes" : "no"}</dd>
          {reason !== null && (
            <>
              <dt>Reason</dt>
              <dd>{reason}</dd>
            </>
          )}
          {attempt.tokens !== null &&
            Object.entries(attempt.tokens).map(([kind, count]) => <TokenFact key={kind} kind={kind} count={count} />)}
        </dl>
        <div>
          {cost_parts !== null && cost_parts.length > 0 && <CostTable attempt={attempt} />}
          {price !== null && (
            <Text size="xs" c="dimmed" mt="xs" className="wrap-anywhere">
              Price version {price.version}
              {price.updated_at !== null && `, read ${price.updated_at}`}
              {price.source !== null && ` from ${price.source}`}
            </Text>
          )}
          {(cost_note ?? attempt.cost_reason) !== null && (
            <Text size="sm" c="dimmed" mt="xs">
              {cost_note ?? attempt.cost_reason}
            </Text>
          )}
        </div>
      </div>
      {[
        ["Usage as the provider reported it", usage],
        ["Units of the task", units],
      ].map(([title, value]) =>
        value === null || value === undefined ? null : (
          <details key={String(title)} className="raw">
            <summary>{String(title)}</summary>
            <pre className="code-block">{JSON.stringify(value, null, 2)}</pre>
          </details>
        ),
      )}
    </Panel>
  );
}

function TokenFact({ kind, count }: { readonly kind: string; readonly count: number }) {
  return (
    <>
      <dt>Tokens, {kind.replaceAll("_", " ")}</dt>
      <dd className="numeric">{formatNumber(count)}</dd>
    </>
  );
}

function CostTable({ attempt: { cost_parts, cost } }: { readonly attempt: RequestAttempt }) {
  return (
    <Table fz="sm" aria-label="How the cost was computed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Billed</Table.Th>
          <Table.Th ta="right">Quantity</Table.Th>
          <Table.Th ta="right">× unit price</Table.Th>
          <Table.Th ta="right">= amount</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {(cost_parts ?? []).map(({ kind, model, quantity, unit_price, amount }) => (
          <Table.Tr key={`${kind} ${model}`}>
            <Table.Td>
              {model === null ? kind.replaceAll("_", " ") : `${kind.replaceAll("_", " ")} (${model})`}
            </Table.Td>
            <Table.Td ta="right">{formatNumber(quantity)}</Table.Td>
            <Table.Td ta="right">{formatUnitPrice(unit_price)}</Table.Td>
            <Table.Td ta="right">{formatUsd(amount)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
      <Table.Tfoot>
        <Table.Tr>
          <Table.Th colSpan={3}>Total</Table.Th>
          <Table.Th ta="right">{formatUsd(cost)}</Table.Th>
        </Table.Tr>
      </Table.Tfoot>
    </Table>
  );
}
