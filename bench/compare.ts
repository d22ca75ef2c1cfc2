// Compares two checkouts: both serve on this machine and are measured in turns, so that a machine whose speed drifts slows both alike. For every
// figure it prints the median of the ratios of neighbouring rounds, and how far these ratios lie apart.

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Children, withChildren } from "./children.ts";
import { type AnswerKind, type Contestant, checkContestant, startSwitchyard, startVendors } from "./contestants.ts";
import { format } from "./figure.ts";
import { sendPlainLoad } from "./load/plain-load.ts";
import { sendStreamLoad } from "./load/stream-load.ts";
import { meterCpuMs } from "./process-tree.ts";
import { median, percentile } from "./statistics.ts";

const usage = `node bin/bun.mjs run bench/compare.ts --before <folder> [--after <folder>] [--rounds 12] [--only P1,P2,P3,P4]

  --before   the checkout to compare with
  --after    the checkout to measure, this one by default
  --rounds   rounds of each figure; each checkout is measured once per round`;

const connections = 64;
const streams = 100;
const chunks = 200;
const loadMs = 1_500;
const warmUpMs = 6_000;

type Figure = { id: string; title: string; kind: AnswerKind; take: (gateway: Contestant) => Promise<number> };

process.exit(await main());

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      before: { type: "string" },
      after: { type: "string", default: join(import.meta.dir, "..") },
      rounds: { type: "string", default: "12" },
      only: { type: "string", default: "P1,P2,P3,P4" },
      help: { type: "boolean", default: false },
    },
  });
  const { before: reference } = options;
  const rounds = Number(options.rounds);
  if (options.help || reference === undefined || !(rounds >= 1 && rounds <= 100)) {
    console.error(usage);
    return options.help ? 0 : 2;
  }
  await withChildren(async (children) => {
    const vendors = await startVendors(children, chunks);
    const start = (folder: string) =>
      startSwitchyard({ children, projectFolder: resolve(folder), vendors }, { isLimited: true });
    const [before, after] = [await start(reference), await start(options.after)];
    const figures = createFigures(children).filter(({ id }) => options.only.toUpperCase().split(",").includes(id));
    for (const figure of figures) await compare(figure, before, after, rounds);
  });
  return 0;
}

function createFigures(children: Children): Figure[] {
  const plain = (gateway: Contestant, count: number, durationMs: number) =>
    sendPlainLoad(children, { call: gateway.prepare("plain"), connections: count, durationMs, pauseMs: 0 });
  const perChunk = (kind: "stream" | "translated") => async (gateway: Contestant) => {
    const load = () => sendStreamLoad(children, { call: gateway.prepare(kind), streams, chunks });
    const { cpuMs, result } = await meterCpuMs(gateway, load);
    return (cpuMs * 1_000) / result.events;
  };
  return [
    {
      id: "P1",
      title: "CPU per plain completion",
      kind: "plain",
      async take(gateway) {
        const { cpuMs, result } = await meterCpuMs(gateway, () => plain(gateway, connections, loadMs));
        return (cpuMs * 1_000) / (result.requests + connections);
      },
    },
    { id: "P2", title: "CPU per streamed chunk", kind: "stream", take: perChunk("stream") },
    { id: "P3", title: "CPU per translated chunk", kind: "translated", take: perChunk("translated") },
    {
      id: "P4",
      title: "p50 at 1 connection",
      kind: "plain",
      take: async (gateway) => (await plain(gateway, 1, loadMs / 2)).p50Ms * 1_000,
    },
  ];
}

/** The order changes with every round, so that neither is always measured first. */
async function compare(figure: Figure, before: Contestant, after: Contestant, rounds: number): Promise<void> {
  const both = [before, after];
  for (const gateway of both) {
    await checkContestant(gateway, figure.kind);
    for (const end = performance.now() + warmUpMs; performance.now() < end; ) await figure.take(gateway);
  }
  const taken = new Map<Contestant, number[]>(both.map((gateway) => [gateway, []]));
  for (let round = 0; round < rounds; round++) {
    for (const gateway of round % 2 === 0 ? both : both.toReversed())
      taken.get(gateway)?.push(await figure.take(gateway));
  }
  const [first, second] = both.map((gateway) => taken.get(gateway) ?? []);
  const ratios = (second ?? []).map((value, round) => value / (first?.[round] ?? Number.NaN));
  const spread = `${format(percentile(ratios, 25))} to ${format(percentile(ratios, 75))}`;
  console.log(
    `${figure.id} ${figure.title}: ${format(median(first ?? []))} → ${format(median(second ?? []))} µs, ratio ${median(ratios).toFixed(3)} (half of the rounds: ${spread})`,
  );
}
