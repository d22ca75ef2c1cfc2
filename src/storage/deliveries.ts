// Statements about deliveries: the reports of finished jobs to their receivers, every attempt of them, and their work.

import { toBatches } from "./batches.ts";
import type { DeliveryAttempt, DeliveryRecord, DeliveryState, JobRecord, WorkItem } from "./job-records.ts";
import { largeText, toJob } from "./job-rows.ts";
import { type GoesAlone, goesAlone, insertRows, read, readJoined, together, write, writeJoined } from "./operation.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { findHeld, type NewWork } from "./work-queue.ts";

// No text is longer.
const unlimited = 2_147_483_647;

export const deliveryStatements = {
  /**
   * With the job that it reports. Null: it was deleted or has expired, or goes on with other work; this work is ended then. That
   * is the one thing written here, and one statement, so that SQLite needs no transaction for the rest.
   */
  open: readJoined(async (sql, calls: readonly [item: WorkItem][]): Promise<(OpenedDelivery | GoesAlone | null)[]> => {
    const ids = [...new Set(calls.map(([item]) => item.subject))];
    const largest = calls.length === 1 ? unlimited : largeText;
    const deliveries = await sql`select * from deliveries where id in ${sql.list(ids)}`;
    const jobIds = [...new Set(deliveries.map((row) => row["job_id"] as string))];
    const tried = deliveries.flatMap((row) => (Number(row["attempts"]) > 0 ? (row["id"] as string) : []));
    const [jobs, attempts] = await together(
      jobIds.length === 0
        ? null
        : sql`
            select id, owner, key_id, feature, subfeature, provider, model, status, created_at, finished_at, expires_at, runs,
              progress, cost_pico_usd, cost_reason, webhook_receiver, kept,
              case when octet_length(result) <= ${largest} then result end as result,
              case when octet_length(request) <= ${largest} then request end as request
            from jobs where id in ${sql.list(jobIds)} and expires_at > ${Date.now()}`,
      tried.length === 0
        ? null
        : sql`select * from delivery_attempts where delivery_id in ${sql.list(tried)} order by number`,
    );
    const deliveryOf = new Map(deliveries.map((row) => [row["id"], row]));
    const jobOf = new Map(jobs?.map((row) => [row["id"], row]));
    const attemptsOf = Map.groupBy(attempts ?? [], (row) => row["delivery_id"]);
    const opened = calls.map(([item]) => {
      const delivery = deliveryOf.get(item.subject);
      const job = jobOf.get(delivery?.["job_id"] ?? null);
      if (delivery === undefined || delivery["work_id"] !== item.id || job === undefined) return null;
      // What a finished job always has was left out.
      const isLarge = job["result"] === null || job["request"] === null;
      if (isLarge && largest === largeText) return goesAlone;
      return { delivery: toDelivery(delivery, attemptsOf.get(item.subject) ?? []), job: toJob(job) };
    });
    const left = calls.flatMap(([item], index) => (opened[index] === null ? item : []));
    if (left.length > 0) await sql.work.end(left);
    return opened;
  }),

  /** Oldest first. Null: there is no such job of this owner. */
  listForJob: read(async (sql, jobId: string, owner: string): Promise<DeliveryRecord[] | null> => {
    const [job] = await sql`
      select id from jobs where id = ${jobId} and owner = ${owner} and expires_at > ${Date.now()}`;
    if (job === undefined) return null;
    const rows = await sql`select * from deliveries where job_id = ${jobId} order by created_at, id`;
    const deliveries: DeliveryRecord[] = [];
    for (const row of rows) deliveries.push(toDelivery(row, await readAttempts(sql, row["id"] as string)));
    return deliveries;
  }),

  /**
   * One attempt, and when to try again or else the end. False: the work is not the shower's any more; the attempt was made all
   * the same, so it is logged. The attempts are numbered here, in the order of their ends; the number that comes in is not kept.
   */
  recordAttempt: writeJoined(
    // What is left to be done is not due yet: who works asks often enough.
    null,
    async (sql, calls: readonly AttemptCall[]): Promise<boolean[]> => {
      const items = calls.map(([item]) => item);
      const isHeld = await findHeld(items, sql.work.end);
      const isEnd = calls.map(([, , { nextAt }], index) => isHeld[index] === true && nextAt === null);
      // Most of them: one statement for all that end in the same way. First, since the same report may come twice.
      const ends = calls.filter((_, index) => isEnd[index]);
      const logged = new Set<string>();
      for (const [state, some] of Map.groupBy(ends, ([, , outcome]) => outcome.state))
        for (const id of await recordEnds(sql, state, some)) logged.add(id);
      const recorded = await together(
        ...calls.map((call, index) => (isEnd[index] ? null : recordOne(sql, call, isHeld[index] === true))),
      );
      await sql.work.add(recorded.flatMap((one) => one?.next ?? []));
      return items.map(({ subject }, index) =>
        isEnd[index] ? logged.has(subject) : isHeld[index] === true && recorded[index]?.isLogged === true,
      );
    },
  ),

  /** A further delivery of a finished job. Null: there is no such job of this owner, or it runs still, or has no receiver. */
  redeliver: write(
    "deliver",
    async (
      sql,
      jobId: string,
      owner: string,
      delivery: { id: string; group: string; now: number },
    ): Promise<DeliveryRecord | null> => {
      const [job] = await sql<{ webhook_receiver: string | null }>`
        select webhook_receiver from jobs
        where id = ${jobId} and owner = ${owner} and status <> 'processing' and expires_at > ${delivery.now}`;
      const receiver = job?.webhook_receiver ?? null;
      if (receiver === null) return null;
      const [row] = await addDeliveries(sql, [{ ...delivery, jobId, owner, receiver }]);
      return row === undefined ? null : toDelivery(row, []);
    },
  ),
};

