import { type Ask, type AskStream, type ClientClass, loadClient } from "../clients.ts";
import { ChoiceBuilder, failed, type Outcome, toGatewayFailure, type Usage } from "../outcome.ts";
import { asList, asObject, isObject, type JsonObject, type Recording } from "../recording.ts";
import { toPrompt } from "../replay.ts";

interface MistralModule {
  readonly Mistral: ClientClass<{ chat: { complete: Ask; stream: AskStream } }>;
}

export async function readWithMistral(recording: Recording, url: string): Promise<Outcome> {
  const { Mistral } = await loadClient<MistralModule>("@mistralai/mistralai");
  const client = new Mistral({ apiKey: "a-key", serverURL: url, retryConfig: { strategy: "none" } });
  const request = { model: recording.model, messages: [{ role: "user", content: toPrompt(recording, "event") }] };
  const reading = new MistralReading();
  try {
    if (recording.stream)
      for await (const event of await client.chat.stream(request)) reading.add(asObject(event["data"]));
    else reading.add(await client.chat.complete(request));
  } catch (error) {
    const status = error instanceof Error ? (error as Error & { statusCode?: number }).statusCode : undefined;
    if (status === undefined || status < 400) throw error;
    return failed(toGatewayFailure(status));
  }
  return reading.toOutcome();
}

// https://docs.mistral.ai/api/endpoint/chat, `finish_reason`
const finishReasons: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  model_length: "length",
  tool_calls: "tool_calls",
};

class MistralReading {
  readonly #choices = new Map<unknown, ChoiceBuilder>();
  /** By index, the id of the call that is being told. */
  readonly #openCalls = new Map<unknown, unknown>();
  #usage: Usage | null = null;

  add(answer: JsonObject): void {
    for (const value of asList(answer["choices"])) {
      const choice = asObject(value);
      const builder = this.#choices.get(choice["index"]) ?? new ChoiceBuilder();
      this.#choices.set(choice["index"], builder);
      addMessage(builder, asObject(choice["delta"] ?? choice["message"]), this.#openCalls);
      const reason = choice["finishReason"];
      if (typeof reason === "string") builder.finish = finishReasons[reason] ?? reason;
    }
    if (isObject(answer["usage"])) this.#usage = toUsage(answer["usage"]);
  }

  toOutcome(): Outcome {
    const choices = [...this.#choices.values()].map((one) => one.build());
    if (choices.some(({ finish }) => finish === "error")) return failed(toGatewayFailure(null));
    return { choices, usage: this.#usage, failure: null };
  }
}

function addMessage(builder: ChoiceBuilder, message: JsonObject, open: Map<unknown, unknown>): void {
  const { content } = message;
  if (typeof content === "string") builder.addText(content);
  for (const value of asList(content)) {
    const part = asObject(value);
    if (part["type"] === "text") builder.addText(part["text"] as string);
    for (const thought of asList(part["thinking"])) builder.addReasoning(asObject(thought)["text"] as string);
  }
  for (const value of asList(message["toolCalls"])) {
    const { index, id, function: called } = asObject(value);
    const { name, arguments: given } = asObject(called);
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    // The client fills in "null" and 0 where the vendor gives no id and no index: an id that is one starts a call.
    if (id !== "null") open.set(index, id);
    builder.addToCall(open.get(index) ?? index, { id: id === "null" ? null : id, name, text });
  }
}

function toUsage(usage: JsonObject): Usage {
  const cached = asObject(usage["prompt_tokens_details"])["cached_tokens"] ?? usage["num_cached_tokens"];
  return {
    prompt: Number(usage["promptTokens"] ?? 0),
    completion: Number(usage["completionTokens"] ?? 0),
    cached: typeof cached === "number" ? cached : null,
  };
}
