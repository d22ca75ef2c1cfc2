// One attempt to deliver a webhook, and whether and when to try again.

import type { Egress } from "../egress/egress.ts";
import { EgressError, type EgressErrorCode } from "../egress/egress-error.ts";
import type { Log } from "../log.ts";
import type { OpenedDelivery } from "../storage/deliveries.ts";
import type { DeliveryAttempt, DeliveryState } from "../storage/job-records.ts";
import type { Span, Tracing } from "../tracing/span.ts";
import { toAlertBody } from "./budget-alerts.ts";
import { startDeliverySpan } from "./job-spans.ts";
import type { SigningKeys, WebhookKeys } from "./webhook-keys.ts";
import { toWebhookBody } from "./webhook-payload.ts";
import { signWebhook } from "./webhook-signature.ts";

export type Deliverer = ReturnType<typeof createDeliverer>;

export interface DeliveryOutcome {
  readonly attempt: DeliveryAttempt;
  readonly state: DeliveryState;
  /** Epoch milliseconds; null: no further attempt. */
  readonly nextAt: number | null;
}

export interface DelivererOptions {
  readonly egress: Egress;
  readonly keys: Pick<WebhookKeys, "signing">;
  /** Absent or null: traces are not exported. */
  readonly tracing?: Tracing | null;
  readonly log: Log;
  readonly timeoutMs?: number;
  readonly now?: () => number;
  /** 0..1, for the jitter. */
  readonly random?: () => number;
}

/** The outcome of an attempt. `error` is null if the webhook was delivered. */
interface Verdict {
  readonly status: number | null;
  readonly error: string | null;
  readonly state: Exclude<DeliveryState, "pending"> | "retry" | "stopped";
}

const defaultTimeoutMs = 30_000;
const connectTimeoutMs = 10_000;
// Only the status of the answer matters. A little of the body is read, so that the receiver can finish writing.
const maxAnswerBytes = 65_536;
const retryDelaysMs: readonly number[] = [1_000, 5_000, 25_000];
const longestDelayMs = 30_000;
// Deliveries that failed together must not be retried together, so each delay varies by this fraction.
const jitter = 0.2;

export function createDeliverer(options: DelivererOptions) {
  const { egress, keys, log, timeoutMs = defaultTimeoutMs, now = Date.now, random = Math.random } = options;
  const { tracing = null } = options;

  /**
   * Throws the signal's reason if the signal fires before anything was sent, and throws if the keys cannot be read. Everything that was sent is
   * an attempt, even if it was aborted before the answer.
   */
  async function attempt(opened: OpenedDelivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { delivery } = opened;
    signal.throwIfAborted();
    const signing = await keys.signing();
    const startedAt = now();
    const start = performance.now();
    const span = tracing === null ? null : startDeliverySpan(tracing, opened);
    const verdict = await endSpan(span, post(opened, signing, signal, span));
    const number = delivery.attempts.length + 1;
    const { status, error } = verdict;
    const durationMs = Math.round(performance.now() - start);
    const result: DeliveryAttempt = { number, startedAt, durationMs, status, error, keyId: signing.keyId };
    log.debug("webhook attempt", { delivery: delivery.id, job: delivery.jobId, ...result });
    // The gateway aborted the attempt: retry at once, however many attempts there were.
    if (verdict.state === "stopped") return { attempt: result, state: "pending", nextAt: now() };
    if (verdict.state !== "retry") return { attempt: result, state: verdict.state, nextAt: null };
    const delayMs = retryDelaysMs[number - 1];
    if (delayMs === undefined) return { attempt: result, state: "failed", nextAt: null };
    return { attempt: result, state: "pending", nextAt: now() + toDelay(delayMs) };
  }

  async function post(
    { delivery, job, alert }: OpenedDelivery,
    signing: SigningKeys,
    signal: AbortSignal,
    span: Span | null,
  ): Promise<Verdict> {
    let body: Buffer;
    try {
      body = alert === undefined ? toWebhookBody(job) : toAlertBody(alert);
    } catch (error) {
      // Every retry would fail in the same way.
      log.error("The body of a webhook could not be created", { delivery: delivery.id, job: delivery.jobId, error });
      return { status: null, error: "The job's result could not be converted to a webhook body", state: "failed" };
    }
    const message = { id: delivery.id, timestampSeconds: Math.floor(now() / 1000), body };
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": "Switchyard-Webhooks/1",
      ...(await signWebhook(message, signing)),
      ...span?.headers,
    };
    let isSent = false;
    try {
      const { status } = await egress.fetch(delivery.receiver, {
        method: "POST",
        headers,
        body,
        maxBytes: maxAnswerBytes,
        isExcerpt: true,
        // One TLS handshake serves many webhooks to the same receiver.
        keepAlive: true,
        timeoutMs,
        connectTimeoutMs: Math.min(connectTimeoutMs, timeoutMs),
        signal,
        onSent: () => {
          isSent = true;
        },
      });
      return judgeStatus(status);
    } catch (error) {
      if (signal.aborted && !isSent) throw signal.reason;
      if (signal.aborted)
        return { status: null, error: "The gateway stopped before the receiver answered", state: "stopped" };
      return judgeFailure(error);
    }
  }

  function toDelay(delayMs: number): number {
    return Math.min(longestDelayMs, Math.round(delayMs * (1 - jitter + 2 * jitter * random())));
  }

  return { attempt };
}

