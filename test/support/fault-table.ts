// What a caller sees when a provider fails: every fault, whole answers and streams, without a fallback, with one that works
// and with one that fails too. The same for every dialect. test/inference/fault-matrix.slow.test.ts holds the gateway to it, and
// docs/faults.md is made from it.

export const faultNames = [
  "refused",
  "reset before an answer",
  "reset in mid-answer",
  "429, Retry-After 7",
  "429, Retry-After 1",
  "500",
  "529",
  "no first byte in time",
  "stall in mid-answer",
  "cut in mid-answer",
  "a page instead of an answer",
  "nonsense in mid-answer",
  "an error as the first event",
  "an error in mid-answer",
] as const;
export type FaultName = (typeof faultNames)[number];

export const helps = ["no fallback", "a fallback that answers", "a fallback that fails too"] as const;
export type Help = (typeof helps)[number];

export interface Seen {
  readonly status: number;
  /** Of the error, as the body of the answer or as the last event of a stream that had begun; null: a clean end. */
  readonly code: string | null;
  readonly retryAfter: string | null;
  /** x-switchyard-attempts. */
  readonly attempts: number;
  /** How often the provider was called, and its fallback. */
  readonly calls: readonly [provider: number, fallback: number];
}

export interface FaultRow {
  readonly fault: FaultName;
  readonly whole: Readonly<Record<Help, Seen>>;
  readonly stream: Readonly<Record<Help, Seen>>;
}

const helped: Seen = { status: 200, code: null, retryAfter: null, attempts: 2, calls: [1, 1] };
// The fallback answers with a 500, and what it says is what the caller sees.
const failedToo: Seen = { status: 502, code: "provider_error", retryAfter: null, attempts: 2, calls: [1, 1] };

/** An error before the first content: another offer is asked, or, where that may help, the same one again. */
function failure(status: number, code: string, calls: number, retryAfter: string | null = null) {
  return {
    "no fallback": { status, code, retryAfter, attempts: calls, calls: [calls, 0] },
    "a fallback that answers": helped,
    "a fallback that fails too": failedToo,
  } as const;
}

/** The caller has content already: nothing is asked again, and the stream says that it broke. */
function breakage(code: string) {
  const seen: Seen = { status: 200, code, retryAfter: null, attempts: 1, calls: [1, 0] };
  return { "no fallback": seen, "a fallback that answers": seen, "a fallback that fails too": seen };
}

function both(outcome: FaultRow["whole"]): Pick<FaultRow, "whole" | "stream"> {
  return { whole: outcome, stream: outcome };
}

// Nobody listens, so nobody counts: only the attempts are seen.
const refused: FaultRow["whole"] = {
  "no fallback": { status: 502, code: "provider_unreachable", retryAfter: null, attempts: 3, calls: [0, 0] },
  "a fallback that answers": { ...helped, calls: [0, 1] },
  "a fallback that fails too": { ...failedToo, calls: [0, 1] },
};

export const faultTable: readonly FaultRow[] = [
  { fault: "refused", ...both(refused) },
  { fault: "reset before an answer", ...both(failure(502, "provider_unreachable", 3)) },
  {
    fault: "reset in mid-answer",
    whole: failure(502, "provider_disconnected", 3),
    stream: breakage("provider_disconnected"),
  },
  // A wish for more patience than a request has is passed on.
  { fault: "429, Retry-After 7", ...both(failure(429, "provider_rate_limited", 1, "7")) },
  { fault: "429, Retry-After 1", ...both(failure(429, "provider_rate_limited", 3, "1")) },
  { fault: "500", ...both(failure(502, "provider_error", 3)) },
  { fault: "529", ...both(failure(502, "provider_error", 3)) },
  // Who was too slow is not made to do it all again.
  { fault: "no first byte in time", ...both(failure(504, "provider_timeout", 1)) },
  { fault: "stall in mid-answer", whole: failure(504, "provider_timeout", 1), stream: breakage("provider_timeout") },
  {
    fault: "cut in mid-answer",
    whole: failure(502, "provider_disconnected", 3),
    stream: breakage("provider_disconnected"),
  },
  { fault: "a page instead of an answer", ...both(failure(502, "provider_bad_response", 1)) },
  {
    fault: "nonsense in mid-answer",
    whole: failure(502, "provider_bad_response", 1),
    stream: breakage("provider_bad_response"),
  },
  { fault: "an error as the first event", ...both(failure(502, "provider_error", 3)) },
  { fault: "an error in mid-answer", whole: failure(502, "provider_error", 3), stream: breakage("provider_error") },
];
