// A load whose rate does not depend on the answers, sent by a separate process.

import type { Children } from "../children.ts";
import type { Call } from "../requests.ts";

export type OpenLoad = {
  call: Call;
  perSecond: number;
  durationMs: number;
  maxConnections: number;
  /** What happens in this time at the beginning is not counted. */
  ignoredMs: number;
};

/** Times are from the sending of a request: to the end of its answer, or to the head of it. */
export type OpenResult = {
  sentPerSecond: number;
  servedPerSecond: number;
  refused: number;
  /** Requests that found no connection. */
  unsent: number;
  failed: number;
  connections: number;
  /** How far the client itself was behind at worst. */
  lateMs: number;
  refusedP50Ms: number;
  refusedP99Ms: number;
  servedP50Ms: number;
  servedP99Ms: number;
  firstByteP50Ms: number;
  firstByteP99Ms: number;
};

export async function sendOpenLoad(children: Children, load: OpenLoad): Promise<OpenResult> {
  const tool = children.startTool("load/open-loop-client.ts", load);
  const printed = await tool.stdout.text();
  await tool.stop();
  return JSON.parse(printed) as OpenResult;
}
