// One line of the ledger: a call to a provider, or a request that was refused.

/** A line as it is stored. Times are epoch milliseconds; 1 and 0 are booleans. A member that is absent or null has no value. */
export interface LedgerLine {
  /** A UUID of version 7. */
  readonly id: string;
  /** Counts the lines of a process, from 1. A line whose number is in the ledger already is not appended again. */
  readonly n?: number | undefined;
  /** 1: another process may append a line with the same id, of which only the first counts. */
  readonly once?: 1 | undefined;
  /** When the attempt began. */
  readonly time: number;
  readonly request_id: string;
  /** Absent: the request had no valid key. */
  readonly key_id?: string | undefined;
  readonly team?: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  /** The path of the route. Jobs have the path by which they were submitted. */
  readonly endpoint: string;
  /** Absent in a refusal that came before a provider was chosen. */
  readonly provider?: string | undefined;
  /** Without the provider's name. Absent for a task without a choice of models. */
  readonly model?: string | undefined;
  /** `text/summarize`; absent for calls that are not part of a task. */
  readonly task?: string | undefined;
  readonly deployment?: string | undefined;
  /** 1 for the first attempt of a request; 0 for a refusal. */
  readonly attempt: number;
  /** `completed`, `caller_left`, or the code of an error. */
  readonly outcome: string;
  readonly status: number;
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
  readonly cached_tokens?: number | undefined;
  readonly reasoning_tokens?: number | undefined;
  /** The tokens of every kind by which they are billed. */
  readonly tokens?: Readonly<Record<string, number>> | undefined;
  readonly units?: Readonly<Record<string, number>> | undefined;
  readonly price_version?: string | undefined;
  /** Absent when the cost is unknown. */
  readonly cost_pico?: number | undefined;
  /** Why the cost is unknown; `not_answered` after a failure, which providers usually do not bill. */
  readonly cost_reason?: string | undefined;
  /** What the budgets count: the cost, or a fallback price where the cost is unknown. */
  readonly counted_pico: number;
  /** The budget accounts that `counted_pico` is charged to. */
  readonly accounts?: readonly string[] | undefined;
  readonly latency_ms: number;
  readonly first_token_ms?: number | undefined;
  readonly is_stream: 0 | 1;
  readonly is_cached: 0 | 1;
  readonly job_id?: string | undefined;
  /** More than 1: this many refusals were merged into one line. */
  readonly count: number;
  /** Why the request was refused. */
  readonly reason?: string | undefined;
  /** The usage as the provider reported it, so that the cost can be computed again. */
  readonly usage?: unknown;
}

/** `wanted`: a pair `name=value`, or a name alone. */
export function hasTag(tags: LedgerLine["tags"], wanted: string): boolean {
  return Object.hasOwn(tags, wanted) || Object.entries(tags).some(([name, value]) => `${name}=${value}` === wanted);
}
