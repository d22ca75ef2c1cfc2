// Commands that work as pasted once the variables of the quick start are set. All of them are answered by the sandbox.

import { lookUp } from "../../lib/look-up.ts";
import { toOpenApiPath } from "./build-openapi.ts";
import type { Operation } from "./operation.ts";

interface Example {
  /** Values of path parameters; they may name shell variables. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
  /** Parts of a form, as curl writes them. */
  readonly form?: readonly string[];
  /** Where an answer goes that is not for a terminal. */
  readonly output?: string;
}

const baseUrl = "http://127.0.0.1:8080";

const hello = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };
const responseId = { response_id: "$RESPONSE_ID" };
const jobId = { job_id: "$JOB_ID" };
const keyId = { key_id: "$KEY_ID" };

/** By the id of the operation; one that is not here has neither body nor parameters. */
export const examples: Readonly<Record<string, Example>> = {
  createChatCompletion: { body: hello },
  createLlmChatCompletion: { body: hello },
  createMessage: { body: { model: "sandbox/echo", max_tokens: 100, messages: hello.messages } },
  countMessageTokens: { body: hello },
  createResponse: { body: { model: "sandbox/echo", input: "Hello" } },
  countResponseInputTokens: { body: { model: "sandbox/echo", input: "Hello" } },
  compactResponse: { body: { model: "openai/gpt-6-luna", input: "Hello" } },
  retrieveResponse: { path: responseId },
  deleteResponse: { path: responseId },
  cancelResponse: { path: responseId },
  listResponseInputItems: { path: responseId },
  runTask: { body: { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } } },
  submitJob: { body: { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } } },
  retrieveJob: { path: jobId },
  deleteJob: { path: jobId },
  cancelJob: { path: jobId },
  cancelAnyJob: { path: jobId },
  listDeliveries: { path: jobId },
  redeliver: { path: jobId },
  createSpeech: { body: { model: "local", voice: "slt", input: "Good morning." }, output: "good-morning.mp3" },
  createTranscription: { form: ["file=@recording.wav", "model=sandbox"] },
  createImages: { body: { model: "sandbox", prompt: "A signal box at dusk", n: 1, size: "1024x1024" } },
  createModerations: { body: { model: "local", input: ["Good morning.", "You are a bastard."] } },
  uploadFile: { form: ["file=@document.pdf"] },
  deleteFiles: { body: { file_ids: ["00000000-0000-4000-8000-000000000000"] } },
  retrieveFile: { path: { file_id: "$FILE_ID" } },
  deleteFile: { path: { file_id: "$FILE_ID" } },
  retrieveResource: { path: { resource_id: "$RESOURCE_ID" }, query: "expires=$EXPIRES&signature=$SIGNATURE" },
  createEmbeddings: { body: { model: "sandbox/embedding", input: ["Hello", "World"], encoding_format: "float" } },
  listModels: { query: "provider=sandbox" },
  retrieveModel: { path: { id: "sandbox/echo" } },
  listFeatures: { query: "include=unconfigured" },
  retrieveFeature: { path: { feature: "text" }, query: "include=unconfigured" },
  retrieveSubfeature: { path: { feature: "text", subfeature: "moderation" } },
  createKey: {
    body: {
      name: "website",
      scopes: ["chat"],
      allowed_models: ["sandbox/*"],
      rate_limit: { requests_per_minute: 600 },
    },
  },
  retrieveKey: { path: keyId },
  updateKey: { path: keyId, body: { rate_limit: { requests_per_minute: 60 } } },
  revokeKey: { path: keyId },
  rotateKey: { path: keyId, body: { grace_seconds: 3600 } },
  listKeys: { query: "kind=inference&limit=20" },
};

