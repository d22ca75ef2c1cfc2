// Spans of the OpenTelemetry SDK, exported with OTLP over HTTP in batches. A collector that is away costs requests nothing: the queue is bounded,
// and spans that do not fit are dropped.

import { hostname } from "node:os";
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type HrTime,
  ROOT_CONTEXT,
  type Attributes as SdkAttributes,
  type Span as SdkSpan,
  SpanKind as SdkSpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { endsWithin } from "../lib/deadline.ts";
import { readPairs } from "../lib/pairs.ts";
import type { Log } from "../log.ts";
import { Counts } from "../metrics/series.ts";
import { type ContentRules, createContentRules } from "./content.ts";
import type { Attributes, Span, SpanKind, SpanStart, TraceHeaders, Tracing } from "./span.ts";
import type { TracingOptions, TracingSettings } from "./tracing-settings.ts";

const closeWithinMs = 3_000;
const maxAttributes = 128;
const propagator = new W3CTraceContextPropagator();
const kinds: Readonly<Record<SpanKind, SdkSpanKind>> = {
  server: SdkSpanKind.SERVER,
  client: SdkSpanKind.CLIENT,
  consumer: SdkSpanKind.CONSUMER,
  internal: SdkSpanKind.INTERNAL,
};

export async function startTracing(
  settings: TracingSettings & { readonly url: string },
  { version, log, metrics }: TracingOptions,
): Promise<Tracing> {
  const outcomes = new Counts();
  const exporter = new ObservedExporter(await createExporter(settings), outcomes, settings.url, log);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.version": version,
      "service.instance.id": `${hostname()}-${process.pid}`,
      "host.name": hostname(),
      "process.pid": process.pid,
      ...(settings.otelResourceAttributes === null ? {} : readPairs(settings.otelResourceAttributes)),
      "service.name": settings.otelServiceName,
    }),
    sampler: createSampler(settings),
    spanLimits: { attributeCountLimit: maxAttributes },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: settings.otelBspScheduleDelay,
        maxQueueSize: settings.otelBspMaxQueueSize,
        maxExportBatchSize: settings.otelBspMaxExportBatchSize,
        exportTimeoutMillis: settings.otelExporterOtlpTimeout + 1_000,
      }),
    ],
  });
  const bridge: Bridge = {
    tracer: provider.getTracer("switchyard", version),
    content: settings.traceContent
      ? createContentRules(settings.traceContentCharacters, settings.traceRedact, log)
      : null,
    receives: createReceivers(settings.traceProviders),
    outcomes,
    clock: new Clock(),
  };
  metrics.addGauges(() => [
    {
      name: "trace_spans_total",
      help: "Spans that were recorded, exported, or lost because an export failed. The rest waits or was dropped.",
      type: "counter",
      samples: [...outcomes.values].map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
  ]);

  return {
    start: (start, parent) => startSpan(bridge, start, parent === null ? ROOT_CONTEXT : readContext(parent)),
    readCaller(headers) {
      const traceparent = settings.traceCallers ? headers.get("traceparent") : null;
      if (traceparent === null) return null;
      const tracestate = headers.get("tracestate");
      return tracestate === null ? { traceparent } : { traceparent, tracestate };
    },
    async close() {
      await endsWithin(
        provider.shutdown().catch(() => {}), // the exporter has logged it
        closeWithinMs,
      );
    },
  };
}

/** What spans share. */
interface Bridge {
  readonly tracer: Tracer;
  readonly content: ContentRules | null;
  readonly receives: (provider: string) => boolean;
  readonly outcomes: Counts;
  readonly clock: Clock;
}

const maxDriftMs = 50;

/** Converts `performance.now()`, by which spans of one trace keep their order, into the time of day. */
class Clock {
  #offsetMs = Date.now() - performance.now();

  toTime(now: number): HrTime {
    const driftMs = Date.now() - performance.now() - this.#offsetMs;
    // The clock was set, or the two have drifted apart.
    if (Math.abs(driftMs) > maxDriftMs) this.#offsetMs += driftMs;
    const epochMs = now + this.#offsetMs;
    const seconds = Math.floor(epochMs / 1_000);
    return [seconds, Math.round((epochMs - seconds * 1_000) * 1e6)];
  }
}

