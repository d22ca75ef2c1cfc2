// The model behind docs/scaling.md.

import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  type Measurements,
  neededFigures,
  planCapacity,
  predictThroughput,
  readMeasurements,
  usualAssumptions,
  type Workload,
} from "../../scripts/capacity-model.ts";

const root = join(import.meta.dir, "../..");
/** Round numbers, so that the expected results can be computed by hand. */
const measured: Measurements = {
  requestUs: 200,
  chunkUs: 10,
  efficiency: 1,
  jobMs: 5,
  lineUs: 50,
  lineDiskBytes: 1_000,
  lineLogBytes: 2_000,
  streamKb: 50,
  processMb: 100,
};
const assumed = { ...usualAssumptions, attempts: 1, utilisation: 0.5, machineCores: 8, averageLoad: 1 };
const plain: Workload = {
  name: "plain",
  requestsPerSecond: 10_000,
  secondsPerRequest: 3,
  chunksPerRequest: 0,
  isJob: false,
};

test("plain completions: CPU, open requests, lines and disk follow from the rate", () => {
  const plan = planCapacity(plain, measured, { ...assumed, retentionDays: 10 });
  expect(plan).toMatchObject({ cores: 2, openRequests: 30_000, saturated: [] });
  expect(plan.database).toMatchObject({ linesPerSecond: 10_000, cores: 0.5, logMbPerSecond: 20, ledgerGb: 8_640 });
});

test("one machine is spare, and a process that adds less than a core needs more of them", () => {
  const busy = { ...plain, requestsPerSecond: 100_000, secondsPerRequest: 0.1 };
  expect(planCapacity(busy, measured, assumed)).toMatchObject({ cores: 20, machines: 6, sizedBy: "gateway CPU" });
  expect(planCapacity(busy, { ...measured, efficiency: 0.5 }, assumed)).toMatchObject({ cores: 40, machines: 11 });
});

test("chunks of a stream cost CPU, and failed attempts cost a request", () => {
  const streams = { ...plain, requestsPerSecond: 1_000, chunksPerRequest: 1_000 };
  expect(planCapacity(streams, measured, assumed).cores).toBeCloseTo(10.2);
  expect(planCapacity(streams, measured, { ...assumed, attempts: 2 }).cores).toBeCloseTo(10.4);
});

test("long streams are limited by memory, and many plain requests by connections to the provider", () => {
  const long = { ...plain, requestsPerSecond: 1_000, secondsPerRequest: 600 };
  expect(planCapacity(long, { ...measured, streamKb: 500 }, assumed).sizedBy).toBe("gateway memory");
  expect(planCapacity(long, { ...measured, streamKb: 5 }, assumed).sizedBy).toBe("provider connections");
});

test("jobs cost CPU for the webhook, and use the connections of workers", () => {
  const jobs = planCapacity({ ...plain, requestsPerSecond: 1_000, isJob: true }, measured, assumed);
  expect(jobs).toMatchObject({ cores: 5, machines: 3 });
  expect(jobs.database.connections).toBe(3 * 8 * 11);
});

test("the limits of PostgreSQL that are passed are named, the worst first, and the load at which the first is reached", () => {
  const limits = { ...assumed, databaseTb: 1_000, databaseConnections: 10_000, retentionDays: 1 };
  const plan = planCapacity({ ...plain, requestsPerSecond: 500_000 }, measured, limits);
  // 25 of 8 usable cores, and 1,000 of 200 MB/s.
  expect(plan.saturated).toEqual(["database log", "database CPU"]);
  expect(plan.firstLimit).toMatchObject({ part: "database log", requestsPerSecond: 100_000 });
  expect(planCapacity(plain, measured, limits).saturated).toEqual([]);
});

test("throughput is limited by the processes until they use all cores", () => {
  const machine = { cores: 2, gatewayUs: 200, otherUs: 100 };
  expect(predictThroughput({ ...machine, processes: 1 })).toBeCloseTo(5_000);
  expect(predictThroughput({ ...machine, processes: 2 })).toBeCloseTo(2e6 / 300);
  expect(predictThroughput({ ...machine, processes: 4 })).toBeCloseTo(2e6 / 300);
});

const result = {
  figures: [
    { id: "P1", values: { Switchyard: 200 } },
    { id: "P2", values: { Switchyard: 10 } },
    { id: "P7", values: { Switchyard: 1.9 } },
    { id: "P9", values: {}, rounds: { "PostgreSQL, CPU ms a job": [6, 5, 4] } },
    { id: "PG", values: {}, rounds: { "CPU µs": [50], "disk bytes": [1_000], "log bytes": [2_000] } },
    { id: "STREAMS", values: { Switchyard: 50 }, rounds: { "MB of a process": [100] } },
  ],
};

test("the measurements come from the JSON of the bench", () => {
  expect(readMeasurements(result)).toEqual({ ...measured, efficiency: 0.95 });
});

test("a second process that adds more than a core is noise, not a gain", () => {
  const figures = result.figures.map((figure) =>
    figure.id === "P7" ? { ...figure, values: { Switchyard: 2.2 } } : figure,
  );
  expect(readMeasurements({ figures }).efficiency).toBe(1);
});

for (const missing of neededFigures)
  test(`a result without ${missing} is refused, with the command that measures it`, () => {
    const without = { figures: result.figures.filter(({ id }) => id !== missing) };
    const failed = { figures: [...without.figures, { id: missing, failure: "needs two cores" }] };
    for (const broken of [without, failed, null, {}])
      expect(() => readMeasurements(broken)).toThrow(/Run: npm run bench -- --json --only P1,P2,P7,P9,PG,STREAMS/);
  });

test("the command prints a table for each kind of load, and refuses a wrong number", async () => {
  const file = join(process.env["TMPDIR"] ?? "/tmp", `capacity-${crypto.randomUUID()}.json`);
  await Bun.write(file, JSON.stringify(result));
  const run = (...args: string[]) => {
    const command = [process.execPath, "run", join(root, "scripts/capacity.ts"), ...args];
    const { stdout, stderr, exitCode } = Bun.spawnSync(command);
    return { exitCode, text: `${stdout}${stderr}` };
  };
  const tables = run(file, "--rates", "1000");
  expect(tables.exitCode).toBe(0);
  expect(tables.text.match(/^\| 1,000 \|/gm)).toHaveLength(3);
  const plans = run(file, "--json", "--rates", "1000", "--machineCores", "4");
  expect(JSON.parse(plans.text)).toMatchObject({ assumed: { machineCores: 4 }, plans: { length: 3 } });
  expect(run(file, "--machineCores", "many")).toMatchObject({ exitCode: 2, text: expect.stringContaining("'many'") });
  expect(run()).toMatchObject({ exitCode: 2, text: expect.stringContaining("--rates") });
  await Bun.file(file).delete();
});
