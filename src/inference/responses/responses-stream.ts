// Chunks of a chat completion as the events of a Responses stream. Reasoning, text and calls become items, one after the
// other; calls that arrive mixed are open side by side, and are closed in their order.

import type {
  ChatAnnotation,
  ChatChunk,
  ChatDelta,
  ChatUsage,
  ChatWebSearch,
  ReasoningDetail,
} from "../../contract/chat-format.ts";
import { type ErrorCode, errorCatalogue } from "../../errors.ts";
import { readReasoningText, readText } from "../messages/to-messages-answer.ts";
import { addDetail, type ExtraContent, type Kept, mergeExtraContent, toEncryptedContent } from "./kept-reasoning.ts";
import {
  type Annotation,
  type FunctionCallItem,
  type ItemStatus,
  type Logprob,
  type MessageItem,
  type OutputItem,
  type OutputPart,
  type ReasoningItem,
  type ResponseResource,
  type TextPart,
  toServiceTier,
} from "./response-defaults.ts";
import {
  CallIds,
  createCall,
  createMessage,
  createReasoning,
  createText,
  isWordless,
  mayBeIncomplete,
  nowInSeconds,
  type OutputContext,
  readLogprobs,
  toAnnotation,
  toEnding,
  toImageItems,
  toItemId,
  toResponseUsage,
  toSearchItems,
  toToolName,
} from "./to-response.ts";
import type { ToolNames } from "./tool-names.ts";

type Members = Readonly<Record<string, unknown>>;

/** An item and its place among the output. */
interface Placed<Item extends OutputItem> {
  readonly item: Item;
  readonly index: number;
}

interface Call {
  /** The provider's number; several calls may share it, told apart by their ids. */
  readonly number: number;
  id: string;
  name: string;
  /** What came before the item was open: an item needs a name. */
  waiting: string;
  extraContent: ExtraContent | null;
  placed: Placed<FunctionCallItem> | null;
}

type CallDelta = NonNullable<ChatDelta["tool_calls"]>[number];

export class ResponsesStreamWriter {
  #response: ResponseResource;
  /** Collected by one call from outside. */
  #frames: string[] = [];
  #sequenceNumber = 0;
  #hasBegun = false;
  #hasEnded = false;
  #hasFailed = false;
  readonly #output: OutputItem[] = [];
  /** The open item that is no call, and whether its last part is open. */
  #current: Placed<MessageItem> | Placed<ReasoningItem> | null = null;
  #isPartOpen = false;
  /** Where an annotation belongs. */
  #lastText: { readonly placed: Placed<MessageItem>; readonly place: number; readonly part: TextPart } | null = null;
  #heldAnnotations: Annotation[] = [];
  /** Calls that are not closed: those that have an item in the order of their items. */
  #calls: Call[] = [];
  readonly #closedCalls: Call[] = [];
  readonly #callIds: CallIds;
  readonly #toolNames: ToolNames | undefined;
  /** What the provider wants back, and no item carries yet. */
  #details: ReasoningDetail[] = [];
  #callExtras = new Map<string, ExtraContent>();
  #messageExtra: ExtraContent | null = null;
  /** Grew last: what is cut off is cut off here. */
  #grown: OutputItem | null = null;
  #model: string;
  #finishReason: string | null = null;
  #usage: ChatUsage | null = null;
  #serviceTier: unknown = null;

  readonly #origin: string | null;

  constructor(draft: ResponseResource, { takenCallIds = [], toolNames, origin = null }: OutputContext = {}) {
    this.#response = draft;
    this.#origin = origin;
    this.#callIds = new CallIds(takenCallIds);
    this.#toolNames = toolNames;
    this.#model = draft.model;
  }

  /** The response as it was told last. */
  get response(): ResponseResource {
    return this.#response;
  }

  begin(): string[] {
    this.#frames = [];
    this.#begin();
    return this.#frames;
  }

