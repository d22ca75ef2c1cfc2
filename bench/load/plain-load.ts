// Plain completions as fast as they are answered: by wrk where it is installed, else by our own client.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Children } from "../children.ts";
import type { Call } from "../requests.ts";

export type PlainLoad = {
  call: Call;
  connections: number;
  durationMs: number;
  pauseMs: number;
  /** Every request is to be refused. */
  isRefused?: boolean;
};
export type PlainResult = { requests: number; failed: number; durationMs: number; p50Ms: number; p99Ms: number };
/** Of our own client, which notes the slowest request as well. */
export type OwnResult = PlainResult & { longestMs: number };

const wrk = Bun.which("wrk");

export const loadGenerator = wrk ? "wrk" : "own client (wrk is not installed)";

/** A load with a failed request is an error: a figure over it would flatter whoever fails fastest. */
export async function sendPlainLoad(children: Children, load: PlainLoad): Promise<PlainResult> {
  const result = wrk ? await sendWithWrk(wrk, children, load) : await sendWithOwnClient(children, load);
  if (result.requests === 0) throw new Error("no request was answered");
  if (load.isRefused === true) {
    const refused = wrk ? result.failed : result.requests + result.failed;
    if (result.requests > refused) throw new Error(`${result.requests - refused} requests were not refused`);
    return result;
  }
  if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`);
  return result;
}

async function sendWithWrk(wrkPath: string, children: Children, load: PlainLoad): Promise<PlainResult> {
  const bodyPath = join(children.folder, "request.json");
  writeFileSync(bodyPath, load.call.body);
  const headers = Object.entries(load.call.headers).map(([name, value]) => `${name}: ${value}`);
  const seconds = Math.max(1, Math.round(load.durationMs / 1000));
  const printed = await children.run(
    [
      wrkPath,
      "-t1",
      `-c${load.connections}`,
      `-d${seconds}s`,
      "--timeout=10s",
      "-s",
      join(import.meta.dir, "post.lua"),
      load.call.url,
    ],
    { BENCH_BODY_FILE: bodyPath, BENCH_HEADERS: headers.join("\n") },
    seconds * 1000 + 20_000,
  );
  const result = /^RESULT (.*)$/m.exec(printed)?.[1];
  if (!result) throw new Error(`wrk printed no result: ${printed.slice(-300)}`);
  return JSON.parse(result) as PlainResult;
}

/** Our own client, for those who need its pauses or want to count failures themselves. */
export async function sendWithOwnClient(children: Children, load: PlainLoad): Promise<OwnResult> {
  const tool = children.startTool("load/plain-client.ts", load);
  const printed = await tool.stdout.text();
  await tool.stop();
  return JSON.parse(printed) as OwnResult;
}
