// Reads many streams at once and holds each to its promise: every chunk once, in order, then usage, then [DONE].

import type { StreamLoad } from "./stream-load.ts";

const { call, streams, chunks } = JSON.parse(process.argv[2] ?? "{}") as StreamLoad;
const decoder = new TextDecoder();
const faults: string[] = [];
let events = 0;
let reads = 0;

await Promise.all(Array.from({ length: streams }, () => readStream().catch((error) => faults.push(String(error)))));
console.log(JSON.stringify({ events, reads, faults: faults.slice(0, 5) }));
process.exit(0);

async function readStream(): Promise<void> {
  const response = await fetch(call.url, {
    method: "POST",
    headers: { ...call.headers, "accept-encoding": "identity" },
    body: call.body,
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok || !response.body)
    throw new Error(`status ${response.status}: ${(await response.text()).slice(0, 200)}`);
  let rest = "";
  let expected = 0;
  let hasUsage = false;
  let isDone = false;
  for await (const bytes of response.body) {
    reads += 1;
    // The answer is ASCII, so a read never ends within a character.
    const pieces = (rest + decoder.decode(bytes)).split("\n\n");
    rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      if (!piece.startsWith("data: ")) continue;
      events += 1;
      if (isDone) throw new Error("an event after [DONE]");
      if (piece === "data: [DONE]") isDone = true;
      else if (piece.includes(`"content":"w${expected} "`)) expected += 1;
      else if (piece.includes('"content":"w'))
        throw new Error(`chunk ${expected} expected, got ${piece.slice(0, 300)}`);
      else if (piece.includes('"usage":{')) hasUsage = true;
    }
  }
  if (expected !== chunks) throw new Error(`${expected} of ${chunks} chunks arrived`);
  if (!hasUsage) throw new Error("no usage chunk");
  if (!isDone) throw new Error("no [DONE]");
}
