// A local server that has the responses API itself and keeps what it says. The wire format is documented
// (https://platform.openai.com/docs/api-reference/responses); what its model says is invented. It refuses ids that it did not give.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { countWords, type Question, type Reply, replyTo, type Tool } from "./mind.ts";
import * as wire from "./wire.ts";

interface Kept {
  readonly response: wire.Members;
  /** What this response was an answer to, earlier turns first. */
  readonly input: readonly wire.Members[];
}

const bodyMembers = [
  ...["model", "input", "instructions", "previous_response_id", "store", "stream", "stream_options", "background"],
  ...["temperature", "top_p", "top_logprobs", "max_output_tokens", "max_tool_calls", "tools", "tool_choice", "text"],
  ...[
    "parallel_tool_calls",
    "reasoning",
    "include",
    "truncation",
    "service_tier",
    "prompt_cache_key",
    "metadata",
    "user",
  ],
  ...["safety_identifier", "client_metadata"],
];

/** Models named `sparse…` leave out what the format's own vendor always says; `refuse…` refuses, `short…` stops early. */
export function createResponsesVendor(): (request: VendorRequest) => Script {
  const kept = new Map<string, Kept>();
  const given = new Map<string, wire.Members>();
  let count = 0;
  const newId = (kind: string) => `${kind}_vendor${String(++count).padStart(8, "0")}`;

  return (request) => wire.serve(request, run, toError);

  function run(request: VendorRequest): Script {
    wire.demand(request.headers["authorization"]?.startsWith("Bearer "), "the key is missing");
    const { pathname, searchParams } = new URL(request.path, "http://vendor");
    const [, id, verb] = /\/responses(?:\/([^/]+)(?:\/([a-z_]+))?)?$/.exec(pathname) ?? [];
    if (id === undefined) return create(request);
    const found = kept.get(id);
    if (found === undefined) throw new wire.Violation(`Response with id '${id}' not found.`, 404);
    if (request.method === "DELETE") {
      kept.delete(id);
      return answer(200, { id, object: "response", deleted: true });
    }
    if (verb === "cancel") return cancel(id, found);
    if (verb === "input_items") return answer(200, listItems(found, searchParams));
    if (searchParams.get("stream") === "true") return replay(found.response, searchParams);
    return answer(200, found.response);
  }

  function create(request: VendorRequest): Script {
    wire.demand(request.method === "POST", "the method should be POST");
    const body = withoutNulls(JSON.parse(request.body.toString()) as wire.Members);
    wire.membersOf(body, "body", bodyMembers);
    const model = wire.textOf(body["model"], "model");
    wire.failOnDemand(model);
    const { history, items } = readInput(body);
    const question = toQuestion(body, [...history, ...items]);
    const isBackground = body["background"] === true;
    wire.demand(!isBackground || body["store"] !== false, "background: needs store");
    const output = isBackground ? [] : toOutput(model, replyTo(question), body);
    const response = toResponse(body, output, countWords(JSON.stringify([...history, ...items])), newId("resp"));
    if (body["store"] !== false) {
      const input = [...history, ...items].map((item) => ({ id: newId("msg"), ...item }));
      for (const item of [...input, ...output]) given.set(String(item["id"]), item);
      kept.set(String(response["id"]), { response, input });
    }
    if (body["stream"] !== true) return answer(200, model.startsWith("sparse") ? toSparse(response) : response);
    return stream(toEvents(response), model);
  }

  function cancel(id: string, { response, input }: Kept): Script {
    wire.demand(response["background"] === true, "Only responses that run in the background can be cancelled.");
    const cancelled = { ...response, status: "cancelled" };
    kept.set(id, { response: cancelled, input });
    return answer(200, cancelled);
  }

  function listItems({ input }: Kept, query: URLSearchParams): wire.Members {
    const ordered = query.get("order") === "asc" ? input : input.toReversed();
    const after = query.get("after");
    wire.demand(after === null || ordered.some(({ id }) => id === after), "after: there is no such item");
    const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
    const limit = Number(query.get("limit") ?? 20);
    const data = ordered.slice(start, start + limit);
    const ends = { first_id: data[0]?.["id"] ?? null, last_id: data.at(-1)?.["id"] ?? null };
    return { object: "list", data, ...ends, has_more: start + limit < ordered.length };
  }

  function replay(response: wire.Members, query: URLSearchParams): Script {
    const after = query.get("starting_after");
    const events = toEvents(response).filter(
      (event) => after === null || Number(event["sequence_number"]) > Number(after),
    );
    return stream(events, String(response["model"]));
  }

  function readInput(body: wire.Members): { history: readonly wire.Members[]; items: readonly wire.Members[] } {
    const previousId = body["previous_response_id"];
    const previous = previousId === undefined ? null : kept.get(String(previousId));
    wire.demand(previous !== undefined, `Previous response with id '${previousId}' not found.`);
    const history = previous === null ? [] : [...previous.input, ...(previous.response["output"] as wire.Members[])];
    const { input } = body;
    const items =
      input === undefined ? [] : typeof input === "string" ? [toMessage(input)] : wire.listOf(input, "input");
    return { history, items: items.map((item, index) => readItem(item, `input.${index}`, body)) };
  }

  function readItem(value: unknown, where: string, body: wire.Members): wire.Members {
    const item = withoutNulls(value as wire.Members);
    const { id, type = "message", role } = item;
    wire.demand(
      id === undefined || /^[a-z]+_vendor\d{8}$/.test(String(id)),
      `${where}.id: '${id}' is not an id of this vendor`,
    );
    switch (type) {
      case "item_reference": {
        const known = given.get(String(id));
        wire.demand(known, `${where}: Item with id '${id}' not found.`);
        return known;
      }
      case "message": {
        wire.demand(["user", "assistant", "system", "developer"].includes(String(role)), `${where}.role: is not known`);
        const { content } = item;
        const parts =
          typeof content === "string" ? [{ type: "input_text", text: content }] : wire.listOf(content, where);
        const wanted = role === "assistant" ? /^(?:output_text|refusal|input_text)$/ : /^input_(?:text|image|file)$/;
        for (const part of parts)
          wire.demand(wanted.test(String((part as wire.Members)["type"])), `${where}.content: wrong part`);
        return {
          ...item,
          type,
          content: typeof content === "string" && role === "assistant" ? toText(content) : parts,
        };
      }
      case "reasoning": {
        wire.listOf(item["summary"], `${where}.summary`);
        if (body["store"] === false || id === undefined) {
          const thought = (item["summary"] as wire.Members[]).map((part) => part["text"]).join("");
          wire.demandSignature(thought, item["encrypted_content"], where);
        }
        return item;
      }
      default:
        return { ...item, status: "completed" };
    }
  }

  function toOutput(model: string, reply: Reply, body: wire.Members): wire.Members[] {
    const output: wire.Members[] = [];
    if (reply.thoughts !== "") {
      const isAsked = Array.isArray(body["include"]) && body["include"].includes("reasoning.encrypted_content");
      const summary = [{ type: "summary_text", text: reply.thoughts }];
      const id = newId("rs");
      output.push({ id, type: "reasoning", summary, ...(isAsked && { encrypted_content: wire.sign(reply.thoughts) }) });
    }
    const tools = (body["tools"] ?? []) as readonly wire.Members[];
    if (tools.some(({ type }) => type === "web_search") && reply.text.includes("search")) {
      const action = { type: "search", query: reply.text };
      output.push({ id: newId("ws"), type: "web_search_call", status: "completed", action });
    }
    for (const { name, input } of reply.calls) {
      const isCustom = tools.some((tool) => tool["type"] === "custom" && tool["name"] === name);
      const ids = { call_id: newId("call"), name };
      if (isCustom)
        output.push({
          id: newId("ctc"),
          type: "custom_tool_call",
          status: "completed",
          ...ids,
          input: "*** Begin Patch",
        });
      else
        output.push({
          id: newId("fc"),
          type: "function_call",
          status: "completed",
          arguments: JSON.stringify(input),
          ...ids,
        });
    }
    if (reply.calls.length > 0) return output;
    const status = model.startsWith("short") ? "incomplete" : "completed";
    const content = model.startsWith("refuse") ? [{ type: "refusal", refusal: "I will not." }] : toText(reply.text);
    output.push({ id: newId("msg"), type: "message", status, role: "assistant", content });
    return output;
  }
}

