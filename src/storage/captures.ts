// SQL statements for captured requests. Their headers and content are encrypted before they are stored, and deleted after hours or days.

import { deleteOldest, insertRows, read, sweep, write } from "./operation.ts";
import { bytes, integer, mapRecord, nullable, type RecordOf, text } from "./record.ts";

const columns = {
  id: text(),
  requestId: text(),
  /** Epoch milliseconds. */
  time: integer,
  keyId: text(),
  team: nullable(text()),
  content: bytes,
};
const { toRow, fromRow } = mapRecord(columns);

export type CaptureRecord = RecordOf<typeof columns>;

export const captureStatements = {
  insert: write(null, async (sql, records: readonly CaptureRecord[]): Promise<void> => {
    await insertRows(sql, "captures", records.map(toRow));
  }),

  /** Newest first. `team`: null stands for all teams. */
  find: read(async (sql, requestId: string, team: string | null, limit: number): Promise<CaptureRecord[]> => {
    const where = team === null ? sql.part`1 = 1` : sql.part`team = ${team}`;
    const rows = await sql`
      select * from captures where request_id = ${requestId} and ${where} order by time desc, id desc limit ${limit}`;
    return rows.map(fromRow);
  }),

  /** Returns how many captures were deleted. */
  deleteOld: sweep(async (sql, until: number, limit: number): Promise<number> => {
    const from = sql.part`from captures where`;
    return (await deleteOldest(sql, { from, timeColumn: "time", until, limit, returning: ["id"] })).length;
  }),
};
