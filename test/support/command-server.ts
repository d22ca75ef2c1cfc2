// Runs commands of the gateway for a test, one after the other: a request to its socket holds the arguments, and the answer what the command
// prints. It is started in the folder and with the settings of the commands; a process for each of them would take most of a second.

import { runInProcess } from "./run-program.ts";

const [socket] = process.argv.slice(2);
if (socket === undefined) throw new Error("Usage: command-server.ts <socket>");

Bun.serve({
  unix: socket,
  async fetch(request, server) {
    server.timeout(request, 0);
    // Each argument ends with a zero byte.
    const args = (await request.text()).split("\0").slice(0, -1);
    const finished = await runInProcess(...args);
    // A shell wants what was printed; a test wants its parts.
    if (request.headers.get("accept") === "application/json") return Response.json(finished);
    return new Response(`${finished.out}${finished.errors}`, { status: finished.code === 0 ? 200 : 500 });
  },
});
