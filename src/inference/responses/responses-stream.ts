// Writes the chunks of a chat completion as the events of a Responses stream. Reasoning, text and calls become items, one after the other.
// Calls whose pieces arrive interleaved are open at the same time, and are closed in their order.

import type { ChatChunk, ChatDelta, ChatUsage, ChatWebSearch, ReasoningDetail } from "../../contract/chat-format.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { isRepeatedText, readReasoningText, readText } from "../chat-answer.ts";
import { mergeExtraContent, ReasoningCollector, toEncryptedContent } from "../reasoning-state.ts";
import { type CallDelta, hasWholeArguments, type StreamedCall, StreamedCalls } from "../streamed-calls.ts";
import { describeFailure, type OutputEntry, ResponseEvents, type StreamFailure } from "./response-events.ts";
import * as items from "./to-response.ts";
import type { ToolNames } from "./tool-names.ts";

/** A part of a message, and its position. */
interface TextEntry {
  /** The length of the answer's text before this part. */
  readonly start: number;
  readonly entry: OutputEntry<items.MessageItem>;
  readonly contentIndex: number;
  readonly part: items.TextPart;
}

export class ResponsesStreamWriter {
  #response: items.ResponseResource;
  readonly #events: ResponseEvents;
  #hasBegun = false;
  #hasEnded = false;
  #hasFailed = false;
  /** The open item that is not a call, and whether its last part is open. */
  #current: OutputEntry<items.MessageItem> | OutputEntry<items.ReasoningItem> | null = null;
  #isPartOpen = false;
  /** The texts that annotations refer to. All but the last are closed, and the last may be. */
  readonly #texts: TextEntry[] = [];
  #heldAnnotations: items.Annotation[] = [];
  /** Open calls that have an item are in the order of their items. */
  readonly #calls = new StreamedCalls();
  /** The items of calls. A call has no item until its name has arrived. */
  readonly #callEntries = new Map<StreamedCall, OutputEntry<items.FunctionCallItem>>();
  readonly #callIds: items.CallIds;
  readonly #toolNames: ToolNames | undefined;
  readonly #reasoning: ReasoningCollector;
  /** A limit that ends the answer cuts this item. */
  #lastGrown: items.OutputItem | null = null;
  #model: string;
  #finishReason: string | null = null;
  #usage: ChatUsage | null = null;
  #serviceTier: unknown = null;

  constructor(
    draft: items.ResponseResource,
    { takenCallIds = [], toolNames, origin = null }: items.OutputContext = {},
  ) {
    this.#response = draft;
    this.#events = new ResponseEvents(draft.id);
    this.#reasoning = new ReasoningCollector(origin);
    this.#callIds = new items.CallIds(takenCallIds);
    this.#toolNames = toolNames;
    this.#model = draft.model;
  }

  /** The response object of the last event that had one. */
  get response(): items.ResponseResource {
    return this.#response;
  }