export function toCurl(operation: Operation): string {
  const example = lookUp(examples, operation.id) ?? {};
  const path = toOpenApiPath(operation.path).replace(/\{(\w+)\}/g, (_, name: string) => example.path?.[name] ?? name);
  const query = example.query === undefined ? "" : `?${example.query}`;
  const impliedMethod = example.body === undefined && example.form === undefined ? "GET" : "POST";
  const method = operation.method === impliedMethod ? "" : ` -X ${operation.method}`;
  const lines = [`curl -sS${method} "$SWITCHYARD_URL${path}${query}"`];
  if (operation.key === "inference") lines.push('-H "Authorization: Bearer $SWITCHYARD_KEY"');
  if (operation.key === "management") lines.push('-H "Authorization: Bearer $SWITCHYARD_MANAGEMENT_KEY"');
  for (const part of example.form ?? []) lines.push(`-F "${part}"`);
  if (example.body !== undefined) {
    lines.push('-H "Content-Type: application/json"', `-d '${toReadableJson(example.body)}'`);
  }
  if (example.output !== undefined) lines.push(`-o ${example.output}`);
  return lines.join(" \\\n  ");
}

export const setUp = `export SWITCHYARD_URL=${baseUrl}
export SWITCHYARD_KEY=sk-sy-...               # an inference key
export SWITCHYARD_MANAGEMENT_KEY=mgmt-sy-...  # a management key
export KEY_ID=... JOB_ID=...                  # ids, from the answers that tell them
export RESPONSE_ID=... FILE_ID=...`;

export const helloCommand = toChatCommand("curl -sS", hello);

function toChatCommand(curl: string, body: object): string {
  return `${curl} "$SWITCHYARD_URL/v3/chat/completions" \\
  -H "Authorization: Bearer $SWITCHYARD_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${toReadableJson(body)}'`;
}

/** The members of the body on lines of their own, what is inside them on one line. */
function toReadableJson(body: object): string {
  const members = Object.entries(body).map(([name, value]) => {
    const inline = JSON.stringify(value, null, 1)
      .replace(/\n */g, " ")
      .replace(/(?<=\[) | (?=\])/g, "");
    return `    ${JSON.stringify(name)}: ${inline}`;
  });
  return `{\n${members.join(",\n")}\n  }`;
}

export const firstAnswer = `{
  "id": "chatcmpl-...",
  "object": "chat.completion",
  "created": 1767225600,
  "model": "echo",
  "choices": [
    {
      "index": 0,
      "message": { "role": "assistant", "content": "You said: Hello" },
      "finish_reason": "stop"
    }
  ],
  "usage": { "prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4 },
  "provider": "sandbox",
  "cost": 0,
  "provider_time": 0.001
}`;

export const javascriptClient = `import { env } from "node:process";
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: \`\${env.SWITCHYARD_URL}/v3\`,
  apiKey: env.SWITCHYARD_KEY,
});

const completion = await client.chat.completions.create({
  model: "sandbox/echo",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(completion.choices[0].message.content);`;

export const pythonClient = `import os
from openai import OpenAI

client = OpenAI(
    base_url=os.environ["SWITCHYARD_URL"] + "/v3",
    api_key=os.environ["SWITCHYARD_KEY"],
)

completion = client.chat.completions.create(
    model="sandbox/echo",
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`;

export const streamingCommand = toChatCommand("curl -sSN", {
  ...hello,
  stream: true,
  stream_options: { include_usage: true },
});

export const streamingAnswer = `data: {"id":"chatcmpl-...", ... "delta":{"role":"assistant","content":""} ... }

data: {"id":"chatcmpl-...", ... "delta":{"content":"You"} ... }

data: {"id":"chatcmpl-...", ... "delta":{},"finish_reason":"stop" ... }

data: {"id":"chatcmpl-...", ... "choices":[],"usage":{ ... },"cost":0}

data: [DONE]`;

export const streamingJavascript = `const stream = await client.chat.completions.create({
  model: "sandbox/echo",
  messages: [{ role: "user", content: "Hello" }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");`;

export const streamingPython = `stream = client.chat.completions.create(
    model="sandbox/echo",
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`;

export const plainError = `{
  "error": {
    "message": "This API key is not known.",
    "type": "authentication_error",
    "param": null,
    "code": "invalid_api_key"
  },
  "detail": "This API key is not known."
}`;

export const validationError = `{
  "error": {
    "message": "temperature: Input should be less than or equal to 2",
    "type": "invalid_request_error",
    "param": "temperature",
    "code": "less_than_equal"
  },
  "detail": [
    {
      "loc": ["body", "temperature"],
      "msg": "Input should be less than or equal to 2",
      "type": "less_than_equal"
    }
  ]
}`;
