// A local vendor that has the responses API itself, with real state: what it was told is what it answers from. The wire format is
// the documented one (github.com/openai/openai-openapi); the members whose names begin with `x_` are invented, to see that what
// nobody knows is passed on as it came. The model's name says what it does.

import { answer, httpChunk, lastHttpChunk, type Script, type Step, streamHead, wait, write } from "./answers.ts";
import { echo, startVendor, type Vendor, type VendorRequest } from "./vendor.ts";

type Item = Record<string, unknown>;

export interface StoredResponse {
  readonly id: string;
  readonly account: string;
  readonly input: readonly Item[];
  /** The whole conversation, this response's output included. */
  readonly conversation: readonly Item[];
  readonly response: Record<string, unknown>;
  readonly events: readonly Record<string, unknown>[];
}

export interface ResponsesVendor extends Vendor {
  /** What it keeps, by its own ids. */
  readonly stored: Map<string, StoredResponse>;
  /** Requests for responses, chat left out. */
  readonly calls: () => readonly VendorRequest[];
  lastBody(): Record<string, unknown>;
}

/** Spelled so that a reader who parses and writes again is found out. */
export const oddMember = '"x_odd":{"ratio":1.0,"big":12345678901234567890,"small":1E-3,"text":"\\u00e9"}';

export const vendorIds = /(?:resp|msg|fc|rs|ws|mcpr)_vendor[0-9a-f]{32}(?!_sy[0-9a-f]{20})/;

export async function startResponsesVendor(): Promise<ResponsesVendor> {
  const stored = new Map<string, StoredResponse>();
  const vendor = await startVendor((request) => serve(request, stored));
  const calls = () => vendor.requests.filter(({ path }) => path.includes("/responses"));
  return {
    ...vendor,
    stored,
    calls,
    lastBody() {
      const last = calls().findLast(({ method }) => method === "POST");
      if (last === undefined) throw new Error("no response was created at the vendor");
      return JSON.parse(last.body.toString());
    },
  };
}

function serve(request: VendorRequest, stored: Map<string, StoredResponse>): Script {
  const url = new URL(request.path, "http://vendor");
  const [prefix = "", rest = ""] = url.pathname.split("/responses");
  if (!url.pathname.includes("/responses")) return echo(request);
  const account = `${prefix} ${request.headers["authorization"]}`;
  const [, id = "", action = ""] = rest.split("/");
  if (id === "") return create(JSON.parse(request.body.toString()), account, stored);
  const found = stored.get(id);
  if (found === undefined || found.account !== account) return refuse(404, `Response with id '${id}' not found.`, null);
  if (request.method === "DELETE") {
    stored.delete(id);
    return answer(200, { id, object: "response.deleted", deleted: true });
  }
  if (action === "cancel") return cancel(found, stored);
  if (action === "input_items") return listItems(found, url.searchParams);
  return retrieve(found, url.searchParams, stored);
}

function create(body: Record<string, unknown>, account: string, stored: Map<string, StoredResponse>): Script {
  const previousId = body["previous_response_id"] as string | null | undefined;
  const previous = previousId ? stored.get(previousId) : undefined;
  if (previousId && previous?.account !== account)
    return refuse(400, `Previous response with id '${previousId}' not found.`, "previous_response_id");
  const findItem = (id: unknown) =>
    [...stored.values()]
      .filter((one) => one.account === account)
      .flatMap((one) => one.conversation)
      .find((item) => item["id"] === id);
  const input: Item[] = [];
  for (const item of toItems(body["input"])) {
    const reference = item["type"] === "item_reference" ? findItem(item["id"]) : item;
    if (reference === undefined) return refuse(404, `Item with id '${item["id"]}' not found.`, "input");
    input.push({ ...reference, id: reference["id"] ?? newId(String(reference["type"] ?? "message")) });
  }
  const earlier = [...(previous?.conversation ?? []), ...input];
  const model = String(body["model"]);
  const output = compose(model, body, earlier);
  const isBackground = body["background"] === true;
  const id = `resp_vendor${hex()}`;
  const status = isBackground ? "queued" : model === "short" ? "incomplete" : "completed";
  const response: Record<string, unknown> = {
    id,
    object: "response",
    created_at: 1_700_000_000,
    status,
    model: `${model}-2025`,
    previous_response_id: previousId ?? null,
    output: isBackground ? [] : output,
    store: model === "forgetful" ? false : (body["store"] ?? true),
    metadata: body["metadata"] ?? {},
    background: isBackground,
    ...(model === "short" && { incomplete_details: { reason: "max_output_tokens" } }),
    usage: isBackground ? null : { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 },
    x_trace: { response: id },
    ...pick(body, model === "terse" ? ["user"] : ["user", "temperature", "tools", "instructions"]),
  };
  const events = isBackground ? [] : toEvents(response);
  const conversation = [...earlier, ...output];
  if (response["store"] !== false) stored.set(id, { id, account, input: earlier, conversation, response, events });
  if (body["stream"] !== true) return answer(200, toJson(response), { "content-type": "application/json" });
  if (!isBackground) return toStream(model, events);
  const ended = { ...response, ...toEnd(conversation) };
  return toStream(model, model === "prompt" ? toEvents(ended) : toQueuedEvents(response));
}

