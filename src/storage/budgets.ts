// Statements about budgets. An account holds what a budget has spent in one period. A lease is the part of an account that one process may
// spend without asking again. At every grant, what is spent and what is leased stay within the limit together.
//
// Every transaction locks accounts in the order of their ids, an account before its leases, and leases in the order of their accounts and
// processes, so that processes never wait for each other in a circle. Deletions of old rows skip those that others have locked.

import { toBatches } from "./batches.ts";
import { addAlertDeliveries } from "./deliveries.ts";
import { read, sweep, together, write } from "./operation.ts";
import type { Sql, SqlFragment } from "./sql.ts";

/** The account of a budget in one period. Times are epoch milliseconds. */
export interface AccountKey {
  /** `<rule id> <period> <start of the period>` */
  readonly id: string;
  readonly ruleId: string;
  readonly periodStart: number;
  /** Null: the period never ends. */
  readonly periodEnd: number | null;
  readonly limitPico: bigint;
}

export interface LeaseRequest extends AccountKey {
  /** A request that is repeated because its answer was lost has the same number, and is executed once. */
  readonly number: number;
  /** The least that helps; 0 if nothing waits for it. */
  readonly needPico: number;
  /** What the process could use now. */
  readonly wantPico: number;
  /** What the process no longer needs. */
  readonly returnPico: number;
}

export interface LeaseAnswer {
  readonly id: string;
  /** What the process may use in addition. */
  readonly grantedPico: number;
  /** An earlier exchange of the same number was executed: these are its results. */
  readonly isRepeated: boolean;
  readonly spentPico: bigint;
  readonly limitPico: bigint;
  /** What other processes hold. */
  readonly othersPico: bigint;
  /** Whether the process still had a lease. False after it expired: what was left of it may have been granted to others. */
  readonly hadLease: boolean;
}

export interface LeaseTerms {
  readonly processId: string;
  readonly now: number;
  readonly expiresAt: number;
  /** Until when other processes return what they do not use, if there is not enough. */
  readonly wantedUntil: number;
}

/** Where and when a budget that runs low is announced. */
export interface AlertSettings {
  /** Percentages, in ascending order. */
  readonly thresholds: readonly number[];
  /** The address of a webhook; null: alerts are only logged. */
  readonly receiver: string | null;
}

/** A budget that passed a threshold. */
export interface BudgetAlert {
  /** The id of its webhook. */
  readonly id: string;
  readonly accountId: string;
  readonly ruleId: string;
  readonly threshold: number;
  readonly limitPico: bigint;
  readonly spentPico: bigint;
  readonly periodStart: number;
  readonly periodEnd: number | null;
  readonly at: number;
}

export interface AccountBalance {
  readonly id: string;
  readonly ruleId: string;
  readonly periodStart: number;
  readonly spentPico: bigint;
  readonly limitPico: bigint;
}

// A grant leaves most of what is free to the other processes.
const shareOfFree = 8n;
// 1,000 USD: sums of a few grants are exact in a number.
const largestGrantPico = 1_000_000_000_000_000n;
/** The limit of an account that was charged before a process asked for a lease of it. */
const unknownLimit = -1n;

interface AccountRow {
  readonly id: string;
  readonly rule_id: string;
  readonly period_start: bigint;
  readonly period_end: bigint | null;
  readonly limit_pico: bigint;
  readonly spent_pico: bigint;
  readonly alerted: bigint;
}

interface LeaseRow {
  readonly account_id: string;
  readonly process_id: string;
  readonly amount_pico: bigint;
  readonly number: bigint;
  readonly granted_pico: bigint;
}

