// Runs inside a network namespace of its own, where public addresses lead to this process: counts who connects where.
// Prints one JSON object, and ends.

import { createServer } from "node:net";
import { createEgress } from "../../src/egress/egress.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { createLog } from "../../src/log.ts";

const rounds = 300;
const log = createLog({
  level: "error",
  format: "json",
  secrets: [],
  write: (lines) => void process.stderr.write(lines),
});
// Every address of this network leads to the one server; what it was dialled by is the connection's own end.
const hits: Record<string, number> = {};
const server = createServer((socket) => {
  const address = (socket.localAddress ?? "").replace("::ffff:", "");
  hits[address] = (hits[address] ?? 0) + 1;
  socket.on("error", () => {});
  socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${address.length}\r\n\r\n${address}`));
});
await new Promise<void>((resolve) => server.listen(0, "::", resolve));
const bound = server.address();
if (bound === null || typeof bound === "string") throw new Error("no port");
const { port } = bound;

async function ask(
  url: string,
  answers: readonly (readonly string[])[],
): Promise<{ outcome: string; lookups: number }> {
  let lookups = 0;
  const lookup = async () => {
    lookups += 1;
    return answers[Math.min(lookups, answers.length) - 1] ?? [];
  };
  const egress = createEgress({ allow: [], log, lookup });
  const request = { maxBytes: 1_000, timeoutMs: 60_000, connectTimeoutMs: 60_000, protocols: ["http:"] } as const;
  try {
    return { outcome: (await egress.fetch(url, request)).body.toString(), lookups };
  } catch (error) {
    return { outcome: error instanceof EgressError ? error.code : String(error), lookups };
  }
}

const single = {
  literal: await ask(`http://8.8.8.8:${port}/`, []),
  decimal: await ask(`http://134744072:${port}/`, []),
  literal6: await ask(`http://[2606:4700::1]:${port}/`, []),
  name: await ask(`http://public.example:${port}/`, [["8.8.8.8"]]),
  mixed: await ask(`http://mixed.example:${port}/`, [["8.8.8.8", "127.0.0.1"]]),
  own: await ask(`http://9.9.9.9:${port}/`, []),
};
const rebinding: Record<string, number> = {};
for (let round = 0; round < rounds; round++) {
  const loopback = round % 2 === 0 ? "127.0.0.1" : "::1";
  const { outcome, lookups } = await ask(`http://rebind.example:${port}/`, [["8.8.8.8"], [loopback]]);
  const result = `${outcome} after ${lookups}`;
  rebinding[result] = (rebinding[result] ?? 0) + 1;
}
console.log(JSON.stringify({ single, rebinding, hits }));
process.exit(0);
