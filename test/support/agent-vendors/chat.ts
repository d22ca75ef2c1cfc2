// Vendors of the chat format, each with the refusals that it is known for. Texts of refusals are quoted from the page or report
// that stands beside them; where it says "invented", the rule is documented and the text is ours.

import { answer, type Script } from "../answers.ts";
import type { VendorRequest } from "../vendor.ts";
import { type Members, objects, piecesOf, Refusal, seal, serveStrictly, stepAfter, streamOf, toCall } from "./plan.ts";

interface ChatVendor {
  readonly name: string;
  /** Throws a Refusal. */
  check(body: Members, messages: readonly Members[]): void;
  /** How reasoning is told. */
  readonly reasoning: "reasoning_content" | "reasoning_details" | "none";
  toCallId(name: string, count: number): string;
}

function createChatVendor(vendor: ChatVendor): (request: VendorRequest) => Script {
  return (request) =>
    serveStrictly(request, (body) => {
      if (!request.path.endsWith("/chat/completions")) return answer(404, openaiError("no such path"));
      const messages = objects(body["messages"]);
      checkPairs(messages);
      vendor.check(body, messages);
      return reply(vendor, body, messages);
    });
}

function reply(vendor: ChatVendor, body: Members, messages: readonly Members[]): Script {
  const turns = messages.filter((message) => objects(message["tool_calls"]).length > 0).length;
  const { thought, text, calls } = stepAfter(turns, vendor.name);
  const earlier = messages.flatMap((message) => objects(message["tool_calls"])).length;
  const toolCalls = calls.map(({ command }, index) => {
    const called = toCall(objects(body["tools"]), command);
    return { index, id: vendor.toCallId(called.name, earlier + index), type: "function", function: called };
  });
  const base = {
    id: `chatcmpl-${turns}`,
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: body["model"],
  };
  const chunk = (delta: Members, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const finish = toolCalls.length > 0 ? "tool_calls" : "stop";
  if (body["stream"] !== true) {
    const message = {
      role: "assistant",
      content: text === "" ? null : text,
      ...wholeReasoning(vendor, thought),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(({ index: _, ...call }) => call) }),
    };
    const choices = [{ index: 0, message, finish_reason: finish }];
    return answer(200, { ...base, object: "chat.completion", choices, usage });
  }
  return streamOf([
    chunk({ role: "assistant", content: "" }),
    ...reasoningDeltas(vendor, thought).map((delta) => chunk(delta)),
    ...piecesOf(text).map((content) => chunk({ content })),
    ...toolCalls.flatMap(({ function: { arguments: written, ...called }, ...call }) => [
      chunk({ tool_calls: [{ ...call, function: { ...called, arguments: "" } }] }),
      ...piecesOf(written).map((piece) =>
        chunk({ tool_calls: [{ index: call.index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, finish),
    { ...base, choices: [], usage },
    "[DONE]",
  ]);
}

const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

function detailOf(vendor: ChatVendor, text: string): Members {
  return { type: "reasoning.text", id: "reasoning-1", format: `${vendor.name}-v1`, index: 0, text };
}

function wholeReasoning(vendor: ChatVendor, thought: string): Members {
  switch (vendor.reasoning) {
    case "reasoning_content":
      return { reasoning_content: thought };
    case "reasoning_details":
      return { reasoning_details: [{ ...detailOf(vendor, thought), signature: seal(thought, vendor.name) }] };
    case "none":
      return {};
  }
}

function reasoningDeltas(vendor: ChatVendor, thought: string): Members[] {
  switch (vendor.reasoning) {
    case "reasoning_content":
      return piecesOf(thought).map((reasoning_content) => ({ content: null, reasoning_content }));
    case "reasoning_details":
      return [
        ...piecesOf(thought).map((text) => ({ reasoning_details: [detailOf(vendor, text)] })),
        { reasoning_details: [{ ...detailOf(vendor, ""), signature: seal(thought, vendor.name) }] },
      ];
    case "none":
      return [];
  }
}

export function openaiError(message: string, param: string | null = null, code: string | null = null): unknown {
  return { error: { message, type: "invalid_request_error", param, code } };
}

/** https://platform.openai.com/docs/guides/function-calling; the texts as reported in many issues, e.g. openai-python#1223. */
function checkPairs(messages: readonly Members[]): void {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"]);
      if (!open.includes(id))
        throw new Refusal(
          openaiError(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            `messages.[${index}].role`,
          ),
        );
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0)
      throw new Refusal(
        openaiError(
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
            `The following tool_call_ids did not have response messages: ${open.join(", ")}`,
          `messages.[${index}].role`,
        ),
      );
    open = objects(message["tool_calls"]).map((call) => String(call["id"]));
  }
}

/** Members that the vendor does not know. "Unrecognized request argument supplied" is OpenAI's text (community.openai.com). */
function refuseUnknown(body: Members, known: readonly string[]): void {
  for (const name of Object.keys(body))
    if (!known.includes(name)) throw new Refusal(openaiError(`Unrecognized request argument supplied: ${name}`));
}

/** Members of messages that the vendor does not know; the text is the one of a JSON Schema validator, as vendors report it. */
function refuseUnknownInMessages(messages: readonly Members[], known: readonly string[]): void {
  for (const [index, message] of messages.entries())
    for (const name of Object.keys(message))
      if (!known.includes(name))
        throw new Refusal(
          openaiError(
            `Additional properties are not allowed ('${name}' was unexpected) - 'messages.${index}'`,
            "messages",
          ),
        );
}

const common = [
  ...["model", "messages", "stream", "stream_options", "temperature", "top_p", "max_tokens", "max_completion_tokens"],
  ...["stop", "tools", "tool_choice", "parallel_tool_calls", "response_format", "user", "presence_penalty"],
  ...["frequency_penalty", "logprobs", "top_logprobs", "seed", "n"],
];
const ofMessages = ["role", "content", "name", "tool_calls", "tool_call_id"];
const isReasoning = /^(?:o\d|gpt-5|gpt-6)/;

/**
 * OpenAI. max_tokens: github.com/ServiceNow/AgentLab/issues/251; temperature and stop: github.com/griptape-ai/griptape/issues/1915;
 * tools with an effort, also when no effort is sent: github.com/BerriAI/litellm/pull/34569.
 */
export const openaiChat = createChatVendor({
  name: "openai",
  reasoning: "none",
  toCallId: (_, count) => `call_${"a".repeat(20)}${count}`,
  check(body, messages) {
    const model = String(body["model"]);
    const reasons = isReasoning.test(model);
    refuseUnknown(body, [
      ...common,
      ...["service_tier", "prompt_cache_key", "safety_identifier", "verbosity", "store", "metadata", "logit_bias"],
      ...(reasons ? ["reasoning_effort"] : []),
    ]);
    refuseUnknownInMessages(messages, [...ofMessages, "refusal"]);
    if (!reasons) return;
    const unsupported = (name: string, more = "") =>
      new Refusal(
        openaiError(
          `Unsupported parameter: '${name}' is not supported with this model.${more}`,
          name,
          "unsupported_parameter",
        ),
      );
    if ("max_tokens" in body) throw unsupported("max_tokens", " Use 'max_completion_tokens' instead.");
    if ("stop" in body) throw unsupported("stop");
    if ((body["temperature"] ?? 1) !== 1)
      throw new Refusal(
        openaiError(
          `Unsupported value: 'temperature' does not support ${body["temperature"]} with this model. Only the default (1) value is supported.`,
          "temperature",
          "unsupported_value",
        ),
      );
    const effort = body["reasoning_effort"];
    if (
      /^gpt-5(?:-|$)/.test(model) &&
      effort !== undefined &&
      !["minimal", "low", "medium", "high"].includes(String(effort))
    )
      throw new Refusal(
        openaiError(
          `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.`,
          "reasoning_effort",
          "unsupported_value",
        ),
      );
    if (/^gpt-(?:5\.[4-9]|6)/.test(model) && objects(body["tools"]).length > 0 && effort !== "none")
      throw new Refusal(
        openaiError(
          `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
          "reasoning_effort",
        ),
      );
  },
});

/**
 * DeepSeek. https://api-docs.deepseek.com/guides/thinking_mode: thinking is on by default. The refusal is quoted in
 * github.com/anomalyco/opencode/issues/24083. That unknown values of an effort are refused is invented.
 */
export const deepseekChat = createChatVendor({
  name: "deepseek",
  reasoning: "reasoning_content",
  toCallId: (_, count) => `call_0${count}_iD0U8IMtyIljI0ET7GLz1318`,
  check(body, messages) {
    const effort = body["reasoning_effort"];
    if (effort !== undefined && !["minimal", "low", "medium", "high", "xhigh", "max", "ultra"].includes(String(effort)))
      throw new Refusal(deepseekError(`Failed to deserialize the JSON body: unknown variant \`${effort}\``));
    if ((body["thinking"] as Members | undefined)?.["type"] === "disabled") return;
    for (const message of messages)
      if (objects(message["tool_calls"]).length > 0 && typeof message["reasoning_content"] !== "string")
        throw new Refusal(deepseekError("The reasoning_content in the thinking mode must be passed back to the API."));
  },
});

export function deepseekError(message: string): unknown {
  return { error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" } };
}

/**
 * Moonshot. https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model; that an empty string counts as missing:
 * github.com/earendil-works/pi/pull/4178; temperature and the switch: dev.to/aihubmix, "Kimi K3.1 Pro migration guide". The text about
 * the switch is invented.
 */
export const moonshotChat = createChatVendor({
  name: "moonshot",
  reasoning: "reasoning_content",
  toCallId: (name, count) => `functions.${name}:${count}`,
  check(body, messages) {
    const refuse = (message: string) => {
      throw new Refusal({ error: { message, type: "invalid_request_error" } });
    };
    const model = String(body["model"]);
    if ((body["temperature"] ?? 1) !== 1) refuse("invalid temperature: only 1 is allowed for this model");
    if (model.startsWith("kimi-k3") && "thinking" in body) refuse("thinking cannot be changed for this model");
    if (!model.startsWith("kimi-k3") && "reasoning_effort" in body) refuse("reasoning_effort is not supported");
    if ((body["thinking"] as Members | undefined)?.["type"] === "disabled") return;
    for (const [index, message] of messages.entries())
      if (objects(message["tool_calls"]).length > 0 && !message["reasoning_content"])
        refuse(`thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`);
  },
});

/**
 * Z.AI. https://docs.z.ai/api-reference/llm/chat-completion and https://docs.z.ai/api-reference/api-code (1210, 1214). The vendor
 * asks for the reasoning of earlier calls and is not known to refuse a request without: that refusal is invented, so that a loss
 * shows.
 */
export const zaiChat = createChatVendor({
  name: "zai",
  reasoning: "reasoning_content",
  toCallId: (_, count) => `call_-785812341${count}`,
  check(body, messages) {
    const refuse = (code: string, message: string) => {
      throw new Refusal({ error: { code, message } });
    };
    const thinking = body["thinking"] as Members | undefined;
    if (thinking !== undefined && !["enabled", "disabled"].includes(String(thinking["type"])))
      refuse("1210", "API call parameters are incorrect, please check the documentation.");
    if ("tool_choice" in body && body["tool_choice"] !== "auto") refuse("1210", "tool_choice only supports auto.");
    if (objects(body["stop"]).length > 1) refuse("1214", "stop: only one stop word is supported.");
    for (const [index, message] of messages.entries())
      if (objects(message["tool_calls"]).length > 0 && !message["reasoning_content"])
        refuse("1214", `messages[${index}]: the reasoning_content of the call is missing`);
  },
});

/** Vendors that hand out `reasoning_details`: every piece has to come back as one detail, unchanged. The refusal is invented. */
function checkDetails(vendor: string, messages: readonly Members[]): void {
  const turns = messages.filter((message) => objects(message["tool_calls"]).length > 0);
  for (const [turn, message] of turns.entries()) {
    const { thought } = stepAfter(turn, vendor);
    const wanted = [
      {
        type: "reasoning.text",
        id: "reasoning-1",
        format: `${vendor}-v1`,
        index: 0,
        text: thought,
        signature: seal(thought, vendor),
      },
    ];
    if (!Bun.deepEquals(message["reasoning_details"], wanted))
      throw new Refusal(openaiError(`the reasoning_details of call ${turn + 1} did not come back as they were given`));
  }
}

/** MiniMax. https://platform.minimax.io/docs/guides/text-m2-function-call */
export const minimaxChat = createChatVendor({
  name: "minimax",
  reasoning: "reasoning_details",
  toCallId: (_, count) => `call_function_${count}_1`,
  check(body, messages) {
    if (body["reasoning_split"] !== true) throw new Refusal(openaiError("this test asks for reasoning_split"));
    if ("reasoning_effort" in body) throw new Refusal(openaiError("reasoning_effort is not supported"));
    checkDetails("minimax", messages);
  },
});

/** OpenRouter. https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks */
export const openrouterChat = createChatVendor({
  name: "openrouter",
  reasoning: "reasoning_details",
  toCallId: (_, count) => `toolu_${"b".repeat(20)}${count}`,
  check: (_, messages) => checkDetails("openrouter", messages),
});

/**
 * Groq. The refusal of an effort: github.com/iamsrikanthnani/pluely/issues/242; of members of messages:
 * github.com/agentjido/req_llm/issues/772 (the text is invented).
 */
export const groqChat = createChatVendor({
  name: "groq",
  reasoning: "none",
  toCallId: (_, count) => `call_${count}xyz`,
  check(body, messages) {
    const model = String(body["model"]);
    const effort = body["reasoning_effort"];
    if (effort !== undefined && !model.includes("gpt-oss"))
      throw new Refusal({
        error: { message: "`reasoning_effort` is not supported with this model", type: "invalid_request_error" },
      });
    if (effort !== undefined && !["low", "medium", "high"].includes(String(effort)))
      throw new Refusal({
        error: {
          message: "`reasoning_effort` must be one of `low`, `medium`, or `high`",
          type: "invalid_request_error",
        },
      });
    for (const [index, message] of messages.entries())
      for (const name of ["reasoning_content", "reasoning_details", "extra_content"])
        if (name in message)
          throw new Refusal({
            error: {
              message: `'messages.${index}' : property '${name}' is unsupported`,
              type: "invalid_request_error",
            },
          });
  },
});
