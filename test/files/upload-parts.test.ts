// An upload may be named by its id in chat, responses and messages requests; the provider gets its bytes in its own format. The wire formats are the
// documented ones of the vendors; what the local vendor answers is invented.

import { expect, test } from "bun:test";
import { claudeAnswer } from "../support/anthropic.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  config: {
    providers: {
      claude: { dialect: "anthropic", base_url: `${origin}/claude`, api_key: "sk-claude" },
      gem: { dialect: "gemini", base_url: `${origin}/gem`, api_key: "sk-gem" },
      rock: { dialect: "bedrock", base_url: `${origin}/rock`, api_key: "sk-rock" },
    },
  },
});
vendor.on("claude-opus-5", () => claudeAnswer("well", false));
const key = await gateway.createKey({ name: "one" });
const otherKey = await gateway.createKey({ name: "another" });

const pdf = Buffer.from("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n");
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const pdfUrl = `data:application/pdf;base64,${pdf.toString("base64")}`;
const pngUrl = `data:image/png;base64,${png.toString("base64")}`;

async function upload(bytes: Buffer, name: string): Promise<string> {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(bytes)], name));
  const response = await fetch(`${gateway.url}/v3/upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { file_id: string }).file_id;
}

async function send(path: string, body: unknown, by = key): Promise<Response> {
  return await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** What the vendor was sent, whatever the gateway made of its answer. */
async function received(path: string, body: unknown): Promise<string> {
  vendor.clear();
  const response = await send(path, body);
  const text = await response.text();
  if (vendor.requests.length === 0) throw new Error(`the vendor was not asked: ${response.status} ${text}`);
  return vendor.last().body.toString();
}

const chat = (model: string, id: string) => ({
  model,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Read this." },
        { type: "file", file: { file_id: id } },
      ],
    },
  ],
});

test("a chat request reaches each provider with the bytes of the upload in its own format", async () => {
  const id = await upload(pdf, "paper.pdf");
  const toOpenAi = JSON.parse(await received("/v3/chat/completions", chat("mock/echo", id)));
  expect(toOpenAi.messages[0].content[1]).toEqual({
    type: "file",
    file: { filename: "paper.pdf", file_data: pdfUrl },
  });
  const toClaude = JSON.parse(await received("/v3/chat/completions", chat("claude/claude-opus-5", id)));
  expect(toClaude.messages[0].content[1]).toMatchObject({
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: pdf.toString("base64") },
  });
  const toGemini = await received("/v3/chat/completions", chat("gem/gemini-3-pro", id));
  expect(toGemini).toContain(`"inlineData":{"mimeType":"application/pdf","data":"${pdf.toString("base64")}"}`);
  const toBedrock = await received("/v3/chat/completions", chat("rock/amazon.nova-pro-v1:0", id));
  expect(toBedrock).toContain(pdf.toString("base64"));
  expect(toBedrock).toContain('"format":"pdf"');
});

test("an upload that is an image is sent as an image", async () => {
  const id = await upload(png, "dot.png");
  const toOpenAi = JSON.parse(await received("/v3/chat/completions", chat("mock/echo", id)));
  expect(toOpenAi.messages[0].content[1]).toEqual({ type: "image_url", image_url: { url: pngUrl } });
});

test("a responses request reaches native and translated providers with the bytes", async () => {
  const [file, image] = [await upload(pdf, "paper.pdf"), await upload(png, "dot.png")];
  const request = (model: string) => ({
    model,
    input: [
      {
        role: "user",
        content: [
          { type: "input_file", file_id: file },
          { type: "input_image", file_id: image, detail: "low" },
        ],
      },
    ],
    temperature: 0.5,
  });
  const native = JSON.parse(await received("/v3/responses", request("mock/echo")));
  expect(native.input[0].content).toEqual([
    { type: "input_file", filename: "paper.pdf", file_data: pdfUrl },
    { type: "input_image", detail: "low", image_url: pngUrl },
  ]);
  expect(native.temperature).toBe(0.5);
  const translated = await received("/v3/responses", request("claude/claude-opus-5"));
  expect(translated).toContain(pdf.toString("base64"));
  expect(translated).toContain(png.toString("base64"));
});

test("a messages request reaches every provider with the bytes", async () => {
  const id = await upload(pdf, "paper.pdf");
  const request = (model: string) => ({
    model,
    max_tokens: 10,
    messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
  });
  const passed = JSON.parse(await received("/v3/v1/messages", request("claude/claude-opus-5")));
  expect(passed.messages[0].content[0].source).toEqual({
    type: "base64",
    media_type: "application/pdf",
    data: pdf.toString("base64"),
  });
  expect(await received("/v3/v1/messages", request("mock/echo"))).toContain(pdf.toString("base64"));
});

test("an unknown or foreign upload is a 404, and the provider is not asked", async () => {
  const id = await upload(pdf, "paper.pdf");
  vendor.clear();
  const refused = [
    await send("/v3/chat/completions", chat("mock/echo", crypto.randomUUID())),
    await send("/v3/chat/completions", chat("mock/echo", id), otherKey),
    await send("/v3/responses", {
      model: "mock/echo",
      input: [{ role: "user", content: [{ type: "input_file", file_id: crypto.randomUUID() }] }],
    }),
  ];
  for (const response of refused) {
    const { error } = (await response.json()) as { error: { code: string } };
    expect([response.status, error.code]).toEqual([404, "file_not_found"]);
  }
  expect(vendor.requests).toHaveLength(0);
});

test("an id that neither the gateway nor the provider knows is a 404", async () => {
  vendor.clear();
  const models = ["claude", "gem", "rock"].map((name) => `${name}/echo`);
  for (const model of models) {
    const refused = [
      await send("/v3/chat/completions", chat(model, "file-abc123")),
      await send("/v3/responses", {
        model,
        input: [{ role: "user", content: [{ type: "input_file", file_id: "file-abc123" }] }],
      }),
      await send("/v3/responses", {
        model,
        input: [{ role: "user", content: [{ type: "input_image", file_id: "file-abc123" }] }],
      }),
    ];
    for (const response of refused) {
      const { error } = (await response.json()) as { error: { code: string } };
      expect([model, response.status, error.code]).toEqual([model, 404, "file_not_found"]);
    }
  }
  expect(vendor.requests).toHaveLength(0);
});

test("an image of a responses request reaches translated providers by the provider's own file id", async () => {
  const uri = "https://generativelanguage.googleapis.com/v1beta/files/abc123";
  const sent = await received("/v3/responses", {
    model: "gem/gemini-3-pro",
    input: [{ role: "user", content: [{ type: "input_image", file_id: uri }] }],
  });
  // The file's own type applies: the request knows none.
  expect(JSON.parse(sent).contents[0].parts).toEqual([{ fileData: { fileUri: uri } }]);
});

test("an upload in the result of a tool reaches translated providers as an image", async () => {
  const id = await upload(png, "dot.png");
  const sent = await received("/v3/responses", {
    model: "claude/claude-opus-5",
    input: [
      { role: "user", content: "Take a screenshot." },
      { type: "function_call", call_id: "call_1", name: "screenshot", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_image", file_id: id }] },
    ],
    tools: [{ type: "function", name: "screenshot", parameters: { type: "object", properties: {} } }],
  });
  expect(sent).toContain(png.toString("base64"));
});

test("an id of the provider's own passes untouched, and so does an id in other places", async () => {
  const own = JSON.parse(await received("/v3/chat/completions", chat("mock/echo", "file-abc123")));
  expect(own.messages[0].content[1]).toEqual({ type: "file", file: { file_id: "file-abc123" } });
  const id = crypto.randomUUID();
  const body = { ...chat("mock/echo", "file-abc123"), metadata: { file_id: id } };
  expect(JSON.parse(await received("/v3/chat/completions", body)).metadata).toEqual({ file_id: id });
});
