// Statements about jobs, their results and the work that is queued for them.
//
// A job and its work are committed together. A consumer passes the work item that it took; if its lease has expired or the job is finished,
// the statement changes nothing. Jobs of other owners, deleted jobs and expired jobs are answered as if they had never existed.

import { type Actor, recordChange } from "./audit.ts";
import { addDeliveries, deleteDeliveries } from "./deliveries.ts";
import type {
  CancelJobOutcome,
  CreateJobOutcome,
  IdempotencyKey,
  JobCancellation,
  JobFilter,
  JobRecord,
  JobResult,
  ListedJob,
  NewJob,
} from "./job-records.ts";
import {
  largeText,
  largeTextDeadlineMs,
  listedJobColumns,
  progressUnit,
  sizedJobColumns,
  toJob,
  toJobRow,
  toListedJob,
  toSizedJob,
} from "./job-records.ts";
import {
  deleteOldest,
  insertRows,
  isOwnedBy,
  listPage,
  read,
  sweep,
  together,
  write,
  writeCoalesced,
} from "./operation.ts";
import { toUnavailable } from "./outage.ts";
import { toJobTarget } from "./owner.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { checkLeases, isFresh, type WorkItem } from "./work-queue.ts";

// An idempotency key that changes more often than this during one call indicates a problem of the store.
const keyAttempts = 5;
// A job is postponed about once a second at most.
const cancelAttempts = 5;
// Workers settle a cancelled job within seconds, unless none runs.
const settlingMs = 3_600_000;
// Operations that read, write or delete the result of a job.
const withResult = { deadlineMs: largeTextDeadlineMs };

