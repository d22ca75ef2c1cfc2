// Statements about jobs: what callers asked for to be done later, what came of it, and the work that is left for it.
//
// A job and its work are written together. Who works on a job shows the piece of work that it took: whoever lost it in the
// meantime, to a worker that took over or to the end of the job, changes nothing any more.
// What belongs to somebody else, was deleted or has expired is answered as what never existed.

import { addDeliveries, deleteDeliveries } from "./deliveries.ts";
import type {
  CancelJobOutcome,
  CreateJobOutcome,
  IdempotencyMark,
  JobCancellation,
  JobFilter,
  JobRecord,
  JobResult,
  ListedJob,
  NewJob,
  WorkItem,
} from "./job-records.ts";
import { largeText, progressUnit, toJob, toJobRow, toListedJob } from "./job-rows.ts";
import { insertRows, read, together, write, writeJoined } from "./operation.ts";
import { toUnavailable } from "./outage.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { findHeld, isFresh } from "./work-queue.ts";

// A mark that changes under our hands more often than this means a store in trouble.
const markAttempts = 5;
// A job is postponed about once a second at most.
const cancelAttempts = 5;
// Tens of megabytes are on the disk by then.
const largeResultMs = 5_000;

export const jobStatements = {
  /**
   * The job and its work, due at once. With a mark there is at most one job for its owner and key while the mark lives. Batches of several
   * processes that are created at the same moment may exceed `maxUnfinished` by what is in them.
   */
  create: writeJoined(
    "run",
    async (sql, calls: readonly CreateCall[]): Promise<CreateJobOutcome[]> => {
      const turns = await findTurns(sql, calls);
      const jobs = calls.flatMap(([job], index) => {
        const rank = turns[index];
        return rank === undefined || rank === null ? [] : { job, row: toJobRow(job), rank };
      });
      for (const [job, mark] of calls) {
        const marked = mark === null || jobs.length === 0 ? null : await takeMark(sql, job, mark);
        if (marked !== null) return [marked];
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
    // Two transactions with several marks each could wait for each other.
    { isAlone: (job, mark) => mark !== null || job.request.length > largeText },
  ),

  /** The job that a mark leads to: what `create` would say of it, or null when it would make one. */
  findMarked: read(
    async (sql, owner: string, mark: Pick<IdempotencyMark, "key" | "bodyHash">): Promise<CreateJobOutcome | null> =>
      (await readMark(sql, owner, mark)).outcome,
  ),

  find: read(async (sql, id: string, owner: string): Promise<ListedJob | null> => await findJob(sql, id, owner)),

  /** Newest first. */
  list: read(async (sql, filter: JobFilter): Promise<{ total: number; jobs: ListedJob[] }> => {
    const { owner, status, feature, subfeature, limit, offset } = filter;
    const now = Date.now();
    const [count] = await sql<{ total: bigint }>`
      select count(*) as total from jobs
      where owner = ${owner} and expires_at > ${now}
        and (cast(${status} as text) is null or status = ${status})
        and (cast(${feature} as text) is null or feature = ${feature})
        and (cast(${subfeature} as text) is null or subfeature = ${subfeature})`;
    const rows = await sql`
      select id, owner, key_id, feature, subfeature, provider, model, status, created_at, finished_at, expires_at, runs, progress,
        cost_pico_usd, cost_reason, webhook_receiver, result
      from jobs
      where owner = ${owner} and expires_at > ${now}
        and (cast(${status} as text) is null or status = ${status})
        and (cast(${feature} as text) is null or feature = ${feature})
        and (cast(${subfeature} as text) is null or subfeature = ${subfeature})
      order by created_at desc, id desc limit ${limit} offset ${offset}`;
    return { total: Number(count?.total ?? 0), jobs: rows.map(toListedJob) };
  }),

  /** Of all owners, or of one: those that are queued or running, the oldest first. */
  listUnfinished: read(async (sql, owner: string | null, limit: number, offset: number): Promise<ListedJob[]> => {
    const rows = await sql`
      select id, owner, key_id, feature, subfeature, provider, model, status, created_at, finished_at, expires_at, runs, progress,
        cost_pico_usd, cost_reason, webhook_receiver, result
      from jobs
      where status = 'processing' and expires_at > ${Date.now()} and (cast(${owner} as text) is null or owner = ${owner})
      order by created_at, id limit ${limit} offset ${offset}`;
    return rows.map(toListedJob);
  }),

  /** Which of these are not over: the others need not be worked on. */
  findUnfinished: read(async (sql, ids: readonly string[]): Promise<string[]> => {
    const rows = await sql<{ id: string }>`
      select id from jobs where id in ${sql.list(ids)} and status = 'processing'`;
    return rows.map(({ id }) => id);
  }),

  /** Ends a job that is not over, whoever works on it. `owner` null: of any owner. */
  cancel: write(
    "deliver",
    async (sql, id: string, owner: string | null, cancellation: JobCancellation): Promise<CancelJobOutcome> => {
      for (let attempt = 1; attempt <= cancelAttempts; attempt += 1) {
        const [row] = await sql`
          select * from jobs
          where id = ${id} and (cast(${owner} as text) is null or owner = ${owner}) and expires_at > ${Date.now()}`;
        if (row === undefined) return { outcome: "missing" };
        const job = toListedJob(row);
        if (job.status !== "processing")
          return job.result === cancellation.result ? { outcome: "unchanged", job } : { outcome: "finished" };
        const workId = row["work_id"] as string;
        // The work first, in the order of those who finish a job.
        await sql.work.remove("run", [workId]);
        const [cancelled] = await sql`
          update jobs set status = 'fail', finished_at = ${cancellation.at}, cost_pico_usd = null,
            cost_reason = 'not_answered', result = ${cancellation.result}, kept = null, work_id = null
          where id = ${id} and work_id = ${workId} and status = 'processing' returning *`;
        // It was postponed in between and has other work.
        if (cancelled === undefined) continue;
        if (job.webhookReceiver !== null) {
          const { delivery, at: now } = cancellation;
          const group = URL.parse(job.webhookReceiver)?.host ?? "";
          await addDeliveries(sql, [
            { ...delivery, group, jobId: id, owner: job.owner, receiver: job.webhookReceiver, now },
          ]);
        }
        return { outcome: "cancelled", job: toListedJob(cancelled) };
      }
      throw toUnavailable();
    },
  ),

  /** With its deliveries and their work. */
  remove: write(null, async (sql, id: string, owner: string): Promise<"deleted" | "processing" | "missing"> => {
    const deleted = await sql`
      delete from jobs where id = ${id} and owner = ${owner} and status <> 'processing' returning expires_at`;
    const [row] = deleted;
    if (row !== undefined) {
      await deleteBelongings(sql, [id]);
      return Number(row["expires_at"]) > Date.now() ? "deleted" : "missing";
    }
    const [kept] = await sql`
      select id from jobs where id = ${id} and owner = ${owner} and expires_at > ${Date.now()}`;
    return kept === undefined ? "missing" : "processing";
  }),

  /**
   * The whole record for who works on it; `countRun` is false when a kept step goes on. Null: the job is over and its work with
   * it, or the work is not the shower's any more.
   */
  begin: writeJoined(
    null,
    async (sql, calls: readonly [item: WorkItem, options: { countRun: boolean }][]): Promise<(JobRecord | null)[]> => {
      const items = calls.map(([item]) => item);
      const isHeld = await findHeld(items, sql.work.extend, isFresh);
      const held = calls.filter((_, index) => isHeld[index]);
      const begun = new Map<string, JobRecord>();
      for (const countRun of [true, false]) {
        const some = held.flatMap(([item, options]) => (options.countRun === countRun ? item : []));
        for (const row of await beginJobs(sql, some, countRun ? 1 : 0)) begun.set(row["work_id"] as string, toJob(row));
      }
      const left = held.flatMap(([item]) => (begun.has(item.id) ? [] : item));
      if (left.length > 0) await sql.work.end(left);
      return items.map((item, index) => (isHeld[index] ? (begun.get(item.id) ?? null) : null));
    },
  ),

  /** Keeps a step and makes the work due later. False: it is not the shower's any more, or the job is over. */
  keepStep: write(
    "run",
    async (sql, item: WorkItem, jobId: string, step: { kept: string; dueAt: number }): Promise<boolean> => {
      const workId = await postpone(sql, item, step.dueAt);
      if (workId === null) return false;
      const updated = await sql`
        update jobs set kept = ${step.kept}, work_id = ${workId} where id = ${jobId} and work_id = ${item.id} returning id`;
      return updated.length > 0;
    },
  ),

  /** Makes the work due later, the job as it was. `uncount`: the run that is given up does not count. */
  putBack: write(
    "run",
    async (sql, item: WorkItem, jobId: string, options: { dueAt: number; uncount: boolean }): Promise<boolean> => {
      const workId = await postpone(sql, item, options.dueAt);
      if (workId === null) return false;
      const updated = await sql`
        update jobs set runs = runs - ${options.uncount ? 1 : 0}, work_id = ${workId}
        where id = ${jobId} and work_id = ${item.id} returning id`;
      return updated.length > 0;
    },
  ),

  /** From now on a provider may have been called. False: the work is not the shower's any more, so nobody may be called. */
  noteCalled: write(null, async (sql, item: WorkItem, jobId: string, kept: string): Promise<boolean> => {
    if (!(await isHeld(sql, item))) return false;
    const updated = await sql`
      update jobs set kept = ${kept} where id = ${jobId} and work_id = ${item.id} and status = 'processing' returning id`;
    return updated.length > 0;
  }),

  /** Of a run that was given up it is not heard. */
  tellProgress: write(null, async (sql, jobId: string, runs: number, progress: number): Promise<void> => {
    await sql`
      update jobs set progress = ${Math.round(progress * progressUnit)}
      where id = ${jobId} and runs = ${runs} and status = 'processing'`;
  }),

  /** The result, the end of the work, and a delivery due at once where there is a receiver. True for one caller only. */
  finish: writeJoined(
    "deliver",
    async (sql, calls: readonly FinishCall[]): Promise<boolean[]> => {
      const items = calls.map(([item]) => item);
      const isHeld = await findHeld(items, sql.work.end);
      const finished = await together(...calls.map((call, index) => (isHeld[index] ? finishOne(sql, call) : null)));
      const reported = finished.flatMap((job, index) => {
        const [, jobId, result, delivery] = calls[index] as FinishCall;
        if (job === null || job.webhook_receiver === null || delivery === null) return [];
        return { ...delivery, jobId, owner: job.owner, receiver: job.webhook_receiver, now: result.finishedAt };
      });
      await addDeliveries(sql, reported);
      return finished.map((job) => job !== null);
    },
    {
      isAlone: (_item, _jobId, { result }) => result.length > largeText,
      deadlineMs: largeResultMs,
    },
  ),

  /** How many were deleted, the longest expired first. Fewer than `limit`: no more are left, or another replica is at them. */
  deleteExpired: write(null, async (sql, now: number, limit: number): Promise<number> => {
    const [last] = await sql<{ expires_at: bigint; id: string }>`
      select expires_at, id from jobs where expires_at <= ${now}
      order by expires_at, id limit 1 offset ${limit - 1}`;
    // A range of the index and not a list of ids: two replicas that clean up at once then lock rows in the same order.
    const deleted =
      last === undefined
        ? await sql<DeletedJob>`delete from jobs where expires_at <= ${now} returning id, work_id`
        : await sql<DeletedJob>`
            delete from jobs where (expires_at, id) <= (${last.expires_at}, ${last.id}) returning id, work_id`;
    await sql.work.remove(
      "run",
      deleted.flatMap((job) => job.work_id ?? []),
    );
    await deleteBelongings(
      sql,
      deleted.map((job) => job.id),
    );
    return deleted.length;
  }),
};

type CreateCall = readonly [job: NewJob, mark: IdempotencyMark | null];

/**
 * The rank of each new job, or null when its owner has as many unfinished jobs as it may have. Owners take turns: each of their unfinished jobs
 * puts the next one a round further behind the run that is taken next. A single job of one owner is therefore at the front, however
 * many another owner has queued before, and a long queue is reached as the front moves on.
 */
async function findTurns(sql: Sql, calls: readonly CreateCall[]): Promise<(number | null)[]> {
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

type FinishCall = readonly [
  item: WorkItem,
  jobId: string,
  result: JobResult,
  delivery: { id: string; group: string } | null,
];

interface FinishedJob {
  readonly owner: string;
  readonly webhook_receiver: string | null;
}

interface DeletedJob {
  readonly id: string;
  readonly work_id: string | null;
}

async function findJob(sql: Sql, id: string, owner: string): Promise<ListedJob | null> {
  const [row] = await sql`
    select id, owner, key_id, feature, subfeature, provider, model, status, created_at, finished_at, expires_at, runs, progress,
      cost_pico_usd, cost_reason, webhook_receiver, result
    from jobs where id = ${id} and owner = ${owner} and expires_at > ${Date.now()}`;
  return row === undefined ? null : toListedJob(row);
}

/** The rows of those that are not over, once each. */
async function beginJobs(sql: Sql, items: readonly WorkItem[], runs: number): Promise<SqlRow[]> {
  if (items.length === 0) return [];
  return await sql`
    update jobs set runs = runs + ${runs}
    where id in ${sql.list(items.map(({ subject }) => subject))} and work_id in ${sql.list(items.map(({ id }) => id))}
      and status = 'processing' and expires_at > ${Date.now()}
    returning *`;
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

async function isHeld(sql: Sql, item: WorkItem): Promise<boolean> {
  return (await sql.work.extend([item])).length > 0;
}

/** The id of the work that replaces it, or null when it is not the shower's any more. */
async function postpone(sql: Sql, item: WorkItem, dueAt: number): Promise<string | null> {
  if ((await sql.work.end([item])).length === 0) return null;
  const id = Bun.randomUUIDv7();
  // It has had its turn: it goes on at the front.
  const rank = await sql.work.nextRank();
  await sql.work.add([{ id, kind: "run", subject: item.subject, group: item.group, dueAt, rank }]);
  return id;
}

/** Sets the mark for a new job, or says what the mark that is there already leads to. */
async function takeMark(sql: Sql, job: NewJob, mark: IdempotencyMark): Promise<CreateJobOutcome | null> {
  for (let attempt = 1; attempt <= markAttempts; attempt += 1) {
    // Waits for another that sets the same mark at this moment, so that what is read next is what that one made of it.
    const set = await sql`
      insert into job_marks (owner, mark, body_hash, job_id, expires_at)
      values (${job.owner}, ${mark.key}, ${mark.bodyHash}, ${job.id}, ${mark.expiresAt})
      on conflict (owner, mark) do nothing returning job_id`;
    if (set.length > 0) return null;
    const { jobId, outcome } = await readMark(sql, job.owner, mark);
    if (outcome !== null) return outcome;
    // It leads nowhere any more.
    if (jobId !== null)
      await sql`delete from job_marks where owner = ${job.owner} and mark = ${mark.key} and job_id = ${jobId}`;
  }
  throw toUnavailable();
}

/** `outcome` is null where the mark is not set, or leads nowhere any more. */
async function readMark(
  sql: Sql,
  owner: string,
  mark: Pick<IdempotencyMark, "key" | "bodyHash">,
): Promise<{ jobId: string | null; outcome: CreateJobOutcome | null }> {
  const [found] = await sql<{ body_hash: string; job_id: string; expires_at: bigint }>`
    select body_hash, job_id, expires_at from job_marks where owner = ${owner} and mark = ${mark.key}`;
  if (found === undefined) return { jobId: null, outcome: null };
  const job = found.expires_at > Date.now() ? await findJob(sql, found.job_id, owner) : null;
  if (job === null) return { jobId: found.job_id, outcome: null };
  const isSame = found.body_hash === mark.bodyHash;
  return { jobId: found.job_id, outcome: isSame ? { outcome: "same", job } : { outcome: "conflict" } };
}

/** Marks have no end of their own: one that is out of date is passed by, and goes with its job. */
async function deleteBelongings(sql: Sql, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return;
  await sql`delete from job_marks where job_id in ${sql.list(jobIds)}`;
  await deleteDeliveries(sql, jobIds);
}
