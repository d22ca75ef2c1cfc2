// Tests that need a PostgreSQL: they are skipped on a machine without one.

import { afterAll, beforeAll, describe } from "bun:test";
import { startPostgres, type TestPostgres, whyNoPostgres } from "./postgres.ts";

/** `declare` declares the tests; `createStore` creates a database with the tables of this version. */
export function describeOnPostgres(title: string, declare: (createStore: () => Promise<string>) => void): void {
  describe.skipIf(whyNoPostgres() !== null)(title, () => {
    let postgres: TestPostgres;
    beforeAll(async () => {
      postgres = await startPostgres();
    }, 300_000);
    afterAll(() => postgres?.stop());
    declare(() => postgres.createStore());
  });
}
