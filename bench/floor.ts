// How near to nginx a gateway on our runtime can come: the CPU time of a plain completion through nginx, through a proxy of Bun.serve and our
// HTTP client that does nothing else (floor-proxy.ts), and through the gateway, with and without ledger, limits and budgets.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Children, findFreePort, waitForAnswer, withChildren } from "./children.ts";
import { type Contestant, checkContestant, startNginxProxy, startSwitchyard, startVendors } from "./contestants.ts";
import { format } from "./figure.ts";
import { sendPlainLoad } from "./load/plain-load.ts";
import { meterCpuMs } from "./process-tree.ts";
import { plainRequest } from "./requests.ts";
import { median, percentile } from "./statistics.ts";

const usage = `node bin/bun.mjs run bench/floor.ts [--rounds 8] [--seconds 2]

  --rounds   each contestant is measured once per round
  --seconds  how long each load takes`;

const connections = 64;
const warmUpMs = 8_000;

type Measured = { name: string; contestant: Pick<Contestant, "pid" | "prepare">; costs: number[] };

process.exit(await main());

async function main(): Promise<number> {
  const { values: options } = parseArgs({
    options: {
      rounds: { type: "string", default: "8" },
      seconds: { type: "string", default: "2" },
      help: { type: "boolean", default: false },
    },
  });
  const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];
  if (options.help || !(rounds >= 1 && rounds <= 100) || !(seconds >= 1 && seconds <= 60)) {
    console.error(usage);
    return options.help ? 0 : 2;
  }
  await withChildren(async (children) => {
    const field = await startField(children);
    for (const { contestant } of field) await load(children, contestant, warmUpMs);
    for (let round = 0; round < rounds; round++)
      for (const one of field) one.costs.push(await measure(children, one.contestant, seconds * 1_000));
    print(field);
  });
  return 0;
}

/** nginx first: the others are compared with it. */
async function startField(children: Children): Promise<Measured[]> {
  const vendors = await startVendors(children, 1);
  // A busy machine would otherwise make the gateway refuse a part of the load.
  const settings = { SWITCHYARD_OVERLOAD_DELAY_MS: "60000" };
  const ground = { children, vendors, projectFolder: join(import.meta.dir, "..") };
  const nginx = await startNginxProxy(children, vendors);
  const least = await startLeastProxy(children, vendors.plainPort);
  const withNone = await startSwitchyard(ground, { settings: { ...settings, SWITCHYARD_LEDGER: "false" } });
  const withAll = await startSwitchyard(ground, { settings, isLimited: true });
  for (const gateway of [nginx, withNone, withAll]) await checkContestant(gateway, "plain");
  return [
    { name: "nginx", contestant: nginx, costs: [] },
    { name: "Bun.serve and our HTTP client", contestant: least, costs: [] },
    { name: "gateway without ledger, limits, budgets", contestant: withNone, costs: [] },
    { name: "gateway with all of them", contestant: withAll, costs: [] },
  ];
}

async function startLeastProxy(children: Children, vendorPort: number): Promise<Measured["contestant"]> {
  const port = await findFreePort();
  const child = children.start(
    [process.execPath, join(import.meta.dir, "floor-proxy.ts"), String(port), String(vendorPort)],
    {},
    children.folder,
  );
  await waitForAnswer(child, `http://127.0.0.1:${port}/`, 10_000);
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  return {
    pid: child.pid,
    prepare: () => ({ url, headers: { "content-type": "application/json" }, body: plainRequest("plain") }),
  };
}

async function measure(children: Children, contestant: Measured["contestant"], durationMs: number): Promise<number> {
  const { cpuMs, result } = await meterCpuMs(contestant, () => load(children, contestant, durationMs));
  return (cpuMs * 1_000) / (result.requests + connections);
}

function load(children: Children, contestant: Measured["contestant"], durationMs: number) {
  return sendPlainLoad(children, { call: contestant.prepare("plain"), connections, durationMs, pauseMs: 0 });
}

function print(field: readonly Measured[]): void {
  const nginx = field[0]?.costs ?? [];
  for (const { name, costs } of field) {
    const ratios = costs.map((cost, round) => cost / (nginx[round] ?? Number.NaN));
    const spread = `${format(percentile(ratios, 25))} to ${format(percentile(ratios, 75))}`;
    const ratio = `${format(median(ratios))} × nginx (half of the rounds: ${spread})`;
    console.log(`${name}: ${format(median(costs))} µs, ${ratio}`);
  }
}
