// Chunks of a chat completion as the events of a Messages stream. A Messages stream has one block open at a time; calls of
// tools may arrive mixed, so the later ones wait until the open one is complete.

import type { ChatChunk, ChatDelta, ChatUsage, ReasoningDetail } from "../../contract/chat-format.ts";
import {
  addDetail,
  type ExtraContent,
  type Kept,
  mergeExtraContent,
  toEncryptedContent,
} from "../responses/kept-reasoning.ts";
import {
  type AnswerBlock,
  type Citation,
  isEmpty,
  readDetailText,
  readMatchedStop,
  readReasoningText,
  readText,
  toCitation,
  toMessageId,
  toMessagesUsage,
  toStop,
  toToolUseId,
} from "./to-messages-answer.ts";

interface WriterOptions {
  /** Said when the provider does not name its model. */
  readonly model: string;
  readonly stopSequences?: readonly string[] | null;
  /** The provider that what is kept of the reasoning belongs to; null for providers of other dialects. */
  readonly origin?: string | null;
}

interface ToolCall {
  /** The provider's number; several calls may share it, told apart by their ids. */
  readonly number: number;
  id: string;
  name: string;
  arguments: string;
  extraContent: ExtraContent | null;
}

type CallDelta = NonNullable<ChatDelta["tool_calls"]>[number];

