// A collector on loopback that receives traces in OTLP/JSON, https://opentelemetry.io/docs/specs/otlp/, and keeps their spans.

import { waitFor } from "./wait.ts";

export interface ReceivedSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Null for the root of a trace. */
  readonly parentSpanId: string | null;
  readonly traceState: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
}

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly headers: Headers; readonly body: Buffer }[];
  /** The status of answers from now on. */
  answerWith(status: number): void;
  /** All spans of a trace, as soon as there are this many. */
  waitForTrace(traceId: string, count: number): Promise<readonly ReceivedSpan[]>;
  stop(): void;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}

type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly attributes: OtlpAttributes;
  readonly status?: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpAttributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"];
const errorStatus = 2;

export function startOtlpReceiver(): OtlpReceiver {
  const spans: ReceivedSpan[] = [];
  const requests: { headers: Headers; body: Buffer }[] = [];
  let status = 200;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = Buffer.from(await request.arrayBuffer());
      requests.push({ headers: request.headers, body });
      if (new URL(request.url).pathname !== "/v1/traces") return new Response(null, { status: 404 });
      if (status !== 200) return new Response(null, { status });
      if (request.headers.get("content-type") === "application/json")
        spans.push(...readSpans(JSON.parse(body.toString())));
      return Response.json({});
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    requests,
    answerWith(next) {
      status = next;
    },
    waitForTrace: (traceId, count) =>
      waitFor(`${count} spans of a trace`, () => {
        const found = spans.filter((span) => span.traceId === traceId);
        return found.length >= count ? found : null;
      }),
    stop: () => void server.stop(true),
  };
}

function readSpans({ resourceSpans }: OtlpTraces): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        name: span.name,
        kind: kinds[span.kind] ?? String(span.kind),
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || null,
        traceState: span.traceState ?? "",
        attributes: readAttributes(span.attributes),
        resource: readAttributes(resource.attributes),
        isError: span.status?.code === errorStatus,
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
      })),
    ),
  );
}

function readAttributes(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue({ stringValue, intValue, doubleValue, boolValue, arrayValue }: OtlpValue): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(readValue);
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue;
}