export const budgetStatements = {
  /** Returns and grants parts of accounts. Each account may be named once. */
  exchange: write(null, async (sql, requests: readonly LeaseRequest[], terms: LeaseTerms): Promise<LeaseAnswer[]> => {
    const answers: LeaseAnswer[] = [];
    for (const batch of toBatches(requests.toSorted(byId))) answers.push(...(await exchangeBatch(sql, batch, terms)));
    return answers;
  }),

  /** Keeps the leases of a process from expiring, and returns the accounts of those that it still holds. Empty leases may expire. */
  renew: write(null, async (sql, { processId, now, expiresAt }: Omit<LeaseTerms, "wantedUntil">): Promise<string[]> => {
    const rows = await sql<{ account_id: string }>`
        with held as materialized (
          select account_id from budget_leases
          where process_id = ${processId} and expires_at > ${now} and amount_pico <> 0 ${lockLeases(sql)}
        )
        update budget_leases set expires_at = ${expiresAt} from held
        where budget_leases.account_id = held.account_id and process_id = ${processId}
        returning budget_leases.account_id`;
    return rows.map((row) => row.account_id);
  }),

  /** The accounts that a process waits for because others hold what is left of them. */
  wanted: read(async (sql, now: number): Promise<string[]> => {
    const rows = await sql<{ id: string }>`select id from budget_accounts where wanted_until > ${now} limit 1000`;
    return rows.map((row) => row.id);
  }),

  /** What accounts have spent. An account without a row has spent nothing. */
  balances: read(async (sql, ids: readonly string[]): Promise<AccountBalance[]> => {
    const balances: AccountBalance[] = [];
    for (const batch of toBatches([...new Set(ids)])) {
      const rows = await sql<AccountRow>`select * from budget_accounts where id in ${sql.list(batch)}`;
      balances.push(...rows.map(toBalance));
    }
    return balances;
  }),

  /** All accounts in the order of their ids, in pages. */
  page: read(async (sql, after: string, limit: number): Promise<AccountBalance[]> => {
    const rows = await sql<AccountRow>`
      select * from budget_accounts where id > ${after} order by id limit ${limit}`;
    return rows.map(toBalance);
  }),

  /** Deletes accounts whose period ended before the time, and leases that expired before it. Returns how many rows were deleted: of each table at most `limit`. */
  deleteEnded: sweep(async (sql, before: number, limit: number): Promise<number> => {
    const lock = sql.names(sql.engine === "postgres" ? ["for update skip locked"] : []);
    const accounts = await sql`
      delete from budget_accounts where id in (
        select id from budget_accounts where period_end < ${before} order by period_end limit ${limit} ${lock}
      ) returning 1 as one`;
    const leases = await sql`
      delete from budget_leases where (account_id, process_id) in (
        select account_id, process_id from budget_leases where expires_at < ${before} order by expires_at limit ${limit} ${lock}
      ) returning 1 as one`;
    return accounts.length + leases.length;
  }),
};

async function exchangeBatch(sql: Sql, requests: readonly LeaseRequest[], terms: LeaseTerms): Promise<LeaseAnswer[]> {
  const { processId, now } = terms;
  const ids = requests.map(({ id }) => id);
  // Locks the accounts until the transaction ends.
  const accounts = await sql<AccountRow>`
    insert into budget_accounts ${sql.columns(requests.map(toAccountRow))}
    on conflict (id) do update set limit_pico = excluded.limit_pico, period_end = excluded.period_end
    returning *`;
  const accountOf = new Map(accounts.map((row) => [row.id, row]));
  const changeable = await sql<{ expires_at: bigint }>`
    select expires_at from budget_leases
    where account_id in ${sql.list(ids)} and (process_id = ${processId} or expires_at <= ${now}) ${lockLeases(sql)}`;
  // An expired lease is deleted and not only ignored, so that a process that is late cannot renew what was granted to others.
  if (changeable.some(({ expires_at }) => expires_at <= now))
    await sql`delete from budget_leases where account_id in ${sql.list(ids)} and expires_at <= ${now}`;
  const leases = Map.groupBy(
    await sql<LeaseRow>`select * from budget_leases where account_id in ${sql.list(ids)}`,
    (row) => row.account_id,
  );
  const answers: LeaseAnswer[] = [];
  const changed: { account_id: string; amount_pico: bigint; number: number; granted_pico: bigint }[] = [];
  const wanted: string[] = [];
  for (const request of requests) {
    const account = accountOf.get(request.id);
    if (account === undefined) throw new Error(`The insert returned no account ${request.id}`);
    const rows = leases.get(request.id) ?? [];
    const own = rows.find((row) => row.process_id === processId);
    const isRepeated = own !== undefined && own.number === BigInt(request.number);
    const returned = isRepeated || own === undefined ? 0n : BigInt(request.returnPico);
    const othersPico = sumOf(rows.filter((row) => row !== own));
    const held = (own?.amount_pico ?? 0n) - returned;
    // A lease is below zero after calls that cost more than their estimate. That is spent by now, so it need not be covered by a grant.
    const excess = held < 0n ? -held : 0n;
    const free = account.limit_pico - account.spent_pico - othersPico - (held + excess);
    const granted = isRepeated ? own.granted_pico : excess + toGrant(free, request, excess);
    // Also when nothing changes, so that the lease lives on.
    if (!isRepeated && (granted > 0n || own !== undefined))
      changed.push({
        account_id: request.id,
        amount_pico: held + granted,
        number: request.number,
        granted_pico: granted,
      });
    if (granted === 0n && request.needPico > 0 && othersPico > 0n) wanted.push(request.id);
    answers.push({
      id: request.id,
      grantedPico: Number(granted),
      isRepeated,
      spentPico: account.spent_pico,
      limitPico: account.limit_pico,
      othersPico,
      hadLease: own !== undefined,
    });
  }
  for (const batch of toBatches(changed)) {
    const rows = batch.map((row) => ({ ...row, process_id: processId, expires_at: terms.expiresAt }));
    await sql`
      insert into budget_leases ${sql.columns(rows)}
      on conflict (account_id, process_id) do update set amount_pico = excluded.amount_pico,
        expires_at = excluded.expires_at, number = excluded.number, granted_pico = excluded.granted_pico`;
  }
  if (wanted.length > 0)
    await sql`update budget_accounts set wanted_until = ${terms.wantedUntil} where id in ${sql.list(wanted)}`;
  return answers;
}