  /** The frames that come of one chunk, each one complete event. */
  write(chunk: ChatChunk): string[] {
    this.#frames = [];
    if (chunk.usage) this.#usage = chunk.usage;
    if (chunk.model) this.#model = chunk.model;
    if (chunk["service_tier"]) this.#serviceTier = chunk["service_tier"];
    this.#begin();
    for (const choice of chunk.choices) {
      // A response is one answer, also where a provider gives several.
      if (choice.index > 0) continue;
      if (choice.delta) this.#writeDelta(choice.delta, choice.logprobs);
      if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    }
    return this.#frames;
  }

  /** The end of a complete stream; `added` are members of the last response object. */
  end(added: Members): string[] {
    this.#frames = [];
    if (this.#hasEnded) return this.#frames;
    this.#hasEnded = true;
    this.#begin();
    const ending = toEnding(this.#finishReason);
    this.#closeAll(ending.status === "incomplete" ? this.#grown : null);
    if (isWordless(this.#output) && ending.status === "completed") {
      this.#openText();
      this.#closeCurrent();
    }
    this.#releaseBuffer();
    this.#response = {
      ...this.#response,
      ...ending,
      completed_at: ending.status === "completed" ? nowInSeconds() : null,
      model: this.#model,
      output: this.#output,
      usage: toResponseUsage(this.#usage),
      service_tier: toServiceTier(this.#serviceTier) ?? "default",
      ...added,
    };
    this.#push(`response.${ending.status}`, { response: this.#response });
    return this.#frames;
  }

  /** The end of a stream that breaks off, or whose end could not be told. What was not complete is told as incomplete. */
  fail({ code, message }: { readonly code: string; readonly message: string }, added: Members = {}): string[] {
    this.#frames = [];
    if (this.#hasFailed) return this.#frames;
    this.#hasFailed = true;
    // The number of the end that nobody was told.
    if (this.#hasEnded) this.#sequenceNumber--;
    this.#hasEnded = true;
    this.#begin();
    for (const item of this.#output)
      if (mayBeIncomplete(item) && item.status === "in_progress") item.status = "incomplete";
    const type = errorCatalogue[code as ErrorCode]?.type ?? "server_error";
    // Clients look for the same words in different places.
    const error = { type, code, message, param: null };
    this.#push("error", { code, message, param: null, error, detail: message });
    this.#response = {
      ...this.#response,
      status: "failed",
      model: this.#model,
      output: this.#output,
      usage: toResponseUsage(this.#usage),
      error: { code: type === "rate_limit_error" ? "rate_limit_exceeded" : "server_error", message },
      ...added,
    };
    this.#push("response.failed", { response: this.#response });
    return this.#frames;
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#response = { ...this.#response, model: this.#model };
    this.#push("response.created", { response: this.#response });
    this.#push("response.in_progress", { response: this.#response });
  }

  #writeDelta(delta: ChatDelta, logprobs: unknown): void {
    const thought = readReasoningText(delta as Members);
    if (thought !== "") this.#writeThought(thought);
    for (const detail of delta.reasoning_details ?? []) this.#writeReasoningDetail(detail, thought !== "");
    if (delta.web_searches) this.#writeSearches(delta.web_searches);
    const text = readText(delta.content);
    if (text !== "") this.#writeText(text, logprobs ? readLogprobs(logprobs) : []);
    if (delta.refusal) this.#writeRefusal(delta.refusal);
    for (const annotation of delta.annotations ?? []) this.#writeAnnotation(annotation);
    const images = (delta as Members)["images"];
    if (images) this.#writeImages(images);
    for (const call of delta.tool_calls ?? []) this.#writeCall(call);
    if (delta.extra_content) this.#messageExtra = mergeExtraContent(this.#messageExtra, delta.extra_content);
  }

  #writeThought(text: string): void {
    const { item, index } = this.#openReasoning();
    if (!this.#isPartOpen) {
      this.#isPartOpen = true;
      item.summary.push({ type: "summary_text", text: "" });
      this.#push("response.reasoning_summary_part.added", {
        item_id: item.id,
        output_index: index,
        summary_index: item.summary.length - 1,
        part: item.summary.at(-1),
      });
    }
    const place = item.summary.length - 1;
    const part = item.summary[place];
    if (part !== undefined) part.text += text;
    this.#grown = item;
    this.#pushDelta("response.reasoning_summary_text.delta", item.id, index, `"summary_index":${place},`, text, "");
  }

  /** A signed detail repeats the text that came before, and its signature ends the block. */
  #writeReasoningDetail(detail: ReasoningDetail, cameWithText: boolean): void {
    addDetail(this.#details, detail);
    if (detail.type === "reasoning.summary" && !cameWithText && detail.summary) this.#writeThought(detail.summary);
    if (detail.type !== "reasoning.text") return;
    const open = this.#current?.item.type === "reasoning" && this.#isPartOpen ? this.#current.item : null;
    const isRepeated =
      cameWithText || (open !== null && (Boolean(detail.signature) || detail.text === open.summary.at(-1)?.text));
    if (detail.text && !isRepeated) this.#writeThought(detail.text);
    if (detail.signature && this.#current?.item.type === "reasoning") this.#closePart();
  }

  #writeText(text: string, logprobs: readonly Logprob[]): void {
    const { placed, place, part } = this.#openText();
    part.text += text;
    part.logprobs.push(...logprobs);
    this.#grown = placed.item;
    const told = logprobs.length === 0 ? `,"logprobs":[]` : `,"logprobs":${JSON.stringify(logprobs)}`;
    const where = `"content_index":${place},`;
    this.#pushDelta("response.output_text.delta", placed.item.id, placed.index, where, text, told);
  }

  #writeRefusal(text: string): void {
    const { item, index } = this.#openMessage();
    if (this.#isPartOpen && item.content.at(-1)?.type !== "refusal") this.#closePart();
    if (!this.#isPartOpen) this.#openPart(item, index, { type: "refusal", refusal: "" });
    const part = item.content.at(-1);
    if (part?.type === "refusal") part.refusal += text;
    this.#grown = item;
    const where = `"content_index":${item.content.length - 1},`;
    this.#pushDelta("response.refusal.delta", item.id, index, where, text, "");
  }

  /** Sources may be told before the text, and after it was closed. */
  #writeAnnotation(given: ChatAnnotation): void {
    for (const annotation of toAnnotation(given)) {
      if (this.#lastText === null) this.#heldAnnotations.push(annotation);
      else this.#annotate(annotation);
    }
  }

  #annotate(annotation: Annotation): void {
    if (this.#lastText === null) return;
    const { placed, place, part } = this.#lastText;
    part.annotations.push(annotation);
    this.#push("response.output_text.annotation.added", {
      item_id: placed.item.id,
      output_index: placed.index,
      content_index: place,
      annotation_index: part.annotations.length - 1,
      annotation,
    });
  }

  #writeImages(images: unknown): void {
    for (const item of toImageItems(images)) {
      this.#closeCurrent();
      const placed = this.#place(item);
      this.#pushItem("done", placed);
    }
  }

  /** A search is told when it is over: what came between its events is one moment here. */
  #writeSearches(searches: readonly ChatWebSearch[]): void {
    for (const item of toSearchItems(searches)) {
      this.#closeCurrent();
      const index = this.#output.length;
      const own = { ...item, id: toItemId(item.id, this.#response.id, index) };
      this.#output.push(own);
      this.#push("response.output_item.added", { output_index: index, item: { ...own, status: "in_progress" } });
      for (const state of ["in_progress", "searching", "completed"])
        this.#push(`response.web_search_call.${state}`, { output_index: index, item_id: own.id });
      this.#pushItem("done", { item: own, index });
    }
  }

  #writeCall(delta: CallDelta): void {
    if (this.#isLatePiece(delta)) return;
    const call = this.#findCall(delta);
    if (delta.extra_content) call.extraContent = mergeExtraContent(call.extraContent, delta.extra_content);
    const piece = delta.function?.arguments ?? "";
    if (call.placed === null) {
      call.waiting += piece;
      if (call.name !== "") this.#openCall(call);
      return;
    }
    if (delta.extra_content) this.#callExtras.set(call.placed.item.call_id, call.extraContent ?? {});
    if (piece !== "") this.#writeArguments(call.placed, piece);
  }

  #writeArguments({ item, index }: Placed<FunctionCallItem>, piece: string): void {
    item.arguments += piece;
    this.#grown = item;
    this.#pushDelta("response.function_call_arguments.delta", item.id, index, "", piece, "");
  }

  /** Some providers end a call with an empty piece after the next one has begun. */
  #isLatePiece(delta: CallDelta): boolean {
    const number = delta.index ?? 0;
    const isNamed = Boolean(delta.function?.name);
    if (delta.id)
      return this.#closedCalls.some(({ id, ...call }) => id === delta.id && (!isNamed || call.number === number));
    if (isNamed || this.#calls.some((call) => call.number === number)) return false;
    return this.#closedCalls.some((call) => call.number === number);
  }

  #findCall(delta: CallDelta): Call {
    const number = delta.index ?? 0;
    const known = this.#calls.findLast((call) => call.number === number);
    if (known !== undefined && !isNewCall(delta, known)) {
      known.id ||= delta.id ?? "";
      known.name ||= delta.function?.name ?? "";
      return known;
    }
    this.#closeCompleteCalls();
    const call: Call = {
      number,
      id: delta.id ?? "",
      name: delta.function?.name ?? "",
      waiting: "",
      extraContent: null,
      placed: null,
    };
    this.#calls.push(call);
    return call;
  }