export class MessagesStreamWriter {
  readonly #options: WriterOptions;
  readonly #origin: string | null;
  /** What the provider wants back, and no block carries yet. */
  #details: ReasoningDetail[] = [];
  #callExtras = new Map<string, ExtraContent>();
  #messageExtra: ExtraContent | null = null;
  /** Collected by one call of `write` or `end`. */
  #frames: string[] = [];
  #started = false;
  #ended = false;
  #nextIndex = 0;
  #open: "text" | "thinking" | "tool" | null = null;
  /** The text of the open block of thoughts. */
  #thought = "";
  /** Calls that are not written to their end: the first is the open one, when the open block is a tool. */
  readonly #calls: ToolCall[] = [];
  readonly #writtenCalls: ToolCall[] = [];
  /** What came in the middle of a call, and has to wait for its end. */
  #held: (() => void)[] = [];
  #refusal = "";
  #finishReason: string | null = null;
  #matchedStop: string | null = null;
  #usage: ChatUsage | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#origin = options.origin ?? null;
  }

  /** The frames that come of one chunk, each one complete event. */
  write(chunk: ChatChunk): string[] {
    this.#frames = [];
    if (chunk.usage) this.#usage = chunk.usage;
    if (!this.#started) this.#start(chunk.id, chunk.model);
    for (const choice of chunk.choices) {
      // A message is one answer, also where a provider gives several.
      if (choice.index > 0) continue;
      if (choice.delta) this.#writeDelta(choice.delta);
      if (!choice.finish_reason) continue;
      this.#finishReason = choice.finish_reason;
      this.#matchedStop = readMatchedStop(choice, this.#options.stopSequences);
    }
    return this.#frames;
  }

  /** The end of a complete stream. One that breaks off ends with an error event instead. */
  end(extra: { readonly cost: number | null }): string[] {
    this.#frames = [];
    if (this.#ended) return this.#frames;
    this.#ended = true;
    if (!this.#started) this.#start("", "");
    this.#finishCalls();
    // Clients read the last block as the answer (Claude Code 2.1.325 prints nothing when another block follows the text), and
    // providers demand what is kept for calls only.
    const endsWithText = this.#open === "text";
    this.#closeBlock();
    if (!endsWithText) this.#writeKept();
    const delta = {
      ...toStop({
        finishReason: this.#finishReason,
        hasToolCalls: this.#writtenCalls.length > 0,
        refusal: this.#refusal === "" ? null : this.#refusal,
        matched: this.#matchedStop,
      }),
      container: null,
    };
    this.#push("message_delta", { delta, usage: toMessagesUsage(this.#usage), cost: extra.cost });
    this.#push("message_stop", {});
    return this.#frames;
  }

  #start(id: string, model: string): void {
    this.#started = true;
    this.#push("message_start", {
      message: {
        id: toMessageId(id),
        type: "message",
        role: "assistant",
        model: model || this.#options.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: toMessagesUsage(this.#usage),
      },
    });
  }

  #writeDelta(delta: ChatDelta): void {
    const thought = readReasoningText(delta as Readonly<Record<string, unknown>>);
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
    for (const annotation of delta.annotations ?? []) {
      for (const citation of toCitation(annotation)) this.#betweenCalls(() => this.#writeCitation(citation));
    }
    const extra = delta.extra_content;
    if (extra) this.#messageExtra = mergeExtraContent(this.#messageExtra, extra);
    for (const call of delta.tool_calls ?? []) this.#writeCall(call);
  }

  /** Nothing can be written into the middle of a call: it waits until the calls are complete. */
  #betweenCalls(write: () => void): void {
    if (this.#calls.length === 0) {
      write();
      return;
    }
    this.#held.push(write);
    if (this.#calls.every(isComplete)) this.#finishCalls();
  }

  #writeThought(text: string): void {
    this.#openBlock("thinking", { type: "thinking", thinking: "", signature: "" });
    this.#thought += text;
    this.#pushText("thinking_delta", "thinking", text);
  }

  /** A signed detail repeats the text that came before, and its signature ends the block. */
  #writeReasoningDetail(detail: ReasoningDetail, cameWithText: boolean): void {
    if (this.#origin !== null) {
      addDetail(this.#details, detail);
      const text = cameWithText ? "" : readDetailText(detail);
      if (text !== "") this.#writeThought(text);
      return;
    }
    if (detail.type === "reasoning.encrypted") {
      this.#closeBlock();
      this.#pushBlock({ type: "redacted_thinking", data: detail.data });
      this.#pushStop();
      return;
    }
    if (detail.type !== "reasoning.text") return;
    const isRepeated =
      cameWithText || (this.#open === "thinking" && (Boolean(detail.signature) || detail.text === this.#thought));
    if (detail.text && !isRepeated) this.#writeThought(detail.text);
    if (!detail.signature) return;
    this.#openBlock("thinking", { type: "thinking", thinking: "", signature: "" });
    this.#pushDelta({ type: "signature_delta", signature: detail.signature });
    this.#closeBlock();
  }

  #writeText(text: string): void {
    this.#openBlock("text", { type: "text", text: "" });
    this.#pushText("text_delta", "text", text);
  }

  #writeCitation(citation: Citation): void {
    this.#openBlock("text", { type: "text", text: "" });
    this.#pushDelta({ type: "citations_delta", citation });
  }

  #writeCall(delta: CallDelta): void {
    if (this.#isLatePiece(delta)) return;
    const call = this.#findCall(delta);
    const piece = delta.function?.arguments ?? "";
    call.arguments += piece;
    if (delta.extra_content) {
      call.extraContent = delta.extra_content;
      const isWritten = this.#open === "tool" && this.#calls[0] === call;
      if (this.#origin !== null && isWritten) this.#callExtras.set(call.id, delta.extra_content);
    }
    if (this.#open === "tool" && this.#calls[0] === call && piece !== "")
      this.#pushText("input_json_delta", "partial_json", piece);
    this.#advanceCalls();
  }

  /** Some providers end a call with an empty piece after the next one has begun. */
  #isLatePiece(delta: CallDelta): boolean {
    if (delta.id) return this.#writtenCalls.some((call) => call.id === delta.id);
    const number = delta.index ?? 0;
    if (delta.function?.name || this.#calls.some((call) => call.number === number)) return false;
    return this.#writtenCalls.some((call) => call.number === number);
  }

  #findCall(delta: CallDelta): ToolCall {
    const number = delta.index ?? 0;
    const known = this.#calls.findLast((call) => call.number === number);
    if (known !== undefined && !isNewCall(delta, known)) {
      known.id ||= delta.id ?? "";
      known.name ||= delta.function?.name ?? "";
      return known;
    }
    const call: ToolCall = {
      number,
      id: delta.id ?? "",
      name: delta.function?.name ?? "",
      arguments: "",
      extraContent: null,
    };
    this.#calls.push(call);
    return call;
  }

  /** Opens the first call; goes on to the next when it is complete, because complete JSON grows no more. */
  #advanceCalls(): void {
    for (let first = this.#calls[0]; first !== undefined; first = this.#calls[0]) {
      if (this.#open !== "tool") {
        if (first.name === "") return;
        this.#openCall(first);
      }
      if (this.#calls.length === 1 || !isComplete(first)) return;
      this.#closeBlock();
    }
  }

  #openCall(call: ToolCall): void {
    call.id ||= toToolUseId();
    if (this.#origin !== null && call.extraContent !== null) this.#callExtras.set(call.id, call.extraContent);
    this.#closeBlock();
    this.#writeKept();
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

  /** Writes every call that waits, whole, and then what waited for them. */
  #finishCalls(): void {
    for (let first = this.#calls[0]; first !== undefined; first = this.#calls[0]) {
      if (this.#open !== "tool") this.#openCall(first);
      this.#closeBlock();
    }
    const held = this.#held;
    this.#held = [];
    for (const write of held) write();
  }

  #openBlock(kind: "text" | "thinking", block: AnswerBlock): void {
    if (this.#open === kind) return;
    this.#closeBlock();
    if (kind !== "thinking") this.#writeKept();
    this.#pushBlock(block);
    this.#open = kind;
    this.#thought = "";
  }

  #closeBlock(): void {
    if (this.#open === null) return;
    if (this.#open === "tool") this.#writtenCalls.push(...this.#calls.splice(0, 1));
    if (this.#open === "thinking" && this.#origin !== null)
      this.#pushDelta({ type: "signature_delta", signature: toEncryptedContent(this.#takeKept()) });
    this.#open = null;
    this.#pushStop();
  }

  /** What the provider wants back gets a block of its own where no block of thoughts can carry it. */
  #writeKept(): void {
    const kept = this.#takeKept();
    if (isEmpty(kept)) return;
    this.#pushBlock({ type: "redacted_thinking", data: toEncryptedContent(kept) });
    this.#pushStop();
  }

  #takeKept(): Kept {
    const kept = {
      origin: this.#origin,
      details: this.#details,
      calls: this.#callExtras,
      message: this.#messageExtra,
    };
    this.#details = [];
    this.#callExtras = new Map();
    this.#messageExtra = null;
    return kept;
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

  /** The usual event, written without an object in between. */
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

/** Some providers number all calls alike: another id, or another name after a complete call, begins the next. */
function isNewCall(delta: CallDelta, known: ToolCall): boolean {
  if (delta.id) return known.id !== "" && known.id !== delta.id;
  return Boolean(delta.function?.name) && known.name !== "" && isComplete(known);
}

function isComplete(call: ToolCall): boolean {
  const text = call.arguments.trimEnd();
  if (!text.endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
