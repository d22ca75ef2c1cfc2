// The list of stores. A new one is a statements file and a line here.

import { deliveryStatements } from "./deliveries.ts";
import { fileStatements } from "./files.ts";
import type { WorkKind } from "./job-records.ts";
import { jobStatements } from "./jobs.ts";
import { type Joining, join } from "./join.ts";
import { keyStatements } from "./keys.ts";
import { type JoinedOperation, type Operation, operationDeadlineMs } from "./operation.ts";
import { responseStatements } from "./responses.ts";
import { secretStatements } from "./secrets.ts";
import { workStatements } from "./work.ts";

const statements = {
  deliveries: deliveryStatements,
  files: fileStatements,
  jobs: jobStatements,
  keys: keyStatements,
  responses: responseStatements,
  secrets: secretStatements,
  work: workStatements,
};

type StoreOf<Statements> = {
  readonly [Name in keyof Statements]: Statements[Name] extends JoinedOperation<infer Args, infer Result>
    ? (...args: Args) => Promise<Result>
    : Statements[Name] extends Operation<infer Args, infer Result>
      ? (...args: Args) => Promise<Result>
      : never;
};

export type Stores = { readonly [Name in keyof typeof statements]: StoreOf<(typeof statements)[Name]> };
export type DeliveryStore = Stores["deliveries"];
export type FileRows = Stores["files"];
export type JobStore = Stores["jobs"];
export type KeyStore = Stores["keys"];
export type ResponseStore = Stores["responses"];
export type SecretStore = Stores["secrets"];
export type WorkStore = Stores["work"];

export interface Storage extends Stores {
  /** Called after keys changed, in this process or in another one, and whenever a change may have been missed. */
  onKeysChanged(listener: () => void): void;
  /** Called when work may have become due, whoever added it. A hint: some may not be told, and some are told in vain. */
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
  // The arguments were typed where the method was called; here they only pass through.
  return found as AnyOperation;
}

/** The methods of every store, each of which hands its arguments to the engine. */
export function buildStores(run: Runner, joining: Joining): Stores {
  const stores = Object.entries(statements).map(([store, operations]) => {
    const methods = Object.keys(operations).map((name) => {
      const operation = findOperation(store, name);
      const { deadlineMs = operationDeadlineMs } = operation;
      if (!isJoined(operation)) return [name, (...args: unknown[]) => run({ store, name, args, deadlineMs })];
      // What joined operations answer with is a list, by their type.
      const runJoined = (calls: readonly (readonly unknown[])[], withinMs: number) =>
        run({ store, name, args: [calls], deadlineMs: withinMs }) as Promise<readonly unknown[]>;
      return [name, join(operation, runJoined, joining)];
    });
    return [store, Object.fromEntries(methods)];
  });
  return Object.fromEntries(stores) as Stores;
}

export function isJoined(operation: object): operation is JoinedOperation<readonly unknown[], unknown> {
  return "isJoined" in operation;
}