function toError(_status: number, message: string): wire.Members {
  const code = message.startsWith("Previous response") ? "previous_response_not_found" : null;
  return { error: { message, type: "invalid_request_error", param: null, code } };
}

function withoutNulls(members: wire.Members): wire.Members {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== null));
}

function toMessage(text: string): wire.Members {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function toText(text: string): wire.Members[] {
  return [{ type: "output_text", text, annotations: [], logprobs: [] }];
}

function toQuestion(body: wire.Members, items: readonly wire.Members[]): Question {
  let said = "";
  let results: { name: string; text: string }[] = [];
  const calls = new Map<string, string>();
  for (const [index, item] of items.entries()) {
    const callId = String(item["call_id"]);
    if (item["type"] === "message" && item["role"] === "user") {
      said = (item["content"] as wire.Members[]).map((part) => part["text"] ?? "").join("\n");
      results = [];
    }
    if (item["type"] === "function_call" || item["type"] === "custom_tool_call")
      calls.set(callId, String(item["name"]));
    if (item["type"] !== "function_call_output" && item["type"] !== "custom_tool_call_output") continue;
    const name = calls.get(callId);
    wire.demand(
      name !== undefined,
      `input.${index}: No tool call found for function call output with call_id ${callId}.`,
    );
    calls.delete(callId);
    results.push({ name, text: String(item["output"]) });
  }
  wire.demand(calls.size === 0, `No tool output found for function call ${[...calls.keys()].join(", ")}.`);
  const effort = (body["reasoning"] as wire.Members | undefined)?.["effort"];
  const format = ((body["text"] as wire.Members | undefined)?.["format"] ?? {}) as wire.Members;
  return {
    said,
    results,
    tools: wire.listOf(body["tools"] ?? [], "tools").flatMap(readTool),
    choice: readChoice(body["tool_choice"]),
    schema: format["type"] === "json_schema" ? (format["schema"] as wire.Members) : null,
    thinks: effort !== undefined && effort !== "none",
  };
}

function readTool(value: unknown, index: number): Tool[] {
  const { type, name, parameters = { type: "object", properties: {} } } = wire.membersOf(value, `tools.${index}`);
  if (type !== "function" && type !== "custom") return [];
  return [{ name: wire.textOf(name, `tools.${index}.name`), parameters: parameters as wire.Members }];
}

function readChoice(choice: unknown): Question["choice"] {
  if (choice === undefined || choice === "auto") return "auto";
  if (choice === "none") return "none";
  return choice === "required" ? "any" : { name: String((choice as wire.Members)["name"]) };
}

const createdAt = 1_767_225_600;

function toResponse(
  body: wire.Members,
  output: readonly wire.Members[],
  inputTokens: number,
  id: string,
): wire.Members {
  const model = String(body["model"]);
  const isCut = model.startsWith("short");
  const isBackground = body["background"] === true;
  const reasoning = countWords(
    ...output.filter(({ type }) => type === "reasoning").map((item) => JSON.stringify(item)),
  );
  const written = countWords(JSON.stringify(output));
  const text = (body["text"] ?? {}) as wire.Members;
  return {
    id,
    object: "response",
    created_at: createdAt,
    status: isBackground ? "queued" : isCut ? "incomplete" : "completed",
    background: isBackground,
    completed_at: isBackground || isCut ? null : createdAt + 1,
    error: null,
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: null,
    model: `${model}-2026-01-01`,
    output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null, ...(body["reasoning"] as wire.Members | undefined) },
    safety_identifier: null,
    service_tier: "default",
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: { format: { type: "text" }, verbosity: "medium", ...text },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: ((body["tools"] ?? []) as wire.Members[]).map(toWholeTool),
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: isBackground
      ? null
      : {
          input_tokens: inputTokens,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: written,
          output_tokens_details: { reasoning_tokens: reasoning },
          total_tokens: inputTokens + written,
        },
    user: null,
    metadata: body["metadata"] ?? {},
  };
}

