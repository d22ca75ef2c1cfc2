// At the limit of open files: the gateway does not spin, serves the clients that are connected, and recovers.

import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { ask, chatPath, hello } from "../support/chat.ts";
import { sharedGatewayProcess } from "../support/gateway-process.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

// The kernel reports the number of open files as the size of the folder since Linux 6.2.
const canCount = process.platform === "linux" && statSync("/proc/self/fd").size > 0;
const maxOpenFiles = 160;

const vendor = await startVendor();
const gateway = await sharedGatewayProcess({ vendor, maxOpenFiles, env: { SWITCHYARD_LOG_LEVEL: "info" } });
const key = await gateway.createKey();

test.skipIf(!canCount)(
  "more connections than open files neither block the gateway nor keep it busy",
  async () => {
    const [pid = 0] = (await gateway.processes()).serving;
    const port = Number(new URL(gateway.url).port);
    const known = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const request = requestBytes({ path: chatPath, headers, body: JSON.stringify(hello) });

    async function callOnKnownConnection(): Promise<number> {
      known.send(request);
      return (await known.receive()).status;
    }
    expect(await callOnKnownConnection()).toBe(200);

    const crowd: Socket[] = [];
    for (let count = 0; count < 4 * maxOpenFiles; count++) {
      const socket = connect({ host: "127.0.0.1", port });
      socket.on("error", () => {});
      crowd.push(socket);
    }
    await waitFor("new connections to be refused", () => gateway.log().includes("new connections are refused"));
    // Connections that were under way are accepted or closed; afterwards there is nothing to do.
    let busyMs = Number.POSITIVE_INFINITY;
    await waitFor("a second with little work", async () => {
      const before = cpuMsOf(pid);
      await Bun.sleep(1_000);
      busyMs = cpuMsOf(pid) - before;
      return busyMs < 200;
    });
    expect(statSync(`/proc/${pid}/fd`).size).toBeLessThanOrEqual(maxOpenFiles);

    await waitFor("a client that was connected to be served", async () => (await callOnKnownConnection()) === 200, {
      everyMs: 100,
    });
    for (let count = 0; count < 20; count++) expect(await callOnKnownConnection()).toBe(200);

    for (const socket of crowd) socket.destroy();
    await waitFor("new connections to be accepted", () => gateway.log().includes("are accepted again"));
    expect((await ask(gateway.url, key, hello)).status).toBe(200);
    known.leave();
  },
  120_000,
);

/** User and system time of a process. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const ticksPerSecond = 100;
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}