async function endSpan(span: Span | null, verdict: Promise<Verdict>): Promise<Verdict> {
  if (span === null) return await verdict;
  try {
    const { status, state } = await verdict;
    span.set({ "http.response.status_code": status ?? undefined, "switchyard.delivery.outcome": state });
    span.end(state === "delivered" ? null : status === null ? state : String(status));
  } catch (error) {
    span.end("stopped");
    throw error;
  }
  return await verdict;
}

function judgeStatus(status: number): Verdict {
  if (status >= 200 && status < 300) return { status, error: null, state: "delivered" };
  if (status >= 300 && status < 400)
    return { status, error: `The receiver answered ${status}; redirects are not followed`, state: "failed" };
  // No 4xx is retried, not even 408 and 429: the receiver has seen the webhook and rejected it.
  return { status, error: `The receiver answered ${status}`, state: status >= 500 ? "retry" : "failed" };
}

const verdicts: Readonly<Partial<Record<EgressErrorCode, Verdict["state"]>>> = {
  url_not_allowed: "blocked",
  redirect_refused: "failed",
};

/** The owner of the job sees the text, so it contains no address. */
function judgeFailure(error: unknown): Verdict {
  if (!(error instanceof EgressError)) throw error;
  const { status, code } = error;
  if (code === "redirect_refused" && status !== null) return judgeStatus(status);
  return { status, error: describeFailure(error), state: verdicts[code] ?? "retry" };
}

const failureWords: Readonly<Partial<Record<EgressErrorCode, string>>> = {
  url_not_allowed: "The gateway is not allowed to call the receiver's address",
  timeout: "The receiver did not answer in time",
  bad_response: "The receiver closed the connection, or its answer was not HTTP",
};

/** By the error code of the connection, where that helps the owner of the receiver. */
const reasonWords: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, "The receiver refused the connection"],
  [/^(?:ECONNRESET|EPIPE)$/, "The receiver closed the connection"],
  [/^(?:ENOTFOUND|EAI_\w+|DNS_\w+|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT)$/, "The receiver's name could not be resolved"],
  [/ALTNAME/, "The receiver's certificate is for another name"],
  [/EXPIRED/, "The receiver's certificate has expired"],
  [/CERT|SELF_SIGNED|UNABLE_TO_/, "The receiver's certificate is not trusted"],
  [/^ERR_(?:SSL|TLS)|^EPROTO$/, "No secure connection could be made to the receiver"],
];

function describeFailure({ code, cause }: EgressError): string {
  const words = failureWords[code];
  if (words !== undefined) return words;
  const reason = String((cause as { readonly code?: unknown } | undefined)?.code ?? "");
  const known = reasonWords.find(([pattern]) => pattern.test(reason));
  return known?.[1] ?? "The receiver could not be reached";
}
