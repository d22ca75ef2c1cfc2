// The client of the chat format: for vendors that speak it, and for the gateway itself.

import { loadClient } from "../clients.ts";
import { type Choice, ChoiceBuilder, type Failure, failed, type Outcome, type Usage } from "../outcome.ts";
import { asList, asObject, isObject, type JsonObject } from "../recording.ts";

interface OpenAIModule {
  readonly default: new (options: JsonObject) => Client;
  readonly APIError: new () => ApiError;
}

interface Client {
  readonly chat: {
    readonly completions: {
      create(body: JsonObject): Promise<unknown>;
      stream(body: JsonObject): { finalChatCompletion(): Promise<unknown> };
    };
  };
}

interface ApiError extends Error {
  readonly status: number | undefined;
  readonly code: string | null | undefined;
  /** The error object that the vendor sent. */
  readonly error: unknown;
}

export interface ChatTarget {
  readonly baseURL: string;
  readonly apiKey: string;
  /** What a failure is in the gateway's words. */
  /** `stated`: the status that an error in the middle of an answer states; null for none. */
  toFailure(status: number | null, code: string, stated: number | null): Failure;
}

export async function readWithOpenAI(
  request: JsonObject,
  { baseURL, apiKey, toFailure }: ChatTarget,
): Promise<Outcome> {
  const { default: OpenAI, APIError } = await loadClient<OpenAIModule>("openai");
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 60_000 });
  const reading = new ChatReading();
  try {
    const answer = await client.chat.completions.create(request);
    if (request["stream"] === true)
      for await (const chunk of answer as AsyncIterable<unknown>) reading.add(chunk, "delta");
    else reading.add(answer, "message");
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    const stated = toStatedStatus(error.error);
    return failed(toFailure(error.status ?? null, String(error.code ?? ""), stated), reading.choices);
  }
  // Some vendors fail with a good status, and the client hands out what they say.
  if (reading.hasFailed) return failed(toFailure(null, "provider_error", null), reading.choices);
  return { choices: reading.choices, usage: reading.usage, failure: null };
}

/** Null when the client can make a whole of the stream; else what it says. Its own reading is stricter than that of chunks. */
export async function assembleWithOpenAI(request: JsonObject, { baseURL, apiKey }: ChatTarget): Promise<string | null> {
  const { default: OpenAI } = await loadClient<OpenAIModule>("openai");
  const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 60_000 });
  try {
    await client.chat.completions.stream(request).finalChatCompletion();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A whole answer has messages, a stream deltas; they hold the same. */
class ChatReading {
  readonly #choices = new Map<unknown, ChoiceBuilder>();
  usage: Usage | null = null;
  hasFailed = false;

  /** Some vendors repeat the whole message beside every delta. */
  add(value: unknown, member: "delta" | "message"): void {
    const answer = asObject(value);
    if (answer["error"] && !answer["choices"]) this.hasFailed = true;
    for (const [position, item] of asList(answer["choices"]).entries()) {
      const choice = asObject(item);
      const key = choice["index"] ?? position;
      const builder = this.#choices.get(key) ?? new ChoiceBuilder();
      this.#choices.set(key, builder);
      addMessage(builder, asObject(choice[member]));
      if (choice["finish_reason"]) builder.finish = String(choice["finish_reason"]);
    }
    if (isObject(answer["usage"])) this.usage = toUsage(answer["usage"]);
  }

  get choices(): readonly Choice[] {
    return [...this.#choices.values()].map((builder) => builder.build());
  }
}

function addMessage(builder: ChoiceBuilder, message: JsonObject): void {
  const { content, refusal } = message;
  const reasoning = message["reasoning_content"] ?? message["reasoning"];
  if (typeof reasoning === "string") builder.addReasoning(reasoning);
  if (typeof content === "string") builder.addText(content);
  else if (Array.isArray(content)) builder.addText(JSON.stringify(content));
  if (typeof refusal === "string") builder.addRefusal(refusal);
  // The old way of calling: one function.
  const called = message["function_call"];
  if (isObject(called)) {
    const { name, arguments: text } = called;
    // It has no id, and needs none.
    builder.addToCall("function_call", { id: "function_call", name, text });
  }
  for (const [position, value] of asList(message["tool_calls"]).entries()) {
    const call = asObject(value);
    const { name, arguments: text } = asObject(call["function"]);
    builder.addToCall(call["index"] ?? position, { id: call["id"], name, text });
  }
}

function toStatedStatus(error: unknown): number | null {
  const { code, status_code: status } = asObject(error);
  if (typeof code === "number") return code;
  return typeof status === "number" ? status : null;
}

/** Some vendors count reasoning only in the total. The gateway states it as a part of the completion, so that the total is the sum. */
function toUsage(usage: JsonObject): Usage {
  const cached = asObject(usage["prompt_tokens_details"])["cached_tokens"];
  const prompt = Number(usage["prompt_tokens"] ?? 0);
  return {
    prompt,
    completion: Math.max(Number(usage["completion_tokens"] ?? 0), Number(usage["total_tokens"] ?? 0) - prompt),
    cached: typeof cached === "number" ? cached : null,
  };
}