export const jobStatements = {
  /**
   * Creates a job with work that is due at once. Until an idempotency key expires, its owner gets one job for it. Concurrent transactions of
   * several processes may exceed `maxUnfinished` by the jobs that they contain.
   */
  create: writeCoalesced(
    "run",
    async (sql, calls: readonly CreateCall[]): Promise<CreateJobOutcome[]> => {
      const ranks = await rankJobs(sql, calls);
      const jobs = calls.flatMap(([job], index) => {
        const rank = ranks[index];
        return rank === undefined || rank === null ? [] : { job, row: toJobRow(job), rank };
      });
      for (const [job, key] of calls) {
        const outcome = key === null || jobs.length === 0 ? null : await useIdempotencyKey(sql, job, key);
        if (outcome !== null) return [outcome];
      }
      await together(
        insertRows(
          sql,
          "jobs",
          jobs.map(({ row }) => row),
        ),
        sql.work.add(
          jobs.map(({ job, row, rank }) => ({
            id: row.work_id,
            kind: "run",
            subject: job.id,
            group: job.group ?? "",
            dueAt: job.createdAt,
            rank,
          })),
        ),
      );
      const rowOf = new Map(jobs.map(({ row }) => [row["id"], row]));
      return calls.map(([{ id }]) => {
        const row = rowOf.get(id);
        return row === undefined
          ? { outcome: "full" }
          : { outcome: "created", job: toListedJob({ ...row, result: null }) };
      });
    },
    // Two transactions with several idempotency keys each could deadlock.
    { runsAlone: (job, key) => key !== null || job.request.length > largeText, ...withResult },
  ),

  /** What `create` would answer for an idempotency key that was used before, or null if it would create a job. */
  findByIdempotencyKey: read(
    async (sql, owner: string, key: Pick<IdempotencyKey, "key" | "bodyHash">): Promise<CreateJobOutcome | null> =>
      (await readIdempotencyKey(sql, owner, key)).outcome,
    withResult,
  ),

  /** `owner` null: of any owner. */
  find: read(
    async (sql, id: string, owner: string | null): Promise<ListedJob | null> => await findJob(sql, id, owner),
    withResult,
  ),

  /** Newest first, without results: those of one page may be larger than the memory. */
  list: read(async (sql, { owner, status, feature, subfeature, ...page }: JobFilter) => {
    const from = sql.part`
      from jobs where ${isOwnedBy(sql, owner)} and expires_at > ${Date.now()}
        and (cast(${status} as text) is null or status = ${status})
        and (cast(${feature} as text) is null or feature = ${feature})
        and (cast(${subfeature} as text) is null or subfeature = ${subfeature})`;
    return await listPage(sql, { columns: sizedJobColumns, from, ...page }, toSizedJob);
  }),

  /** The results of those of the given jobs that are finished. The caller bounds the sum of their sizes. */
  readResults: read(async (sql, ids: readonly string[]): Promise<{ id: string; result: string }[]> => {
    return await sql<{ id: string; result: string }>`
      select id, result from jobs where id in ${sql.list(ids)} and result is not null`;
  }, withResult),

  /** The ids of those items that are the current work of their job: a run, or the settling of a cancelled job. */
  findUnfinished: read(async (sql, items: readonly WorkItem[]): Promise<string[]> => {
    const rows = await sql<{ work_id: string }>`select work_id from jobs where ${isWorkOf(sql, items)}`;
    return rows.map(({ work_id }) => work_id);
  }),

  /**
   * Cancels an unfinished job, also while it runs. `owner` null: of any owner. Null as the actor: the owner of the job. A job that may have
   * called a provider keeps its checkpoint and gets new work: `begin` returns it, and `settle` ends it.
   */
  cancel: write(
    "deliver",
    async (
      sql,
      id: string,
      owner: string | null,
      cancellation: JobCancellation,
      actor: Actor | null = null,
    ): Promise<CancelJobOutcome> => {
      for (let attempt = 1; attempt <= cancelAttempts; attempt += 1) {
        const [row] = await sql`
          select * from jobs
          where id = ${id} and (cast(${owner} as text) is null or owner = ${owner}) and expires_at > ${Date.now()}`;
        if (row === undefined) return { outcome: "missing" };
        const job = toListedJob(row);
        if (job.status !== "processing")
          return job.result === cancellation.result ? { outcome: "unchanged", job } : { outcome: "finished" };
        const workId = row["work_id"] as string;
        // The work before the job: finishing a job locks them in the same order.
        await sql.work.remove("run", [workId]);
        const kept = row["kept"] ?? null;
        const settlingId = kept === null ? null : Bun.randomUUIDv7();
        const [cancelled] = await sql`
          update jobs set status = 'fail', finished_at = ${cancellation.at}, cost_pico_usd = null,
            cost_reason = 'not_answered', result = ${cancellation.result}, kept = ${kept}, work_id = ${settlingId}
          where id = ${id} and work_id = ${workId} and status = 'processing' returning *`;
        // The job was postponed in the meantime and has new work: try again.
        if (cancelled === undefined) continue;
        if (settlingId !== null) {
          const rank = await sql.work.nextRank();
          const { at: dueAt } = cancellation;
          await sql.work.add([{ id: settlingId, kind: "run", subject: id, group: job.provider, dueAt, rank }]);
        }
        const { owner: jobOwner, webhookReceiver: receiver } = job;
        const { delivery, at: now } = cancellation;
        if (receiver !== null) await addDeliveries(sql, [{ ...delivery, jobId: id, owner: jobOwner, receiver, now }]);
        const [before, after] = [{ status: "processing" }, { status: "fail" }];
        await recordChange(sql, actor, { action: "job.cancel", target: toJobTarget(job), before, after });
        return { outcome: "cancelled", job: toListedJob(cancelled) };
      }
      throw toUnavailable();
    },
    withResult,
  ),

  /** Deletes a finished job with its deliveries and their work. */
  remove: write(
    null,
    async (sql, id: string, owner: string): Promise<"deleted" | "processing" | "missing"> => {
      const deleted = await sql`
      delete from jobs where id = ${id} and owner = ${owner} and status <> 'processing' and work_id is null
      returning expires_at`;
      const [row] = deleted;
      if (row !== undefined) {
        await deleteDependents(sql, [id]);
        return Number(row["expires_at"]) > Date.now() ? "deleted" : "missing";
      }
      // A cancelled job that is not settled yet: it is hidden, and deleted with the expired ones.
      const now = Date.now();
      const hidden = await sql`
      update jobs set expires_at = ${now}
      where id = ${id} and owner = ${owner} and status <> 'processing' and expires_at > ${now} returning id`;
      if (hidden.length > 0) return "deleted";
      const [found] = await sql`
      select id from jobs where id = ${id} and owner = ${owner} and expires_at > ${now}`;
      return found === undefined ? "missing" : "processing";
    },
    withResult,
  ),

  /**
   * Starts a run. `countRun` is false when a saved step continues. A job that is not `processing` was cancelled and has to be settled. Null: the
   * job is finished, so its work was deleted, or the lease expired.
   */
  begin: writeCoalesced(
    null,
    async (sql, calls: readonly [item: WorkItem, options: { countRun: boolean }][]): Promise<(JobRecord | null)[]> => {
      const items = calls.map(([item]) => item);
      const isValid = await checkLeases(items, sql.work.extend, isFresh);
      const valid = calls.filter((_, index) => isValid[index]);
      const begun = new Map<string, JobRecord>();
      for (const countRun of [true, false]) {
        const some = valid.flatMap(([item, options]) => (options.countRun === countRun ? item : []));
        for (const row of await beginJobs(sql, some, countRun ? 1 : 0)) begun.set(row["work_id"] as string, toJob(row));
      }
      const notBegun = valid.flatMap(([item]) => (begun.has(item.id) ? [] : item));
      for (const row of await findUnsettled(sql, notBegun)) begun.set(row["work_id"] as string, toJob(row));
      const obsolete = notBegun.filter(({ id }) => !begun.has(id));
      if (obsolete.length > 0) await sql.work.end(obsolete);
      return items.map((item, index) => (isValid[index] ? (begun.get(item.id) ?? null) : null));
    },
  ),

  /** Ends the work of a cancelled job, whose costs have been reported. */
  settle: write(null, async (sql, item: WorkItem, jobId: string): Promise<void> => {
    if ((await sql.work.end([item])).length === 0) return;
    await sql`update jobs set kept = null, work_id = null where id = ${jobId} and work_id = ${item.id}`;
  }),

  /** Saves a checkpoint and postpones the work. False: the lease expired, or the job is finished. */
  saveStep: write(
    "run",
    async (sql, item: WorkItem, jobId: string, step: { checkpoint: string; dueAt: number }): Promise<boolean> => {
      const update = (workId: string) => sql`
        update jobs set kept = ${step.checkpoint}, work_id = ${workId} where id = ${jobId} and work_id = ${item.id} returning id`;
      return await postpone(sql, item, step.dueAt, update);
    },
  ),

  /** Postpones the work and leaves the job unchanged. `uncount`: the run that ends here does not count. */
  release: write(
    "run",
    async (sql, item: WorkItem, jobId: string, options: { dueAt: number; uncount: boolean }): Promise<boolean> => {
      const update = (workId: string) => sql`
        update jobs set runs = runs - ${options.uncount ? 1 : 0}, work_id = ${workId}
        where id = ${jobId} and work_id = ${item.id} returning id`;
      return await postpone(sql, item, options.dueAt, update);
    },
  ),

  /** Saves a checkpoint before a provider is called. False: the lease expired, so the provider must not be called. */
  saveCheckpoint: write(null, async (sql, item: WorkItem, jobId: string, checkpoint: string): Promise<boolean> => {
    if ((await sql.work.extend([item])).length === 0) return false;
    const updated = await sql`
      update jobs set kept = ${checkpoint} where id = ${jobId} and work_id = ${item.id} and status = 'processing' returning id`;
    return updated.length > 0;
  }),

  /** Ignored if `runs` is not the current run. */
  setProgress: write(null, async (sql, jobId: string, runs: number, progress: number): Promise<void> => {
    await sql`
      update jobs set progress = ${Math.round(progress * progressUnit)}
      where id = ${jobId} and runs = ${runs} and status = 'processing'`;
  }),

  /** Stores the result, deletes the work, and adds a delivery if there is a receiver. True for one call only. */
  finish: writeCoalesced(
    "deliver",
    async (sql, calls: readonly FinishCall[]): Promise<boolean[]> => {
      const items = calls.map(([item]) => item);
      const isValid = await checkLeases(items, sql.work.end);
      const finished = await together(...calls.map((call, index) => (isValid[index] ? finishOne(sql, call) : null)));
      const newDeliveries = finished.flatMap((job, index) => {
        const [, jobId, result, delivery] = calls[index] as FinishCall;
        if (job === null || job.webhook_receiver === null || delivery === null) return [];
        return { ...delivery, jobId, owner: job.owner, receiver: job.webhook_receiver, now: result.finishedAt };
      });
      await addDeliveries(sql, newDeliveries);
      return finished.map((job) => job !== null);
    },
    {
      runsAlone: (_item, _jobId, { result }) => result.length > largeText,
      ...withResult,
    },
  ),

  /** Returns the number of deleted jobs. */
  deleteExpired: sweep(async (sql, now: number, limit: number): Promise<number> => {
    const isSettled = sql.part`(work_id is null or status = 'processing' or finished_at < ${now - settlingMs})`;
    const from = sql.part`from jobs where ${isSettled} and`;
    const range = { from, timeColumn: "expires_at", until: now, limit, returning: ["id", "work_id"] } as const;
    const deleted = await deleteOldest<{ id: string; work_id: string | null }>(sql, range);
    await sql.work.remove(
      "run",
      deleted.flatMap((job) => job.work_id ?? []),
    );
    await deleteDependents(
      sql,
      deleted.map((job) => job.id),
    );
    return deleted.length;
  }),
};

