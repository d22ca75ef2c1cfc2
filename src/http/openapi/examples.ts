// The commands and programs of the API reference. They work as pasted once the variables of the quick start are set, and the sandbox
// answers them.

import type { Route } from "../route.ts";
import { toOpenApiPath } from "./build-openapi.ts";

const baseUrl = "http://127.0.0.1:8080";

const hello = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };

export function toCurl({ method, path, key, example = {} }: Route): string {
  const filled = toOpenApiPath(path).replace(/\{(\w+)\}/g, (_, name: string) => example.path?.[name] ?? name);
  const query = example.query === undefined ? "" : `?${example.query}`;
  const impliedMethod = example.body === undefined && example.form === undefined ? "GET" : "POST";
  const option = method === impliedMethod ? "" : ` -X ${method}`;
  const lines = [`curl -sS${option} "$SWITCHYARD_URL${filled}${query}"`];
  if (key === "inference") lines.push('-H "Authorization: Bearer $SWITCHYARD_KEY"');
  if (key === "management") lines.push('-H "Authorization: Bearer $SWITCHYARD_MANAGEMENT_KEY"');
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
export KEY_ID=... JOB_ID=...                  # ids, from earlier answers
export RESPONSE_ID=... FILE_ID=... REQUEST_ID=...`;

export const helloCommand = toChatCommand("curl -sS", hello);

function toChatCommand(curl: string, body: object): string {
  return `${curl} "$SWITCHYARD_URL/v3/chat/completions" \\
  -H "Authorization: Bearer $SWITCHYARD_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${toReadableJson(body)}'`;
}

/** Each member of the body on a line of its own. */
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
