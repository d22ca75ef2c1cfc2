import { loadClient } from "../clients.ts";
import { ChoiceBuilder, failed, inTheMiddle, type Outcome, toGatewayFailure, type Usage } from "../outcome.ts";
import { asList, asObject, isObject, type JsonObject, type Recording } from "../recording.ts";
import { toPrompt } from "../replay.ts";

interface CohereModule {
  readonly CohereClientV2: new (
    options: JsonObject,
  ) => {
    chat(request: JsonObject, options: JsonObject): Promise<JsonObject>;
    chatStream(request: JsonObject, options: JsonObject): Promise<AsyncIterable<JsonObject>>;
  };
  readonly CohereError: new () => Error & { readonly statusCode: number | undefined };
}

export async function readWithCohere(recording: Recording, url: string): Promise<Outcome> {
  const { CohereClientV2, CohereError } = await loadClient<CohereModule>("cohere-ai");
  const client = new CohereClientV2({ token: "a-key", environment: url });
  const request = { model: recording.model, messages: [{ role: "user", content: toPrompt(recording, "event") }] };
  const reading = new CohereReading();
  const options = { maxRetries: 0 };
  try {
    if (recording.stream) for await (const event of await client.chatStream(request, options)) reading.addEvent(event);
    else reading.addAnswer(await client.chat(request, options));
  } catch (error) {
    if (!(error instanceof CohereError)) throw error;
    return failed(toGatewayFailure(error.statusCode ?? null));
  }
  return reading.toOutcome();
}

// https://docs.cohere.com/reference/chat, `finish_reason`
const finishReasons: Readonly<Record<string, string>> = {
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop",
  MAX_TOKENS: "length",
  TOOL_CALL: "tool_calls",
  ERROR_TOXIC: "content_filter",
};

class CohereReading {
  readonly #choice = new ChoiceBuilder();
  #usage: Usage | null = null;

  addAnswer(answer: JsonObject): void {
    const message = asObject(answer["message"]);
    // A plan of calls is a thought.
    this.#choice.addReasoning(message["toolPlan"] as string | undefined, true);
    for (const value of asList(message["content"])) {
      const item = asObject(value);
      this.#choice.addReasoning(item["thinking"] as string | undefined, true);
      this.#choice.addText(item["text"] as string | undefined, true);
    }
    for (const [position, call] of asList(message["toolCalls"]).entries()) this.#addCall(position, call);
    this.#end(answer);
  }

  addEvent(event: JsonObject): void {
    const delta = asObject(event["delta"]);
    const message = asObject(delta["message"]);
    const content = asObject(message["content"]);
    switch (event["type"]) {
      case "content-start":
        this.#choice.interrupt();
        this.#addContent(content);
        break;
      case "content-delta":
        this.#addContent(content);
        break;
      case "tool-plan-delta":
        this.#choice.addReasoning(message["toolPlan"] as string);
        break;
      case "tool-call-start":
      case "tool-call-delta":
        this.#addCall(event["index"], message["toolCalls"]);
        break;
      case "message-end":
        this.#end(delta);
        break;
    }
  }

  toOutcome(): Outcome {
    const choice = this.#choice.build();
    if (choice.finish === "ERROR" || choice.finish === "TIMEOUT") return failed(inTheMiddle(500), [choice]);
    return { choices: [choice], usage: this.#usage, failure: null };
  }

  #addContent({ thinking, text }: JsonObject): void {
    this.#choice.addReasoning(thinking as string | undefined);
    this.#choice.addText(text as string | undefined);
  }

  #addCall(key: unknown, value: unknown): void {
    const { id, function: called } = asObject(value);
    const { name, arguments: text } = asObject(called);
    // A function without parameters is called with null, where callers of the chat format expect an empty object.
    this.#choice.addToCall(key, { id, name, text: text === "null" ? "" : text });
  }

  /** Tokens are what was read and written, billed units what is paid of them. */
  #end({ finishReason, usage }: JsonObject): void {
    if (typeof finishReason === "string") this.#choice.finish = finishReasons[finishReason] ?? finishReason;
    if (!isObject(usage)) return;
    const counted = asObject(usage["tokens"] ?? usage["billedUnits"]);
    this.#usage = {
      // Images are counted beside the text, in a member that the client does not know yet.
      prompt: Number(counted["inputTokens"] ?? 0) + Number(counted["imageTokens"] ?? counted["image_tokens"] ?? 0),
      completion: Number(counted["outputTokens"] ?? 0),
      cached: typeof usage["cachedTokens"] === "number" ? usage["cachedTokens"] : null,
    };
  }
}
