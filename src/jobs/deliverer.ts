// One attempt to tell a receiver about a job, and what follows from its outcome.

import type { Egress } from "../egress/egress.ts";
import { EgressError, type EgressErrorCode } from "../egress/egress-error.ts";
import type { Log } from "../log.ts";
import type { DeliveryAttempt, DeliveryRecord, DeliveryState, JobRecord } from "../storage/job-records.ts";
import type { WebhookKeys } from "./webhook-keys.ts";
import { toWebhookBody } from "./webhook-payload.ts";
import { signWebhook } from "./webhook-signature.ts";

export interface Deliverer {
  /**
   * Throws the signal's reason when that fires before anything was sent, and when the keys cannot be read. Every send is an attempt, with
   * the state of the delivery after it, also one that was ended before its answer.
   */
  attempt(delivery: DeliveryRecord, job: JobRecord, signal: AbortSignal): Promise<DeliveryOutcome>;
}

export interface DeliveryOutcome {
  readonly attempt: DeliveryAttempt;
  readonly state: DeliveryState;
  /** Epoch milliseconds; null: there will be no further attempt. */
  readonly nextAt: number | null;
}

export interface DelivererOptions {
  readonly egress: Egress;
  readonly keys: Pick<WebhookKeys, "signing">;
  readonly log: Log;
  readonly timeoutMs?: number;
  readonly now?: () => number;
  /** 0..1, for the jitter. */
  readonly random?: () => number;
}

/** What an attempt came to. `error` is null when it was delivered. */
interface Verdict {
  readonly status: number | null;
  readonly error: string | null;
  readonly state: Exclude<DeliveryState, "pending"> | "retry" | "stopped";
}

const defaultTimeoutMs = 30_000;
const connectTimeoutMs = 10_000;
// Nothing in the answer but its status matters; a little is read so that the receiver is not cut off while it writes.
const mostAnswerBytes = 65_536;
const retryDelaysMs: readonly number[] = [1_000, 5_000, 25_000];
const longestDelayMs = 30_000;
// Each delay is this part longer or shorter, so that what failed together does not come back together.
const jitter = 0.2;

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { egress, keys, log, timeoutMs = defaultTimeoutMs, now = Date.now, random = Math.random } = options;

  async function attempt(delivery: DeliveryRecord, job: JobRecord, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (signal.aborted) throw signal.reason;
    const signing = await keys.signing();
    const startedAt = now();
    const start = performance.now();
    const verdict = await post(delivery, job, signing, signal);
    const number = delivery.attempts.length + 1;
    const { status, error } = verdict;
    const durationMs = Math.round(performance.now() - start);
    const made: DeliveryAttempt = { number, startedAt, durationMs, status, error, keyId: signing.keyId };
    log.debug("webhook attempt", { delivery: delivery.id, job: job.id, ...made });
    // The gateway ended it, not the receiver: it is tried again at once, whatever its number.
    if (verdict.state === "stopped") return { attempt: made, state: "pending", nextAt: now() };
    if (verdict.state !== "retry") return { attempt: made, state: verdict.state, nextAt: null };
    const delayMs = retryDelaysMs[number - 1];
    if (delayMs === undefined) return { attempt: made, state: "failed", nextAt: null };
    return { attempt: made, state: "pending", nextAt: now() + toDelay(delayMs) };
  }

  async function post(
    delivery: DeliveryRecord,
    job: JobRecord,
    signing: Awaited<ReturnType<WebhookKeys["signing"]>>,
    signal: AbortSignal,
  ): Promise<Verdict> {
    let body: Buffer;
    try {
      body = toWebhookBody(job);
    } catch (error) {
      // It would fail in the same way each time, and must not be tried for ever.
      log.error("a webhook body could not be written", { delivery: delivery.id, job: job.id, error });
      return { status: null, error: "The job's result could not be written as a callback", state: "failed" };
    }
    const message = { id: delivery.id, timestampSeconds: Math.floor(now() / 1000), body };
    const headers = {
      "Content-Type": "application/json",
      "User-Agent": "Switchyard-Webhooks/1",
      ...(await signWebhook(message, signing)),
    };
    let isSent = false;
    try {
      const { status } = await egress.fetch(delivery.receiver, {
        method: "POST",
        headers,
        body,
        maxBytes: mostAnswerBytes,
        isExcerpt: true,
        // A receiver of many reports shakes hands once and not for each.
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

function judgeStatus(status: number): Verdict {
  if (status >= 200 && status < 300) return { status, error: null, state: "delivered" };
  if (status >= 300 && status < 400)
    return { status, error: `The receiver answered ${status}; redirects are not followed`, state: "failed" };
  // Every 4xx, 408 and 429 too: the receiver has seen it and does not want it.
  return { status, error: `The receiver answered ${status}`, state: status >= 500 ? "retry" : "failed" };
}

const verdicts: Readonly<Partial<Record<EgressErrorCode, Verdict["state"]>>> = {
  url_not_allowed: "blocked",
  redirect_refused: "failed",
};

/** The text is for the owner of the job: it names no address. */
function judgeFailure(error: unknown): Verdict {
  if (!(error instanceof EgressError)) throw error;
  const { status, code } = error;
  if (code === "redirect_refused" && status !== null) return judgeStatus(status);
  return { status, error: describeFailure(error), state: verdicts[code] ?? "retry" };
}

const failureWords: Readonly<Partial<Record<EgressErrorCode, string>>> = {
  url_not_allowed: "The receiver's address may not be called",
  timeout: "The receiver did not answer in time",
  bad_response: "The receiver closed the connection, or its answer was not HTTP",
};

/** By the code of what lies below, where that helps the owner of the receiver. */
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
