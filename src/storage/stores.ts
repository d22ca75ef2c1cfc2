// The list of stores. A new one is a statements file and a line here.

import { fileStatements } from "./files.ts";
import { keyStatements } from "./keys.ts";
import type { Operation } from "./operation.ts";
import { responseStatements } from "./responses.ts";
import { secretStatements } from "./secrets.ts";

const statements = {
  files: fileStatements,
  keys: keyStatements,
  responses: responseStatements,
  secrets: secretStatements,
};

type StoreOf<Statements> = {
  readonly [Name in keyof Statements]: Statements[Name] extends Operation<infer Args, infer Result>
    ? (...args: Args) => Promise<Result>
    : never;
};

export type Stores = { readonly [Name in keyof typeof statements]: StoreOf<(typeof statements)[Name]> };
export type FileRows = Stores["files"];
export type KeyStore = Stores["keys"];
export type ResponseStore = Stores["responses"];
export type SecretStore = Stores["secrets"];

export interface Storage extends Stores {
  /** Called after keys changed, in this process or in another one, and whenever a change may have been missed. */
  onKeysChanged(listener: () => void): void;
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
    const methods = Object.keys(operations).map((name) => [name, (...args: unknown[]) => run(store, name, args)]);
    return [store, Object.fromEntries(methods)];
  });
  return Object.fromEntries(stores) as Stores;
}