type CreateCall = readonly [job: NewJob, key: IdempotencyKey | null];

/**
 * The rank of each new job, or null if its owner has reached `maxUnfinished`. Ranks implement round-robin between owners: the rank of a job is
 * the rank of the run that is taken next plus the number of unfinished jobs of its owner. A single job of one owner is therefore taken next,
 * however many jobs another owner has queued.
 */
async function rankJobs(sql: Sql, calls: readonly CreateCall[]): Promise<(number | null)[]> {
  const owners = [...new Set(calls.map(([job]) => job.owner))];
  const [counted, nextRank] = await together(
    sql<{ owner: string; unfinished: bigint }>`
      select owner, count(*) as unfinished from jobs
      where status = 'processing' and owner in ${sql.list(owners)} group by owner`,
    sql.work.nextRank(),
  );
  const unfinished = new Map(counted.map((row) => [row.owner, Number(row.unfinished)]));
  return calls.map(([{ owner, maxUnfinished = Number.POSITIVE_INFINITY }]) => {
    const count = unfinished.get(owner) ?? 0;
    if (count >= maxUnfinished) return null;
    unfinished.set(owner, count + 1);
    return nextRank + count;
  });
}

type FinishCall = readonly [item: WorkItem, jobId: string, result: JobResult, delivery: { id: string } | null];