interface OpenedDelivery {
  readonly delivery: DeliveryRecord;
  readonly job: JobRecord;
}

type AttemptCall = readonly [
  item: WorkItem,
  attempt: DeliveryAttempt,
  outcome: { state: DeliveryState; nextAt: number | null; group: string },
];

interface NewDelivery {
  readonly id: string;
  readonly jobId: string;
  readonly owner: string;
  readonly receiver: string;
  readonly group: string;
  readonly now: number;
}

/** With their work, due at once. */
export async function addDeliveries(sql: Sql, deliveries: readonly NewDelivery[]): Promise<SqlRow[]> {
  if (deliveries.length === 0) return [];
  const rows = deliveries.map(({ id, jobId, owner, receiver, now }) => ({
    id,
    job_id: jobId,
    owner,
    receiver,
    state: "pending",
    created_at: now,
    attempts: 0,
    next_attempt_at: now,
    work_id: Bun.randomUUIDv7(),
  }));
  const work = deliveries.map(({ id, group, now }, index): NewWork => {
    const { work_id: workId } = rows[index] as (typeof rows)[number];
    return { id: workId, kind: "deliver", subject: id, group, dueAt: now };
  });
  await together(insertRows(sql, "deliveries", rows), sql.work.add(work));
  return rows;
}

async function recordOne(
  sql: Sql,
  [item, attempt, { state, nextAt, group }]: AttemptCall,
  isHeld: boolean,
): Promise<{ isLogged: boolean; next: NewWork | null }> {
  const id = item.subject;
  const workId = isHeld && nextAt !== null ? Bun.randomUUIDv7() : null;
  // The row stays locked until the end, so that attempts are numbered one after the other.
  const counted = isHeld
    ? sql`
        update deliveries set attempts = attempts + 1, state = ${state}, next_attempt_at = ${nextAt}, work_id = ${workId}
        where id = ${id}`
    : sql`
        update deliveries set attempts = attempts + 1
        where id = ${id}
          and not exists (select number from delivery_attempts where delivery_id = ${id} and claim = ${toClaim(item)})`;
  const logged = sql`
    insert into delivery_attempts (delivery_id, number, claim, started_at, duration_ms, status, error, key_id)
    select id, attempts, ${toClaim(item)}, ${attempt.startedAt}, ${Math.round(attempt.durationMs)},
      ${attempt.status}, ${attempt.error}, ${attempt.keyId}
    from deliveries where id = ${id}
    on conflict do nothing returning number`;
  const [, numbered] = await together(counted, logged);
  const isLogged = numbered.length > 0;
  if (!isLogged || workId === null || nextAt === null) return { isLogged, next: null };
  return { isLogged, next: { id: workId, kind: "deliver", subject: id, group, dueAt: nextAt } };
}

