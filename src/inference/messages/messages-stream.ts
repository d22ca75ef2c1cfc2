// Writes the chunks of a chat completion as the events of a Messages stream. A Messages stream has one open block at a time. Pieces of tool
// calls may arrive interleaved, so later calls wait until the open one is complete.

import type { ChatChunk, ChatDelta, ChatImage, ChatUsage, ReasoningDetail } from "../../contract/chat-format.ts";
import { isRepeatedText, readDetailText, readImages, readReasoningText, readText } from "../chat-answer.ts";
import { type Charge, toCostMembers } from "../pricing.ts";
import { ReasoningCollector, toEncryptedContent } from "../reasoning-state.ts";
import { type CallDelta, hasWholeArguments, type StreamedCall, StreamedCalls } from "../streamed-calls.ts";
import { toImageText } from "./image-text.ts";
import {
  type AnswerBlock,
  type AnswerOptions,
  createId,
  createMessage,
  readMatchedStop,
  toCitations,
  toImageBlock,
  toMessagesUsage,
  toStop,
} from "./to-messages-answer.ts";

interface WriterOptions extends AnswerOptions {
  /** Used when the provider does not name its model. */
  readonly model: string;
}

export class MessagesStreamWriter {
  readonly #options: WriterOptions;
  readonly #origin: string | null;
  readonly #reasoning: ReasoningCollector;
  /** The frames of the current call of `write` or `end`. */
  #frames: string[] = [];
  #hasStarted = false;
  #hasEnded = false;
  #nextIndex = 0;
  #open: "text" | "image" | "thinking" | "tool" | null = null;
  /** The text of the open thinking block. */
  #thought = "";
  /** When the open block is a tool, it is the first of the open calls. */
  readonly #calls = new StreamedCalls();
  /** Content that arrived in the middle of a call and waits for its end. */
  #held: (() => void)[] = [];
  #refusal = "";
  #finishReason: string | null = null;
  #matchedStop: string | null = null;
  #usage: ChatUsage | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#origin = options.origin ?? null;
    this.#reasoning = new ReasoningCollector(this.#origin);
  }

  /** The frames for one chunk, each of them one complete event. */
  write(chunk: ChatChunk): string[] {
    this.#frames = [];
    if (chunk.usage) this.#usage = chunk.usage;
    if (!this.#hasStarted) this.#start(chunk.id, chunk.model);
    for (const choice of chunk.choices) {
      // A message has a single answer, even when the provider returns several choices.
      if (choice.index > 0) continue;
      if (choice.delta) this.#writeDelta(choice.delta);
      if (!choice.finish_reason) continue;
      this.#finishReason = choice.finish_reason;
      this.#matchedStop = readMatchedStop(choice, this.#options.stopSequences);
    }
    return this.#frames;
  }

  /** The end of a complete stream. A broken stream ends with an error event instead. */
  end(charge: Pick<Charge, "cost" | "reason">, metadata: Record<string, unknown> | null = null): string[] {
    this.#frames = [];
    if (this.#hasEnded) return this.#frames;
    this.#hasEnded = true;
    if (!this.#hasStarted) this.#start("", "");
    this.#finishCalls();
    // Clients take the last block for the answer (Claude Code 2.1.325 prints nothing when another block follows the text), and
    // providers require the reasoning state only with calls.
    const endsWithText = this.#open === "text" || this.#open === "image";
    this.#closeBlock();
    if (!endsWithText) this.#writeReasoning();
    const stop = toStop({
      finishReason: this.#finishReason,
      hasToolCalls: this.#calls.closed.length > 0,
      refusal: this.#refusal || null,
      matched: this.#matchedStop,
    });
    const delta = { ...stop, container: null };
    const added = { ...toCostMembers(charge), ...(metadata !== null && { switchyard: metadata }) };
    this.#push("message_delta", { delta, usage: toMessagesUsage(this.#usage), ...added });
    this.#push("message_stop", {});
    return this.#frames;
  }

  #start(id: string, model: string): void {
    this.#hasStarted = true;
    this.#push("message_start", { message: createMessage(id, model || this.#options.model, this.#usage) });
  }

  #writeDelta(delta: ChatDelta): void {
    const thought = readReasoningText(delta);
    if (thought !== "") this.#betweenCalls(() => this.#writeThought(thought));
    for (const detail of delta.reasoning_details ?? [])
      this.#betweenCalls(() => this.#writeReasoningDetail(detail, thought !== ""));
    const text = readText(delta.content);
    if (text !== "") this.#betweenCalls(() => this.#writeText(text));
    const refusal = delta.refusal;
    if (refusal) {
      this.#refusal += refusal;
      this.#betweenCalls(() => this.#writeText(refusal));
    }
    if (delta.annotations)
      for (const citation of toCitations(delta.annotations))
        this.#betweenCalls(() => {
          this.#openBlock("text");
          this.#pushDelta({ type: "citations_delta", citation });
        });
    if (delta.images) for (const image of readImages(delta.images)) this.#betweenCalls(() => this.#writeImage(image));
    if (delta.extra_content) this.#reasoning.addMessage(delta.extra_content);
    for (const call of delta.tool_calls ?? []) this.#writeCall(call);
  }

  /** Content cannot be written in the middle of a call: it waits until all calls are complete. */
  #betweenCalls(write: () => void): void {
    if (this.#calls.open.length === 0) {
      write();
      return;
    }
    this.#held.push(write);
    if (this.#calls.open.every(hasWholeArguments)) this.#finishCalls();
  }

  #writeThought(text: string): void {
    this.#openBlock("thinking");
    this.#thought += text;
    this.#pushText("thinking_delta", "thinking", text);
  }

  /** A signed detail repeats the text before it, and its signature ends the block. */
  #writeReasoningDetail(detail: ReasoningDetail, cameWithText: boolean): void {
    if (this.#origin !== null) {
      this.#reasoning.addDetail(detail);
      const text = cameWithText ? "" : readDetailText(detail);
      if (text !== "") this.#writeThought(text);
      return;
    }
    if (detail.type === "reasoning.encrypted") {
      this.#closeBlock();
      this.#writeRedacted(detail.data);
      return;
    }
    if (detail.type !== "reasoning.text") return;
    const isRepeated = cameWithText || isRepeatedText(detail, this.#open === "thinking" ? this.#thought : null);
    if (detail.text && !isRepeated) this.#writeThought(detail.text);
    if (!detail.signature) return;
    this.#openBlock("thinking");
    this.#pushDelta({ type: "signature_delta", signature: detail.signature });
    this.#closeBlock();
  }

  #writeText(text: string): void {
    this.#openBlock("text");
    this.#pushText("text_delta", "text", text);
  }

  /** A block of its own, so that it can be recognized when it comes back. */
  #writeImage(image: ChatImage): void {
    this.#closeBlock();
    this.#writeReasoning();
    this.#pushBlock(toImageBlock(image, "", this.#origin));
    this.#open = "image";
    this.#pushText("text_delta", "text", toImageText(image));
  }

  #writeCall(delta: CallDelta): void {
    const added = this.#calls.add(delta);
    if (added === null) return;
    const { call, piece } = added;
    const isOpenBlock = this.#open === "tool" && this.#calls.open[0] === call;
    if (delta.extra_content) {
      call.extraContent = delta.extra_content;
      if (this.#origin !== null && isOpenBlock) this.#reasoning.setCall(call.id, delta.extra_content);
    }
    if (isOpenBlock && piece !== "") this.#pushText("input_json_delta", "partial_json", piece);
    this.#advanceCalls();
  }

  /** Opens the first call, and moves on to the next one when it is complete. */
  #advanceCalls(): void {
    for (let [first] = this.#calls.open; first !== undefined; [first] = this.#calls.open) {
      if (this.#open !== "tool") {
        if (first.name === "") return;
        this.#openCall(first);
      }
      if (this.#calls.open.length === 1 || !hasWholeArguments(first)) return;
      this.#closeBlock();
    }
  }

  #openCall(call: StreamedCall): void {
    call.id ||= createId("toolu");
    if (this.#origin !== null && call.extraContent !== null) this.#reasoning.setCall(call.id, call.extraContent);
    this.#closeBlock();
    this.#writeReasoning();
    this.#pushBlock({
      type: "tool_use",
      id: call.id,
      name: call.name,
      input: {},
      ...(this.#origin === null && call.extraContent && { extra_content: call.extraContent }),
    });
    this.#open = "tool";
    if (call.arguments !== "") this.#pushText("input_json_delta", "partial_json", call.arguments);
  }

  /** Writes every waiting call to its end, and then the content that waited for the calls. */
  #finishCalls(): void {
    for (let [first] = this.#calls.open; first !== undefined; [first] = this.#calls.open) {
      if (this.#open !== "tool") this.#openCall(first);
      this.#closeBlock();
    }
    const held = this.#held;
    this.#held = [];
    for (const write of held) write();
  }

  #openBlock(kind: "text" | "thinking"): void {
    if (this.#open === kind) return;
    this.#closeBlock();
    if (kind === "text") this.#writeReasoning();
    this.#pushBlock(kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" });
    this.#open = kind;
    this.#thought = "";
  }

  #closeBlock(): void {
    if (this.#open === null) return;
    const [call] = this.#calls.open;
    if (this.#open === "tool" && call !== undefined) this.#calls.close(call);
    if (this.#open === "thinking" && this.#origin !== null)
      this.#pushDelta({ type: "signature_delta", signature: toEncryptedContent(this.#reasoning.take()) });
    this.#open = null;
    this.#pushStop();
  }

  /** Writes the reasoning state as a block of its own where no thinking block can carry it. */
  #writeReasoning(): void {
    if (!this.#reasoning.isEmpty) this.#writeRedacted(toEncryptedContent(this.#reasoning.take()));
  }

  #writeRedacted(data: string): void {
    this.#pushBlock({ type: "redacted_thinking", data });
    this.#pushStop();
  }

  #pushBlock(block: AnswerBlock): void {
    this.#push("content_block_start", { index: this.#nextIndex++, content_block: block });
  }

  #pushStop(): void {
    this.#push("content_block_stop", { index: this.#nextIndex - 1 });
  }

  #pushDelta(delta: Readonly<Record<string, unknown>>): void {
    this.#push("content_block_delta", { index: this.#nextIndex - 1, delta });
  }

  /** The most frequent event, written without an intermediate object. */
  #pushText(type: "text_delta" | "thinking_delta" | "input_json_delta", member: string, text: string): void {
    this.#frames.push(
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#nextIndex - 1},` +
        `"delta":{"type":"${type}","${member}":${JSON.stringify(text)}}}\n\n`,
    );
  }

  #push(type: string, members: Readonly<Record<string, unknown>>): void {
    this.#frames.push(toEventFrame(type, members));
  }
}

export function toEventFrame(type: string, members: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
