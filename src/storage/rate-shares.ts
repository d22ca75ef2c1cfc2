// What each gateway may use of a rate limit without asking again, and which gateways are running. Only on PostgreSQL: with SQLite there is one
// gateway.

import { deleteOldest, insertRows, sweep, write } from "./operation.ts";
import type { Sql } from "./sql.ts";

/** Amounts by the age of their step: the first is the current step. */
type AmountsByAge = readonly number[];

export interface ShareRequest {
  readonly limitId: string;
  readonly limit: number;
  readonly gatewayId: string;
  /** How many gateways divide the limit. */
  readonly gateways: number;
  /** The start of the current step, how long a step is, and how much of it is over, from 0 to 1. */
  readonly stepStart: number;
  readonly stepMs: number;
  readonly elapsed: number;
  /** What this gateway has used. */
  readonly used: AmountsByAge;
  /** The least amount that is needed in the current step beyond what was granted. */
  readonly wanted: number;
}

export interface Share {
  /** What the gateway may use in the current step, all grants together. */
  readonly granted: number;
  /** What all gateways have used or may use, after the grant. */
  readonly counted: AmountsByAge;
  readonly isEnough: boolean;
}

/** The lock of a limit is a row of its own, which no gateway has. */
const lockGateway = "";
// Rows of a window are read for a minute, by gateways whose clocks differ a little.
const keptMs = 300_000;

export const rateShareStatements = {
  /**
   * Grants half of what is free, divided by the gateways, but at least what is wanted; all of it when there is one gateway. What is granted is
   * never more than the limit in total.
   */
  lease: write(null, async (sql, request: ShareRequest): Promise<Share> => {
    const { limitId, limit, gatewayId, gateways, stepStart, stepMs, elapsed, used, wanted } = request;
    await lockLimit(sql, limitId, stepStart);
    await replaceUsed(sql, request);
    const oldest = stepStart - (used.length - 1) * stepMs;
    const rows = await sql<{ window_start: bigint; gateway_id: string; granted: bigint }>`
      select window_start, gateway_id, granted from rate_shares
      where limit_id = ${limitId} and window_start >= ${oldest} and gateway_id <> ${lockGateway}`;
    const counted = used.map(() => 0);
    let own = used[0] ?? 0;
    for (const row of rows) {
      const start = Number(row.window_start);
      if (start >= stepStart && row.gateway_id === gatewayId) own = Math.max(own, Number(row.granted));
      else {
        // The clock of another gateway may be ahead.
        const age = Math.max(0, Math.round((stepStart - start) / stepMs));
        counted[age] = (counted[age] ?? 0) + Number(row.granted);
      }
    }
    const last = counted.length - 1;
    const sum = counted.reduce(
      (total, amount, age) => total + (age < last ? amount : Math.ceil(amount * (1 - elapsed))),
      0,
    );
    const free = Math.floor(limit - sum - own);
    const isEnough = free >= wanted;
    const part = gateways === 1 ? free : Math.ceil(free / (2 * gateways));
    const granted = isEnough ? own + Math.min(free, Math.max(wanted, part)) : own;
    counted[0] = (counted[0] ?? 0) + granted;
    await sql`
      insert into rate_shares ${sql.columns({ limit_id: limitId, window_start: stepStart, gateway_id: gatewayId, granted, expires_at: stepStart + keptMs })}
      on conflict (limit_id, window_start, gateway_id) do update set granted = excluded.granted`;
    return { granted, counted, isEnough };
  }),

  /** Replaces what was granted in earlier steps by what was used, so that other gateways can use the rest. */
  reportUse: write(
    null,
    async (sql, request: Omit<ShareRequest, "limit" | "gateways" | "wanted" | "elapsed">): Promise<void> => {
      await lockLimit(sql, request.limitId, request.stepStart);
      await replaceUsed(sql, request);
    },
  ),

  /** Notes that a gateway is running. `serves`: it takes requests, and not only jobs. Returns how many are running. */
  noteGateway: write(
    null,
    async (
      sql,
      id: string,
      serves: boolean,
      now: number,
      liveMs: number,
    ): Promise<{ all: number; serving: number }> => {
      const kept = serves ? `serve:${id}` : `work:${id}`;
      await sql`
        insert into gateways ${sql.columns({ id: kept, seen_at: now })}
        on conflict (id) do update set seen_at = excluded.seen_at`;
      const rows = await sql<{ id: string }>`select id from gateways where seen_at > ${now - liveMs}`;
      return { all: rows.length, serving: rows.filter((row) => row.id.startsWith("serve:")).length };
    },
  ),

  /** Returns how many shares were deleted: at most `limit`. */
  deleteExpired: sweep(async (sql, now: number, limit: number): Promise<number> => {
    const idColumns = ["limit_id", "window_start", "gateway_id"];
    const from = sql.part`from rate_shares where`;
    const deletion = {
      from,
      timeColumn: "expires_at",
      idColumns,
      until: now - 1,
      limit,
      returning: ["limit_id"],
    } as const;
    return (await deleteOldest(sql, deletion)).length;
  }),

  deleteGateways: write(null, async (sql, seenBefore: number): Promise<void> => {
    await sql`delete from gateways where seen_at < ${seenBefore}`;
  }),
};

/** Until the end of the transaction, no other gateway changes the shares of this limit. */
async function lockLimit(sql: Sql, limitId: string, stepStart: number): Promise<void> {
  const row = {
    limit_id: limitId,
    window_start: 0,
    gateway_id: lockGateway,
    granted: 0,
    expires_at: stepStart + keptMs,
  };
  await sql`
    insert into rate_shares ${sql.columns(row)}
    on conflict (limit_id, window_start, gateway_id) do update set expires_at = excluded.expires_at`;
}

async function replaceUsed(
  sql: Sql,
  {
    limitId,
    gatewayId,
    stepStart,
    stepMs,
    used,
  }: Pick<ShareRequest, "limitId" | "gatewayId" | "stepStart" | "stepMs" | "used">,
): Promise<void> {
  await sql`
    delete from rate_shares
    where limit_id = ${limitId} and gateway_id = ${gatewayId} and window_start < ${stepStart}`;
  const rows = used
    .map((granted, age) => ({
      limit_id: limitId,
      window_start: stepStart - age * stepMs,
      gateway_id: gatewayId,
      granted,
      expires_at: stepStart + keptMs,
    }))
    .filter(({ granted }, age) => age > 0 && granted > 0);
  if (rows.length > 0) await insertRows(sql, "rate_shares", rows);
}
