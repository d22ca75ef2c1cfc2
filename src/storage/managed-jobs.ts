// Statements about the jobs of all owners, for the operator. Results are not read here, apart from the messages of failed jobs: they may be
// large, and not every operator may read them.

import type { DeliveryState, JobStatus, ListedJob } from "./job-records.ts";
import { listedJobColumns, toListedJob } from "./job-records.ts";
import { isOwnedBy, read, together } from "./operation.ts";
import type { Sql, SqlFragment, SqlRow } from "./sql.ts";

export interface ManagedJobRecord {
  /** `result` is null, except for a job that failed. */
  readonly job: ListedJob;
  readonly keyName: string | null;
  /** Of the last delivery; null before the first delivery. */
  readonly deliveryState: DeliveryState | null;
}

export interface ManagedJobDetail extends ManagedJobRecord {
  /** As JSON text. */
  readonly request: string;
  readonly resultBytes: number | null;
}

export interface ManagedJobFilter {
  /** Null: jobs of all owners. */
  readonly owner: string | null;
  readonly keyId: string | null;
  readonly status: JobStatus | null;
  readonly feature: string | null;
  readonly subfeature: string | null;
  readonly provider: string | null;
  readonly from: number | null;
  readonly to: number | null;
  /** The job after which the page begins, towards the past. */
  readonly after: { readonly time: number; readonly id: string } | null;
  readonly limit: number;
}

// A longer result is not the message of an error.
const maxErrorBytes = 16_384;
const columns = listedJobColumns.filter((name) => name !== "result");

export const managedJobStatements = {
  /** Newest first. */
  list: read(async (sql, filter: ManagedJobFilter): Promise<ManagedJobRecord[]> => {
    const { owner, keyId, status, feature, subfeature, provider, from, to, after, limit } = filter;
    let where = sql.part`${isOwnedBy(sql, owner)} and expires_at > ${Date.now()} and created_at >= ${from ?? 0}`;
    if (to !== null) where = sql.part`${where} and created_at < ${to}`;
    if (keyId !== null) where = sql.part`${where} and key_id = ${keyId}`;
    if (status !== null) where = sql.part`${where} and status = ${status}`;
    if (feature !== null) where = sql.part`${where} and feature = ${feature}`;
    if (subfeature !== null) where = sql.part`${where} and subfeature = ${subfeature}`;
    if (provider !== null) where = sql.part`${where} and provider = ${provider}`;
    if (after !== null) where = sql.part`${where} and (created_at, id) < (${after.time}, ${after.id})`;
    const rows = await sql`
      select ${sql.names(columns)}, ${errorResult(sql)} as result
      from jobs where ${where} order by created_at desc, id desc limit ${limit}`;
    return await describeJobs(sql, rows);
  }),

  /** `owner` null: of any owner. */
  find: read(async (sql, id: string, owner: string | null): Promise<ManagedJobDetail | null> => {
    const rows = await sql`
      select ${sql.names(columns)}, ${errorResult(sql)} as result, request, octet_length(result) as result_bytes
      from jobs where id = ${id} and ${isOwnedBy(sql, owner)} and expires_at > ${Date.now()}`;
    const [row] = rows;
    const [found] = await describeJobs(sql, rows);
    if (row === undefined || found === undefined) return null;
    const bytes = row["result_bytes"] ?? null;
    return { ...found, request: row["request"] as string, resultBytes: bytes === null ? null : Number(bytes) };
  }),
};

function errorResult(sql: Sql): SqlFragment {
  return sql.part`case when status = 'fail' and octet_length(result) <= ${maxErrorBytes} then result end`;
}

async function describeJobs(sql: Sql, rows: readonly SqlRow[]): Promise<ManagedJobRecord[]> {
  if (rows.length === 0) return [];
  const jobs = rows.map(toListedJob);
  const ids = jobs.map(({ id }) => id);
  const keyIds = [...new Set(jobs.map(({ keyId }) => keyId))];
  const [deliveries, keys] = await together(
    sql<{ job_id: string; state: DeliveryState }>`
      select job_id, state from deliveries
      where job_id in ${sql.list(ids)} and not exists (
        select later.id from deliveries as later
        where later.job_id = deliveries.job_id and (later.created_at, later.id) > (deliveries.created_at, deliveries.id))`,
    sql<{ id: string; name: string }>`select id, name from api_keys where id in ${sql.list(keyIds)}`,
  );
  const states = new Map(deliveries.map(({ job_id, state }) => [job_id, state]));
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return jobs.map((job) => ({
    job,
    keyName: names.get(job.keyId) ?? null,
    deliveryState: states.get(job.id) ?? null,
  }));
}
