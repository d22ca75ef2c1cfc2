// The deliveries of a webhook on a time line, the newest first, each with its attempts.

import { Text } from "@mantine/core";
import type { Delivery } from "../../api/types.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { formatMs } from "../../lib/format.ts";

interface DeliveriesProps {
  readonly deliveries: readonly Delivery[];
  /** Of the job. */
  readonly status: string;
}

export function Deliveries({ deliveries, status }: DeliveriesProps) {
  if (deliveries.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {status === "processing" ? "The receiver is called when the job has ended." : "Nothing was delivered."}
      </Text>
    );
  return (
    <ol className="timeline" aria-label="Deliveries, newest first">
      {deliveries.toReversed().map((delivery) => (
        <DeliveryItem key={delivery.id} delivery={delivery} />
      ))}
    </ol>
  );
}

const dots: Readonly<Record<Delivery["state"], string>> = {
  pending: "waiting",
  delivered: "good",
  failed: "bad",
  blocked: "warning",
};

function DeliveryItem({ delivery }: { readonly delivery: Delivery }) {
  const { state, created_at, next_attempt_at, attempts } = delivery;
  return (
    <li className="timeline-item">
      <span className="dot" data-state={dots[state]} />
      <div className="timeline-head">
        <StatusBadge status={state} />
        <Text size="sm" component="span">
          <TimeText time={created_at} />
        </Text>
        {next_attempt_at !== null && (
          <Text size="xs" c="dimmed" component="span">
            next attempt <TimeText time={next_attempt_at} ago />
          </Text>
        )}
        {state === "blocked" && (
          <Text size="xs" c="dimmed" component="span">
            The gateway does not connect to this address.
          </Text>
        )}
      </div>
      {attempts.length > 0 && (
        <ol className="attempts">
          {attempts.map(({ number, started_at, duration_ms, status, error }) => (
            <li key={number} className="attempt">
              <span className="attempt-number">{number}.</span>
              <TimeText time={started_at} />
              <span className="attempt-duration">{formatMs(duration_ms)}</span>
              <span className="attempt-outcome" data-failed={error !== null}>
                {status !== null && <strong>{status}</strong>} {error ?? "accepted"}
              </span>
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}