function compose(model: string, body: Record<string, unknown>, earlier: readonly Item[]): Item[] {
  const said = earlier.filter(({ role, type }) => role === "user" || type === "function_call_output").map(textOf);
  const message = {
    id: newId("message"),
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: `heard: ${said.join(" | ")}` }],
  };
  switch (model) {
    case "tool": {
      if (earlier.at(-1)?.["type"] === "function_call_output") return [message];
      const call = { call_id: `call_${hex()}`, name: "look", arguments: "{}" };
      return [{ id: newId("function_call"), type: "function_call", status: "completed", ...call }];
    }
    case "think":
      return [
        {
          id: newId("reasoning"),
          type: "reasoning",
          summary: [],
          ...(wantsEncrypted(body) && { encrypted_content: `sealed-${hex()}` }),
        },
        message,
      ];
    case "search":
      return [{ id: newId("web_search_call"), type: "web_search_call", status: "completed" }, message];
    case "approve": {
      if (earlier.some(({ type }) => type === "mcp_approval_response")) return [message];
      const asked = { server_label: "s", name: "do", arguments: "{}" };
      return [{ id: newId("mcp_approval_request"), type: "mcp_approval_request", ...asked }];
    }
    default:
      return [message];
  }
}

function wantsEncrypted({ include }: Record<string, unknown>): boolean {
  return Array.isArray(include) && include.includes("reasoning.encrypted_content");
}

/** The whole grammar of a stream, for whatever the output is. */
function toEvents(response: Record<string, unknown>): Record<string, unknown>[] {
  const events: Record<string, unknown>[] = [];
  const push = (type: string, members: Item) => events.push({ type, sequence_number: events.length, ...members });
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  push("response.created", { response: begun });
  push("response.in_progress", { response: begun });
  for (const [output_index, item] of (response["output"] as Item[]).entries()) {
    const place = { output_index, item_id: item["id"] };
    const isMessage = item["type"] === "message";
    push("response.output_item.added", {
      output_index,
      item: { ...item, status: "in_progress", ...(isMessage && { content: [] }) },
    });
    if (isMessage) {
      const text = textOf(item);
      const part = { ...place, content_index: 0 };
      push("response.content_part.added", { ...part, part: { type: "output_text", text: "", annotations: [] } });
      for (const delta of text.match(/\S+\s*/g) ?? [])
        push("response.output_text.delta", { ...part, delta, x_number: "NUMBER" });
      push("response.output_text.done", { ...part, text });
      push("response.content_part.done", { ...part, part: { type: "output_text", text, annotations: [] } });
    } else if (item["type"] === "function_call") {
      push("response.function_call_arguments.delta", { ...place, delta: "{}" });
      push("response.function_call_arguments.done", { ...place, name: item["name"], arguments: "{}" });
    }
    push("response.output_item.done", { output_index, item });
  }
  push(`response.${response["status"]}`, { response });
  return events;
}

function toQueuedEvents(response: Record<string, unknown>): Record<string, unknown>[] {
  return [
    { type: "response.created", sequence_number: 0, response },
    { type: "response.queued", sequence_number: 1, response },
  ];
}

/** What becomes of the stream, by the model's name. */
function toStream(model: string, events: readonly Record<string, unknown>[]): Script {
  const steps = events.map(toEvent);
  const firstDelta = events.findIndex(({ type }) => type === "response.output_text.delta");
  const upTo = (count: number) => [streamHead(), ...steps.slice(0, count)];
  const begun = upTo(firstDelta + 2);
  switch (model) {
    case "cut":
      return [...begun, { do: "rst" }];
    case "close":
      return [...begun, lastHttpChunk];
    case "stall":
      return [...begun, { do: "hang" }];
    case "stall-first":
      return [...upTo(2), { do: "hang" }];
    case "stall-head":
      return [streamHead(), { do: "hang" }];
    case "stall-whole":
      return [{ do: "hang" }];
    case "error-event":
      return [
        ...begun,
        toEvent({ type: "error", code: "server_error", message: "out of luck", param: null, sequence_number: 9 }),
        lastHttpChunk,
      ];
    case "error-first":
      return [
        streamHead(),
        toEvent({ type: "error", code: "server_error", message: "out of luck", param: null, sequence_number: 0 }),
        lastHttpChunk,
      ];
    case "unnumbered":
      return [
        streamHead(),
        ...events.map(({ sequence_number: _, ...event }) => toEvent(event)),
        httpChunk("data: [DONE]\n\n"),
        lastHttpChunk,
      ];
    case "slow":
      return [streamHead(), ...steps.flatMap((step) => [step, wait(60)]), lastHttpChunk];
    case "flood": {
      const delta = toEvent({ ...events[firstDelta], delta: "x".repeat(10_000) });
      return [...begun, ...Array.from({ length: 12_000 }, () => delta), ...steps.slice(-1), lastHttpChunk];
    }
    default:
      return [streamHead(), ...steps, lastHttpChunk];
  }
}

