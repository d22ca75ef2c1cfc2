// The pauses between the chunks of streams, seen by a separate process.

import type { Children } from "../children.ts";
import type { Call } from "../requests.ts";

export type GapLoad = { call: Call; streams: number; durationMs: number };
export type GapResult = { gaps: number; p50Ms: number; p99Ms: number; faults: string[] };

export async function readGaps(children: Children, load: GapLoad): Promise<GapResult> {
  const tool = children.startTool("load/gap-client.ts", load);
  const printed = await tool.stdout.text();
  await tool.stop();
  const result = JSON.parse(printed) as GapResult;
  if (result.faults.length > 0) throw new Error(`streams broke: ${result.faults.slice(0, 3).join("; ")}`);
  if (result.gaps < 100) throw new Error(`only ${result.gaps} chunks came`);
  return result;
}
