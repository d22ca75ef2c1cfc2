// Statements about work that is to be done: runs of jobs, and deliveries. It is added and ended by the statements about those.

import type { TakeWork, WorkItem } from "./job-records.ts";
import { read, write } from "./operation.ts";
import type { WorkCounts } from "./work-queue.ts";

export const workStatements = {
  /** Due work, the longest due first. It is the taker's until it stops extending it for half a minute at most. */
  take: write(null, async (sql, what: TakeWork): Promise<WorkItem[]> => {
    const takenAt = Date.now();
    return (await sql.work.take(what)).map((item) => ({ ...item, takenAt }));
  }),

  /** The heartbeat. Returns the ids that are still held. */
  extend: write(null, async (sql, items: readonly WorkItem[]): Promise<string[]> => await sql.work.extend(items)),

  count: read(async (sql): Promise<WorkCounts> => await sql.work.count()),
};
