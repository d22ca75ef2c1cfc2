import { type Ask, type AskStream, type ClientClass, loadClient } from "../clients.ts";
import { ChoiceBuilder, failed, inTheMiddle, type Outcome, toGatewayFailure, type Usage } from "../outcome.ts";
import { asList, asObject, isObject, type JsonObject, type Recording } from "../recording.ts";
import { toPrompt } from "../replay.ts";

interface GeminiModule {
  readonly GoogleGenAI: ClientClass<{ models: { generateContent: Ask; generateContentStream: AskStream } }>;
  readonly ApiError: new () => Error & { readonly status: number };
}

export async function readWithGemini(recording: Recording, url: string): Promise<Outcome> {
  const { GoogleGenAI, ApiError } = await loadClient<GeminiModule>("@google/genai");
  const client = new GoogleGenAI({
    apiKey: "a-key",
    vertexai: recording.provider === "vertexai",
    httpOptions: { baseUrl: url },
  });
  // The client asks for events and reads nothing else: a stream that was recorded as a list is told as events.
  const isList = recording.stream && recording.body.toString("latin1").trimStart().startsWith("[");
  const request = { model: recording.model, contents: toPrompt(recording, isList ? "sse" : "event") };
  const reading = new GeminiReading();
  try {
    if (recording.stream)
      for await (const chunk of await client.models.generateContentStream(request)) reading.add(chunk);
    else reading.add(await client.models.generateContent(request));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const status = meantStatus(error);
    return recording.status === 200
      ? failed(inTheMiddle(status), reading.toOutcome().choices)
      : failed(toGatewayFailure(status));
  }
  return reading.toOutcome();
}

/** A bad key and a country that is not served come as bad requests, and are told apart only by their words. */
function meantStatus({ status, message }: { status: number; message: string }): number {
  return status === 400 && /API_KEY_INVALID|FAILED_PRECONDITION/.test(message) ? 403 : status;
}

// https://ai.google.dev/api/generate-content#FinishReason
const finishReasons: Readonly<Record<string, string>> = {
  STOP: "stop",
  OTHER: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
};
// The model's own mistakes: without a word of text they are failures.
const mistakes = /^(?:MALFORMED_|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE)/;

class GeminiReading {
  readonly #choices = new Map<unknown, ChoiceBuilder>();
  #usage: Usage | null = null;
  #isBlocked = false;
  #hasFailed = false;

  add(answer: JsonObject): void {
    for (const [position, value] of asList(answer["candidates"]).entries()) {
      const candidate = asObject(value);
      const builder = this.#choiceOf(candidate["index"] ?? position);
      for (const part of asList(asObject(candidate["content"])["parts"])) addPart(builder, asObject(part));
      const reason = candidate["finishReason"];
      if (typeof reason !== "string") continue;
      builder.finish = finishReasons[reason] ?? "stop";
      if (mistakes.test(reason) && builder.isEmpty) this.#hasFailed = true;
    }
    if (asObject(answer["promptFeedback"])["blockReason"] !== undefined) this.#isBlocked = true;
    if (isObject(answer["usageMetadata"])) this.#usage = toUsage(answer["usageMetadata"]) ?? this.#usage;
  }

  toOutcome(): Outcome {
    if (this.#hasFailed) return failed(toGatewayFailure(null));
    // A prompt that was blocked has no candidates; our callers get the one choice that says so.
    if (this.#isBlocked) this.#choiceOf(0).finish = "content_filter";
    for (const builder of this.#choices.values())
      if (builder.finish === "stop" && builder.hasCalls) builder.finish = "tool_calls";
    return { choices: [...this.#choices.values()].map((one) => one.build()), usage: this.#usage, failure: null };
  }

  #choiceOf(key: unknown): ChoiceBuilder {
    const builder = this.#choices.get(key) ?? new ChoiceBuilder();
    this.#choices.set(key, builder);
    return builder;
  }
}

function addPart(builder: ChoiceBuilder, part: JsonObject): void {
  const { functionCall, thought, text, executableCode, codeExecutionResult } = part;
  if (isObject(functionCall)) addCall(builder, functionCall);
  else if (thought === true) builder.addReasoning(text as string);
  else if (typeof text === "string") builder.addText(text);
  else if (isObject(executableCode)) {
    addFenced(builder, String(executableCode["language"]).toLowerCase(), executableCode["code"]);
  } else if (isObject(codeExecutionResult)) addFenced(builder, "", codeExecutionResult["output"]);
}

/** What the vendor ran, and what that printed, is shown as fenced text. */
function addFenced(builder: ChoiceBuilder, language: string, code: unknown): void {
  builder.addText(`\`\`\`${language}\n${code ?? ""}\n\`\`\``, true);
  builder.interrupt();
}

/** A call may come in pieces: its name first, then values for places in its arguments, then nothing more. */
function addCall(builder: ChoiceBuilder, call: JsonObject): void {
  if (typeof call["name"] === "string")
    builder.addCall(call["id"] || null, call["name"], structuredClone(call["args"] ?? {}));
  const args = asObject(builder.lastCall) as Record<string, unknown>;
  for (const value of asList(call["partialArgs"])) {
    const { jsonPath, stringValue, numberValue, boolValue } = asObject(value);
    const names = [...String(jsonPath).matchAll(/[^$.[\]'"]+/g)].map(([name]) => name);
    const last = names.pop() ?? "";
    let place = args;
    for (const [index, name] of names.entries()) {
      place[name] ??= /^\d+$/.test(names[index + 1] ?? last) ? [] : {};
      place = place[name] as Record<string, unknown>;
    }
    place[last] =
      typeof stringValue === "string" ? `${place[last] ?? ""}${stringValue}` : (numberValue ?? boolValue ?? null);
  }
}

/** https://ai.google.dev/api/generate-content#UsageMetadata: thoughts are counted beside the candidates. */
function toUsage(usage: JsonObject): Usage | null {
  const count = (name: string) => Number(usage[name] ?? 0);
  if (usage["promptTokenCount"] === undefined && usage["totalTokenCount"] === undefined) return null;
  const prompt = count("promptTokenCount") + count("toolUsePromptTokenCount");
  const counted = count("candidatesTokenCount") + count("thoughtsTokenCount");
  const completion = usage["candidatesTokenCount"] === undefined ? count("totalTokenCount") - prompt : counted;
  return { prompt, completion: Math.max(0, completion), cached: count("cachedContentTokenCount") };
}
