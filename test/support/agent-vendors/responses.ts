// Vendors that have the Responses API, without state: OpenAI, which hands out reasoning encrypted, and DeepSeek, which hands it out
// as text. https://platform.openai.com/docs/api-reference/responses, https://api-docs.deepseek.com/guides/thinking_mode

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { deepseekError, openaiError } from "./chat.ts";
import { type Members, objects, piecesOf, Refusal, seal, serveStrictly, stepAfter, streamOf, toCall } from "./plan.ts";

interface ResponsesVendor {
  readonly name: string;
  check(body: Members, items: readonly Members[]): void;
  toReasoning(
    thought: string,
    step: number,
  ): { readonly added: Members; readonly done: Members; readonly deltas: readonly Members[] };
}

function createResponsesVendor(vendor: ResponsesVendor): (request: VendorRequest) => Script {
  return (request) =>
    serveStrictly(request, (body) => {
      const items = objects(body["input"]);
      checkPairs(items);
      vendor.check(body, items);
      return reply(vendor, body, items);
    });
}

function reply(vendor: ResponsesVendor, body: Members, items: readonly Members[]): Script {
  const turns = turnsOf(items).length;
  const { thought, text, calls } = stepAfter(turns, vendor.name);
  const id = `resp_${vendor.name}_${turns}`;
  const response = (status: string, output: readonly Members[]) => ({
    id,
    object: "response",
    created_at: 1_790_000_000,
    status,
    model: body["model"],
    output,
    error: null,
    incomplete_details: null,
    usage:
      status === "completed"
        ? {
            input_tokens: 100,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: 20,
            output_tokens_details: { reasoning_tokens: 5 },
            total_tokens: 120,
          }
        : null,
  });
  const reasoning = vendor.toReasoning(thought, turns);
  const output: Members[] = [reasoning.done];
  const events: Members[] = [
    { type: "response.output_item.added", output_index: 0, item: reasoning.added },
    ...reasoning.deltas.map((delta) => ({ output_index: 0, item_id: reasoning.added["id"], ...delta })),
    { type: "response.output_item.done", output_index: 0, item: reasoning.done },
  ];
  if (text !== "") {
    const place = { output_index: output.length, item_id: `msg_${turns}` };
    const item = { id: `msg_${turns}`, type: "message", role: "assistant" };
    const part = (written: string) => ({ type: "output_text", text: written, annotations: [], logprobs: [] });
    events.push(
      { type: "response.output_item.added", ...place, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...place, content_index: 0, part: part("") },
      ...piecesOf(text).map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        content_index: 0,
        delta,
        logprobs: [],
      })),
      { type: "response.output_text.done", ...place, content_index: 0, text, logprobs: [] },
      { type: "response.content_part.done", ...place, content_index: 0, part: part(text) },
    );
    output.push({ ...item, status: "completed", content: [part(text)] });
    events.push({ type: "response.output_item.done", output_index: place.output_index, item: output.at(-1) });
  }
  for (const [index, { command }] of calls.entries()) {
    const called = toCall(objects(body["tools"]), command);
    const item = { id: `fc_${turns}_${index}`, type: "function_call", call_id: `call_${turns}_${index}`, ...called };
    const place = { output_index: output.length, item_id: item.id };
    events.push(
      { type: "response.output_item.added", ...place, item: { ...item, arguments: "", status: "in_progress" } },
      ...piecesOf(called.arguments).map((delta) => ({
        type: "response.function_call_arguments.delta",
        ...place,
        delta,
      })),
      { type: "response.function_call_arguments.done", ...place, arguments: called.arguments },
    );
    output.push({ ...item, status: "completed" });
    events.push({ type: "response.output_item.done", output_index: place.output_index, item: output.at(-1) });
  }
  if (body["stream"] !== true) return answer(200, response("completed", output));
  const whole = [
    { type: "response.created", response: response("in_progress", []) },
    ...events,
    { type: "response.completed", response: response("completed", output) },
  ];
  return streamOf(
    whole.map((event, sequence_number) => ({ ...event, sequence_number })),
    true,
  );
}

/** Calls of one turn, in order. */
function turnsOf(items: readonly Members[]): Members[][] {
  const turns: Members[][] = [];
  let isOpen = false;
  for (const item of items) {
    if (item["type"] === "function_call") {
      if (!isOpen) turns.push([]);
      turns.at(-1)?.push(item);
      isOpen = true;
    } else if (item["type"] === "function_call_output") isOpen = false;
  }
  return turns;
}