function toWholeTool(tool: wire.Members): wire.Members {
  return tool["type"] === "function" ? { description: null, strict: true, ...tool } : tool;
}

/** As smaller vendors answer. */
function toSparse(response: wire.Members): wire.Members {
  const { id, object, created_at, status, model, output, usage } = response;
  const { input_tokens, output_tokens } = (usage ?? {}) as wire.Members;
  const bare = (output as wire.Members[]).map(({ status: _, content, ...item }) => ({
    ...item,
    ...(Array.isArray(content) && { content: content.map(({ annotations: _a, logprobs: _l, ...part }) => part) }),
  }));
  return { id, object, created_at, status, model, output: bare, usage: { input_tokens, output_tokens } };
}

function toEvents(response: wire.Members): wire.Members[] {
  const isSparse = String(response["model"]).startsWith("sparse");
  const begun = {
    ...response,
    status: "in_progress",
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
  const shown = (whole: wire.Members) => (isSparse ? toSparse(whole) : whole);
  const events: wire.Members[] = [
    { type: "response.created", response: shown(begun) },
    { type: "response.in_progress", response: shown(begun) },
  ];
  const isQueued = response["status"] === "queued";
  for (const [index, item] of (response["output"] as wire.Members[]).entries())
    events.push(...toItemEvents(item, index));
  if (!isQueued) events.push({ type: `response.${response["status"]}`, response: shown(response) });
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

function toItemEvents(item: wire.Members, index: number): wire.Members[] {
  const where = { item_id: item["id"], output_index: index };
  const { content: _, summary: _s, ...bare } = item;
  const opened: wire.Members = {
    ...bare,
    ...(item["status"] !== undefined && { status: "in_progress" }),
    ...(item["content"] !== undefined && { content: [] }),
    ...(item["summary"] !== undefined && { summary: [] }),
    ...(item["arguments"] !== undefined && { arguments: "" }),
    ...(item["input"] !== undefined && { input: "" }),
  };
  return [
    { type: "response.output_item.added", output_index: index, item: opened },
    ...toInnerEvents(item, where),
    { type: "response.output_item.done", output_index: index, item },
  ];
}

function toInnerEvents(item: wire.Members, where: wire.Members): wire.Members[] {
  switch (item["type"]) {
    case "message":
      return (item["content"] as wire.Members[]).flatMap((part, at) =>
        toPartEvents(part, { ...where, content_index: at }),
      );
    case "reasoning":
      return (item["summary"] as wire.Members[]).flatMap((part, at) => {
        const place = { ...where, summary_index: at };
        const text = String(part["text"]);
        return [
          { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
          ...wire.wordsOf(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...place, delta })),
          { type: "response.reasoning_summary_text.done", ...place, text },
          { type: "response.reasoning_summary_part.done", ...place, part },
        ];
      });
    case "function_call": {
      const { arguments: written, name } = item;
      const kind = "response.function_call_arguments";
      return [
        ...wire.wordsOf(String(written)).map((delta) => ({ type: `${kind}.delta`, ...where, delta })),
        { type: `${kind}.done`, ...where, name, arguments: written },
      ];
    }
    case "custom_tool_call":
      return [
        { type: "response.custom_tool_call_input.delta", ...where, delta: item["input"] },
        { type: "response.custom_tool_call_input.done", ...where, input: item["input"] },
      ];
    case "web_search_call":
      return ["in_progress", "searching", "completed"].map((step) => ({
        type: `response.web_search_call.${step}`,
        ...where,
      }));
    default:
      return [];
  }
}

function toPartEvents(part: wire.Members, where: wire.Members): wire.Members[] {
  const isText = part["type"] === "output_text";
  const name = isText ? "text" : "refusal";
  const words = String(part[name]);
  const kind = isText ? "response.output_text" : "response.refusal";
  const more = isText ? { logprobs: [] } : {};
  return [
    { type: "response.content_part.added", ...where, part: { ...part, [name]: "" } },
    ...wire.wordsOf(words).map((delta) => ({ type: `${kind}.delta`, ...where, delta, ...more })),
    { type: `${kind}.done`, ...where, [name]: words, ...more },
    { type: "response.content_part.done", ...where, part },
  ];
}

function stream(events: readonly wire.Members[], model: string): Script {
  return wire.streamScript({
    contentType: "text/event-stream; charset=utf-8",
    events: events.map((event) => wire.eventBytes(event, String(event["type"]))),
    failure: wire.eventBytes({ type: "error", code: "server_error", message: "it broke", param: null }, "error"),
    trouble: wire.troubleOf(model),
  });
}
