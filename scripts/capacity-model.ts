// How many machines a load needs, computed from figures of `npm run bench -- --json`. docs/scaling.md explains the model.

/** What the bench measured, for one unit of work. */
export interface Measurements {
  /** CPU of all processes of a gateway for a plain completion, with ledger, limits and budgets. */
  readonly requestUs: number;
  /** CPU for one chunk of a stream. */
  readonly chunkUs: number;
  /** The part of a second process that adds to the first; 1 = all of it. */
  readonly efficiency: number;
  /** CPU of all processes of a gateway for a job: accept, run a task that costs nothing, sign and deliver the webhook. */
  readonly jobMs: number;
  /** CPU of PostgreSQL for the ledger line of a request. */
  readonly lineUs: number;
  readonly lineDiskBytes: number;
  readonly lineLogBytes: number;
  /** Memory of an open stream. */
  readonly streamKb: number;
  /** Memory of a serving process without open streams. */
  readonly processMb: number;
}

export interface Workload {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** How long a request is open: mostly the time of the provider. */
  readonly secondsPerRequest: number;
  /** Chunks of a streamed answer; 0: the answer comes in one piece. */
  readonly chunksPerRequest: number;
  /** Each request is a job. */
  readonly isJob: boolean;
}

/** What the measurements cannot know. Every value can be changed on the command line. */
export interface Assumptions {
  readonly machineCores: number;
  readonly machineGb: number;
  readonly machineUsdPerMonth: number;
  /** The part of its cores that a machine uses in the busiest minute. */
  readonly utilisation: number;
  /** Calls to providers for each request: retries and fallbacks make more than one. */
  readonly attempts: number;
  readonly databaseCores: number;
  readonly databaseUsdPerMonth: number;
  readonly databaseConnections: number;
  readonly databaseLogMbPerSecond: number;
  readonly databaseTb: number;
  readonly diskUsdPerGbMonth: number;
  readonly retentionDays: number;
  /** The average load, as a part of the busiest minute: the ledger grows by the average. */
  readonly averageLoad: number;
}

export const usualAssumptions: Assumptions = {
  machineCores: 8,
  machineGb: 16,
  machineUsdPerMonth: 250,
  utilisation: 0.6,
  attempts: 1.05,
  databaseCores: 16,
  databaseUsdPerMonth: 1_000,
  databaseConnections: 400,
  databaseLogMbPerSecond: 200,
  databaseTb: 16,
  diskUsdPerGbMonth: 0.12,
  retentionDays: 90,
  averageLoad: 0.3,
};

/** Connections of one process to PostgreSQL: its pool and the connection that listens (src/storage/postgres.ts). */
export const connectionsPerProcess = { serving: 5, worker: 11 } as const;
/** Local ports for connections to one address of a provider: 32768 to 60999, the default range of Linux. */
const portsPerAddress = 28_232;
const megabyte = 1e6;
const secondsPerDay = 86_400;
/** One machine may fail. */
const spareMachines = 1;

export type Part = "gateway CPU" | "gateway memory" | "provider connections" | DatabasePart;
type DatabasePart = "database CPU" | "database log" | "database connections" | "database disk";

export interface Plan {
  readonly workload: Workload;
  /** Cores that are busy in gateways and workers. */
  readonly cores: number;
  readonly machines: number;
  /** What decided the number of machines. */
  readonly sizedBy: Part;
  /** Requests that are open at the same time: each has a connection to its client, and one to its provider. */
  readonly openRequests: number;
  readonly openPerMachine: number;
  readonly database: {
    readonly linesPerSecond: number;
    readonly cores: number;
    readonly logMbPerSecond: number;
    readonly connections: number;
    readonly ledgerGb: number;
  };
  readonly usdPerMonth: number;
  /** The limits that one PostgreSQL server passes first, worst first; empty: one server is enough. */
  readonly saturated: readonly DatabasePart[];
  /** The load at which the first limit of one PostgreSQL server is reached, and which limit that is. */
  readonly firstLimit: { readonly part: DatabasePart; readonly requestsPerSecond: number };
}

