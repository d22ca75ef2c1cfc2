// The real server in front of a few public routes, for tests that write bytes to its socket.

import { expect } from "bun:test";
import { z } from "zod";
import { type Reply, replyJson } from "../../src/http/reply.ts";
import { pathOf } from "../../src/http/request-head.ts";
import type { Call, ServedRoute } from "../../src/http/route.ts";
import type { ServerOptions } from "../../src/http/server.ts";
import { createAddressRanges } from "../../src/lib/addresses.ts";
import { createLog } from "../../src/log.ts";
import { openConnection, type RawConnection, type RawResponse } from "./raw-http.ts";
import { startTestServer } from "./test-server.ts";

/** The test routes declare no schema for their parameters, so they are text. */
export type TestCall = Call & { readonly params: Readonly<Record<string, string>> };

export type Run = (call: TestCall) => Reply | string | Promise<Reply | string>;

export const closers: (() => void)[] = [];

/** For `afterEach`: closes the servers and connections of a test. */
export function closeServers(): void {
  for (const close of closers.splice(0)) close();
}

export interface Opened {
  readonly url: string;
  /** Method and path of each call that reached its endpoint. */
  readonly served: string[];
  readonly log: string[];
  connect(): Promise<RawConnection>;
  readonly stop: () => Promise<void>;
}

/** Public routes: `/json` reads a body, `/form` leaves it to the endpoint, `/get` and the paths with parameters read none. */
export function open(
  run: Run = echo,
  timeouts: ServerOptions["timeouts"] = {},
  trustedProxies: readonly string[] = [],
): Opened {
  const served: string[] = [];
  const log: string[] = [];
  const counted: Run = (call) => {
    served.push(`${call.request.method} ${pathOf(call.request.url)}`);
    return run(call);
  };
  const routes: ServedRoute[] = [
    { method: "POST", path: "/json", key: "none", body: { kind: "json", schema: z.unknown() }, run: counted },
    { method: "POST", path: "/form", key: "none", body: { kind: "form", schema: z.unknown() }, run: counted },
    { method: "GET", path: "/get", key: "none", run: counted },
    { method: "GET", path: "/probe", key: "none", isProbe: true, run: counted },
    { method: "GET", path: "/manage/keys", key: "none", run: counted },
    { method: "GET", path: "/manage/keys/{key_id}", key: "none", run: counted },
    { method: "GET", path: "/models/{id...}", key: "none", run: counted },
  ];
  const { url, stop, close } = startTestServer(routes, {
    timeouts,
    trustedProxies: createAddressRanges(trustedProxies),
    log: createLog({ level: "error", format: "json", secrets: [], write: (line) => void log.push(line) }),
  });
  closers.push(close);
  return {
    url,
    served,
    log,
    async connect() {
      const connection = await openConnection(url);
      closers.push(connection.leave);
      return connection;
    },
    stop,
  };
}

export function echo({ request, params, body }: TestCall): Reply {
  return replyJson({ path: new URL(request.url).pathname, params, body });
}

export const get = (target: string, more = "") => `GET ${target} HTTP/1.1\r\nHost: gateway\r\n${more}\r\n`;

export const post = (target: string, body: string) =>
  `POST ${target} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

export const answerOf = ({ body }: RawResponse) => JSON.parse(body.toString()) as { path: string; body: unknown };

export const codeOf = ({ body }: RawResponse) =>
  (JSON.parse(body.toString()) as { error: { code: string } }).error.code;

/** An answer in both error forms, with a request id. */
export function expectError(response: RawResponse, status: number, code: string): void {
  const { error, detail } = JSON.parse(response.body.toString()) as { error: { message: string }; detail: string };
  expect([response.status, codeOf(response), detail]).toEqual([status, code, error.message]);
  expect(response.headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
}
