// How many machines, connections and gigabytes a load needs: node bin/bun.mjs run scripts/capacity.ts result.json
// The model is in capacity-model.ts, and docs/scaling.md explains it.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  type Assumptions,
  type Measurements,
  type Plan,
  planCapacity,
  readMeasurements,
  usualAssumptions,
  type Workload,
} from "./capacity-model.ts";

const usualRates = [1_000, 10_000, 100_000];

/** A plain completion of three seconds; a stream of twenty seconds with fifty chunks each; a job. */
const kinds: readonly Omit<Workload, "requestsPerSecond">[] = [
  { name: "plain", secondsPerRequest: 3, chunksPerRequest: 0, isJob: false },
  { name: "streams", secondsPerRequest: 20, chunksPerRequest: 1_000, isJob: false },
  { name: "jobs", secondsPerRequest: 3, chunksPerRequest: 0, isJob: true },
];

const usage = `node bin/bun.mjs run scripts/capacity.ts <result of npm run bench -- --json> [options]

  --rates 1000,10000    requests per second (default ${usualRates.join(",")})
  --json                plans as JSON instead of tables
${Object.entries(usualAssumptions)
  .map(([name, value]) => `  --${name.padEnd(23)} ${value}`)
  .join("\n")}`;

/** The tables of docs/scaling.md. */
export function describePlans(measured: Measurements, rates = usualRates, assumed = usualAssumptions): string {
  return kinds
    .map((kind) => {
      const plans = rates.map((requestsPerSecond) => planCapacity({ ...kind, requestsPerSecond }, measured, assumed));
      return `${titleOf(kind)}\n\n${toTable(plans)}`;
    })
    .join("\n\n");
}

function titleOf({ name, secondsPerRequest, chunksPerRequest }: Omit<Workload, "requestsPerSecond">): string {
  if (name === "jobs") return "**Jobs** with a webhook each; the task itself runs at a provider:";
  if (chunksPerRequest === 0) return `**Plain completions** that are open for ${secondsPerRequest} s:`;
  return `**Streams** of ${secondsPerRequest} s with ${chunksPerRequest} chunks:`;
}

function toTable(plans: readonly Plan[]): string {
  const head = [
    "requests/s",
    "busy cores",
    "machines",
    "open at once",
    "per machine",
    "ledger lines/s",
    "PostgreSQL cores",
    "log MB/s",
    "PostgreSQL connections",
    "ledger",
    "USD/month",
    "beyond one PostgreSQL",
  ];
  const rows = plans.map(({ workload, database, ...plan }) => [
    show(workload.requestsPerSecond),
    show(plan.cores),
    `${show(plan.machines)} (${plan.sizedBy})`,
    show(plan.openRequests),
    show(plan.openPerMachine),
    show(database.linesPerSecond),
    show(database.cores),
    show(database.logMbPerSecond),
    show(database.connections),
    database.ledgerGb >= 1_000 ? `${show(database.ledgerGb / 1_000)} TB` : `${show(database.ledgerGb)} GB`,
    show(plan.usdPerMonth),
    plan.saturated.length === 0 ? "–" : plan.saturated.join(", "),
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Two significant digits: more would pretend. */
function show(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString("en-US");
}

function main(): number {
  const numbers = Object.keys(usualAssumptions).map((name) => [name, { type: "string" }] as const);
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rates: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean" },
      ...(Object.fromEntries(numbers) as Record<keyof Assumptions, { type: "string" }>),
    },
  });
  const [file] = positionals;
  if (values.help === true || file === undefined) {
    console.log(usage);
    return values.help === true ? 0 : 2;
  }
  const assumed = { ...usualAssumptions, ...readAssumptions(values) };
  const rates = values.rates?.split(",").map((text) => readNumber("rates", text)) ?? usualRates;
  const measured = readMeasurements(JSON.parse(readFileSync(file, "utf8")));
  if (values.json !== true) console.log(describePlans(measured, rates, assumed));
  else {
    const workloads = kinds.flatMap((kind) => rates.map((requestsPerSecond) => ({ ...kind, requestsPerSecond })));
    const plans = workloads.map((workload) => planCapacity(workload, measured, assumed));
    console.log(JSON.stringify({ measured, assumed, plans }, null, 2));
  }
  return 0;
}

function readAssumptions(values: Readonly<Record<string, unknown>>): Partial<Assumptions> {
  const names = Object.keys(usualAssumptions) as (keyof Assumptions)[];
  return Object.fromEntries(
    names.flatMap((name) => (typeof values[name] === "string" ? [[name, readNumber(name, values[name])]] : [])),
  );
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}: '${text}' should be a number above 0`);
  return value;
}

if (import.meta.main) {
  try {
    process.exitCode = main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
