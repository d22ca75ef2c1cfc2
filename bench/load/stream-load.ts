// Streams read to their end by a separate process.

import type { Children } from "../children.ts";
import type { Call } from "../requests.ts";

export type StreamLoad = { call: Call; streams: number; chunks: number };
export type StreamResult = { events: number; reads: number; faults: string[] };

export async function sendStreamLoad(children: Children, load: StreamLoad): Promise<StreamResult> {
  const tool = children.startTool("load/stream-client.ts", load);
  const printed = await tool.stdout.text();
  await tool.stop();
  const result = JSON.parse(printed) as StreamResult;
  if (result.faults.length > 0) throw new Error(`streams broke: ${result.faults.join("; ")}`);
  return result;
}
