// Sends requests at a fixed rate, whether or not earlier ones have been answered, over as many connections as that takes. Speaks HTTP over plain
// sockets, because on a machine with two cores a client that costs as much as the gateway would measure itself.

import type { Socket } from "bun";
import { percentile } from "../statistics.ts";
import type { OpenLoad, OpenResult } from "./open-loop-load.ts";

type Connection = {
  sentAt: number;
  /** 0 until the status line has arrived. */
  status: number;
  firstByteAt: number;
  head: string;
  /** Bytes of the body that are still missing; -1 for a chunked body, whose end is its last bytes. */
  missing: number;
  tail: string;
};

const { call, perSecond, durationMs, maxConnections, ignoredMs } = JSON.parse(process.argv[2] ?? "{}") as OpenLoad;
const { hostname, port, pathname } = new URL(call.url);
const head = Object.entries({ host: hostname, ...call.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
const length = Buffer.byteLength(call.body);
const request = Buffer.from(
  `POST ${pathname} HTTP/1.1\r\n${head.join("")}content-length: ${length}\r\n\r\n${call.body}`,
);

const idle: Socket<Connection>[] = [];
const refusedMs: number[] = [];
const servedMs: number[] = [];
const firstByteMs: number[] = [];
let open = 0;
let sent = 0;
let unsent = 0;
let failed = 0;
let lateMs = 0;

const startedAt = performance.now();
await run();
const countedMs = durationMs - ignoredMs;
const result: OpenResult = {
  sentPerSecond: (sent * 1000) / countedMs,
  servedPerSecond: (servedMs.length * 1000) / countedMs,
  refused: refusedMs.length,
  unsent,
  failed,
  connections: open,
  lateMs,
  refusedP50Ms: rank(refusedMs, 50),
  refusedP99Ms: rank(refusedMs, 99),
  servedP50Ms: rank(servedMs, 50),
  servedP99Ms: rank(servedMs, 99),
  firstByteP50Ms: rank(firstByteMs, 50),
  firstByteP99Ms: rank(firstByteMs, 99),
};
console.log(JSON.stringify(result));
process.exit(0);

/** 0 when there is nothing to rank, because JSON has no NaN. */
function rank(values: number[], rank: number): number {
  return values.length === 0 ? 0 : percentile(values, rank);
}

async function run(): Promise<void> {
  let due = 0;
  for (;;) {
    const now = performance.now();
    const elapsedMs = now - startedAt;
    if (elapsedMs >= durationMs) return;
    const wanted = Math.floor((elapsedMs * perSecond) / 1000);
    lateMs = Math.max(lateMs, elapsedMs - (due * 1000) / perSecond);
    for (; due < wanted; due++) sendOne();
    await Bun.sleep(1);
  }
}

function isCounted(): boolean {
  return performance.now() - startedAt >= ignoredMs;
}

function sendOne(): void {
  if (isCounted()) sent += 1;
  const socket = idle.pop();
  if (socket !== undefined) ask(socket);
  else if (open < maxConnections) connect();
  else if (isCounted()) unsent += 1;
}

function connect(): void {
  open += 1;
  Bun.connect<Connection>({
    hostname,
    port: Number(port),
    data: { sentAt: performance.now(), status: 0, firstByteAt: 0, head: "", missing: 0, tail: "" },
    socket: {
      open: ask,
      data: receive,
      close: () => lose(),
      error: () => {},
    },
  }).catch(() => lose());
}

function lose(): void {
  open -= 1;
  if (isCounted()) failed += 1;
}

function ask(socket: Socket<Connection>): void {
  Object.assign(socket.data, { sentAt: performance.now(), status: 0, firstByteAt: 0, head: "", missing: 0, tail: "" });
  socket.write(request);
}

function receive(socket: Socket<Connection>, bytes: Buffer): void {
  const connection = socket.data;
  let body = bytes;
  if (connection.status === 0) {
    connection.head += bytes.toString("latin1");
    const end = connection.head.indexOf("\r\n\r\n");
    if (end < 0) return;
    connection.status = Number(connection.head.slice(9, 12));
    connection.firstByteAt = performance.now();
    const declared = /^content-length: *(\d+)/im.exec(connection.head.slice(0, end))?.[1];
    connection.missing = declared === undefined ? -1 : Number(declared);
    body = Buffer.from(connection.head.slice(end + 4), "latin1");
  }
  if (connection.missing >= 0) {
    connection.missing -= body.length;
    if (connection.missing <= 0) finish(socket);
    return;
  }
  connection.tail = (connection.tail + body.toString("latin1", Math.max(0, body.length - 8))).slice(-8);
  if (connection.tail.endsWith("\r\n0\r\n\r\n")) finish(socket);
}

function finish(socket: Socket<Connection>): void {
  const { status, sentAt, firstByteAt } = socket.data;
  idle.push(socket);
  if (!isCounted()) return;
  const now = performance.now();
  if (status === 503) refusedMs.push(now - sentAt);
  else if (status === 200) {
    servedMs.push(now - sentAt);
    firstByteMs.push(firstByteAt - sentAt);
  } else failed += 1;
}