function startSpan(bridge: Bridge, { name, kind, attributes, startedAt }: SpanStart, parent: Context): Span {
  const options = {
    kind: kinds[kind],
    attributes: withoutUndefined(attributes),
    startTime: bridge.clock.toTime(startedAt ?? performance.now()),
  };
  return new BridgedSpan(bridge, bridge.tracer.startSpan(name, options, parent), parent);
}

class BridgedSpan implements Span {
  readonly #bridge: Bridge;
  readonly #span: SdkSpan;
  readonly #context: Context;

  constructor(bridge: Bridge, span: SdkSpan, parent: Context) {
    this.#bridge = bridge;
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  get content(): ContentRules | null {
    return this.isRecorded ? this.#bridge.content : null;
  }

  get headers(): TraceHeaders {
    const carrier: Record<string, string> = {};
    propagator.inject(this.#context, carrier, defaultTextMapSetter);
    const { traceparent = "", tracestate } = carrier;
    return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  }

  child(start: SpanStart): Span {
    return startSpan(this.#bridge, start, this.#context);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(withoutUndefined(attributes));
  }

  end(error: string | null): void {
    if (!this.isRecorded) return;
    if (error !== null) {
      this.#span.setAttribute("error.type", error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#bridge.outcomes.add("recorded");
    this.#span.end(this.#bridge.clock.toTime(performance.now()));
  }

  linesFor(provider: string): string {
    if (!this.#bridge.receives(provider)) return "";
    const { traceparent, tracestate } = this.headers;
    return `traceparent: ${traceparent}\r\n${tracestate === undefined ? "" : `tracestate: ${tracestate}\r\n`}`;
  }
}

function readContext(headers: TraceHeaders): Context {
  return propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
}

function withoutUndefined(attributes: Attributes): SdkAttributes {
  const defined: SdkAttributes = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) defined[name] = value as SdkAttributes[string];
  return defined;
}

/** `*` stands for all providers. */
function createReceivers(names: readonly string[]): (provider: string) => boolean {
  const set = new Set(names);
  return set.has("*") ? () => true : (provider) => set.has(provider);
}

function createSampler({ otelTracesSampler: name, otelTracesSamplerArg: ratio }: TracingSettings): Sampler {
  const root = name.replace("parentbased_", "");
  const sampler =
    root === "always_off"
      ? new AlwaysOffSampler()
      : root === "traceidratio"
        ? new TraceIdRatioBasedSampler(ratio === null ? 1 : Number(ratio))
        : new AlwaysOnSampler();
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root: sampler }) : sampler;
}

async function createExporter(settings: TracingSettings & { readonly url: string }): Promise<SpanExporter> {
  const { url, otelExporterOtlpHeaders: headers, otelExporterOtlpTimeout: timeoutMillis } = settings;
  const options = { url, timeoutMillis, ...(headers !== null && { headers: readPairs(headers) }) };
  const { OTLPTraceExporter } =
    settings.otelExporterOtlpProtocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter(options);
}

/** Counts what becomes of spans, and logs when exports begin to fail and when they work again. */
class ObservedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #outcomes: Counts;
  readonly #url: string;
  readonly #log: Log;
  #isFailing = false;

  constructor(exporter: SpanExporter, outcomes: Counts, url: string, log: Log) {
    this.#exporter = exporter;
    this.#outcomes = outcomes;
    this.#url = url;
    this.#log = log;
  }

  export(spans: ReadableSpan[], onResult: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      const hasFailed = result.code !== ExportResultCode.SUCCESS;
      this.#outcomes.add(hasFailed ? "failed" : "exported", spans.length);
      if (hasFailed !== this.#isFailing) this.#report(hasFailed, result);
      onResult(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #report(hasFailed: boolean, { error }: ExportResult): void {
    this.#isFailing = hasFailed;
    const collector = new URL(this.#url).origin;
    if (hasFailed) this.#log.warn("traces could not be exported; their spans are lost", { collector, error });
    else this.#log.info("traces are exported again", { collector });
  }
}
