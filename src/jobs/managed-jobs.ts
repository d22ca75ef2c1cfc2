// Jobs as operators see them, over HTTP and on the command line: of all owners, or of one team. Changes are made on behalf of an actor, and the
// store records them.

import { ownerOfTeam, readOwner } from "../access/caller.ts";
import { readTimeRange } from "../access/time-range.ts";
import type { DeliveryObject } from "../contract/async-jobs.ts";
import type {
  ListManagedJobsRequest,
  ManagedJob,
  ManagedJobDetail,
  ManagedJobResult,
} from "../contract/managed-jobs.ts";
import { toCursor } from "../contract/usage.ts";
import { GatewayError } from "../errors.ts";
import type { Actor } from "../storage/audit.ts";
import type { ManagedJobRecord } from "../storage/managed-jobs.ts";
import { toJobTarget } from "../storage/owner.ts";
import type { DeliveryStore, JobStore, ManagedJobStore, Storage } from "../storage/storage.ts";
import type { StoredRequest } from "./job-request.ts";
import { cancelJob, redeliverJob, refuseJob, toDeliveryObject, toJobObject } from "./jobs.ts";

export interface ManagedJobsDependencies {
  readonly jobs: JobStore;
  readonly managedJobs: ManagedJobStore;
  readonly deliveries: DeliveryStore;
  readonly audit: Pick<Storage["audit"], "insert">;
}

export type ManagedJobs = ReturnType<typeof createManagedJobs>;

const maxDeliveries = 100;

/** `ofTeam`, or the team of the actor: only jobs of this team exist; null: all. */
export function createManagedJobs(stores: ManagedJobsDependencies) {
  const { jobs, managedJobs, deliveries, audit } = stores;

  async function find(id: string, ofTeam: string | null): Promise<ManagedJobDetail> {
    const owner = ownerOrNull(ofTeam);
    const [found, delivered] = await Promise.all([
      managedJobs.find(id, owner),
      deliveries.listForJob(id, owner, maxDeliveries),
    ]);
    if (found === null || delivered === null) refuseJob("job_not_found");
    const { requestId } = JSON.parse(found.request) as StoredRequest;
    return {
      ...toManagedJob(found),
      request_id: requestId,
      result_bytes: found.resultBytes,
      deliveries: delivered.map(toDeliveryObject).map(withoutQuery),
    };
  }

  return {
    find,

    async list(request: ListManagedJobsRequest, ofTeam: string | null) {
      const { status = null, task, provider = null, key = null, team = ofTeam, limit, cursor = null } = request;
      if (ofTeam !== null && team !== ofTeam)
        throw new GatewayError("team_not_found", "There is no team with this name.");
      const [feature = null, subfeature = null] = task?.split("/", 2) ?? [];
      // One job more than the page has shows whether another page follows.
      const found = await managedJobs.list({
        ...readTimeRange(request, Date.now()),
        ...{ owner: ownerOrNull(team), keyId: key, status, feature, subfeature, provider },
        ...{ after: cursor, limit: limit + 1 },
      });
      const items = found.slice(0, limit);
      const last = found.length > limit ? items.at(-1)?.job : undefined;
      return {
        items: items.map(toManagedJob),
        next_cursor: last === undefined ? null : toCursor({ time: last.createdAt, id: last.id }),
      };
    },

    /** Results are content of callers, so the audit log says who read them. */
    async readResult(id: string, actor: Actor): Promise<ManagedJobResult> {
      const found = (await jobs.find(id, ownerOrNull(actor.team))) ?? refuseJob("job_not_found");
      await audit.insert(actor, { action: "job.read_result", target: toJobTarget(found) });
      const job = toJobObject(found);
      const { job_id, status, output, error } = job;
      const original = "original_response" in job ? { original_response: job.original_response } : {};
      return { job_id, status, output, error, ...original };
    },

    async cancel(id: string, actor: Actor): Promise<ManagedJobDetail> {
      await cancelJob(stores, { id, owner: ownerOrNull(actor.team), actor });
      return await find(id, actor.team);
    },

    async redeliver(id: string, actor: Actor): Promise<DeliveryObject> {
      return withoutQuery(await redeliverJob(stores, { id, owner: ownerOrNull(actor.team), actor }));
    },
  };
}

function ownerOrNull(team: string | null): string | null {
  return team === null ? null : ownerOfTeam(team);
}

function toManagedJob({ job, keyName, deliveryState }: ManagedJobRecord): ManagedJob {
  const { webhookReceiver: receiver } = job;
  const { output: _, public_id: __, progress = null, original_response: ___, ...shown } = toJobObject(job);
  return {
    ...shown,
    expires_at: new Date(job.expiresAt).toISOString(),
    progress,
    runs: job.runs,
    team: readOwner(job.owner).team,
    key_id: job.keyId,
    key_name: keyName,
    webhook: receiver === null ? null : { receiver: removeQuery(receiver), state: deliveryState },
  };
}

function withoutQuery(delivery: DeliveryObject): DeliveryObject {
  return { ...delivery, receiver: removeQuery(delivery.receiver) };
}

/** The query of an address often holds a token of the receiver, which is the owner's secret. */
function removeQuery(address: string): string {
  const url = URL.parse(address);
  return url === null ? "" : `${url.origin}${url.pathname}`;
}
