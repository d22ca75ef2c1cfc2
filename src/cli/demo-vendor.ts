// The vendor of the demo: a server on the loopback address that returns the sandbox's answers under the names of real models. The configuration
// file of the demo makes its providers call this server, so that calls to them need no account and do not leave the machine.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pause } from "../lib/deadline.ts";
import { isObject, type JsonObject } from "../lib/lenient-json.ts";
import { answerSandboxRequest } from "../providers/sandbox/index.ts";

export interface DemoVendor extends Disposable {
  readonly baseUrl: string;
}

// Requests may have attachments.
const maxBodyBytes = 128 * 1_048_576;
// A real model takes time for each event of a stream. Without a delay, the whole answer would appear at once.
const eventDelayMs = 12;

export function startDemoVendor(): DemoVendor {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: maxBodyBytes,
    fetch: answerRequest,
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, [Symbol.dispose]: () => void server.stop(true) };
}

/** Returns the path of the configuration file. `vendor`: null to leave the providers out. */
export function writeDemoConfig(dataDir: string, vendor: DemoVendor | null): string {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, "switchyard.yaml");
  writeFileSync(file, `${settings}${vendor === null ? "" : formatProviders(vendor.baseUrl)}${aliases}`);
  return file;
}

async function answerRequest(request: Request): Promise<Response> {
  const { method, signal, url } = request;
  // A test of the provider's credentials requests its list of models.
  if (method === "GET") return Response.json({ object: "list", data: [] });
  // A body that is not a JSON object lacks the members that the sandbox requires, so the sandbox refuses it.
  const call = parseObject(await request.text()) ?? {};
  const { pathname } = new URL(url);
  const { sandboxModel, path } = chooseSandboxModel(pathname, call);
  // The gateway does not request the usage of a stream from vendors that always report it, such as Mistral. So the demo always reports it.
  const usage = call["stream"] === true ? { stream_options: { include_usage: true } } : {};
  const body = new TextEncoder().encode(JSON.stringify({ ...call, ...usage, model: sandboxModel }));
  const answer = await answerSandboxRequest(new URL(path, url).href, { method, body, signal });
  const renameModel = (text: string) =>
    text.replace(`"model":"${sandboxModel}"`, () => `"model":${JSON.stringify(call["model"] ?? sandboxModel)}`);
  const { status, headers } = answer;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const content = isStream ? renameAndDelayEvents(answer, renameModel, signal) : renameModel(await answer.text());
  return new Response(content, { status, headers });
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The sandbox's model and path. With `dialect: openai`, a provider keeps the paths of its vendor: chat requests for Anthropic go to `/messages`. */
function chooseSandboxModel(pathname: string, { reasoning_effort: effort }: JsonObject) {
  if (/embed/i.test(pathname)) return { sandboxModel: "embedding", path: "/v1/embeddings" };
  const wantsReasoning = typeof effort === "string" && effort !== "none" && effort !== "minimal";
  const isChat = /\/(?:chat\/completions|messages)$/.test(pathname);
  // The sandbox answers 404 to a path that it does not serve.
  return { sandboxModel: wantsReasoning ? "reasoning" : "chat", path: isChat ? "/v1/chat/completions" : pathname };
}

async function* renameAndDelayEvents(answer: Response, renameModel: (text: string) => string, signal: AbortSignal) {
  // Each chunk is one whole event, so the name of the model is never split.
  for await (const chunk of answer.body ?? []) {
    yield new TextEncoder().encode(renameModel(new TextDecoder().decode(chunk)));
    await pause(eventDelayMs, signal);
  }
}

const settings = `# The configuration of \`switchyard demo\`, which overwrites this file whenever it starts.
capture_content: true
`;

// The vendor of the demo implements the OpenAI dialect only, without the Responses API.
function formatProviders(baseUrl: string): string {
  return `providers:
  openai:
    responses: translated
    deployments:
      - { name: primary, base_url: "${baseUrl}", api_key: sk-demo-primary, weight: 3 }
      - { name: europe, base_url: "${baseUrl}", api_key: sk-demo-europe, weight: 1 }
  anthropic: { dialect: openai, base_url: "${baseUrl}", api_key: sk-demo-anthropic }
  google: { dialect: openai, base_url: "${baseUrl}", api_key: sk-demo-google }
  mistral: { base_url: "${baseUrl}", api_key: sk-demo-mistral }
  in-house: { dialect: openai, base_url: "${baseUrl}", api_key: sk-demo-in-house, models: [small, large] }
`;
}

const aliases = `aliases:
  assistant: [openai/gpt-5-mini, anthropic/claude-sonnet-4-5, google/gemini-2.5-flash]
  careful: [anthropic/claude-opus-4-5, openai/gpt-5]
  fast:
    - { model: openai/gpt-5-nano, weight: 6 }
    - { model: google/gemini-2.5-flash-lite, weight: 3 }
    - { model: mistral/mistral-small-latest, weight: 1 }
  reviewer: anthropic/claude-sonnet-4-5
`;
