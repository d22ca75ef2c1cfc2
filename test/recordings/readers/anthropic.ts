// The client of the Messages format: for the vendor that made it, and for the gateway's second front door.

import { loadClient } from "../clients.ts";
import { ChoiceBuilder, type Failure, failed, type Outcome } from "../outcome.ts";
import { asList, asObject, type JsonObject } from "../recording.ts";

interface AnthropicModule {
  readonly default: new (options: JsonObject) => Client;
  readonly AnthropicError: new () => ClientError;
  readonly APIConnectionError: new () => ClientError & { readonly isConnection: true };
}

interface Client {
  readonly messages: {
    create(body: JsonObject): Promise<JsonObject>;
    stream(body: JsonObject): { finalMessage(): Promise<JsonObject>; readonly currentMessage: JsonObject | undefined };
  };
}

interface ClientError extends Error {
  readonly status?: number | undefined;
  readonly type?: string | null | undefined;
}

export interface MessagesTarget {
  readonly baseURL: string;
  readonly apiKey: string;
  toFailure(status: number | null, type: string, message: string): Failure;
}

export interface MessagesReading {
  readonly outcome: Outcome;
  /** As the client hands it out; null when it failed. */
  readonly message: JsonObject | null;
}

export async function readWithAnthropic(request: JsonObject, target: MessagesTarget): Promise<MessagesReading> {
  const {
    default: Anthropic,
    AnthropicError,
    APIConnectionError,
  } = await loadClient<AnthropicModule>("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: target.baseURL, apiKey: target.apiKey, maxRetries: 0, timeout: 60_000 });
  const isStream = request["stream"] === true;
  const stream = isStream ? client.messages.stream(request) : null;
  try {
    const message = stream === null ? await client.messages.create(request) : await stream.finalMessage();
    return { outcome: toOutcome(message), message };
  } catch (error) {
    // Also what the client itself finds wrong with an answer.
    if (!(error instanceof AnthropicError) || error instanceof APIConnectionError) throw error;
    const begun = stream?.currentMessage;
    const choices = begun === undefined ? [] : toOutcome(begun).choices;
    return {
      outcome: failed(target.toFailure(error.status ?? null, error.type ?? "", error.message), choices),
      message: null,
    };
  }
}

// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  pause_turn: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

function toOutcome(message: JsonObject): Outcome {
  const builder = new ChoiceBuilder();
  for (const value of asList(message["content"])) {
    const block = asObject(value);
    if (block["type"] === "text") builder.addText(String(block["text"]), true);
    else if (block["type"] === "thinking") builder.addReasoning(String(block["thinking"]), true);
    else if (block["type"] === "tool_use") builder.addCall(block["id"], block["name"], block["input"]);
  }
  const stop = message["stop_reason"];
  builder.finish = typeof stop === "string" ? (finishReasons[stop] ?? stop) : null;
  if (stop === "refusal") builder.addRefusal(asObject(message["stop_details"])["explanation"] as string | null);
  const usage = asObject(message["usage"]) as Readonly<Record<string, number | null>>;
  const cached = usage["cache_read_input_tokens"] ?? 0;
  return {
    choices: [builder.build()],
    usage: {
      prompt: (usage["input_tokens"] ?? 0) + cached + (usage["cache_creation_input_tokens"] ?? 0),
      completion: usage["output_tokens"] ?? 0,
      cached,
    },
    failure: null,
  };
}
