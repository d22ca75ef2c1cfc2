// Statements about webhook deliveries: their attempts and the work that is queued for them.

import { type Actor, recordChange } from "./audit.ts";
import { maxListLength, toBatches } from "./batches.ts";
import * as records from "./job-records.ts";
import {
  insertRows,
  isOwnedBy,
  type RunAlone,
  read,
  readCoalesced,
  runAlone,
  sweep,
  together,
  write,
  writeCoalesced,
} from "./operation.ts";
import { toJobTarget } from "./owner.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { checkLeases, type NewWork, type WorkItem } from "./work-queue.ts";

const unlimitedBytes = 2_147_483_647;
/** Of one job. Without a limit, one caller could add more than a sweep can delete. */
export const maxDeliveriesPerJob = 1_000;
const jobColumnsWithoutTexts = [...records.listedJobColumns.filter((name) => name !== "result"), "kept"];

export const deliveryStatements = {
  /**
   * Returns the delivery with its job, or with the alert that it is about. Null: the job was deleted or has expired, or the delivery has other
   * work. The work item is then deleted. As that is the only write, and a single statement, SQLite needs no transaction here.
   */
  open: readCoalesced(
    async (sql, calls: readonly [item: WorkItem][], isAlone): Promise<(OpenedDelivery | RunAlone | null)[]> => {
      const ids = [...new Set(calls.map(([item]) => item.subject))];
      const maxBytes = isAlone ? unlimitedBytes : records.largeText;
      const deliveries = await sql`select * from deliveries where id in ${sql.list(ids)}`;
      const jobIds = [...new Set(deliveries.map((row) => row["job_id"] as string))];
      const tried = deliveries.flatMap((row) => (Number(row["attempts"]) > 0 ? (row["id"] as string) : []));
      const [jobs, attempts] = await together(
        jobIds.length === 0
          ? null
          : sql`
            select ${sql.names(jobColumnsWithoutTexts)},
              case when octet_length(result) <= ${maxBytes} then result end as result,
              case when octet_length(request) <= ${maxBytes} then request end as request
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
        if (delivery === undefined || delivery["work_id"] !== item.id) return null;
        const toRecord = () => records.toDelivery(delivery, attemptsOf.get(item.subject) ?? []);
        if (delivery["alert"] !== null) return { delivery: toRecord(), alert: delivery["alert"] as string };
        const job = jobOf.get(delivery["job_id"] ?? null);
        if (job === undefined) return null;
        // A finished job always has both texts, so null means that the text was too large.
        const isLarge = job["result"] === null || job["request"] === null;
        if (isLarge && !isAlone) return runAlone;
        return { delivery: toRecord(), job: records.toJob(job) };
      });
      const obsolete = calls.flatMap(([item], index) => (opened[index] === null ? item : []));
      if (obsolete.length > 0) await sql.work.end(obsolete);
      return opened;
    },
    { deadlineMs: records.largeTextDeadlineMs },
  ),

  /** The newest deliveries, the oldest of them first. `owner` null: of any owner. Null: the owner has no such job. */
  listForJob: read(
    async (
      sql,
      jobId: string,
      owner: string | null,
      limit: number = maxDeliveriesPerJob,
    ): Promise<records.DeliveryRecord[] | null> => {
      const [job] = await sql`
        select id from jobs where id = ${jobId} and ${isOwnedBy(sql, owner)} and expires_at > ${Date.now()}`;
      if (job === undefined) return null;
      const rows = await sql`
        select * from deliveries where job_id = ${jobId} order by created_at desc, id desc limit ${limit}`;
      if (rows.length === 0) return [];
      const attempts = await sql`
        select * from delivery_attempts where delivery_id in ${sql.list(rows.map((row) => row["id"] as string))}
        order by number`;
      const attemptsOf = Map.groupBy(attempts, (row) => row["delivery_id"]);
      return rows.toReversed().map((row) => records.toDelivery(row, attemptsOf.get(row["id"] ?? null) ?? []));
    },
  ),

  /**
   * Stores an attempt and either the time of the next attempt or the final state. False: the lease expired; the attempt is stored all the
   * same, because it was made. Attempts are numbered here, in the order in which they end; the given number is ignored.
   */
  recordAttempt: writeCoalesced(
    // No announcement: the next attempt is not due yet, and consumers poll often enough.
    null,
    async (sql, calls: readonly AttemptCall[]): Promise<boolean[]> => {
      const items = calls.map(([item]) => item);
      const isValid = await checkLeases(items, sql.work.end);
      const isLast = calls.map(([, , { nextAt }], index) => isValid[index] === true && nextAt === null);
      // Most attempts are the last: one statement for all with the same state. They come first, because an attempt may be reported twice.
      const last = calls.filter((_, index) => isLast[index]);
      const logged = new Set<string>();
      for (const [state, some] of Map.groupBy(last, ([, , outcome]) => outcome.state))
        for (const id of await recordLast(sql, state, some)) logged.add(id);
      const recorded = await together(
        ...calls.map((call, index) => (isLast[index] ? null : recordOne(sql, call, isValid[index] === true))),
      );
      await sql.work.add(recorded.flatMap((one) => one?.next ?? []));
      return items.map(({ subject }, index) =>
        isLast[index] ? logged.has(subject) : isValid[index] === true && recorded[index]?.isLogged === true,
      );
    },
  ),

  /** Deletes the webhooks of alerts from before a time, and returns how many there were. Those of a job are deleted with the job. */
  deleteAlerts: sweep(async (sql, before: number, limit: number): Promise<number> => {
    const rows = await sql<{ id: string }>`
      select id from deliveries where alert is not null and created_at < ${before} order by id limit ${limit}`;
    if (rows.length > 0)
      await deleteDeliveries(
        sql,
        rows.map(({ id }) => id),
      );
    return rows.length;
  }),

  /**
   * Adds another delivery of a finished job. `owner` null: of any owner. Null as the actor: the owner of the job. Null: the owner has no such
   * job, or it is unfinished or has no receiver. "full": the job has `maxDeliveriesPerJob`; concurrent calls may exceed it by a few.
   */
  redeliver: write(
    "deliver",
    async (
      sql,
      jobId: string,
      owner: string | null,
      delivery: { id: string; now: number },
      actor: Actor | null = null,
    ): Promise<records.DeliveryRecord | "full" | null> => {
      const [job] = await sql<RedeliveredJob>`
        select id, owner, feature, subfeature, provider, webhook_receiver from jobs
        where id = ${jobId} and ${isOwnedBy(sql, owner)} and status <> 'processing' and expires_at > ${delivery.now}`;
      if (job === undefined || job.webhook_receiver === null) return null;
      const [last] = await sql`
        select id from deliveries where job_id = ${jobId} order by created_at, id
        limit 1 offset ${maxDeliveriesPerJob - 1}`;
      if (last !== undefined) return "full";
      const { owner: jobOwner, webhook_receiver: receiver } = job;
      const [row] = await addDeliveries(sql, [{ ...delivery, jobId, owner: jobOwner, receiver }]);
      // Only the host: the rest of an address often holds a token.
      const after = { delivery_id: delivery.id, receiver_host: URL.parse(receiver)?.host ?? "" };
      await recordChange(sql, actor, { action: "job.redeliver", target: toJobTarget(job), after });
      return row === undefined ? null : records.toDelivery(row, []);
    },
  ),
};

interface RedeliveredJob extends Pick<records.ListedJob, "id" | "owner" | "feature" | "subfeature" | "provider"> {
  readonly webhook_receiver: string | null;
}

export type OpenedDelivery = {
  readonly delivery: records.DeliveryRecord;
} & (
  | { readonly job: records.JobRecord; readonly alert?: undefined }
  | { readonly job?: undefined; readonly alert: string }
);

type AttemptCall = readonly [
  item: WorkItem,
  attempt: records.DeliveryAttempt,
  outcome: { state: records.DeliveryState; nextAt: number | null },
];

interface NewDelivery {
  readonly id: string;
  /** Of a webhook about an alert: its own id. */
  readonly jobId: string;
  readonly owner: string;
  readonly receiver: string;
  readonly now: number;
  /** JSON text, of a webhook that is not about a job. */
  readonly alert?: string;
}

/** Adds deliveries with work that is due at once. */
export async function addDeliveries(sql: Sql, deliveries: readonly NewDelivery[]): Promise<SqlRow[]> {
  if (deliveries.length === 0) return [];
  const rows = deliveries.map(({ id, jobId, owner, receiver, now, alert = null }) => ({
    id,
    job_id: jobId,
    owner,
    receiver,
    state: "pending",
    created_at: now,
    attempts: 0,
    next_attempt_at: now,
    work_id: Bun.randomUUIDv7(),
    alert,
  }));
  const work = rows.map(({ id, work_id, receiver, created_at }): NewWork => {
    // Webhooks to one host form a group, so that a slow host does not delay the webhooks to others.
    const group = URL.parse(receiver)?.host ?? "";
    return { id: work_id, kind: "deliver", subject: id, group, dueAt: created_at };
  });
  await together(insertRows(sql, "deliveries", rows), sql.work.add(work));
  return rows;
}

/** Adds the webhooks of alerts. They belong to no owner, so no key can list them. */
export async function addAlertDeliveries(
  sql: Sql,
  alerts: readonly { readonly id: string; readonly at: number }[],
  receiver: string,
): Promise<void> {
  const toText = (alert: object) =>
    JSON.stringify(alert, (_, value) => (typeof value === "bigint" ? String(value) : value));
  const deliveries = alerts.map((alert) => {
    return { id: alert.id, jobId: alert.id, owner: "", receiver, now: alert.at, alert: toText(alert) };
  });
  for (const batch of toBatches(deliveries)) await addDeliveries(sql, batch);
}

async function recordOne(
  sql: Sql,
  [item, attempt, { state, nextAt }]: AttemptCall,
  isValid: boolean,
): Promise<{ isLogged: boolean; next: NewWork | null }> {
  const id = item.subject;
  const workId = isValid && nextAt !== null ? Bun.randomUUIDv7() : null;
  // The row stays locked until the end, so that attempts are numbered one after the other.
  const counted = isValid
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
  return { isLogged, next: { id: workId, kind: "deliver", subject: id, group: item.group, dueAt: nextAt } };
}

/** Returns the ids of the deliveries whose attempt was stored. */
async function recordLast(sql: Sql, state: records.DeliveryState, calls: readonly AttemptCall[]): Promise<string[]> {
  const ids = calls.map(([item]) => item.subject);
  const counted = await sql<{ id: string; attempts: bigint }>`
    update deliveries set attempts = attempts + 1, state = ${state}, next_attempt_at = null, work_id = null
    where id in ${sql.list(ids)} returning id, attempts`;
  const numberOf = new Map(counted.map(({ id, attempts }) => [id, attempts]));
  const rows = calls.flatMap(([item, attempt]) => {
    const number = numberOf.get(item.subject);
    if (number === undefined) return [];
    const durationMs = Math.round(attempt.durationMs);
    const row = records.toAttemptRow({ ...attempt, number: Number(number), durationMs });
    return [{ ...row, delivery_id: item.subject, claim: toClaim(item) }];
  });
  const logged = await together(
    ...toBatches(rows).map(
      (batch) => sql<{ delivery_id: string }>`
        insert into delivery_attempts ${sql.columns(batch)} on conflict do nothing returning delivery_id`,
    ),
  );
  return logged.flat().map((row) => row.delivery_id);
}

/** Deletes the deliveries of at least one job, with their attempts and their work. */
export async function deleteDeliveries(sql: Sql, jobIds: readonly string[]): Promise<void> {
  const found = await sql<{ work_id: string | null }>`
    select work_id from deliveries where job_id in ${sql.list(jobIds)}`;
  if (found.length === 0) return;
  // The work before the rows, like `recordAttempt`: otherwise the two could deadlock. Receivers that delete a job as soon as they get the
  // webhook do so while its attempt is being stored.
  const removed = new Set(found.flatMap((delivery) => delivery.work_id ?? []));
  await sql.work.remove("deliver", [...removed]);
  const deleted = await sql<{ id: string; work_id: string | null }>`
    delete from deliveries where job_id in ${sql.list(jobIds)} returning id, work_id`;
  const ids = deleted.map(({ id }) => id);
  for (const batch of toBatches(ids, maxListLength))
    await sql`delete from delivery_attempts where delivery_id in ${sql.list(batch)}`;
  // Deliveries that were postponed in the meantime have new work.
  const added = deleted.flatMap((delivery) => delivery.work_id ?? []);
  await sql.work.remove(
    "deliver",
    added.filter((id) => !removed.has(id)),
  );
}

/** Identifies an attempt, so that it is stored once even if the call is repeated because its answer was lost. */
function toClaim(item: WorkItem): string {
  return `${item.id}:${item.lease}`;
}
