// What the people of the invented company changed, as the audit log shows it.

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
const jonas: Actor = { ...person, id: "jonas", name: "jonas@example.com", role: "operator", address: "192.0.2.31" };
const mei: Actor = {
  ...person,
  id: "mei",
  name: "mei@example.com",
  role: "administrator",
  team: "research",
  address: "198.51.100.7",
};
const command: Actor = { ...ada, kind: "command", id: null, name: "deploy", address: "gateway-1" };
const gateway: Actor = { ...ada, kind: "gateway", id: null, name: "gateway", address: "203.0.113.99" };

interface ChangesFill {
  /** Epoch milliseconds. */
  readonly end: number;
  readonly keys: readonly StoredKey[];
}

export async function fillChanges(storage: Storage, options: ChangesFill): Promise<void> {
  for (const change of changes) await storage.audit.insert(change.actor, toEvent(change, options));
}

/** An event of the audit log. The id of a key is known only once the key is stored. */
interface DemoChange extends Omit<AuditEvent, "target" | "at"> {
  readonly actor: Actor;
  readonly daysAgo: number;
  readonly target: Omit<AuditTarget, "id">;
}

const configuration = { kind: "configuration", name: "switchyard.yaml", team: null };
const provider = { kind: "provider", name: "in-house", team: null };

const changes: readonly DemoChange[] = [
  ...[0.02, 1, 3, 9, 13, 15, 27].map((daysAgo) => signIn(ada, daysAgo)),
  ...[2, 6, 8, 20, 22].map((daysAgo) => signIn(jonas, daysAgo)),
  signIn(mei, 4),
  { ...signIn(ada, 5), actor: gateway, outcome: "refused", code: "invalid_api_key" },
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
    before: { allowed_models: null },
    after: { allowed_models: ["openai/*", "google/*"] },
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
    before: { rate_limit: { requests_per_minute: 600 } },
    after: { rate_limit: { requests_per_minute: 1_200 } },
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
  { actor: ada, daysAgo: 8, action: "provider.set", target: provider, after: { members: ["api_key"] } },
  { actor: ada, daysAgo: 7.99, action: "provider.test", target: provider },
  {
    actor: command,
    daysAgo: 1,
    action: "configuration.reload",
    target: configuration,
    before: { generation: 4 },
    after: { generation: 5 },
  },
  {
    actor: command,
    daysAgo: 15,
    action: "configuration.reload",
    target: configuration,
    outcome: "failed",
    code: "providers.openai.base_url should be an address",
  },
  {
    actor: jonas,
    daysAgo: 0.4,
    action: "job.redeliver",
    target: { kind: "job", name: "ocr/ocr_async/google", team: "search" },
    after: { receiver_host: "catalogue.example.com" },
  },
  {
    actor: jonas,
    daysAgo: 0.2,
    action: "job.cancel",
    target: { kind: "job", name: "text/summarize/openai", team: "research" },
    before: { status: "processing" },
    after: { status: "fail" },
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

function signIn(actor: Actor, daysAgo: number): DemoChange {
  const target = { kind: "session", name: actor.name, team: actor.team };
  return { actor, daysAgo, action: "session.start", target };
}

function toBudget(amount: number) {
  return { amount, period: "monthly", time_zone: "UTC" };
}

function toEvent({ actor: _, daysAgo, target, ...facts }: DemoChange, { end, keys }: ChangesFill): AuditEvent {
  const id = target.kind === "key" && target.name !== null ? findKey(keys, target.name).id : null;
  // The time of day differs from day to day.
  const minutesBefore = 153 + ((Math.ceil(daysAgo) * 7_919) % 211);
  const at = end - Math.round(daysAgo * dayMs) - minutesBefore * minuteMs;
  return { ...facts, target: { ...target, id }, at };
}
