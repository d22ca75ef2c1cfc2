// Headers and content of a request and its answer, where they were captured. Read on request only: the audit log records who read them.

import { Button, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useApi } from "../../api/hooks.ts";
import type { CapturedContent, CapturedRequest } from "../../api/types.ts";
import { JsonView } from "../../components/json-view.tsx";
import { Loaded } from "../../components/loaded.tsx";
import { Panel } from "../../components/page.tsx";
import { formatDateTime } from "../../lib/format.ts";
import { useMay } from "../../session/session.ts";

export function ContentPanel({ requestId }: { readonly requestId: string }) {
  const mayRead = useMay("administrator");
  const [isWanted, setWanted] = useState(false);
  const path = `/v3/manage/requests/${encodeURIComponent(requestId)}/content`;
  const content = useApi<CapturedContent>(path, undefined, { enabled: isWanted, isRecorded: true });
  if (!mayRead) return null;
  return (
    <Panel
      title="Headers and content"
      description="What the caller sent, and what was answered."
      actions={
        !isWanted && (
          <Button size="xs" variant="default" onClick={() => setWanted(true)}>
            Show the content
          </Button>
        )
      }
    >
      {isWanted ? (
        <Loaded query={content} height={200}>
          {(found) => (found.items.length === 0 ? <NotCaptured content={found} /> : <Captures items={found.items} />)}
        </Loaded>
      ) : (
        <Text size="sm" c="dimmed">
          Content belongs to the caller. The audit log records who reads it.
        </Text>
      )}
    </Panel>
  );
}

function NotCaptured({ content: { is_enabled, retention_hours } }: { readonly content: CapturedContent }) {
  return (
    <Text size="sm" c="dimmed">
      {is_enabled ? (
        `This request was not captured, or it is older than ${retention_hours} hours.`
      ) : (
        <>
          Requests are not captured. Set <code>SWITCHYARD_CAPTURE_CONTENT=true</code> to store what callers send and
          get, for a limited time.
        </>
      )}
    </Text>
  );
}

function Captures({ items }: { readonly items: readonly CapturedRequest[] }) {
  return items.map((item) => <Capture key={item.time} captured={item} hasTime={items.length > 1} />);
}

interface CaptureProps {
  readonly captured: CapturedRequest;
  readonly hasTime: boolean;
}

function Capture({ captured: { time, method, path, request, answer }, hasTime }: CaptureProps) {
  return (
    <>
      {hasTime && (
        <Text size="sm" c="dimmed" mb={8}>
          {formatDateTime(time)}
        </Text>
      )}
      <div className="captured">
        <Part title={`${method} ${path}`} message={request} label="the request">
          {null}
        </Part>
        <Part title={`Answer ${answer.status}`} message={answer} label="the answer">
          {answer.text === null ? null : <p className="captured-text">{answer.text}</p>}
        </Part>
      </div>
    </>
  );
}

interface PartProps {
  readonly title: string;
  readonly message: CapturedRequest["request"];
  readonly label: string;
  /** What is read first. */
  readonly children: ReactNode;
}

function Part({ title, message: { headers, body, is_cut }, label, children }: PartProps) {
  const names = Object.keys(headers).toSorted();
  const isEventStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  return (
    <div className="captured-part">
      <Title order={3} size="h6" className="wrap-anywhere">
        {title}
      </Title>
      {children}
      {body === null ? (
        <Text size="sm" c="dimmed">
          No text.
        </Text>
      ) : isEventStream ? (
        <details className="raw" open={children === null}>
          <summary>Events as they were sent</summary>
          <JsonView value={body} label={label} />
        </details>
      ) : (
        <JsonView value={parse(body)} label={label} />
      )}
      {is_cut && (
        <Text size="xs" c="dimmed">
          Longer than what is stored: the end is missing.
        </Text>
      )}
      <details className="raw">
        <summary>{names.length} headers</summary>
        <dl className="facts captured-headers">
          {names.map((name) => (
            <Header key={name} name={name} value={headers[name] ?? ""} />
          ))}
        </dl>
      </details>
    </div>
  );
}

function Header({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt className="mono">{name}</dt>
      <dd className="mono">{value}</dd>
    </>
  );
}

/** A text that was cut is not JSON. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