interface FinishedJob {
  readonly owner: string;
  readonly webhook_receiver: string | null;
}

async function findJob(sql: Sql, id: string, owner: string | null): Promise<ListedJob | null> {
  const [row] = await sql`
    select ${sql.names(listedJobColumns)} from jobs
    where id = ${id} and ${isOwnedBy(sql, owner)} and expires_at > ${Date.now()}`;
  return row === undefined ? null : toListedJob(row);
}

/** Returns the rows of the unfinished jobs. */
async function beginJobs(sql: Sql, items: readonly WorkItem[], runs: number): Promise<SqlRow[]> {
  if (items.length === 0) return [];
  return await sql`
    update jobs set runs = runs + ${runs}
    where ${isWorkOf(sql, items)} and status = 'processing' and expires_at > ${Date.now()}
    returning *`;
}

/** Returns the rows of the cancelled jobs that these items settle. */
async function findUnsettled(sql: Sql, items: readonly WorkItem[]): Promise<SqlRow[]> {
  if (items.length === 0) return [];
  return await sql`select * from jobs where ${isWorkOf(sql, items)} and status <> 'processing'`;
}

function isWorkOf(sql: Sql, items: readonly WorkItem[]) {
  return sql.part`
    id in ${sql.list(items.map(({ subject }) => subject))} and work_id in ${sql.list(items.map(({ id }) => id))}`;
}

