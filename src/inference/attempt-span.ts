// The span of one call to a provider, with the attributes that OpenTelemetry defines for calls to generative models:
// https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/client-inference.md

import { isObject } from "../lib/lenient-json.ts";
import { AnswerFacts } from "../tracing/answer-facts.ts";
import {
  type ContentRules,
  writeInput,
  writeInstructions,
  writeTaskInput,
  writeTaskOutput,
} from "../tracing/content.ts";
import { type Attributes, type Span, toServerAddress } from "../tracing/span.ts";
import { countInput, readAllParts } from "../usage/tokens.ts";
import type { AttemptReport } from "./report.ts";

export interface AttemptSpanStart {
  /** `chat`, `embeddings` … or the name of a task. */
  readonly operation: string;
  /** The name that OpenTelemetry defines for the provider, otherwise the gateway's own name for it. */
  readonly provider: string;
  readonly model: string | null;
  /** The base URL of the provider; null for an engine on this machine. */
  readonly address: string | null;
  readonly isStream: boolean;
  /** The caller's request, in the chat, Messages or Responses format; absent for a task. */
  readonly request?: unknown;
  /** The input of a task; absent for a request to a model. */
  readonly taskInput?: unknown;
  readonly attributes: Attributes;
}

export class AttemptSpan {
  readonly #span: Span;
  readonly #facts: AnswerFacts;

  constructor(parent: Span, start: AttemptSpanStart) {
    const { operation, provider, model, address, isStream, request, attributes } = start;
    const { content } = parent;
    this.#facts = new AnswerFacts(content);
    this.#span = parent.child({
      name: model === null ? operation : `${operation} ${model}`,
      kind: address === null ? "internal" : "client",
      attributes: parent.isRecorded
        ? {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model ?? undefined,
            "gen_ai.request.stream": isStream ? true : undefined,
            ...describeAddress(address),
            ...describeRequest(request),
            "gen_ai.input.messages": content === null ? undefined : describeInput(start, content),
            "gen_ai.system_instructions": content === null ? undefined : writeInstructions(request, content),
            ...attributes,
          }
        : {},
    });
  }

  /** Reads a whole answer, or one event of a stream. */
  readonly note = (value: Readonly<Record<string, unknown>>): void => {
    if (this.#span.isRecorded) this.#facts.note(value);
  };

  /** The output of a task. */
  noteTaskOutput(output: unknown): void {
    const { content, isRecorded } = this.#span;
    if (isRecorded && content !== null) this.#span.set({ "gen_ai.output.messages": writeTaskOutput(output, content) });
  }

  linesFor(provider: string): string {
    return this.#span.linesFor(provider);
  }

  end({ outcome, usage, charge, firstTokenMs, attempt, attemptReason }: EndedAttempt): void {
    if (!this.#span.isRecorded) return;
    this.#span.set({
      ...this.#facts.toAttributes(),
      ...describeUsage(usage),
      "gen_ai.response.time_to_first_chunk": firstTokenMs === null ? undefined : firstTokenMs / 1_000,
      "switchyard.attempt.number": attempt,
      "switchyard.attempt.reason": attemptReason,
      "switchyard.cost.usd": charge?.cost ?? undefined,
    });
    this.#span.end(outcome === "completed" ? null : outcome);
  }

  /** The provider has accepted the work and is still running it: a later call, with a span of its own, fetches the result. */
  endPending(): void {
    this.#span.end(null);
  }

  /** The call was not sent, so it does not count as an attempt. */
  cancel(code: string): void {
    this.#span.end(code);
  }
}

type EndedAttempt = Pick<AttemptReport, "outcome" | "usage" | "charge" | "firstTokenMs" | "attempt" | "attemptReason">;

function describeInput({ request, taskInput }: AttemptSpanStart, content: ContentRules): string | undefined {
  return taskInput === undefined ? writeInput(request, content) : writeTaskInput(taskInput, content);
}

function describeAddress(address: string | null): Attributes {
  const url = address === null ? null : URL.parse(address);
  if (url === null) return {};
  return {
    "server.address": toServerAddress(url),
    "server.port": Number(url.port) || (url.protocol === "http:" ? 80 : 443),
  };
}

/** The parameters of a request. The chat, Messages and Responses formats have different names for some of them. */
function describeRequest(request: unknown): Attributes {
  if (!isObject(request)) return {};
  const number = (...names: readonly string[]) =>
    names.map((name) => request[name]).find((value) => typeof value === "number");
  const {
    stop,
    stop_sequences,
    reasoning_effort,
    reasoning,
    response_format,
    text,
    output_config,
    previous_response_id,
  } = request;
  const sequences: unknown = typeof stop === "string" ? [stop] : (stop ?? stop_sequences);
  const level = reasoning_effort ?? memberOf(reasoning, "effort") ?? memberOf(output_config, "effort");
  const format = response_format ?? memberOf(text, "format") ?? memberOf(output_config, "format");
  const choices = number("n");
  return {
    "gen_ai.request.temperature": number("temperature"),
    "gen_ai.request.top_p": number("top_p"),
    "gen_ai.request.top_k": number("top_k"),
    "gen_ai.request.max_tokens": number("max_completion_tokens", "max_tokens", "max_output_tokens"),
    "gen_ai.request.frequency_penalty": number("frequency_penalty"),
    "gen_ai.request.presence_penalty": number("presence_penalty"),
    "gen_ai.request.seed": number("seed"),
    // The conventions want the count only if it is not 1.
    "gen_ai.request.choice.count": choices === 1 ? undefined : choices,
    "gen_ai.request.stop_sequences": Array.isArray(sequences)
      ? sequences.filter((one) => typeof one === "string")
      : undefined,
    "gen_ai.request.reasoning.level": typeof level === "string" ? level : undefined,
    "gen_ai.request.previous_response.id": typeof previous_response_id === "string" ? previous_response_id : undefined,
    // `json_object` or `json_schema`.
    "gen_ai.output.type": String(memberOf(format, "type")).startsWith("json") ? "json" : undefined,
  };
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function describeUsage(usage: unknown): Attributes {
  const parts = readAllParts(usage);
  if (parts === null) return {};
  // A part that the provider did not report is 0 as well, so a 0 says nothing and is left out.
  const unlessZero = (count: number) => (count > 0 ? count : undefined);
  const { output, reasoning, audioOutput, imageOutput, cacheRead, cacheReadAudio, cacheReadImage } = parts;
  return {
    "gen_ai.usage.input_tokens": countInput(parts),
    "gen_ai.usage.output_tokens": output + reasoning + audioOutput + imageOutput,
    "gen_ai.usage.cache_read.input_tokens": unlessZero(cacheRead + cacheReadAudio + cacheReadImage),
    "gen_ai.usage.cache_write.input_tokens": unlessZero(parts.cacheWrite5m + parts.cacheWrite1h),
    "gen_ai.usage.reasoning.output_tokens": unlessZero(reasoning),
    "gen_ai.usage.audio.input_tokens": unlessZero(parts.audioInput + cacheReadAudio),
    "gen_ai.usage.audio.output_tokens": unlessZero(audioOutput),
    "gen_ai.usage.image.input_tokens": unlessZero(parts.imageInput + cacheReadImage),
    "gen_ai.usage.image.output_tokens": unlessZero(imageOutput),
  };
}