  /** The frames for one chunk, each of them one complete event. */
  write(chunk: ChatChunk): string[] {
    this.#begin();
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.model) this.#model = chunk.model;
    if (chunk.service_tier) this.#serviceTier = chunk.service_tier;
    for (const choice of chunk.choices) {
      // A response has a single answer, even when the provider returns several choices.
      if (choice.index > 0) continue;
      if (choice.delta) this.#writeDelta(choice.delta, choice.logprobs);
      if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    }
    return this.#events.take();
  }

  /** The end of a complete stream. `added` are further members of the final response object. */
  end(added: JsonObject): string[] {
    if (this.#hasEnded) return this.#events.take();
    this.#hasEnded = true;
    this.#begin();
    const ending = items.toEnding(this.#finishReason);
    this.#closeAll(ending.status === "incomplete");
    if (items.lacksText(this.#events.output) && ending.status === "completed") {
      this.#openText();
      this.#closeCurrent();
    }
    this.#writeReasoning();
    const completed_at = ending.status === "completed" ? items.nowInSeconds() : null;
    const service_tier = items.toServiceTier(this.#serviceTier) ?? "default";
    return this.#writeLast({ ...ending, completed_at, service_tier, ...added });
  }

  /** The end of a broken stream, or of one whose final event was not sent. Items that are in progress become incomplete. */
  fail(failure: StreamFailure, added: JsonObject = {}): string[] {
    if (this.#hasFailed) return this.#events.take();
    this.#hasFailed = true;
    if (this.#hasEnded) this.#events.takeBackNumber();
    this.#hasEnded = true;
    this.#begin();
    for (const item of this.#events.output)
      if (items.mayBeIncomplete(item) && item.status === "in_progress") item.status = "incomplete";
    const { event, error } = describeFailure(failure);
    this.#events.push("error", event);
    // A final event that was not sent may have set `completed_at` or `incomplete_details`.
    const ending = { status: "failed", completed_at: null, incomplete_details: null, error } as const;
    const { switchyard } = failure;
    return this.#writeLast({ ...ending, ...added, ...(switchyard && { switchyard }) });
  }

  #writeLast(changes: Partial<items.ResponseResource>): string[] {
    const { output } = this.#events;
    const usage = items.toResponseUsage(this.#usage);
    this.#response = { ...this.#response, model: this.#model, output, usage, ...changes };
    this.#events.push(`response.${this.#response.status}`, { response: this.#response });
    return this.#events.take();
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#events.push("response.created", { response: this.#response });
    this.#events.push("response.in_progress", { response: this.#response });
  }

  #writeDelta(delta: ChatDelta, logprobs: unknown): void {
    const thought = readReasoningText(delta);
    if (thought !== "") this.#writeThought(thought);
    for (const detail of delta.reasoning_details ?? []) this.#writeReasoningDetail(detail, thought !== "");
    if (delta.web_searches) this.#writeSearches(delta.web_searches);
    const text = readText(delta.content);
    if (text !== "") this.#writeText(text, logprobs ? items.readLogprobs(logprobs) : []);
    if (delta.refusal) this.#writeRefusal(delta.refusal);
    if (delta.annotations)
      for (const annotation of items.toAnnotations(delta.annotations)) this.#writeAnnotation(annotation);
    if (delta.images) this.#writeImages(delta.images);
    for (const call of delta.tool_calls ?? []) this.#writeCall(call);
    if (delta.extra_content) this.#reasoning.addMessage(delta.extra_content);
  }

  #writeThought(text: string): void {
    const entry = this.#openReasoning();
    const { item } = entry;
    if (!this.#isPartOpen) this.#openSummaryPart(entry);
    const part = item.summary.at(-1);
    if (part !== undefined) part.text += text;
    this.#lastGrown = item;
    const before = `"summary_index":${lastIndex(item.summary)},`;
    this.#events.pushDelta("response.reasoning_summary_text.delta", entry, text, { before });
  }

  /** A signed detail repeats the text before it, and its signature ends the block. */
  #writeReasoningDetail(detail: ReasoningDetail, cameWithText: boolean): void {
    this.#reasoning.addDetail(detail);
    if (detail.type === "reasoning.summary" && !cameWithText && detail.summary) this.#writeThought(detail.summary);
    if (detail.type !== "reasoning.text") return;
    const open = this.#current?.item.type === "reasoning" && this.#isPartOpen ? this.#current.item : null;
    const isRepeated = cameWithText || isRepeatedText(detail, open?.summary.at(-1)?.text);
    if (detail.text && !isRepeated) this.#writeThought(detail.text);
    if (detail.signature && this.#current?.item.type === "reasoning") this.#closePart();
  }

  #writeText(text: string, logprobs: readonly items.Logprob[]): void {
    const { entry, contentIndex, part } = this.#openText();
    part.text += text;
    part.logprobs.push(...logprobs);
    this.#lastGrown = entry.item;
    this.#events.pushDelta("response.output_text.delta", entry, text, {
      before: `"content_index":${contentIndex},`,
      after: `,"logprobs":${JSON.stringify(logprobs)}`,
    });
  }

  #writeRefusal(text: string): void {
    const entry = this.#openMessage();
    const { content } = entry.item;
    if (this.#isPartOpen && content.at(-1)?.type !== "refusal") this.#closePart();
    if (!this.#isPartOpen) this.#openPart(entry, { type: "refusal", refusal: "" });
    const part = content.at(-1);
    if (part?.type === "refusal") part.refusal += text;
    this.#lastGrown = entry.item;
    this.#events.pushDelta("response.refusal.delta", entry, text, { before: `"content_index":${lastIndex(content)},` });
  }

  /** Sources may arrive before the text and after its end. */
  #writeAnnotation(annotation: items.Annotation): void {
    const { start_index: start, end_index: end } = annotation;
    const hasPosition = end > 0;
    const text = hasPosition ? this.#texts.findLast((one) => one.start <= start) : this.#texts.at(-1);
    if (text === undefined) this.#heldAnnotations.push(annotation);
    else this.#annotate(text, annotation);
  }

  /** Positions of the chat format count from the start of the whole answer, those of this format from the start of the part. */
  #annotate(text: TextEntry, located: items.Annotation): void {
    const { entry, contentIndex, part, start } = text;
    // The text that an annotation of an open part refers to may still be on its way.
    const most = this.#isOpen(text) ? Number.POSITIVE_INFINITY : part.text.length;
    const toPosition = (index: number) => Math.min(Math.max(index - start, 0), most);
    const { start_index, end_index } = located;
    const annotation = { ...located, start_index: toPosition(start_index), end_index: toPosition(end_index) };
    part.annotations.push(annotation);
    const indexes = { content_index: contentIndex, annotation_index: lastIndex(part.annotations) };
    this.#events.pushAt("response.output_text.annotation.added", entry, { ...indexes, annotation });
  }

  #writeImages(images: unknown): void {
    for (const item of items.toImageItems(images)) {
      this.#closeCurrent();
      this.#events.finish(this.#events.add(item));
    }
  }

  /** A search arrives when it is complete, so all of its events are written together. */
  #writeSearches(searches: readonly ChatWebSearch[]): void {
    for (const item of items.toSearchItems(searches)) {
      this.#closeCurrent();
      const entry = this.#events.add(item, { status: "in_progress" });
      for (const state of ["in_progress", "searching", "completed"])
        this.#events.pushAt(`response.web_search_call.${state}`, entry);
      this.#events.finish(entry);
    }
  }

  #writeCall(delta: CallDelta): void {
    const openBefore = this.#calls.open.length;
    const added = this.#calls.add(delta);
    if (added === null) return;
    const { call, piece } = added;
    if (this.#calls.open.length > openBefore) this.#closeCompleteCalls();
    if (delta.extra_content) call.extraContent = mergeExtraContent(call.extraContent, delta.extra_content);
    const entry = this.#callEntries.get(call);
    if (entry === undefined) {
      if (call.name !== "") this.#openCall(call);
      return;
    }
    if (delta.extra_content) this.#reasoning.setCall(entry.item.call_id, call.extraContent ?? {});
    if (piece !== "") this.#writeArguments(entry, piece);
  }

  #writeArguments(entry: OutputEntry<items.FunctionCallItem>, piece: string): void {
    entry.item.arguments += piece;
    this.#lastGrown = entry.item;
    this.#events.pushDelta("response.function_call_arguments.delta", entry, piece);
  }

  #openCall(call: StreamedCall): void {
    const item = items.createCall("in_progress", {
      call_id: this.#callIds.take(call.id),
      ...items.toToolName(call.name, this.#toolNames),
      arguments: "",
    });
    if (call.extraContent !== null) this.#reasoning.setCall(item.call_id, call.extraContent);
    this.#closeCurrent();
    this.#writeReasoning();
    const entry = this.#events.add(item);
    this.#callEntries.set(call, entry);
    this.#calls.open = [...this.#calls.open.filter((other) => other !== call), call];
    this.#lastGrown = entry.item;
    if (call.arguments !== "") this.#writeArguments(entry, call.arguments);
  }

  /** A call is never closed before an earlier one. */
  #closeCompleteCalls(): void {
    for (const call of this.#calls.open.filter((open) => this.#callEntries.has(open))) {
      if (!hasWholeArguments(call)) return;
      this.#closeCall(call, null);
    }
  }

  /** `cut` is the item that a limit has cut, or null. */
  #closeCall(call: StreamedCall, cut: items.OutputItem | null): void {
    this.#calls.close(call);
    const entry = this.#callEntries.get(call);
    if (entry === undefined) return;
    const { name, arguments: written } = entry.item;
    this.#events.pushAt("response.function_call_arguments.done", entry, { name, arguments: written });
    this.#finish(entry, cut);
  }

  #finish(
    entry: OutputEntry<items.FunctionCallItem | items.MessageItem | items.ReasoningItem>,
    cut: items.OutputItem | null,
  ): void {
    entry.item.status = entry.item === cut ? "incomplete" : "completed";
    this.#events.finish(entry);
  }

  #openReasoning(): OutputEntry<items.ReasoningItem> {
    if (hasItemOf(this.#current, "reasoning")) return this.#current;
    this.#closeCurrent();
    this.#closeCompleteCalls();
    const entry = this.#events.add(items.createReasoning("in_progress"));
    this.#current = entry;
    return entry;
  }

  #openSummaryPart(entry: OutputEntry<items.ReasoningItem>): void {
    const { summary } = entry.item;
    const part = { type: "summary_text", text: "" } as const;
    summary.push(part);
    this.#isPartOpen = true;
    this.#events.pushAt("response.reasoning_summary_part.added", entry, { summary_index: lastIndex(summary), part });
  }

  #openMessage(): OutputEntry<items.MessageItem> {
    if (hasItemOf(this.#current, "message")) return this.#current;
    this.#closeCurrent();
    this.#closeCompleteCalls();
    this.#writeReasoning();
    const entry = this.#events.add(items.createMessage("in_progress", []));
    this.#current = entry;
    return entry;
  }

  #openText(): TextEntry {
    const last = this.#texts.at(-1);
    if (last !== undefined && this.#isOpen(last)) return last;
    const entry = this.#openMessage();
    this.#closePart();
    const part = items.createText("");
    this.#openPart(entry, part);
    const start = last === undefined ? 0 : last.start + last.part.text.length;
    const text = { start, entry, contentIndex: lastIndex(entry.item.content), part };
    this.#texts.push(text);
    for (const annotation of this.#heldAnnotations) this.#annotate(text, annotation);
    this.#heldAnnotations = [];
    return text;
  }

  #isOpen({ entry, contentIndex }: TextEntry): boolean {
    return this.#isPartOpen && entry === this.#current && contentIndex === lastIndex(entry.item.content);
  }

  #openPart(entry: OutputEntry<items.MessageItem>, part: items.OutputPart): void {
    const { content } = entry.item;
    content.push(part);
    this.#isPartOpen = true;
    this.#events.pushAt("response.content_part.added", entry, { content_index: lastIndex(content), part });
  }

  #closePart(): void {
    if (!this.#isPartOpen || this.#current === null) return;
    this.#isPartOpen = false;
    const entry = this.#current;
    const { item } = entry;
    if (item.type === "reasoning") {
      const part = item.summary.at(-1);
      const at = { summary_index: lastIndex(item.summary) };
      this.#events.pushAt("response.reasoning_summary_text.done", entry, { ...at, text: part?.text });
      this.#events.pushAt("response.reasoning_summary_part.done", entry, { ...at, part });
      return;
    }
    const part = item.content.at(-1);
    const at = { content_index: lastIndex(item.content) };
    if (part?.type === "output_text")
      this.#events.pushAt("response.output_text.done", entry, { ...at, text: part.text, logprobs: part.logprobs });
    else this.#events.pushAt("response.refusal.done", entry, { ...at, refusal: part?.refusal });
    this.#events.pushAt("response.content_part.done", entry, { ...at, part });
  }

  #closeCurrent(cut: items.OutputItem | null = null): void {
    if (this.#current === null) return;
    this.#closePart();
    const { item } = this.#current;
    if (item.type === "reasoning") item.encrypted_content = toEncryptedContent(this.#reasoning.take());
    this.#finish(this.#current, cut);
    this.#current = null;
  }

  /** Closes everything that is open, in order. */
  #closeAll(isCut: boolean): void {
    if (this.#heldAnnotations.length > 0) this.#openText();
    for (const call of this.#calls.open.filter((open) => !this.#callEntries.has(open))) this.#openCall(call);
    const cut = isCut ? this.#lastGrown : null;
    // A call closes the item before it, so an open item of another kind began after all open calls.
    for (const call of this.#calls.open) this.#closeCall(call, cut);
    this.#closeCurrent(cut);
  }

  /** Writes the reasoning state as an item of its own where no open item can carry it. */
  #writeReasoning(): void {
    if (this.#reasoning.isEmpty) return;
    this.#current = this.#events.add(items.createReasoning("in_progress"));
    this.#closeCurrent();
  }
}

/** TypeScript does not narrow an entry by the type of its item. */
function hasItemOf<Type extends items.OutputItem["type"]>(
  entry: OutputEntry | null,
  type: Type,
): entry is OutputEntry<Extract<items.OutputItem, { type: Type }>> {
  return entry?.item.type === type;
}

function lastIndex(list: readonly unknown[]): number {
  return list.length - 1;
}
