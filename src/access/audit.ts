// The audit log: who changed what. Changes of keys, teams and sessions are recorded in the transaction of the change (storage/audit.ts).
// Other changes have a record that is written before the change, and completed after it.

import type { AuditObject, ListAuditRequest } from "../contract/audit.ts";
import { toCursor } from "../contract/usage.ts";
import { GatewayError, messageOf } from "../errors.ts";
import { type CsvCell, toCsv } from "../lib/csv.ts";
import { minuteMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import type { Actor, AuditEvent, AuditFilter, AuditRecord } from "../storage/audit.ts";
import type { Storage } from "../storage/storage.ts";
import { readTimeRange } from "./time-range.ts";

export type Audit = ReturnType<typeof createAudit>;

/** What a change outside of the store states about itself, while it is made. */
export interface AuditNote {
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
  /** The name of the object. */
  name?: string;
  /** The team that the object belongs to. */
  team?: string | null;
}

interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** The last record if more follow. */
  readonly next: AuditRecord | null;
}

const csvPageSize = 1_000;
// Refused sign-ins are recorded, but an attacker must not fill the store with them.
const maxRefusalsPerMinute = 60;

export function createAudit(store: Storage["audit"], log: Log, now: () => number = Date.now) {
  let refusals = 0;
  let windowStart = 0;

  function toFilter(request: ListAuditRequest, ofTeam: string | null): AuditFilter {
    const { from, to, actor = null, action = null, target = null, outcome = null, limit, cursor = null } = request;
    const { team = null } = request;
    if (ofTeam !== null && team !== null && team !== ofTeam)
      throw new GatewayError("team_not_found", "There is no team with this name.");
    const range = readTimeRange({ from, to }, now());
    return { ...range, team: ofTeam ?? team, actor, action, target, outcome, after: cursor, limit };
  }

  async function readPage(filter: AuditFilter): Promise<AuditPage> {
    // One record more than the page has shows whether another page follows.
    const found = await store.list({ ...filter, limit: filter.limit + 1 });
    const records = found.slice(0, filter.limit);
    const last = records.at(-1);
    return { records, next: found.length > filter.limit && last !== undefined ? last : null };
  }

  async function* writePages(filter: AuditFilter, first: AuditPage): AsyncGenerator<string> {
    yield toCsv([csvColumns]);
    for (let page = first; ; page = await readPage({ ...filter, after: page.next })) {
      yield toCsv(page.records.map(toCsvRow));
      if (page.next === null) return;
    }
  }

  return {
    /** `ofTeam`: only records of this team exist for the caller; null: all. */
    async list(request: ListAuditRequest, ofTeam: string | null) {
      const { records, next } = await readPage(toFilter(request, ofTeam));
      return { items: records.map(toAuditObject), next_cursor: next === null ? null : toCursor(next) };
    },

    /**
     * All records, page by page, the names of the columns first. The first page is read at once: after the first byte of an answer, a wrong
     * request or a store that is down could no longer be reported.
     */
    async toCsvPages(request: ListAuditRequest, ofTeam: string | null): Promise<AsyncGenerator<string>> {
      const filter = { ...toFilter(request, ofTeam), limit: csvPageSize };
      return writePages(filter, await readPage(filter));
    },

    /** Records something that has happened. If the store does not take it, that is logged. */
    async record(actor: Actor, event: AuditEvent): Promise<void> {
      try {
        await store.insert(actor, event);
      } catch (error) {
        log.error("a record of the audit log could not be written", { action: event.action, actor: actor.name, error });
      }
    },

    /** Before content of a caller is shown. Throws if the store does not take the record: without it, nothing is shown. */
    async recordRead(actor: Actor, event: AuditEvent): Promise<void> {
      await store.insert(actor, event);
    },

    /** As `record`, for what anyone can cause: of many, only the first ones in a minute are recorded. */
    async recordRefusal(actor: Actor, event: AuditEvent): Promise<void> {
      if (now() - windowStart > minuteMs) {
        windowStart = now();
        refusals = 0;
      }
      refusals += 1;
      if (refusals <= maxRefusalsPerMinute) await this.record(actor, { outcome: "refused", ...event });
    },

    /**
     * For a change outside of the store. The record is written first, as `started`: without it, nothing is changed. It is completed when the
     * change has ended; if that fails, it stays `started`.
     */
    async around<T>(actor: Actor, event: AuditEvent, note: AuditNote, change: () => Promise<T>): Promise<T> {
      const id = await store.insert(actor, { ...event, outcome: "started" });
      const finish = async (outcome: "done" | "failed", code: string | null) => {
        try {
          const { before, after, name = event.target.name, team = event.target.team } = note;
          await store.finish(id, { outcome, code, before, after, name, team });
        } catch (error) {
          log.error("a record of the audit log could not be completed", { action: event.action, error });
        }
      };
      try {
        const result = await change();
        await finish("done", null);
        return result;
      } catch (error) {
        await finish("failed", error instanceof GatewayError ? error.code : messageOf(error).slice(0, 200));
        throw error;
      }
    },
  };
}

function toAuditObject(record: AuditRecord): AuditObject {
  return {
    id: record.id,
    time: new Date(record.time).toISOString(),
    actor: { kind: record.actorKind, id: record.actorId, name: record.actorName, role: record.actorRole },
    address: record.address,
    request_id: record.requestId,
    action: record.action,
    outcome: record.outcome,
    code: record.code,
    target: { kind: record.targetKind, id: record.targetId, name: record.targetName, team: record.team },
    before: record.stateBefore,
    after: record.stateAfter,
  };
}

const csvColumns = [
  ...["time", "actor_kind", "actor_id", "actor_name", "actor_role", "address", "request_id", "action", "outcome"],
  ...["code", "target_kind", "target_id", "target_name", "team", "before", "after"],
];

function toCsvRow(record: AuditRecord): CsvCell[] {
  const { time, actor, address, request_id, action, outcome, code, target, before, after } = toAuditObject(record);
  return [
    ...[time, actor.kind, actor.id, actor.name, actor.role, address, request_id, action, outcome, code],
    ...[target.kind, target.id, target.name, target.team, toJson(before), toJson(after)],
  ];
}

function toJson(state: object | null): string | null {
  return state === null ? null : JSON.stringify(state);
}
