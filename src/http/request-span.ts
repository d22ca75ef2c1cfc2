// The span of a request, with the attributes that OpenTelemetry defines for HTTP servers.

import type { Caller } from "../access/caller.ts";
import type { Trace } from "../inference/trace.ts";
import { type Span, type Tracing, toServerAddress } from "../tracing/span.ts";

interface StartedRequest {
  readonly requestId: string;
  /** The path of the route, with its placeholders. */
  readonly route: string;
  readonly startedAt: number;
}

interface EndedRequest {
  readonly status: number;
  /** Of the error that the caller received. */
  readonly errorCode: string | null;
  readonly caller: Caller | null;
  readonly trace: Trace;
}

const maxUserAgent = 256;

export function startRequestSpan(
  tracing: Tracing,
  request: Request,
  { requestId, route, startedAt }: StartedRequest,
): Span {
  const { method, headers } = request;
  const url = URL.parse(request.url);
  return tracing.start(
    {
      name: `${method} ${route}`,
      kind: "server",
      startedAt,
      attributes: {
        "http.request.method": method,
        "http.route": route,
        "url.path": url?.pathname,
        "url.scheme": url?.protocol.replace(":", ""),
        "server.address": url === null ? undefined : toServerAddress(url),
        "server.port": url === null || url.port === "" ? undefined : Number(url.port),
        "user_agent.original": headers.get("user-agent")?.slice(0, maxUserAgent),
        "switchyard.request.id": requestId,
      },
    },
    tracing.readCaller(headers),
  );
}

export function endRequestSpan(span: Span, { status, errorCode, caller, trace }: EndedRequest): void {
  const broken = trace.attempts.at(-1)?.failure ?? null;
  span.set({
    "http.response.status_code": status,
    "switchyard.error.code": errorCode ?? undefined,
    "switchyard.key.id": caller?.keyId,
    "switchyard.team": caller?.team ?? undefined,
    "switchyard.attempts": trace.calls,
  });
  // A refusal is the caller's mistake and no error of a server. A stream that broke has the status of its beginning.
  if (status >= 500) span.end(errorCode ?? String(status));
  else span.end(status < 400 ? broken : null);
}
