// Statements about deliveries: the reports of finished jobs to their receivers, every attempt of them, and their work.

import type { DeliveryAttempt, DeliveryRecord, DeliveryState, JobRecord, WorkItem } from "./job-records.ts";
import { toJob } from "./job-rows.ts";
import { read, together, write } from "./operation.ts";
import type { Sql, SqlRow } from "./sql.ts";

export const deliveryStatements = {
  /**
   * With the job that it reports. Null: it was deleted or has expired, or goes on with other work; this work is ended then. That
   * is the one thing written here, and one statement, so that the rest needs no transaction.
   */
  open: read(async (sql, item: WorkItem): Promise<{ delivery: DeliveryRecord; job: JobRecord } | null> => {
    const [[delivery], [job], attempts] = await together(
      sql`select * from deliveries where id = ${item.subject} and work_id = ${item.id}`,
      sql`
        select * from jobs
        where id = (select job_id from deliveries where id = ${item.subject}) and expires_at > ${Date.now()}`,
      readAttempts(sql, item.subject),
    );
    if (delivery !== undefined && job !== undefined)
      return { delivery: toDelivery(delivery, attempts), job: toJob(job) };
    await sql.work.end(item);
    return null;
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
  recordAttempt: write(
    "work",
    async (
      sql,
      item: WorkItem,
      attempt: DeliveryAttempt,
      outcome: { state: DeliveryState; nextAt: number | null; group: string },
    ): Promise<boolean> => {
      const { state, nextAt, group } = outcome;
      const id = item.subject;
      const isHeld = await sql.work.end(item);
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
      if (numbered.length > 0 && workId !== null && nextAt !== null) {
        await sql.work.add([{ id: workId, kind: "deliver", subject: id, group, dueAt: nextAt }]);
      }
      return isHeld && numbered.length > 0;
    },
  ),

  /** A further delivery of a finished job. Null: there is no such job of this owner, or it runs still, or has no receiver. */
  redeliver: write(
    "work",
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
      const row = await addDelivery(sql, { ...delivery, jobId, owner, receiver });
      return toDelivery(row, []);
    },
  ),
};

interface NewDelivery {
  readonly id: string;
  readonly jobId: string;
  readonly owner: string;
  readonly receiver: string;
  readonly group: string;
  readonly now: number;
}

/** With its work, due at once. */
export async function addDelivery(sql: Sql, delivery: NewDelivery): Promise<SqlRow> {
  const { id, jobId, owner, receiver, group, now } = delivery;
  const workId = Bun.randomUUIDv7();
  const row = {
    id,
    job_id: jobId,
    owner,
    receiver,
    state: "pending",
    created_at: now,
    attempts: 0,
    next_attempt_at: now,
    work_id: workId,
  };
  await together(
    sql`insert into deliveries ${sql.columns(row)}`,
    sql.work.add([{ id: workId, kind: "deliver", subject: id, group, dueAt: now }]),
  );
  return row;
}

/** Those of at least one job, with their attempts and their work. */
export async function deleteDeliveries(sql: Sql, jobIds: readonly string[]): Promise<void> {
  const deleted = await sql<{ id: string; work_id: string | null }>`
    delete from deliveries where job_id in ${sql.list(jobIds)} returning id, work_id`;
  if (deleted.length === 0) return;
  const ids = deleted.map(({ id }) => id);
  await sql`delete from delivery_attempts where delivery_id in ${sql.list(ids)}`;
  await sql.work.remove(
    "deliver",
    deleted.flatMap((delivery) => delivery.work_id ?? []),
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
