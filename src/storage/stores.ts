// The list of stores and the methods that callers see. A new store is a statements file and a line here.

import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { auditStatements } from "./audit.ts";
import { budgetStatements } from "./budgets.ts";
import { captureStatements } from "./captures.ts";
import { type CoalescingOptions, coalesceCalls, type RunCalls } from "./coalesce-calls.ts";
import { collectionStatements } from "./collections.ts";
import { deliveryStatements } from "./deliveries.ts";
import { fileStatements } from "./files.ts";
import { jobStatements } from "./jobs.ts";
import { keyStatements } from "./keys.ts";
import { latencyStatements } from "./latencies.ts";
import { ledgerStatements } from "./ledger.ts";
import { managedJobStatements } from "./managed-jobs.ts";
import type { CoalescedOperation, Operation } from "./operation.ts";
import { rateShareStatements } from "./rate-shares.ts";
import { responseStatements } from "./responses.ts";
import { secretStatements } from "./secrets.ts";
import { sessionStatements } from "./sessions.ts";
import { teamStatements } from "./teams.ts";
import { usageCheckStatements } from "./usage-check.ts";
import { usageReportStatements } from "./usage-reports.ts";
import { workStatements } from "./work.ts";
import type { WorkKind } from "./work-queue.ts";

const statements = {
  audit: auditStatements,
  budgets: budgetStatements,
  captures: captureStatements,
  collections: collectionStatements,
  deliveries: deliveryStatements,
  files: fileStatements,
  jobs: jobStatements,
  keys: keyStatements,
  rateShares: rateShareStatements,
  latencies: latencyStatements,
  ledger: ledgerStatements,
  managedJobs: managedJobStatements,
  responses: responseStatements,
  secrets: secretStatements,
  sessions: sessionStatements,
  teams: teamStatements,
  usageCheck: usageCheckStatements,
  usageReports: usageReportStatements,
  work: workStatements,
};

type StoreOf<Statements> = {
  readonly [Name in keyof Statements]: Statements[Name] extends CoalescedOperation<infer Args, infer Result>
    ? (...args: Args) => Promise<Result>
    : Statements[Name] extends Operation<infer Args, infer Result>
      ? (...args: Args) => Promise<Result>
      : never;
};

export type Stores = { readonly [Name in keyof typeof statements]: StoreOf<(typeof statements)[Name]> };
export type BudgetStore = Stores["budgets"];
export type DeliveryStore = Stores["deliveries"];
export type FileRows = Stores["files"];
export type JobStore = Stores["jobs"];
export type LedgerStore = Stores["ledger"];
export type ManagedJobStore = Stores["managedJobs"];
export type ResponseStore = Stores["responses"];
export type SecretStore = Stores["secrets"];

export interface StorageOptions {
  /** `postgres://…`, or null for SQLite in the data folder. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly log: Log;
  /** Whether this process consumes the work queue. On PostgreSQL it then also releases the work of consumers that died. */
  readonly works?: boolean;
  /** Encrypts the gateway's own secrets; null stores them in plain text. Absent: secrets are not opened, for commands that need none. */
  readonly encryptionKey?: string | null | undefined;
  /** Deadline of an operation, after which it fails with a 503. Default: 1,000. */
  readonly deadlineMs?: number | undefined;
  /** Absent: operations are not measured, for commands. */
  readonly metrics?: Pick<Metrics, "storeOperation"> | undefined;
}

export const defaultDeadlineMs = 1000;

export interface Storage extends Stores {
  /** Called after any process changed keys, and whenever a change may have been missed. */
  onKeysChanged(listener: () => void): void;
  /** Called when any process may have added work. Only a hint: it may come without new work, and new work may come without it. */
  onWork(listener: (kind: WorkKind) => void): void;
  /** False while the store does not answer. */
  isHealthy(): boolean;
  close(): Promise<void>;
}

export type AnyOperation = Operation<readonly unknown[], unknown>;
export type Runner = (call: OperationCall) => Promise<unknown>;

export interface OperationCall {
  readonly store: string;
  readonly name: string;
  readonly args: readonly unknown[];
  readonly deadlineMs: number;
}

export function findOperation(store: string, name: string): AnyOperation {
  const found = (statements as Record<string, Record<string, unknown>>)[store]?.[name];
  if (found === undefined) throw new Error(`There is no operation ${store}.${name}`);
  // The arguments were type-checked where the method was called.
  return found as AnyOperation;
}

export interface BuildOptions extends CoalescingOptions, Pick<StorageOptions, "metrics"> {}

/** The methods of every store. Each passes its arguments to `engine`. */
export function buildStores(engine: Runner, options: BuildOptions): Stores {
  const run = options.metrics === undefined ? engine : measure(engine, options.metrics);
  const stores = Object.entries(statements).map(([store, operations]) => {
    const methods = Object.keys(operations).map((name) => {
      const operation = findOperation(store, name);
      // An operator whose database is far away raises the deadline of the store; no operation then has a shorter one.
      const deadlineMs = Math.max(operation.deadlineMs ?? 0, options.deadlineMs);
      if (!isCoalesced(operation)) return [name, (...args: unknown[]) => run({ store, name, args, deadlineMs })];
      const runCalls: RunCalls = (calls, { deadlineMs, isAlone }) =>
        // A coalesced operation returns a list, by its type.
        run({ store, name, args: [calls, isAlone], deadlineMs }) as Promise<readonly unknown[]>;
      return [name, coalesceCalls(operation, runCalls, options)];
    });
    return [store, Object.fromEntries(methods)];
  });
  return Object.fromEntries(stores) as Stores;
}

function measure(run: Runner, metrics: NonNullable<StorageOptions["metrics"]>): Runner {
  return async (call) => {
    const { store, name } = call;
    const startedAt = performance.now();
    let hasFailed = true;
    try {
      const result = await run(call);
      hasFailed = false;
      return result;
    } finally {
      const durationMs = performance.now() - startedAt;
      metrics.storeOperation({ store, mode: findOperation(store, name).mode, durationMs, hasFailed });
    }
  };
}

export function isCoalesced(operation: object): operation is CoalescedOperation<readonly unknown[], unknown> {
  return "isCoalesced" in operation;
}
