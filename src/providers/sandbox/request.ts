// Reads the request. Members that the sandbox does not use are ignored; those that it uses must have the right shape.

import { z } from "zod";
import { SandboxRefusal } from "./refusal.ts";

const functionSchema = z.object({ name: z.string().min(1), parameters: z.record(z.string(), z.unknown()).nullish() });
const namedFunction = z.object({ name: z.string() });
const namedTool = z.object({ type: z.literal("function"), function: namedFunction });
const part = z.object({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });

const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: z.union([z.string(), z.array(part)]).nullish(),
  reasoning_content: z.string().nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z.array(z.object({ id: z.string(), function: namedFunction.optional() })).nullish(),
});

const tokenLimit = z.int().min(1).nullish();

const chatRequest = z.object({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(8).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  max_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  seed: z.int().nullish(),
  service_tier: z.string().nullish(),
  reasoning_effort: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  modalities: z.array(z.literal("text")).nullish(),
  tools: z.array(z.object({ type: z.literal("function"), function: functionSchema })).nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      namedTool,
      z.object({ type: z.literal("allowed_tools"), allowed_tools: z.object({ tools: z.array(namedTool) }) }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  functions: z.array(functionSchema).nullish(),
  function_call: z.union([z.enum(["none", "auto"]), namedFunction]).nullish(),
  response_format: z
    .union([
      z.object({ type: z.enum(["text", "json_object"]) }),
      z.object({
        type: z.literal("json_schema"),
        json_schema: z.object({ name: z.string(), schema: z.unknown().optional() }),
      }),
    ])
    .nullish(),
});

export type ChatRequest = z.infer<typeof chatRequest>;
export type Message = ChatRequest["messages"][number];

export function readRequest(body: Uint8Array): ChatRequest {
  const parsed = chatRequest.safeParse(parseJson(body));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const param = spellPath(issue?.path ?? []);
    throw new SandboxRefusal(400, `Invalid value for '${param || "body"}': ${issue?.message ?? "wrong shape"}.`, {
      ...(param !== "" && { param }),
      code: "invalid_value",
    });
  }

  const request = parsed.data;
  if (request.top_logprobs != null && request.logprobs !== true) {
    throw new SandboxRefusal(400, "'top_logprobs' needs 'logprobs' to be true.", { param: "top_logprobs" });
  }
  if (request.tool_choice != null && request.tool_choice !== "none" && !request.tools?.length) {
    throw new SandboxRefusal(400, "'tool_choice' needs 'tools'.", { param: "tool_choice" });
  }
  return request;
}

export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  const texts = (content ?? []).map((one) => one.text ?? one.refusal ?? "");
  return texts.filter((text) => text !== "").join(" ");
}

export function countParts({ content }: Message, type: string): number {
  if (!Array.isArray(content)) return 0;
  return content.filter((one) => one.type === type).length;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new SandboxRefusal(400, "The body is not valid JSON in UTF-8.", { code: "invalid_json" });
  }
}

function spellPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (spelled, key) => (typeof key === "number" ? `${spelled}[${key}]` : `${spelled}${spelled && "."}${String(key)}`),
    "",
  );
}
