// What the people of the invented company changed, as the audit log shows it. Changes of jobs are recorded in demo-operations.ts.

import type { Budget, RateLimit } from "../contract/limits.ts";
import { dayMs, minuteMs } from "../lib/time-units.ts";
import type { Actor, AuditEvent, AuditTarget } from "../storage/audit.ts";
import type { Storage } from "../storage/storage.ts";
import { findKey, type StoredKey } from "./demo-data.ts";

const person = { kind: "user", team: null, requestId: null } as const;
export const ada: Actor = {
  ...person,
  id: "ada",
  name: "ada@example.com",
  role: "administrator",
  address: "192.0.2.14",
};
export const jonas: Actor = {
  ...person,
  id: "jonas",
  name: "jonas@example.com",
  role: "operator",
  address: "192.0.2.31",
};
const mei: Actor = {
  ...person,
  id: "mei",
  name: "mei@example.com",
  role: "administrator",
  team: "research",
  address: "198.51.100.7",
};
const command: Actor = { ...ada, kind: "command", id: null, name: "deploy", address: "gateway-1" };
/** As the gateway records an attempt to sign in with a wrong key. */
const stranger: Actor = {
  ...person,
  kind: "gateway",
  id: null,
  name: "unknown key",
  role: "viewer",
  address: "203.0.113.99",
};

interface ChangesFill {
  /** Epoch milliseconds. */
  readonly end: number;
  readonly keys: readonly StoredKey[];
}

export async function fillChanges(storage: Storage, options: ChangesFill): Promise<void> {
  for (const change of changes) await storage.audit.insert(change.actor, toEvent(change, options));
}

interface DemoChange extends Omit<AuditEvent, "target" | "at"> {
  readonly actor: Actor;
  readonly daysAgo: number;
  /** The id of a key or team is known only once it is stored, so it is found by the name. */
  readonly target: Omit<AuditTarget, "id"> & Partial<Pick<AuditTarget, "id">>;
}

const configuration = { kind: "configuration", name: "switchyard.yaml", team: null };
const provider = { kind: "provider", id: "in-house", name: null, team: null };

const changes: readonly DemoChange[] = [
  ...[0.02, 1, 2, 8, 9, 13, 27].map((daysAgo) => signIn(ada, daysAgo)),
  ...[0.4, 3, 6, 20, 22].map((daysAgo) => signIn(jonas, daysAgo)),
  signIn(mei, 4),
  {
    actor: stranger,
    daysAgo: 5,
    action: "session.start",
    target: { kind: "session", name: null, team: null },
    outcome: "refused",
    code: "invalid_api_key",
  },
  {
    actor: ada,
    daysAgo: 2,
    action: "key.update",
    target: { kind: "key", name: "support-assistant", team: "support" },
    before: { budget: toBudget(22) },
    after: { budget: toBudget(30) },
  },
  {
    actor: jonas,
    daysAgo: 6,
    action: "key.update",
    target: { kind: "key", name: "campaign-writer", team: "marketing" },
    before: { rate_limit: toRateLimit(60) },
    after: { rate_limit: toRateLimit(30) },
  },
  {
    actor: mei,
    daysAgo: 4,
    action: "key.update",
    target: { kind: "key", name: "evaluation-runner", team: "research" },
    before: { tags: {} },
    after: { tags: { project: "evaluation" } },
  },
  {
    actor: ada,
    daysAgo: 13,
    action: "key.update",
    target: { kind: "key", name: "product-search", team: "search" },
    before: { rate_limit: toRateLimit(600) },
    after: { rate_limit: toRateLimit(1_200) },
  },
  {
    actor: jonas,
    daysAgo: 3,
    action: "key.rotate",
    target: { kind: "key", name: "invoice-reader", team: "finance" },
    before: { secret_tail: "k9Qe" },
    after: { secret_tail: "x4Tz" },
  },
  {
    actor: ada,
    daysAgo: 9,
    action: "team.update",
    target: { kind: "team", name: "marketing", team: "marketing" },
    before: { budget: toBudget(5) },
    after: { budget: toBudget(7) },
  },
  {
    actor: ada,
    daysAgo: 8.99,
    action: "team.update",
    target: { kind: "team", name: "marketing", team: "marketing" },
    before: { allowed_models: null },
    after: { allowed_models: ["openai/*", "google/*"] },
  },
  {
    actor: ada,
    daysAgo: 8,
    action: "provider.set",
    target: provider,
    before: { stored: [] },
    after: { stored: [{ name: "in-house", api_key: "…7Rm2", base_url: null, settings: {} }] },
  },
  { actor: ada, daysAgo: 7.99, action: "provider.test", target: provider },
  {
    actor: command,
    daysAgo: 1,
    action: "configuration.reload",
    target: configuration,
    before: { number: 4 },
    after: { number: 5 },
  },
  {
    actor: command,
    daysAgo: 15,
    action: "configuration.reload",
    target: configuration,
    outcome: "failed",
    code: "providers.openai.base_url should be an address such as https://example.com/v1, without a query",
  },
  {
    actor: jonas,
    daysAgo: 20,
    action: "file.delete",
    target: { kind: "file", name: "old price list.pdf", team: "search" },
    before: { file_name: "old price list.pdf", file_size: 48_211, team: "search" },
  },
  {
    actor: command,
    daysAgo: 22,
    action: "webhook_keys.rotate",
    target: { kind: "webhook_keys", name: null, team: null },
  },
];

/** A few minutes before the changes of that day. */
function signIn(actor: Actor, daysAgo: number): DemoChange {
  const target = { kind: "session", name: actor.name, team: actor.team };
  return { actor, daysAgo: daysAgo + 0.005, action: "session.start", target };
}

function toBudget(amount: number): Budget {
  return { amount, period: "monthly", time_zone: "UTC", raise: null };
}

function toRateLimit(perMinute: number): RateLimit {
  return {
    requests_per_second: null,
    requests_per_minute: perMinute,
    tokens_per_minute: null,
    concurrent_requests: null,
  };
}

function toEvent({ actor: _, daysAgo, target, ...facts }: DemoChange, { end, keys }: ChangesFill): AuditEvent {
  const id = findId(target, keys);
  // The time of day differs from day to day, and changes of the same day keep their order.
  const minutesBefore = 153 + ((Math.round(daysAgo) * 7_919) % 211);
  const at = end - Math.round(daysAgo * dayMs) - minutesBefore * minuteMs;
  return { ...facts, target: { ...target, id }, at };
}

function findId({ kind, id = null, name }: DemoChange["target"], keys: readonly StoredKey[]): string | null {
  if (kind === "key" && name !== null) return findKey(keys, name).id;
  if (kind === "team") return keys.find(({ team }) => team === name)?.teamId ?? null;
  return id;
}