/** The ids of the deliveries of which it was logged. */
async function recordEnds(sql: Sql, state: DeliveryState, calls: readonly AttemptCall[]): Promise<string[]> {
  const ids = calls.map(([item]) => item.subject);
  const counted = await sql<{ id: string; attempts: bigint }>`
    update deliveries set attempts = attempts + 1, state = ${state}, next_attempt_at = null, work_id = null
    where id in ${sql.list(ids)} returning id, attempts`;
  const numberOf = new Map(counted.map(({ id, attempts }) => [id, attempts]));
  const rows = calls.flatMap(([item, attempt]) => {
    const number = numberOf.get(item.subject);
    return number === undefined ? [] : [toAttemptRow(item, attempt, number)];
  });
  const logged = await together(
    ...toBatches(rows).map(
      (lot) => sql<{ delivery_id: string }>`
        insert into delivery_attempts ${sql.columns(lot)} on conflict do nothing returning delivery_id`,
    ),
  );
  return logged.flat().map((row) => row.delivery_id);
}

function toAttemptRow(item: WorkItem, attempt: DeliveryAttempt, number: bigint): SqlRow {
  return {
    delivery_id: item.subject,
    number,
    claim: toClaim(item),
    started_at: attempt.startedAt,
    duration_ms: Math.round(attempt.durationMs),
    status: attempt.status,
    error: attempt.error,
    key_id: attempt.keyId,
  };
}

/** Those of at least one job, with their attempts and their work. */
export async function deleteDeliveries(sql: Sql, jobIds: readonly string[]): Promise<void> {
  const found = await sql<{ work_id: string | null }>`
    select work_id from deliveries where job_id in ${sql.list(jobIds)}`;
  if (found.length === 0) return;
  // Their work first, in the order of those that record attempts: these and we would wait for each other else. Receivers that
  // delete a job as soon as they hear of it come in just that moment.
  const ended = new Set(found.flatMap((delivery) => delivery.work_id ?? []));
  await sql.work.remove("deliver", [...ended]);
  const deleted = await sql<{ id: string; work_id: string | null }>`
    delete from deliveries where job_id in ${sql.list(jobIds)} returning id, work_id`;
  const ids = deleted.map(({ id }) => id);
  if (ids.length > 0) await sql`delete from delivery_attempts where delivery_id in ${sql.list(ids)}`;
  // What was postponed in between goes on with other work.
  const added = deleted.flatMap((delivery) => delivery.work_id ?? []);
  await sql.work.remove(
    "deliver",
    added.filter((id) => !ended.has(id)),
  );
}

async function readAttempts(sql: Sql, deliveryId: string): Promise<SqlRow[]> {
  return await sql`select * from delivery_attempts where delivery_id = ${deliveryId} order by number`;
}

/** An attempt that is reported again, since the answer to the first report was lost, is logged once. */
function toClaim(item: WorkItem): string {
  return `${item.id}:${item.lease}`;
}

/** The casts say what was written: these columns have no other writer. */
function toDelivery(row: SqlRow, attempts: readonly SqlRow[]): DeliveryRecord {
  return {
    id: row["id"] as string,
    jobId: row["job_id"] as string,
    owner: row["owner"] as string,
    receiver: row["receiver"] as string,
    state: row["state"] as DeliveryState,
    createdAt: Number(row["created_at"]),
    attempts: attempts.map((attempt) => ({
      number: Number(attempt["number"]),
      startedAt: Number(attempt["started_at"]),
      durationMs: Number(attempt["duration_ms"]),
      status: attempt["status"] === null ? null : Number(attempt["status"]),
      error: attempt["error"] as string | null,
      keyId: attempt["key_id"] as string,
    })),
    nextAttemptAt: row["next_attempt_at"] === null ? null : Number(row["next_attempt_at"]),
  };
}