/** The texts as reported in github.com/openai/openai-agents-python/issues and github.com/openai/codex/issues. */
function checkPairs(items: readonly Members[]): void {
  const called = items.flatMap((item) => (item["type"] === "function_call" ? [String(item["call_id"])] : []));
  const told = items.flatMap((item) => (item["type"] === "function_call_output" ? [String(item["call_id"])] : []));
  for (const id of told)
    if (!called.includes(id))
      throw new Refusal(openaiError(`No tool call found for function call output with call_id ${id}.`, "input"));
  for (const id of called)
    if (!told.includes(id)) throw new Refusal(openaiError(`No tool output found for function call ${id}.`, "input"));
}

const known = [
  ...["model", "input", "instructions", "store", "stream", "max_output_tokens", "tools", "tool_choice", "text"],
  ...["parallel_tool_calls", "reasoning", "include", "service_tier", "prompt_cache_key", "metadata", "user"],
  ...["safety_identifier", "client_metadata", "temperature", "top_p", "truncation", "previous_response_id"],
];

/** https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items; the texts as reported in github.com/openai/codex/issues. */
export const openaiResponses = createResponsesVendor({
  name: "openai",
  check(body, items) {
    for (const name of Object.keys(body))
      if (!known.includes(name))
        throw new Refusal(openaiError(`Unknown parameter: '${name}'.`, name, "unknown_parameter"));
    for (const name of ["temperature", "top_p"])
      if (name in body)
        throw new Refusal(openaiError(`Unsupported parameter: '${name}' is not supported with this model.`, name));
    // Quoted in github.com/pydantic/pydantic-ai/issues/2865, of models that do not reason.
    if (/^gpt-4/.test(String(body["model"])) && "include" in body)
      throw new Refusal(openaiError("Encrypted content is not supported with this model.", "include"));
    if (/^gpt-4/.test(String(body["model"])) && "reasoning" in body)
      throw new Refusal(
        openaiError("Unsupported parameter: 'reasoning.effort' is not supported with this model.", "reasoning.effort"),
      );
    const limit = body["max_output_tokens"];
    if (typeof limit === "number" && limit < 16)
      throw new Refusal(
        openaiError(
          `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`,
          "max_output_tokens",
          "integer_below_min_value",
        ),
      );
    for (const [index, tool] of objects(body["tools"]).entries())
      if (tool["type"] === "function" && typeof tool["name"] !== "string")
        throw new Refusal(
          openaiError(
            `Missing required parameter: 'tools[${index}].name'.`,
            `tools[${index}].name`,
            "missing_required_parameter",
          ),
        );
    // A request without its reasoning is accepted by the vendor. Here it is refused, so that a loss shows: this rule is invented.
    const sealed = items.filter((item) => item["type"] === "reasoning");
    const turns = turnsOf(items).length;
    for (const [turn, item] of sealed.entries())
      if (item["encrypted_content"] !== seal(stepAfter(turn, "openai").thought, "openai"))
        throw new Refusal(
          openaiError(
            `The encrypted content for item ${item["id"] ?? turn} could not be verified.`,
            null,
            "invalid_encrypted_content",
          ),
        );
    if (sealed.length < turns && !/^gpt-4/.test(String(body["model"])))
      throw new Refusal(openaiError("the reasoning of an earlier call is missing", "input"));
  },
  toReasoning(thought, step) {
    const item = { id: `rs_openai_${step}`, type: "reasoning", summary: [] };
    return { added: item, done: { ...item, encrypted_content: seal(thought, "openai") }, deltas: [] };
  },
});

/** The reasoning is text in `content`, as recorded traffic shows; the rule of the vendor's chat endpoint is taken to hold here too. */
export const deepseekResponses = createResponsesVendor({
  name: "deepseek",
  check(_, items) {
    const told = items.flatMap((item) =>
      item["type"] === "reasoning"
        ? [
            objects(item["content"])
              .map((part) => String(part["text"]))
              .join(""),
          ]
        : [],
    );
    for (const turn of turnsOf(items).keys())
      if (told[turn] !== stepAfter(turn, "deepseek").thought)
        throw new Refusal(deepseekError("The reasoning_content in the thinking mode must be passed back to the API."));
  },
  toReasoning(thought, step) {
    const item = { id: `0fa6f3a8-5d25-46e8-9d03-00000000000${step}`, type: "reasoning", summary: [] };
    const part = (text: string) => ({ type: "reasoning_text", text });
    return {
      added: { ...item, status: "in_progress", content: [] },
      done: { ...item, status: "completed", content: [part(thought)] },
      deltas: [
        { type: "response.content_part.added", content_index: 0, part: part("") },
        ...piecesOf(thought).map((delta) => ({ type: "response.reasoning_text.delta", content_index: 0, delta })),
        { type: "response.reasoning_text.done", content_index: 0, text: thought },
        { type: "response.content_part.done", content_index: 0, part: part(thought) },
      ],
    };
  },
});
