// One guarded request in a process of its own, for what belongs to a process: trusted certificates, proxies of the environment, a network.

import { createEgress } from "../../src/egress/egress.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { createLog } from "../../src/log.ts";

export interface EgressChildTask {
  readonly url: string;
  readonly allow: readonly string[];
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly dnsServers?: readonly string[];
  readonly proxy?: string;
  /** One after the other, over kept connections; the answer to the last one counts. */
  readonly times?: number;
  /** 10,000 unless said otherwise. */
  readonly maxBytes?: number;
  /** Adds by how many bytes the process grew during the request. */
  readonly wantsGrowth?: true;
}

/** The body, or the code of the error and the code of its cause. */
export type EgressChildResult = ({ readonly body: string } | { readonly code: string; readonly cause: string }) & {
  readonly grownBytes?: number;
};

export async function runEgressChild(task: EgressChildTask, env: Record<string, string>): Promise<EgressChildResult> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(task)], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "inherit",
    timeout: 110_000,
  });
  return JSON.parse(await new Response(child.stdout).text());
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2] ?? "") as EgressChildTask;
  const log = createLog({
    level: "error",
    format: "json",
    secrets: [],
    write: (lines) => void process.stderr.write(lines),
  });
  const { allow, names, dnsServers = [], proxy = null, times = 1, maxBytes = 10_000, wantsGrowth } = task;
  const lookup = names === undefined ? {} : { lookup: async (name: string) => names[name] ?? [] };
  const egress = createEgress({ allow, log, dnsServers, proxy, ...lookup });
  const request = {
    maxBytes,
    timeoutMs: 60_000,
    connectTimeoutMs: 60_000,
    protocols: ["https:", "http:"],
    redirects: 2,
    keepAlive: times > 1,
  } as const;
  for (let time = 1; time < times; time++) await egress.fetch(task.url, request);
  const before = process.memoryUsage.rss();
  const result = await egress.fetch(task.url, request).then(toResult, toFailure);
  const growth = wantsGrowth === true ? { grownBytes: process.memoryUsage.rss() - before } : {};
  console.log(JSON.stringify({ ...result, ...growth }));
}

function toResult({ body }: { body: Buffer }): EgressChildResult {
  return { body: body.toString() };
}

function toFailure(error: unknown): EgressChildResult {
  if (!(error instanceof EgressError)) throw error;
  const cause = error.cause as { code?: unknown } | undefined;
  return { code: error.code, cause: String(cause?.code ?? "") };
}
