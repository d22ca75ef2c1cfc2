// The data of `switchyard demo`.

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStorage } from "../../src/cli/demo.ts";
import { dayMs, hourMs } from "../../src/lib/time-units.ts";
import { toShownState } from "../../src/storage/audit.ts";
import { openTestStorage } from "../support/open-test-storage.ts";

const sessionLifetimeMs = 12 * hourMs;
const end = Date.parse("2026-11-16T12:00:00Z");

async function fill(seed: number, until = end) {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-demo-"));
  const storage = await openTestStorage({ dataDir });
  try {
    const computeCost = () => ({ pico: 1_000_000, version: "1" });
    const lines = await fillStorage(storage, { dataDir, seed, end: until, callsPerDay: 20, computeCost });
    const query = { from: end - 40 * dayMs, to: end + dayMs, offsetMs: 0, filters: {}, maxGroups: 10_000 };
    const sums = await storage.usageReports.summarize({ ...query, groupBy: ["day", "model", "outcome", "key_id"] });
    const management = await Bun.file(join(dataDir, "first-keys/management.key")).text();
    const jobs = await storage.managedJobs.list({
      ...{ owner: null, keyId: null, status: null, feature: null, subfeature: null, provider: null },
      ...{ from: null, to: null, after: null, limit: 1_000 },
    });
    const files = await storage.files.listAllUploads({ owner: null, purpose: null, limit: 100, offset: 0 });
    const anything = { from: null, to: null, team: null, actor: null, action: null, target: null, outcome: null };
    const records = await storage.audit.list({ ...anything, after: null, limit: 1_000 });
    const work = await storage.work.count();
    const everything = { enabled: null, limit: 100, offset: 0 };
    const keys = await storage.keys.list({ ...everything, kind: null, team: null });
    const teams = await storage.teams.list(everything);
    const deliveries = await Promise.all(
      jobs.map(async ({ job }) => ({ job, sent: (await storage.deliveries.listForJob(job.id, null)) ?? [] })),
    );
    return {
      lines,
      sums,
      management,
      jobs,
      files,
      records,
      work,
      deliveries,
      holders: [...keys.items, ...teams.items],
    };
  } finally {
    await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const one = await fill(1);

test("the same seed gives the same lines, and another seed gives others", async () => {
  const [same, other] = [await fill(1), await fill(2)];
  expect(same.sums).toEqual(one.sums);
  expect(same.lines).toBe(one.lines);
  expect(other.sums).not.toEqual(one.sums);
  // Secrets are real ones: the gateway of the demo may be reachable.
  expect(same.management).not.toBe(one.management);
});

test("the lines cover thirty days up to the end", async () => {
  const { sums, lines } = one;
  if (sums === "too_many") throw new Error("too many groups");
  const days = new Set(sums.map(({ values }) => Number(values[0])));
  expect(Math.min(...days)).toBeGreaterThanOrEqual(Math.floor(end / dayMs) - 30);
  expect(Math.max(...days)).toBe(Math.floor(end / dayMs));
  expect(sums.reduce((sum, group) => sum + group.lines, 0)).toBe(lines);
  expect(lines).toBeGreaterThan(300);
});

test("there are jobs in every state with their deliveries, files, and changes by several people", async () => {
  const until = Date.now();
  const { jobs, files, records, work, deliveries } = await fill(4, until);
  expect(new Set(jobs.map(({ job }) => job.status))).toEqual(new Set(["processing", "success", "fail"]));
  expect(new Set(jobs.map(({ deliveryState }) => deliveryState))).toEqual(new Set([null, "delivered", "failed"]));
  // Nothing is due: a gateway that serves the demo calls no one.
  expect(work.filter(({ waiting, leased }) => waiting + leased > 0)).toEqual([]);
  expect(files.total).toBeGreaterThan(5);
  expect(new Set(records.map(({ actorName }) => actorName)).size).toBeGreaterThan(3);
  const days = new Set(records.map(({ time }) => Math.floor(time / dayMs)));
  expect(days.size).toBeGreaterThan(10);
  // Teams and keys are older than what was done with them.
  const changes = records.filter(({ action }) => !action.endsWith(".create"));
  for (const { time } of changes) expect(time).toBeWithin(until - 30 * dayMs, until);
  for (const { job } of jobs) {
    expect(job.createdAt).toBeWithin(until - 7 * dayMs, until);
    if (job.finishedAt !== null) expect(job.finishedAt).toBeGreaterThan(job.createdAt);
    // Only a job that succeeded has a price.
    expect(job.cost === null).toBe(job.status !== "success");
  }
  // A webhook arrives at once, is given up after four attempts, or arrives after someone sent it again.
  const histories = deliveries.map(({ sent }) =>
    sent.map(({ state, attempts }) => `${state} ${attempts.length}`).join(", "),
  );
  expect(new Set(histories)).toEqual(new Set(["", "delivered 1", "failed 4", "failed 4, delivered 1"]));
  for (const { job, sent } of deliveries) {
    const times = sent.flatMap(({ attempts }) => attempts.map(({ startedAt }) => startedAt));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    for (const time of times) expect(time).toBeGreaterThan(job.finishedAt ?? until);
    for (const { status, error } of sent.flatMap(({ attempts }) => attempts))
      expect([status, error === null]).toEqual(error === null ? [204, true] : [503, false]);
  }
  // What people did with jobs is in the audit log.
  for (const { targetId, targetName, action, time } of records.filter(({ targetKind }) => targetKind === "job")) {
    const found = deliveries.find(({ job }) => job.id === targetId);
    const { feature, subfeature, provider, finishedAt } = found?.job ?? {};
    expect(targetName).toBe(`${feature}/${subfeature}/${provider}`);
    expect(time).toBe((action === "job.cancel" ? finishedAt : found?.sent.at(-1)?.createdAt) ?? 0);
  }
});

test("keys and teams are as their last recorded changes left them", () => {
  const updates = one.records.filter(({ action }) => action === "key.update" || action === "team.update");
  expect(updates.length).toBeGreaterThan(4);
  for (const { targetId, targetName, stateAfter } of updates) {
    const holder = one.holders.find(({ name }) => name === targetName);
    const shown = toShownState(holder ?? {});
    expect(targetId).toBe(holder?.id ?? "");
    for (const [member, value] of Object.entries(stateAfter ?? {})) expect(shown[member]).toEqual(value);
  }
});

test("people sign in before they change something", () => {
  const changes = one.records.filter(
    ({ actorKind, action }) => actorKind === "user" && action !== "session.start" && !action.endsWith(".create"),
  );
  expect(changes.length).toBeGreaterThan(5);
  for (const { actorName, action, time } of changes) {
    const signIns = one.records.filter(
      (record) => record.action === "session.start" && record.actorName === actorName && record.time < time,
    );
    const latest = Math.max(...signIns.map((record) => record.time));
    expect(`${action}: ${time - latest < sessionLifetimeMs}`).toBe(`${action}: true`);
  }
});
