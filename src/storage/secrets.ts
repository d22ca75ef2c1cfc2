// Secrets of the gateway itself, such as the key that signs response ids: random bytes that are created once and shared by all processes
// and replicas.
//
// These statements store the bytes that they are given. With SWITCHYARD_ENCRYPTION_KEY, the bytes are encrypted before (sealed-secrets.ts).
// Without it, anyone who can read the store can sign as the gateway does.

import { randomBytes } from "node:crypto";
import { nextRevision, read, write } from "./operation.ts";
import { bytes } from "./record.ts";
import type { Sql } from "./sql.ts";

const minBytes = 16;

export const secretStatements = {
  /** Creates the secret on first use. Concurrent callers all get the same bytes. */
  getOrCreate: write(null, async (sql, name: string, length: number): Promise<Uint8Array> => {
    if (length < minBytes) throw new Error(`A secret needs at least ${minBytes} bytes`);
    const value = await createOnce(sql, name, randomBytes(length));
    if (value.length !== length) throw new Error(`The secret ${name} has ${value.length} bytes instead of ${length}`);
    return value;
  }),

  find: read(async (sql, name: string): Promise<Uint8Array | null> => await find(sql, name)),

  list: read(async (sql): Promise<string[]> => {
    return (await sql<{ name: string }>`select name from secrets order by name`).map(({ name }) => name);
  }),

  /** Returns the stored bytes: these, or those of the process that was first. */
  createOnce: write(
    null,
    async (sql, name: string, value: Uint8Array): Promise<Uint8Array> => await createOnce(sql, name, value),
  ),

  /** The secrets whose name starts with `prefix`. */
  listUnder: read(async (sql, prefix: string): Promise<{ name: string; value: Uint8Array }[]> => {
    const rows = await sql<{ name: string; value: Uint8Array }>`
      select name, value from secrets where substr(name, 1, ${prefix.length}) = ${prefix} order by name`;
    return rows.map(({ name, value }) => ({ name, value: bytes.fromSql(value) }));
  }),

  // Processes hold these in memory, so changes of them are announced, together with those of keys.
  put: write("keys", async (sql, name: string, value: Uint8Array): Promise<void> => {
    await nextRevision(sql, "keys");
    await sql`
      insert into secrets ${sql.columns({ name, value, created_at: Date.now() })}
      on conflict (name) do update set value = ${value}`;
  }),

  /** False: there was none. */
  remove: write("keys", async (sql, name: string): Promise<boolean> => {
    await nextRevision(sql, "keys");
    return (await sql`delete from secrets where name = ${name} returning name`).length > 0;
  }),

  /** False: the secret is no longer `old` and was not changed. */
  replace: write("keys", async (sql, name: string, old: Uint8Array, next: Uint8Array): Promise<boolean> => {
    await nextRevision(sql, "keys");
    const replaced = await sql`
      update secrets set value = ${next} where name = ${name} and value = ${old} returning name`;
    return replaced.length > 0;
  }),
};

async function createOnce(sql: Sql, name: string, value: Uint8Array): Promise<Uint8Array> {
  await sql`insert into secrets ${sql.columns({ name, value, created_at: Date.now() })} on conflict (name) do nothing`;
  // A second statement, because it sees the row that another transaction committed while the insert waited for it.
  const stored = await find(sql, name);
  if (stored === null) throw new Error(`The secret ${name} is missing after it was created`);
  return stored;
}

async function find(sql: Sql, name: string): Promise<Uint8Array | null> {
  const [row] = await sql<{ value: Uint8Array }>`select value from secrets where name = ${name}`;
  return row === undefined ? null : bytes.fromSql(row.value);
}
