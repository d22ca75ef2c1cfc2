// Writes an answer in the chat-completions format: as one object, or as the events of a stream.

import type { Answer, Choice } from "./answer.ts";
import type { ChatRequest } from "./request.ts";
import { toLogprob } from "./tokens.ts";

/** 2026-01-01T00:00:00Z. Fixed, so that the same request returns the same bytes. */
const createdSeconds = 1_767_225_600;

type Delta = Readonly<Record<string, unknown>>;

interface DeltaEvent {
  readonly index: number;
  readonly delta: Delta;
  readonly logprobs: unknown;
  readonly finish_reason: string | null;
}

export function writeCompletion(request: ChatRequest, answer: Answer, requestHash: string): string {
  return JSON.stringify({
    ...envelope(request, requestHash, "chat.completion"),
    choices: answer.choices.map((choice) => ({
      index: choice.index,
      message: writeMessage(choice),
      logprobs: writeLogprobs(request, choice.content, choice.refusal),
      finish_reason: choice.finishReason,
    })),
    usage: answer.usage,
  });
}

/** One string per event, without the `[DONE]` that ends a whole stream. */
export function* writeEvents(request: ChatRequest, answer: Answer, requestHash: string): Generator<string> {
  const head = envelope(request, requestHash, "chat.completion.chunk");
  const includesUsage = request.stream_options?.include_usage === true;
  const usage = includesUsage ? { usage: null } : {};
  for (const event of interleave(answer.choices.map((choice) => writeDeltas(request, choice)))) {
    yield toEvent({ ...head, choices: [event], ...usage });
  }
  if (includesUsage) yield toEvent({ ...head, choices: [], usage: answer.usage });
}

export const doneEvent = "data: [DONE]\n\n";

export function toEvent(payload: unknown): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function envelope(request: ChatRequest, requestHash: string, object: string) {
  return {
    id: `chatcmpl-${requestHash.slice(0, 29)}`,
    object,
    created: createdSeconds,
    model: request.model,
    ...(request.service_tier != null && { service_tier: request.service_tier }),
    system_fingerprint: request.seed == null ? "fp_sandbox" : `fp_sandbox_${request.seed}`,
  };
}

function writeMessage({ content, refusal, reasoning, calls, isLegacyCall }: Choice) {
  const written = calls.map(({ id, name, arguments: tokens }) => ({
    id,
    type: "function",
    function: { name, arguments: tokens.join("") },
  }));
  return {
    role: "assistant",
    content: content === null ? null : content.join(""),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("") }),
    refusal: refusal === null ? null : refusal.join(""),
    annotations: [],
    ...(written.length > 0 && (isLegacyCall ? { function_call: written[0]?.function } : { tool_calls: written })),
  };
}

function* writeDeltas(request: ChatRequest, choice: Choice): Generator<DeltaEvent> {
  const { index } = choice;
  const event = (delta: Delta, logprobs: unknown = null): DeltaEvent => ({
    index,
    delta,
    logprobs,
    finish_reason: null,
  });

  yield event({ role: "assistant", content: choice.content === null ? null : "", refusal: null });
  for (const token of choice.reasoning) yield event({ reasoning_content: token });
  for (const token of choice.content ?? []) yield event({ content: token }, writeLogprobs(request, [token], null));
  for (const token of choice.refusal ?? []) yield event({ refusal: token }, writeLogprobs(request, null, [token]));
  for (const [position, call] of choice.calls.entries()) {
    const opening = { name: call.name, arguments: "" };
    const wrap = (part: Delta, opens: Delta): Delta =>
      choice.isLegacyCall ? { function_call: part } : { tool_calls: [{ index: position, ...opens, function: part }] };
    yield event(wrap(opening, { id: call.id, type: "function" }));
    for (const token of call.arguments) yield event(wrap({ arguments: token }, {}));
  }
  yield { ...event({}), finish_reason: choice.finishReason };
}

function writeLogprobs(request: ChatRequest, content: readonly string[] | null, refusal: readonly string[] | null) {
  if (request.logprobs !== true) return null;
  const rate = (token: string) => toLogprob(token, request.top_logprobs ?? 0);
  return { content: content?.map(rate) ?? null, refusal: refusal?.map(rate) ?? null };
}

/** Interleaved, as vendors send several choices. */
function* interleave<Item>(sources: readonly Iterator<Item>[]): Generator<Item> {
  let open = sources;
  while (open.length > 0) {
    const stillOpen: Iterator<Item>[] = [];
    for (const source of open) {
      const next = source.next();
      if (next.done) continue;
      yield next.value;
      stillOpen.push(source);
    }
    open = stillOpen;
  }
}
