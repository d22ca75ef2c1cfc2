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

/** The record that these columns store. */
export type RecordOf<Columns> = {
  readonly [Member in keyof Columns]: Columns[Member] extends Column<infer Value> ? Value : never;
};

/** `names` holds the columns whose name does not follow from the member's name. */
export function mapRecord<Columns extends object>(
  columns: Columns,
  names: Partial<Record<keyof Columns, string>> = {},
) {
  const members = (Object.keys(columns) as (keyof Columns & string)[]).map((member) => ({
    member,
    column: columns[member] as Column<unknown>,
    name: names[member] ?? member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }));
  return {
    names: members.map(({ name }) => name),
    /** Members that are absent are left out of the row. */
    toRow(record: Partial<RecordOf<Columns>>): SqlRow {
      const given = members.filter(({ member }) => record[member] !== undefined);
      return Object.fromEntries(given.map(({ member, column, name }) => [name, column.toSql(record[member])]));
    },
    /** A column that was not selected is read as null. */
    fromRow(row: SqlRow): RecordOf<Columns> {
      const record = members.map(({ member, column, name }) => [member, column.fromSql(row[name] ?? null)]);
      return Object.fromEntries(record) as RecordOf<Columns>;
    },
  };
}