function toEvent(event: Record<string, unknown>): Step {
  const text = toJson(event).replace('"NUMBER"', "1.50");
  return httpChunk(`event: ${event["type"]}\ndata: ${text}\n\n`);
}

function retrieve(found: StoredResponse, query: URLSearchParams, stored: Map<string, StoredResponse>): Script {
  const { response, conversation } = found;
  if (query.get("stream") === "true") {
    const after = Number(query.get("starting_after") ?? -1);
    const isBackground = response["background"] === true;
    const all = isBackground ? toEvents({ ...response, ...toEnd(conversation) }) : found.events;
    const events = all.filter(({ sequence_number }) => Number(sequence_number) > after);
    return [streamHead(), ...events.map(toEvent), lastHttpChunk];
  }
  const isWaiting = response["status"] === "queued" || response["status"] === "in_progress";
  if (!isWaiting) return answer(200, toJson(response), { "content-type": "application/json" });
  // One look later it has gone on.
  const done = response["status"] === "in_progress";
  const next = { ...response, ...(done ? toEnd(conversation) : { status: "in_progress", output: [], usage: null }) };
  stored.set(found.id, { ...found, response: next });
  return answer(200, toJson(next), { "content-type": "application/json" });
}

function toEnd(conversation: readonly Item[]) {
  const usage = { input_tokens: 1_000, output_tokens: 500, total_tokens: 1_500 };
  return { status: "completed", output: conversation.slice(-1), usage };
}

function cancel(found: StoredResponse, stored: Map<string, StoredResponse>): Script {
  if (found.response["background"] !== true)
    return refuse(400, `Response '${found.id}' is not in the background: it cannot be cancelled.`, null);
  const response = { ...found.response, status: "cancelled" };
  stored.set(found.id, { ...found, response });
  return answer(200, toJson(response), { "content-type": "application/json" });
}

function listItems({ input }: StoredResponse, query: URLSearchParams): Script {
  const ordered = query.get("order") === "asc" ? input : input.toReversed();
  const after = query.get("after");
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) return refuse(400, `No item '${after}'`, "after");
  const limit = Number(query.get("limit") ?? 20);
  const data = ordered.slice(start, start + limit);
  const [first, last] = [data[0]?.["id"] ?? null, data.at(-1)?.["id"] ?? null];
  const list = { object: "list", data, first_id: first, last_id: last, has_more: start + limit < ordered.length };
  return answer(200, toJson(list), { "content-type": "application/json" });
}

function refuse(status: number, message: string, param: string | null): Script {
  return answer(status, { error: { message, type: "invalid_request_error", param, code: null } });
}

function toItems(input: unknown): Item[] {
  if (typeof input === "string")
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  return Array.isArray(input) ? input : [];
}

function textOf({ content, output }: Item): string {
  const said = content ?? output;
  if (typeof said === "string") return said;
  return Array.isArray(said) ? said.map((part) => part.text ?? "").join("") : "";
}

/** Whole objects carry the odd member; it is put in as text. */
function toJson(value: Record<string, unknown>): string {
  const text = JSON.stringify(value);
  return value["object"] === "response" ? `${text.slice(0, -1)},${oddMember}}` : text;
}

function pick(body: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));
}

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
  web_search_call: "ws",
  mcp_approval_request: "mcpr",
};

function newId(type: string): string {
  return `${prefixes[type] ?? "msg"}_vendor${hex()}`;
}

function hex(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** A healthy stream that takes its time. */
export function toSlowStream(words: number, intervalMs: number): Script {
  const text = Array.from({ length: words }, () => "word").join(" ");
  const message = {
    id: newId("message"),
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text }],
  };
  const response = {
    id: `resp_vendor${hex()}`,
    object: "response",
    status: "completed",
    model: "m",
    output: [message],
  };
  return [streamHead(), ...toEvents(response).flatMap((event) => [toEvent(event), wait(intervalMs)]), lastHttpChunk];
}

/** Half of an answer, and then nothing more. */
export const halfAnswer: Script = [
  write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"id":'),
  { do: "hang" },
];