  #openCall(call: Call): void {
    const item = createCall("in_progress", this.#callIds.take(call.id), toToolName(call.name, this.#toolNames), "");
    if (call.extraContent !== null) this.#callExtras.set(item.call_id, call.extraContent);
    this.#closeCurrent();
    this.#releaseBuffer();
    call.placed = this.#place(item);
    this.#calls = [...this.#calls.filter((other) => other !== call), call];
    this.#grown = call.placed.item;
    if (call.waiting !== "") this.#writeArguments(call.placed, call.waiting);
  }

  /** Complete JSON grows no more; but a call is never closed before an earlier one. */
  #closeCompleteCalls(): void {
    for (const call of this.#calls.filter(({ placed }) => placed !== null)) {
      if (!isComplete(call)) return;
      this.#closeCall(call, "completed");
    }
  }

  #closeCall(call: Call, status: ItemStatus): void {
    this.#calls = this.#calls.filter((other) => other !== call);
    this.#closedCalls.push(call);
    if (call.placed === null) return;
    const { item, index } = call.placed;
    this.#push("response.function_call_arguments.done", {
      item_id: item.id,
      output_index: index,
      name: item.name,
      arguments: item.arguments,
    });
    item.status = status;
    this.#pushItem("done", call.placed);
  }

  #openReasoning(): Placed<ReasoningItem> {
    if (this.#current?.item.type === "reasoning") return this.#current as Placed<ReasoningItem>;
    this.#closeCurrent();
    this.#closeCompleteCalls();
    const placed = this.#place(createReasoning("in_progress", [], null));
    this.#current = placed;
    return placed;
  }

  #openMessage(): Placed<MessageItem> {
    if (this.#current?.item.type === "message") return this.#current as Placed<MessageItem>;
    this.#closeCurrent();
    this.#closeCompleteCalls();
    this.#releaseBuffer();
    const placed = this.#place(createMessage("in_progress", []));
    this.#current = placed;
    return placed;
  }

  #openText() {
    if (this.#lastText !== null && this.#isPartOpen && this.#lastText.placed === this.#current) {
      const open = this.#lastText;
      if (open.place === open.placed.item.content.length - 1) return open;
    }
    const placed = this.#openMessage();
    this.#closePart();
    const part = createText("");
    this.#openPart(placed.item, placed.index, part);
    this.#lastText = { placed, place: placed.item.content.length - 1, part };
    for (const annotation of this.#heldAnnotations) this.#annotate(annotation);
    this.#heldAnnotations = [];
    return this.#lastText;
  }

  #openPart(item: MessageItem, index: number, part: OutputPart): void {
    item.content.push(part);
    this.#isPartOpen = true;
    this.#push("response.content_part.added", {
      item_id: item.id,
      output_index: index,
      content_index: item.content.length - 1,
      part,
    });
  }

  #closePart(): void {
    if (!this.#isPartOpen || this.#current === null) return;
    this.#isPartOpen = false;
    const { item, index } = this.#current;
    const where = { item_id: item.id, output_index: index };
    if (item.type === "reasoning") {
      const part = item.summary.at(-1);
      const place = { ...where, summary_index: item.summary.length - 1 };
      this.#push("response.reasoning_summary_text.done", { ...place, text: part?.text });
      this.#push("response.reasoning_summary_part.done", { ...place, part });
      return;
    }
    const part = item.content.at(-1);
    const place = { ...where, content_index: item.content.length - 1 };
    if (part?.type === "output_text")
      this.#push("response.output_text.done", { ...place, text: part.text, logprobs: part.logprobs });
    else this.#push("response.refusal.done", { ...place, refusal: part?.refusal });
    this.#push("response.content_part.done", { ...place, part });
  }

  #closeCurrent(status: ItemStatus = "completed"): void {
    if (this.#current === null) return;
    this.#closePart();
    const { item } = this.#current;
    if (item.type === "reasoning") item.encrypted_content = toEncryptedContent(this.#takeKept());
    item.status = status;
    this.#pushItem("done", this.#current);
    this.#current = null;
  }

  /** Everything that is open, in its order. */
  #closeAll(cutOff: OutputItem | null): void {
    if (this.#heldAnnotations.length > 0) this.#openText();
    for (const call of this.#calls.filter(({ placed }) => placed === null)) this.#openCall(call);
    const statusOf = (item: OutputItem): ItemStatus => (item === cutOff ? "incomplete" : "completed");
    // An item that is no call is closed when a call begins: an open one began after all calls that are open.
    for (const call of [...this.#calls]) {
      if (call.placed !== null) this.#closeCall(call, statusOf(call.placed.item));
    }
    if (this.#current !== null) this.#closeCurrent(statusOf(this.#current.item));
  }

  /** What the provider wants back gets an item of its own where no open one can carry it. */
  #releaseBuffer(): void {
    if (this.#details.length === 0 && this.#callExtras.size === 0 && this.#messageExtra === null) return;
    this.#current = this.#place(createReasoning("in_progress", [], null));
    this.#closeCurrent();
  }

  #takeKept(): Kept {
    const kept = { origin: this.#origin, details: this.#details, calls: this.#callExtras, message: this.#messageExtra };
    this.#details = [];
    this.#callExtras = new Map();
    this.#messageExtra = null;
    return kept;
  }

  #place<Item extends OutputItem>(item: Item): Placed<Item> {
    const index = this.#output.length;
    const placed = { item: { ...item, id: toItemId(item.id, this.#response.id, index) }, index };
    this.#output.push(placed.item);
    this.#pushItem("added", placed);
    return placed;
  }

  #pushItem(what: "added" | "done", { item, index }: Placed<OutputItem>): void {
    this.#push(`response.output_item.${what}`, { output_index: index, item });
  }

  /** The usual event, written without an object in between. */
  #pushDelta(type: string, itemId: string, index: number, where: string, delta: string, more: string): void {
    this.#frames.push(
      `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequenceNumber++},"item_id":"${itemId}",` +
        `"output_index":${index},${where}"delta":${JSON.stringify(delta)}${more}}\n\n`,
    );
  }

  #push(type: string, members: Members): void {
    const event = { type, sequence_number: this.#sequenceNumber++, ...members };
    this.#frames.push(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
}

/** Some providers number all calls alike: another id, or another name after a complete call, begins the next. */
function isNewCall(delta: CallDelta, known: Call): boolean {
  if (delta.id) return known.id !== "" && known.id !== delta.id;
  return Boolean(delta.function?.name) && known.name !== "" && isComplete(known);
}

function isComplete({ placed }: Call): boolean {
  const text = placed?.item.arguments.trimEnd() ?? "";
  if (!text.endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
