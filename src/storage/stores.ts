// The list of stores. A new one is a statements file and a line here.

import { deliveryStatements } from "./deliveries.ts";
import { fileStatements } from "./files.ts";
import { jobStatements } from "./jobs.ts";
import { keyStatements } from "./keys.ts";
import type { JoinedOperation, Operation } from "./operation.ts";
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
  onWork(listener: () => void): void;
  /** False while the store does not answer. */
  isHealthy(): boolean;
  close(): Promise<void>;
}

export type AnyOperation = Operation<readonly unknown[], unknown>;
export type Runner = (store: string, name: string, args: readonly unknown[]) => Promise<unknown>;

export function findOperation(store: string, name: string): AnyOperation {
  const found = (statements as Record<string, Record<string, unknown>>)[store]?.[name];
  if (found === undefined) throw new Error(`There is no operation ${store}.${name}`);
  // The arguments were typed where the method was called; here they only pass through.
  return found as AnyOperation;
}

/** The methods of every store, each of which hands its arguments to the engine. */
export function buildStores(run: Runner): Stores {
  const stores = Object.entries(statements).map(([store, operations]) => {
    const methods = Object.entries(operations).map(([name, operation]) => {
      const call = (args: readonly unknown[]) => run(store, name, args);
      // What joined operations answer with is a list, by their type.
      if ("isJoined" in operation) return [name, join((calls) => call([calls]) as Promise<readonly unknown[]>)];
      return [name, (...args: unknown[]) => call(args)];
    });
    return [store, Object.fromEntries(methods)];
  });
  return Object.fromEntries(stores) as Stores;
}

interface JoinedCall {
  readonly args: readonly unknown[];
  readonly answer: PromiseWithResolvers<unknown>;
}

function join(run: (calls: readonly (readonly unknown[])[]) => Promise<readonly unknown[]>) {
  let waiting: JoinedCall[] = [];

  async function runAll(): Promise<void> {
    const calls = waiting;
    waiting = [];
    try {
      const results = await run(calls.map(({ args }) => args));
      for (const [index, { answer }] of calls.entries()) answer.resolve(results[index]);
    } catch (error) {
      for (const { answer } of calls) answer.reject(error);
    }
  }

  return (...args: unknown[]): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>();
    waiting.push({ args, answer });
    if (waiting.length === 1) queueMicrotask(() => void runAll());
    return answer.promise;
  };
}
