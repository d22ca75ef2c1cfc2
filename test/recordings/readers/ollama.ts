import { loadClient } from "../clients.ts";
import { ChoiceBuilder, failed, inTheMiddle, type Outcome, toGatewayFailure, type Usage } from "../outcome.ts";
import { asList, asObject, type JsonObject, type Recording } from "../recording.ts";
import { toPrompt } from "../replay.ts";

interface OllamaModule {
  readonly Ollama: new (
    options: JsonObject,
  ) => {
    chat(request: JsonObject): Promise<JsonObject | AsyncIterable<JsonObject>>;
    generate(request: JsonObject): Promise<JsonObject | AsyncIterable<JsonObject>>;
  };
}

export async function readWithOllama(recording: Recording, url: string): Promise<Outcome> {
  const { Ollama } = await loadClient<OllamaModule>("ollama");
  const client = new Ollama({ host: url });
  const { model, stream } = recording;
  const prompt = toPrompt(recording, "event");
  const reading = new OllamaReading();
  try {
    const answer = recording.url.endsWith("/api/generate")
      ? await client.generate({ model, prompt, stream })
      : await client.chat({ model, messages: [{ role: "user", content: prompt }], stream });
    if (Symbol.asyncIterator in answer) for await (const part of answer) reading.add(part);
    else reading.add(answer);
  } catch (error) {
    const { status_code: status } = error as { readonly status_code?: number };
    if (status !== undefined) return failed(toGatewayFailure(status));
    // What a stream says of its failure is thrown as it stands.
    if (stream && error instanceof Error && error.constructor === Error)
      return failed(inTheMiddle(null), reading.toOutcome().choices);
    throw error;
  }
  return reading.toOutcome();
}

class OllamaReading {
  readonly #choice = new ChoiceBuilder();
  #usage: Usage | null = null;

  add(part: JsonObject): void {
    const message = asObject(part["message"]);
    this.#choice.addReasoning((message["thinking"] ?? part["thinking"]) as string | undefined);
    this.#choice.addText((message["content"] ?? part["response"]) as string | undefined);
    for (const value of asList(message["tool_calls"])) {
      const { id, function: called } = asObject(value);
      const { name, arguments: given } = asObject(called);
      this.#choice.addCall(id || null, name, given);
    }
    if (part["done"] !== true) return;
    this.#choice.finish = part["done_reason"] === "length" ? "length" : this.#choice.hasCalls ? "tool_calls" : "stop";
    if (part["eval_count"] === undefined) return;
    this.#usage = {
      prompt: Number(part["prompt_eval_count"] ?? 0),
      completion: Number(part["eval_count"]),
      cached: null,
    };
  }

  toOutcome(): Outcome {
    return { choices: [this.#choice.build()], usage: this.#usage, failure: null };
  }
}
