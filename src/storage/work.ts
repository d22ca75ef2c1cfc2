// Statements about the work queue itself. Work is added and ended by the statements about jobs and deliveries.

import { read, write } from "./operation.ts";
import type { TakeWork, WorkCounts, WorkItem } from "./work-queue.ts";

export const workStatements = {
  /** Leases work that is due, in the order of its rank and due time. A lease that is not extended for half a minute at most expires. */
  take: write(null, async (sql, request: TakeWork): Promise<WorkItem[]> => {
    const takenAt = Date.now();
    return (await sql.work.take(request)).map((item) => ({ ...item, takenAt }));
  }),

  /** Returns the ids whose lease was still valid and is now extended. */
  extend: write(null, async (sql, items: readonly WorkItem[]): Promise<string[]> => await sql.work.extend(items)),

  /** How much work there is, by kind, for the metrics. */
  count: read(async (sql): Promise<WorkCounts[]> => await sql.work.count()),
};