async function finishOne(sql: Sql, [item, jobId, result]: FinishCall): Promise<FinishedJob | null> {
  const [job] = await sql<FinishedJob>`
    update jobs set status = ${result.status}, provider = ${result.provider}, model = ${result.model},
      finished_at = ${result.finishedAt}, cost_pico_usd = ${result.cost}, cost_reason = ${result.costReason},
      result = ${result.result}, kept = null, work_id = null
    where id = ${jobId} and work_id = ${item.id} and status = 'processing'
    returning owner, webhook_receiver`;
  return job ?? null;
}

/** Replaces the work; `update` stores the new id with the job. False: the lease expired, or the job is finished. */
async function postpone(
  sql: Sql,
  item: WorkItem,
  dueAt: number,
  update: (workId: string) => Promise<SqlRow[]>,
): Promise<boolean> {
  if ((await sql.work.end([item])).length === 0) return false;
  const id = Bun.randomUUIDv7();
  // The job has already waited for its turn, so it continues at the front.
  const rank = await sql.work.nextRank();
  await sql.work.add([{ id, kind: "run", subject: item.subject, group: item.group, dueAt, rank }]);
  return (await update(id)).length > 0;
}

/** Stores the idempotency key of a new job, or returns the outcome for a key that was used before. */
async function useIdempotencyKey(sql: Sql, job: NewJob, key: IdempotencyKey): Promise<CreateJobOutcome | null> {
  for (let attempt = 1; attempt <= keyAttempts; attempt += 1) {
    // Waits for a concurrent transaction with the same key, so that the next statement reads what that transaction committed.
    const inserted = await sql`
      insert into job_marks (owner, mark, body_hash, job_id, expires_at)
      values (${job.owner}, ${key.key}, ${key.bodyHash}, ${job.id}, ${key.expiresAt})
      on conflict (owner, mark) do nothing returning job_id`;
    if (inserted.length > 0) return null;
    const { jobId, outcome } = await readIdempotencyKey(sql, job.owner, key);
    if (outcome !== null) return outcome;
    // The key or its job has expired.
    if (jobId !== null)
      await sql`delete from job_marks where owner = ${job.owner} and mark = ${key.key} and job_id = ${jobId}`;
  }
  throw toUnavailable();
}

/** `outcome` is null if the key was not used, or if it or its job has expired. */
async function readIdempotencyKey(
  sql: Sql,
  owner: string,
  key: Pick<IdempotencyKey, "key" | "bodyHash">,
): Promise<{ jobId: string | null; outcome: CreateJobOutcome | null }> {
  const [found] = await sql<{ body_hash: string; job_id: string; expires_at: bigint }>`
    select body_hash, job_id, expires_at from job_marks where owner = ${owner} and mark = ${key.key}`;
  if (found === undefined) return { jobId: null, outcome: null };
  const job = found.expires_at > Date.now() ? await findJob(sql, found.job_id, owner) : null;
  if (job === null) return { jobId: found.job_id, outcome: null };
  const isSame = found.body_hash === key.bodyHash;
  return { jobId: found.job_id, outcome: isSame ? { outcome: "same", job } : { outcome: "conflict" } };
}

/** Idempotency keys are deleted with their job, because an expired one does no harm. */
async function deleteDependents(sql: Sql, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return;
  await sql`delete from job_marks where job_id in ${sql.list(jobIds)}`;
  await deleteDeliveries(sql, jobIds);
}
