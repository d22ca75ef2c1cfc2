// Maps records to rows and back. Each table declares how its members are stored; the column of `keyId` is `key_id`.

import type { SqlRow, SqlValue } from "./sql.ts";

export interface Column<Value> {
  toSql(value: Value): SqlValue;
  fromSql(value: SqlValue): Value;
}

/** Text that is one of a few words has their type. */
export function text<Value extends string = string>(): Column<Value> {
  return { toSql: (value) => value, fromSql: (value) => value as Value };
}

/** For counts and times, which a number holds exactly. */
export const integer: Column<number> = { toSql: (value) => value, fromSql: Number };

export const boolean: Column<boolean> = { toSql: Number, fromSql: (value) => value === 1n };

/** PostgreSQL returns a Buffer, the SQLite thread a plain array of bytes: callers get the same class from both. */
export const bytes: Column<Uint8Array> = {
  toSql: (value) => value,
  fromSql: (value) => {
    const { buffer, byteOffset, byteLength } = value as Uint8Array;
    return new Uint8Array(buffer, byteOffset, byteLength);
  },
};

export function json<Value>(): Column<Value> {
  return { toSql: (value) => JSON.stringify(value), fromSql: (value) => JSON.parse(value as string) };
}

export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return {
    toSql: (value) => (value === null ? null : column.toSql(value)),
    fromSql: (value) => (value === null ? null : column.fromSql(value)),
  };
}

export interface RecordMapping<Fields> {
  /** The names of all columns. */
  readonly columns: readonly string[];
  /** Members that are absent are left out of the row. */
  toRow(record: Partial<Fields>): SqlRow;
  /** The row must hold all columns. */
  fromRow(row: SqlRow): Fields;
}

/** `names` holds the columns whose name does not follow from the member's name. */
export function mapRecord<Fields>(
  columns: { readonly [Member in keyof Fields]-?: Column<Fields[Member]> },
  names: Partial<Record<keyof Fields, string>> = {},
): RecordMapping<Fields> {
  const members = (Object.keys(columns) as (keyof Fields & string)[]).map((member) => ({
    member,
    column: columns[member],
    name: names[member] ?? member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }));
  return {
    columns: members.map(({ name }) => name),
    toRow: (record) => {
      const row: Record<string, SqlValue> = {};
      for (const { member, column, name } of members) {
        const value = record[member];
        if (value !== undefined) row[name] = column.toSql(value);
      }
      return row;
    },
    fromRow: (row) => {
      // A column that was not selected is read as null.
      const record = members.map(({ member, column, name }) => [member, column.fromSql(row[name] ?? null)]);
      return Object.fromEntries(record) as Fields;
    },
  };
}