/** Locks the leases that a statement selects, in the order of JavaScript, whatever the collation of the database is. */
function lockLeases(sql: Sql): SqlFragment {
  return sql.names(
    sql.engine === "postgres" ? ['order by account_id collate "C", process_id collate "C" for update'] : [],
  );
}

function toGrant(free: bigint, { needPico, wantPico }: LeaseRequest, excess: bigint): bigint {
  const need = BigInt(needPico) - excess;
  if (free <= 0n || wantPico <= 0 || free < need) return 0n;
  const wanted = BigInt(wantPico) - excess;
  // However much one process could use, half of what is free stays for the others.
  const granted = largest(need, smallest(wanted, free / 2n), free / shareOfFree);
  return smallest(granted, free, largestGrantPico);
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((one, other) => (one > other ? one : other));
}

function smallest(...values: readonly bigint[]): bigint {
  return values.reduce((one, other) => (one < other ? one : other));
}

function sumOf(leases: readonly LeaseRow[]): bigint {
  return leases.reduce((sum, { amount_pico }) => sum + (amount_pico > 0n ? amount_pico : 0n), 0n);
}

function toAccountRow({ id, ruleId, periodStart, periodEnd, limitPico }: AccountKey) {
  return {
    id,
    rule_id: ruleId,
    period_start: periodStart,
    period_end: periodEnd,
    limit_pico: limitPico,
    spent_pico: 0n,
    alerted: 0,
    wanted_until: 0,
  };
}

function toBalance({ id, rule_id, period_start, spent_pico, limit_pico }: AccountRow): AccountBalance {
  return {
    id,
    ruleId: rule_id,
    periodStart: Number(period_start),
    spentPico: spent_pico,
    limitPico: limit_pico,
  };
}

/**
 * Charges accounts for lines of the ledger, in the transaction that inserts the lines, and takes the amounts from the leases of the process
 * that made the calls. Returns the thresholds that were passed by these charges; their webhooks are in the transaction as well.
 */
export async function chargeAccounts(
  sql: Sql,
  processId: string,
  charges: ReadonlyMap<string, bigint>,
  { thresholds, receiver }: AlertSettings,
  now: number,
): Promise<BudgetAlert[]> {
  const sorted = [...charges].sort(([one], [other]) => (one < other ? -1 : 1));
  const charged = await together(
    ...sorted.map(
      ([id, pico]) => sql<AccountRow>`
        insert into budget_accounts ${sql.columns({ ...toAccountRow(parseAccountId(id)), spent_pico: pico })}
        on conflict (id) do update set spent_pico = budget_accounts.spent_pico + excluded.spent_pico
        returning *`,
    ),
  );
  await together(
    ...sorted.map(
      ([id, pico]) => sql`
        update budget_leases set amount_pico = amount_pico - ${pico}
        where account_id = ${id} and process_id = ${processId}`,
    ),
  );
  const alerts = charged.flat().flatMap((row) => findAlerts(row, thresholds, now));
  if (alerts.length === 0) return alerts;
  const highest = new Map(alerts.map(({ accountId, threshold }) => [accountId, threshold]));
  await together(
    ...[...highest].map(([id, threshold]) => sql`update budget_accounts set alerted = ${threshold} where id = ${id}`),
  );
  if (receiver !== null) await addAlertDeliveries(sql, alerts, receiver);
  return alerts;
}

/** Of an account whose first charge comes before its first lease, only the id is known. */
function parseAccountId(id: string): AccountKey {
  const [periodStart = "0", , ...rule] = id.split(" ").reverse();
  const ruleId = rule.reverse().join(" ");
  return { id, ruleId, periodStart: Number(periodStart), periodEnd: null, limitPico: unknownLimit };
}

/** One for each threshold that was passed, so that a receiver can wait for a certain one. */
function findAlerts(row: AccountRow, thresholds: readonly number[], at: number): BudgetAlert[] {
  const { limit_pico: limitPico, spent_pico: spentPico } = row;
  if (limitPico <= 0n) return [];
  return thresholds
    .filter((threshold) => threshold > Number(row.alerted) && spentPico * 100n >= limitPico * BigInt(threshold))
    .map((threshold) => ({
      id: Bun.randomUUIDv7(),
      accountId: row.id,
      ruleId: row.rule_id,
      threshold,
      limitPico,
      spentPico,
      periodStart: Number(row.period_start),
      periodEnd: row.period_end === null ? null : Number(row.period_end),
      at,
    }));
}

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}
