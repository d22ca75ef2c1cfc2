// Secrets of the gateway itself, such as the one behind the marks of ids: random bytes that are made once and are then the same
// for every process and replica.
//
// These statements store what they are given. With SWITCHYARD_ENCRYPTION_KEY it is sealed before (sealed-secrets.ts); without, it lies in the
// clear, and whoever can read the store can sign as the gateway does.

import { randomBytes } from "node:crypto";
import { read, write } from "./operation.ts";

const leastBytes = 16;

export const secretStatements = {
  /** The secret of that name. Whoever asks first makes it, however many ask at once. */
  getOrCreate: write(null, async (sql, name: string, bytes: number): Promise<Uint8Array> => {
    if (bytes < leastBytes) throw new Error(`A secret needs at least ${leastBytes} bytes`);
    const created = { name, value: randomBytes(bytes), created_at: Date.now() };
    await sql`insert into secrets ${sql.columns(created)} on conflict (name) do nothing`;
    // A second statement: it also sees what another transaction has committed while the first one waited for it.
    const [row] = await sql<{ value: Uint8Array }>`select value from secrets where name = ${name}`;
    if (row?.value.length !== bytes) throw new Error(`The secret ${name} has ${row?.value.length} bytes, not ${bytes}`);
    return new Uint8Array(row.value);
  }),

  find: read(async (sql, name: string): Promise<Uint8Array | null> => {
    const [row] = await sql<{ value: Uint8Array }>`select value from secrets where name = ${name}`;
    return row === undefined ? null : new Uint8Array(row.value);
  }),

  list: read(async (sql): Promise<string[]> => {
    return (await sql<{ name: string }>`select name from secrets order by name`).map(({ name }) => name);
  }),

  /** What is kept from then on: these bytes, or those of whoever was first. */
  createOnce: write(null, async (sql, name: string, value: Uint8Array): Promise<Uint8Array> => {
    const created = { name, value, created_at: Date.now() };
    await sql`insert into secrets ${sql.columns(created)} on conflict (name) do nothing`;
    const [row] = await sql<{ value: Uint8Array }>`select value from secrets where name = ${name}`;
    if (row === undefined) throw new Error(`The secret ${name} is not there after it was made`);
    return new Uint8Array(row.value);
  }),

  /** False: it is not `old` any more, and was not changed. */
  replace: write(null, async (sql, name: string, old: Uint8Array, next: Uint8Array): Promise<boolean> => {
    const replaced = await sql`
      update secrets set value = ${next} where name = ${name} and value = ${old} returning name`;
    return replaced.length > 0;
  }),
};
