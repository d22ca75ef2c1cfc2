// What a span says about an answer, read from a whole answer or from the events of a stream, in the chat, Messages or Responses format.

import { isObject } from "../lib/lenient-json.ts";
import { type ContentRules, lookAhead, writeOutput } from "./content.ts";
import type { Attributes } from "./span.ts";

type Members = Readonly<Record<string, unknown>>;

interface Choice {
  text: string;
  finishReason: string | null;
}

const mostChoices = 128;

export class AnswerFacts {
  readonly #rules: ContentRules | null;
  readonly #choices: Choice[] = [];
  #id: string | undefined;
  #model: string | undefined;

  /** `rules`: null when the text of the answer is not recorded. */
  constructor(rules: ContentRules | null) {
    this.#rules = rules;
  }

  note(value: Members): void {
    if (Array.isArray(value["choices"])) this.#noteCompletion(value, value["choices"]);
    else if (isObject(value["response"])) this.#noteResponse(value["response"]);
    else if (value["object"] === "response") this.#noteResponse(value);
    else if (isObject(value["message"])) this.#noteMessage(value["message"]);
    else if (value["type"] === "message") this.#noteMessage(value);
    else this.#noteDelta(value);
  }

  toAttributes(): Attributes {
    // The conventions want one for each choice, also for one that was not completed.
    const reasons = this.#choices.map(({ finishReason }) => finishReason ?? "error");
    const rules = this.#rules;
    return {
      "gen_ai.response.id": this.#id,
      "gen_ai.response.model": this.#model,
      "gen_ai.response.finish_reasons": reasons.length === 0 ? undefined : reasons,
      "gen_ai.output.messages":
        rules === null || this.#choices.length === 0 ? undefined : writeOutput(this.#choices, rules),
    };
  }

  #noteNames({ id, model }: Members): void {
    if (typeof id === "string" && id !== "") this.#id ??= id;
    if (typeof model === "string" && model !== "") this.#model ??= model;
  }

  #noteCompletion(value: Members, choices: readonly unknown[]): void {
    this.#noteNames(value);
    for (const choice of choices) {
      if (!isObject(choice)) continue;
      const index = typeof choice["index"] === "number" ? choice["index"] : 0;
      this.#choiceAt(index);
      this.#finish(choice["finish_reason"], index);
      const { content } = (choice["delta"] ?? choice["message"] ?? {}) as Members;
      this.#addText(content, index);
    }
  }

  /** A whole message, or the first event of a stream. */
  #noteMessage(message: Members): void {
    this.#noteNames(message);
    this.#choiceAt(0);
    this.#finish(message["stop_reason"]);
    this.#addBlocks(message["content"]);
  }

  /** A whole response, or an event with its state. */
  #noteResponse(response: Members): void {
    this.#noteNames(response);
    this.#choiceAt(0);
    const { status, incomplete_details: details, output } = response;
    if (status === "completed") this.#finish("stop");
    else if (status === "incomplete") this.#finish(isObject(details) ? (details["reason"] ?? status) : status);
    else if (status === "failed") this.#finish("error");
    if (status === "in_progress" || !Array.isArray(output)) return;
    // The last event of a stream repeats all texts.
    this.#choiceAt(0).text = "";
    for (const item of output) if (isObject(item)) this.#addBlocks(item["content"]);
  }

  #noteDelta({ delta, type }: Members): void {
    if (type === "response.output_text.delta") this.#addText(delta);
    if (!isObject(delta)) return;
    this.#finish(delta["stop_reason"]);
    this.#addText(delta["text"]);
  }

  #addBlocks(blocks: unknown): void {
    if (!Array.isArray(blocks)) return;
    for (const block of blocks) if (isObject(block)) this.#addText(block["text"]);
  }

  #finish(reason: unknown, index = 0): void {
    if (typeof reason === "string") this.#choiceAt(index).finishReason = reason;
  }

  #addText(text: unknown, index = 0): void {
    if (this.#rules === null || typeof text !== "string") return;
    const choice = this.#choiceAt(index);
    if (choice.text.length <= this.#rules.maxCharacters + lookAhead) choice.text += text;
  }

  #choiceAt(index: number): Choice {
    const place = Math.min(Math.max(0, Math.trunc(index)), mostChoices - 1);
    while (this.#choices.length <= place) this.#choices.push({ text: "", finishReason: null });
    return this.#choices[place] as Choice;
  }
}