export function planCapacity(workload: Workload, measured: Measurements, assumed = usualAssumptions): Plan {
  const { requestsPerSecond, secondsPerRequest } = workload;
  const calls = requestsPerSecond * assumed.attempts;
  const cores = (requestsPerSecond * cpuSecondsOf(workload, measured, assumed)) / measured.efficiency;
  const openRequests = requestsPerSecond * secondsPerRequest;
  const needs: readonly (readonly [Part, number])[] = [
    ["gateway CPU", cores / (assumed.machineCores * assumed.utilisation)],
    ["gateway memory", (openRequests * measured.streamKb) / 1e6 / freeGbOf(measured, assumed)],
    ["provider connections", workload.isJob ? 0 : openRequests / portsPerAddress],
  ];
  const [sizedBy, needed] = needs.reduce((most, one) => (one[1] > most[1] ? one : most));
  const machines = Math.ceil(needed) + spareMachines;
  const perProcess = workload.isJob ? connectionsPerProcess.worker : connectionsPerProcess.serving;
  const database = {
    linesPerSecond: calls,
    cores: (calls * measured.lineUs) / 1e6,
    logMbPerSecond: (calls * measured.lineLogBytes) / megabyte,
    connections: machines * assumed.machineCores * perProcess,
    ledgerGb: (calls * assumed.averageLoad * secondsPerDay * assumed.retentionDays * measured.lineDiskBytes) / 1e9,
  };
  const uses: readonly (readonly [DatabasePart, number])[] = [
    ["database CPU", database.cores / (assumed.databaseCores * assumed.utilisation)],
    ["database log", database.logMbPerSecond / assumed.databaseLogMbPerSecond],
    ["database connections", database.connections / assumed.databaseConnections],
    ["database disk", database.ledgerGb / 1_000 / assumed.databaseTb],
  ];
  const byUse = uses.toSorted((one, other) => other[1] - one[1]);
  const [first = ["database CPU", 1] as const] = byUse;
  return {
    workload,
    cores,
    machines,
    sizedBy,
    openRequests,
    openPerMachine: openRequests / machines,
    database,
    usdPerMonth:
      machines * assumed.machineUsdPerMonth +
      assumed.databaseUsdPerMonth * Math.max(1, Math.ceil(first[1])) +
      database.ledgerGb * assumed.diskUsdPerGbMonth,
    saturated: byUse.filter(([, use]) => use > 1).map(([part]) => part),
    firstLimit: { part: first[0], requestsPerSecond: requestsPerSecond / first[1] },
  };
}

/** Of all processes of a gateway. */
function cpuSecondsOf(workload: Workload, measured: Measurements, { attempts }: Assumptions): number {
  if (workload.isJob) return measured.jobMs / 1e3;
  // A failed attempt costs about as much as a request; the chunks come only from the last one.
  return (attempts * measured.requestUs + workload.chunksPerRequest * measured.chunkUs) / 1e6;
}

/** What the processes themselves leave of a machine, at the intended utilisation. */
function freeGbOf(measured: Measurements, { machineCores, machineGb, utilisation }: Assumptions): number {
  return machineGb * utilisation - (machineCores * measured.processMb) / 1e3;
}

export interface Machine {
  /** Cores that nothing else uses. */
  readonly cores: number;
  readonly processes: number;
  readonly gatewayUs: number;
  /** CPU of whatever else runs on these cores for each request: here the vendor and the load generator. */
  readonly otherUs: number;
}

/** Requests per second of a machine: its processes cannot use more than a core each, and share the cores with the rest. */
export function predictThroughput({ cores, processes, gatewayUs, otherUs }: Machine): number {
  return Math.min((processes * 1e6) / gatewayUs, (cores * 1e6) / (gatewayUs + otherUs));
}

/** The figures that a plan needs. */
export const neededFigures = ["P1", "P2", "P7", "P9", "PG", "STREAMS"] as const;

interface BenchFigure {
  readonly id: string;
  readonly failure?: string;
  readonly values?: { readonly Switchyard?: number };
  readonly rounds?: Readonly<Record<string, readonly number[]>>;
}

/** `result`: what `npm run bench -- --json` prints. Throws when a figure is missing. */
export function readMeasurements(result: unknown): Measurements {
  const figures = (result as { figures?: readonly BenchFigure[] } | null)?.figures ?? [];
  const missing: string[] = [];
  function find(id: (typeof neededFigures)[number]): BenchFigure {
    const figure = figures.find((one) => one.id === id);
    if (figure === undefined || figure.failure !== undefined) missing.push(id);
    return figure ?? { id };
  }
  function readValue(id: (typeof neededFigures)[number]): number {
    return find(id).values?.Switchyard ?? Number.NaN;
  }
  function roundOf(figure: BenchFigure, name: string): number {
    return medianOf(figure.rounds?.[name] ?? []);
  }
  const database = find("PG");
  const measured = {
    requestUs: readValue("P1"),
    chunkUs: readValue("P2"),
    efficiency: Math.min(1, readValue("P7") / 2),
    jobMs: roundOf(find("P9"), "PostgreSQL, CPU ms a job"),
    lineUs: roundOf(database, "CPU µs"),
    lineDiskBytes: roundOf(database, "disk bytes"),
    lineLogBytes: roundOf(database, "log bytes"),
    streamKb: readValue("STREAMS"),
    processMb: roundOf(find("STREAMS"), "MB of a process"),
  };
  const unread = Object.entries(measured).filter(([, value]) => !(value > 0));
  if (missing.length > 0 || unread.length > 0) {
    const problem =
      missing.length > 0
        ? `has no figure ${[...new Set(missing)].join(", ")}`
        : `has no ${unread.map(([name]) => name)}`;
    throw new Error(
      `The result of the bench ${problem}. Run: npm run bench -- --json --only ${neededFigures.join(",")} > result.json`,
    );
  }
  return measured;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
