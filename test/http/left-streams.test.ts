// A stream whose client left before the endpoint had its answer: it is not sent, and the request ends all the same.

import { afterEach, expect, test } from "bun:test";
import { type BodyStream, reply } from "../../src/http/reply.ts";
import type { ServedRoute } from "../../src/http/route.ts";
import { createLog } from "../../src/log.ts";
import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import { openConnection } from "../support/raw-http.ts";
import { closers, closeServers, get } from "../support/socket-server.ts";
import { startTestServer } from "../support/test-server.ts";
import { waitFor } from "../support/wait.ts";

afterEach(closeServers);

/** A server whose stream is ready only when its client has left. */
function openForLeaving(abandon: () => void) {
  const metrics = createMetrics();
  const begun = Promise.withResolvers<void>();
  let log = "";
  const stream: BodyStream = { writeTo: () => new Promise(() => {}), abandon };
  const route: ServedRoute = {
    method: "GET",
    path: "/stream",
    key: "none",
    async run({ request: { signal } }) {
      const left = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      begun.resolve();
      await left;
      return reply(stream);
    },
  };
  const write = (lines: string) => {
    log += lines;
  };
  const server = startTestServer([route], {
    metrics,
    log: createLog({ level: "info", format: "json", secrets: [], write }),
  });
  closers.push(server.close);
  return { ...server, metrics, begun: begun.promise, readLog: () => log };
}

async function countRequests(metrics: Metrics): Promise<unknown> {
  return (await metrics.collect()).find(({ name }) => name === "http_requests_total")?.samples;
}

async function leaveEarly({ url, begun }: ReturnType<typeof openForLeaving>): Promise<void> {
  const connection = await openConnection(url);
  connection.send(get("/stream", "x-request-id: left-early\r\n"));
  await begun;
  connection.leave();
}

test("a stream whose client has already left is abandoned once, logged, counted, and not waited for by a drain", async () => {
  let abandoned = 0;
  const server = openForLeaving(() => {
    abandoned += 1;
  });
  await leaveEarly(server);
  await waitFor("the request to end", () => server.readLog().includes("left-early"));
  server.beginDrain();
  await server.untilAnnounced(0);
  const lines = server.readLog().trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "info", message: "request", request_id: "left-early", path: "/stream", status: 200 },
  ]);
  expect(await countRequests(server.metrics)).toEqual([{ labels: { route: "/stream", status: "200" }, value: 1 }]);
  expect(abandoned).toBe(1);
});

test("such a stream that fails when it is abandoned is logged and counted as well", async () => {
  const server = openForLeaving(() => {
    throw new Error("cannot be abandoned");
  });
  await leaveEarly(server);
  await waitFor("the request to end", () => server.readLog().includes('"message":"request"'));
  await waitFor("the failure", () => server.readLog().includes("cannot be abandoned"));
  server.beginDrain();
  await server.untilAnnounced(0);
  expect(await countRequests(server.metrics)).toEqual([{ labels: { route: "/stream", status: "200" }, value: 1 }]);
});
