import { loadClient } from "../clients.ts";
import {
  type Choice,
  ChoiceBuilder,
  type Failure,
  failed,
  inTheMiddle,
  type Outcome,
  toGatewayFailure,
  type Usage,
} from "../outcome.ts";
import { asList, asObject, isObject, type JsonObject, type Recording } from "../recording.ts";
import { toPrompt } from "../replay.ts";

interface BedrockModule {
  readonly BedrockRuntimeClient: new (
    options: JsonObject,
  ) => {
    send(command: unknown): Promise<JsonObject>;
    destroy(): void;
  };
  readonly ConverseCommand: new (input: JsonObject) => unknown;
  readonly ConverseStreamCommand: new (input: JsonObject) => unknown;
  readonly BedrockRuntimeServiceException: new () => ServiceException;
}

interface ServiceException extends Error {
  /** Not there when it came in a stream. */
  readonly $metadata?: { readonly httpStatusCode?: number };
}

interface HandlerModule {
  readonly NodeHttpHandler: new () => unknown;
}

export async function readWithBedrock(recording: Recording, url: string): Promise<Outcome> {
  const bedrock = await loadClient<BedrockModule>("@aws-sdk/client-bedrock-runtime");
  // Without it the client speaks HTTP/2, which needs TLS.
  const { NodeHttpHandler } = await loadClient<HandlerModule>("@smithy/node-http-handler");
  const client = new bedrock.BedrockRuntimeClient({
    region: "us-east-1",
    endpoint: url,
    credentials: { accessKeyId: "an-id", secretAccessKey: "a-secret" },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
  const input = {
    modelId: recording.model,
    messages: [{ role: "user", content: [{ text: toPrompt(recording, "event") }] }],
  };
  const reading = new ConverseReading();
  try {
    if (recording.stream) {
      const { stream } = await client.send(new bedrock.ConverseStreamCommand(input));
      for await (const event of stream as AsyncIterable<JsonObject>) reading.addEvent(event);
    } else reading.addAnswer(await client.send(new bedrock.ConverseCommand(input)));
  } catch (error) {
    if (!(error instanceof bedrock.BedrockRuntimeServiceException)) throw error;
    return failed(toFailure(error, recording), [reading.choice]);
  } finally {
    client.destroy();
  }
  return reading.toOutcome();
}

// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, the members of `stream`, and errors whose
// status says less than their name.
const statuses: Readonly<Record<string, number>> = {
  ValidationException: 400,
  ThrottlingException: 429,
  InternalServerException: 500,
  ServiceUnavailableException: 503,
  ModelErrorException: 500,
  ModelStreamErrorException: 500,
};

function toFailure({ name, $metadata }: ServiceException, { status }: Recording): Failure {
  const meant = statuses[name] ?? $metadata?.httpStatusCode ?? null;
  return status === 200 ? inTheMiddle(meant) : toGatewayFailure(meant);
}

// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, `stopReason`
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
};

/** Marks of a model's own format, which slip into names, are not the caller's business. */
function toName(name: unknown): string {
  return String(name).split("<|")[0] ?? "";
}

class ConverseReading {
  readonly #choice = new ChoiceBuilder();
  #usage: Usage | null = null;
  #hasFailed = false;

  addAnswer(answer: JsonObject): void {
    const message = asObject(asObject(answer["output"])["message"]);
    for (const value of asList(message["content"])) {
      const block = asObject(value);
      const cited = asList(asObject(block["citationsContent"])["content"]);
      for (const text of [block["text"], ...cited.map((one) => asObject(one)["text"])])
        if (typeof text === "string") this.#choice.addText(text, true);
      this.#addReasoning(asObject(asObject(block["reasoningContent"])["reasoningText"]));
      const use = block["toolUse"];
      if (isObject(use)) this.#choice.addCall(use["toolUseId"], toName(use["name"]), use["input"]);
    }
    this.#end(answer["stopReason"]);
    this.#count(answer["usage"]);
  }

  addEvent(event: JsonObject): void {
    const started = asObject(event["contentBlockStart"]);
    const use = asObject(started["start"])["toolUse"];
    if (isObject(use))
      this.#choice.addToCall(started["contentBlockIndex"], { id: use["toolUseId"], name: toName(use["name"]) });
    const continued = asObject(event["contentBlockDelta"]);
    const delta = asObject(continued["delta"]);
    if (typeof delta["text"] === "string") this.#choice.addText(delta["text"]);
    this.#addReasoning(asObject(delta["reasoningContent"]));
    if (isObject(delta["toolUse"]))
      this.#choice.addToCall(continued["contentBlockIndex"], { text: delta["toolUse"]["input"] });
    if (isObject(event["contentBlockStop"])) this.#choice.interrupt();
    if (isObject(event["messageStop"])) this.#end(event["messageStop"]["stopReason"]);
    if (isObject(event["metadata"])) this.#count(event["metadata"]["usage"]);
  }

  get choice(): Choice {
    return this.#choice.build();
  }

  toOutcome(): Outcome {
    if (this.#hasFailed) return failed(toGatewayFailure(null));
    return { choices: [this.choice], usage: this.#usage, failure: null };
  }

  #addReasoning({ text }: JsonObject): void {
    if (typeof text === "string") this.#choice.addReasoning(text);
  }

  #end(reason: unknown): void {
    if (typeof reason !== "string") return;
    this.#hasFailed = reason.startsWith("malformed_");
    this.#choice.finish = finishReasons[reason] ?? reason;
  }

  /** https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html: what the cache gives is counted apart. */
  #count(value: unknown): void {
    if (!isObject(value)) return;
    const count = (name: string) => Number(value[name] ?? 0);
    const cached = count("cacheReadInputTokens");
    this.#usage = {
      prompt: count("inputTokens") + cached + count("cacheWriteInputTokens"),
      completion: count("outputTokens"),
      cached,
    };
  }
}
