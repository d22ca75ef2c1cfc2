// Details of translation that only show at the vendor: what is handed on unread, what ends a stream, what is counted there, and what is
// told to the caller when it could not be handed on. The wire formats are documented; the contents are invented.

import { beforeEach, describe, expect, test } from "bun:test";
import { answer, completion, httpChunk, lastHttpChunk, streamHead } from "../support/answers.ts";
import { claudeMessage } from "../support/anthropic.ts";
import { ask, readError } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

type Members = Record<string, unknown>;

const vendor = await startVendor();
const at = { base_url: vendor.url.replace(/\/v1$/, ""), api_key: "k" };
const gateway = await sharedGateway({ vendor, config: { providers: { anthropic: at, gemini: at, cohere: at } } });
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

const hello = { role: "user", content: "hi" };

function sentBody(): Members {
  return JSON.parse(vendor.last().body.toString());
}

describe("an address that only Gemini can read is handed on, and never fetched", () => {
  const addresses = [
    "https://www.youtube.com/watch?v=abc",
    "https://youtu.be/abc",
    "https://generativelanguage.googleapis.com/v1beta/files/abc123",
    "gs://bucket/film.mp4",
  ];
  const said = { candidates: [{ content: { parts: [{ text: "Seen." }] }, finishReason: "STOP" }] };
  const model = "gemini/gemini-3.8-flash";

  test.each(addresses)("%s", async (address) => {
    const file = { type: "file", file: { file_data: address } };
    const asked: [string, Members][] = [
      ["/v3/chat/completions", { model, messages: [{ role: "user", content: [file] }] }],
      ["/v3/responses", { model, input: [{ role: "user", content: [{ type: "input_file", file_url: address }] }] }],
    ];
    // The other formats take https addresses only.
    for (const [path, body] of address.startsWith("gs:") ? asked.slice(0, 1) : asked) {
      vendor.next(answer(200, said));
      const response = await ask(gateway.url, key, body, { path });
      expect({ path, status: response.status, said: response.ok || (await response.text()) }).toEqual({
        path,
        status: 200,
        said: true,
      });
      const [content] = sentBody()["contents"] as { parts: Members[] }[];
      expect(content?.parts[0]).toMatchObject({ fileData: { fileUri: address } });
    }
  });
});

describe("the mark that ends a stream", () => {
  const chunk = { ...completion(""), object: "chat.completion.chunk" };
  const choice = (delta: Members, finish_reason: string | null) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const plain = [choice({ role: "assistant", content: "Hi" }, null), choice({}, "stop")];
  // https://docs.cohere.com/reference/chat-stream
  const cohere = [
    { type: "message-start", id: "1", delta: { message: { role: "assistant" } } },
    { type: "content-delta", index: 0, delta: { message: { content: { text: "Hi" } } } },
    {
      type: "message-end",
      delta: { finish_reason: "COMPLETE", usage: { tokens: { input_tokens: 1, output_tokens: 1 } } },
    },
  ];

  test.each([
    "data: [DONE]\n\n",
    'data: "[DONE]"\n\n',
    "data: [DONE]\n",
    "data: [DONE]",
    'data: "[DONE]"',
    "data:[DONE]\r\n",
  ])("%j", async (end) => {
    for (const [model, events] of [
      ["mock/echo", plain],
      ["cohere/command-a-03-2025", cohere],
    ] as const) {
      const pieces = events.map((event) => httpChunk(`data: ${JSON.stringify(event)}\n\n`));
      vendor.next([streamHead(), ...pieces, httpChunk(end), lastHttpChunk]);
      const response = await ask(gateway.url, key, { model, messages: [hello], stream: true });
      const text = await response.text();
      expect({ model, status: response.status, text }).toMatchObject({ model, status: 200 });
      expect(text).toContain('"content":"Hi"');
      expect(text).not.toContain('"error"');
      expect(text).toEndWith("data: [DONE]\n\n");
    }
  });

  test("half a mark is no end", async () => {
    const pieces = plain.map((event) => httpChunk(`data: ${JSON.stringify(event)}\n\n`));
    vendor.next([streamHead(), ...pieces, httpChunk("data: [DON"), lastHttpChunk]);
    const text = await (await ask(gateway.url, key, { model: "mock/echo", messages: [hello], stream: true })).text();
    expect(text).toContain("provider_disconnected");
    expect(text).not.toContain("[DONE]");
  });
});

describe("a parameter that the provider does not support has the caller's name", () => {
  const claude = "anthropic/claude-sonnet-4-5";
  const search = { type: "web_search" };
  const archive = { type: "input_file", filename: "a.zip", file_data: "data:application/zip;base64,AAAA" };
  const content = [{ type: "text", text: "Hi" }];
  // https://docs.cohere.com/reference/chat
  const cohereMessage = { id: "c-1", finish_reason: "COMPLETE", message: { role: "assistant", content } };

  test.each([
    [{ model: claude, top_logprobs: 2 }, ["body", "top_logprobs"]],
    [{ model: claude, include: ["message.output_text.logprobs"] }, ["body", "include"]],
    [{ model: "cohere/command-a", tools: [search] }, ["body", "tools", "web_search"]],
    [{ model: claude, text: { verbosity: "low" }, strict_parameters: true }, ["body", "text", "verbosity"]],
    [
      { model: claude, input: [{ role: "user", content: [{ type: "input_text", text: "Read" }, archive] }] },
      ["body", "input"],
    ],
  ])("of a response: %j is refused at %j", async (body, loc) => {
    vendor.clear();
    const refused = await ask(gateway.url, key, { input: "hi", ...body }, { path: "/v3/responses" });
    const { detail } = (await refused.json()) as { detail: readonly { readonly loc: unknown }[] };
    expect({ status: refused.status, locs: detail.map((problem) => problem.loc) }).toEqual({
      status: 422,
      locs: [loc],
    });
    expect(vendor.requests).toEqual([]);
  });

  test("of a response and of a message, when it is dropped", async () => {
    for (const [path, body, dropped] of [
      ["/v3/responses", { model: claude, input: "hi", text: { verbosity: "low" } }, "text.verbosity"],
      [
        "/v3/v1/messages",
        { model: "cohere/command-a", max_tokens: 9, messages: [hello], metadata: { user_id: "u" } },
        "metadata.user_id",
      ],
    ] as const) {
      vendor.next(answer(200, path === "/v3/responses" ? claudeMessage("Hi") : cohereMessage));
      const response = await ask(gateway.url, key, body, { path });
      expect([response.status, response.headers.get("x-switchyard-dropped-params")]).toEqual([200, dropped]);
    }
  });
});

describe("a member that is rewritten for the provider is named, and refused under strict_parameters", () => {
  // Thinking that another provider wrote is left out, and then the vendor refuses a budget in the middle of calls.
  const conversation = {
    model: "anthropic/claude-sonnet-4-5",
    max_tokens: 4_000,
    thinking: { type: "enabled", budget_tokens: 2_000 },
    messages: [
      hello,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Look it up.", signature: "" },
          { type: "tool_use", id: "call_1", name: "clock", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "noon" }] },
    ],
  };

  test("thinking that the Messages format switches off", async () => {
    vendor.next(answer(200, claudeMessage("Noon.")));
    const response = await ask(gateway.url, key, conversation, { path: "/v3/v1/messages" });
    expect(response.status).toBe(200);
    expect(sentBody()["thinking"]).toEqual({ type: "disabled" });
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("thinking");
    vendor.clear();
    const strict = { ...conversation, strict_parameters: true };
    const refused = await ask(gateway.url, key, strict, { path: "/v3/v1/messages" });
    expect(await refused.text()).toContain("thinking");
    expect(refused.ok).toBe(false);
    expect(vendor.requests).toEqual([]);
  });

  test("a budget that becomes an effort", async () => {
    const asked = {
      model: "anthropic/claude-opus-5",
      messages: [hello],
      thinking: { type: "enabled", budget_tokens: 9_000 },
    };
    vendor.next(answer(200, claudeMessage("Hi")));
    const response = await ask(gateway.url, key, asked);
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("thinking.budget_tokens");
    const refused = await readError(await ask(gateway.url, key, { ...asked, strict_parameters: true }));
    expect(refused).toMatchObject({ status: 422, param: "thinking.budget_tokens" });
  });
});

test("an effort beside thinking in a Messages request reaches a provider of another format", async () => {
  vendor.next(answer(200, { message: { content: [{ type: "text", text: "Hi" }] }, finish_reason: "COMPLETE" }));
  const response = await ask(
    gateway.url,
    key,
    {
      model: "cohere/command-a-reasoning-08-2025",
      max_tokens: 40_000,
      messages: [hello],
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
    },
    { path: "/v3/v1/messages" },
  );
  expect(response.status).toBe(200);
  expect(sentBody()["thinking"]).toEqual({ type: "enabled", token_budget: 1_024 });
});

describe("the name of a participant, which other formats do not have, is reported as dropped", () => {
  const said: Readonly<Record<string, Members>> = {
    "anthropic/claude-sonnet-4-5": claudeMessage("Hi"),
    "gemini/gemini-3.8-flash": { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] },
    "cohere/command-a-03-2025": { message: { content: [{ type: "text", text: "Hi" }] }, finish_reason: "COMPLETE" },
  };

  test.each(Object.keys(said))("%s", async (model) => {
    const asked = { model, messages: [{ ...hello, name: "ann" }, { role: "assistant", content: "yes?" }, hello] };
    vendor.next(answer(200, said[model]));
    const response = await ask(gateway.url, key, asked);
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("messages.name");
    const refused = await readError(await ask(gateway.url, key, { ...asked, strict_parameters: true }));
    expect(refused).toMatchObject({ status: 422, param: "messages.name" });
  });

  test("an empty name, and the name of a function beside its result, are not lost", async () => {
    const call = { id: "c1", type: "function", function: { name: "clock", arguments: "{}" } };
    const messages = [
      { ...hello, name: "" },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", name: "clock", content: "noon" },
    ];
    const model = "anthropic/claude-sonnet-4-5";
    vendor.next(answer(200, said[model]));
    const response = await ask(gateway.url, key, { model, messages, strict_parameters: true });
    expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 });
    expect(response.headers.get("x-switchyard-dropped-params")).toBeNull();
  });
});

describe("the detail of an image", () => {
  const png = "data:image/png;base64,iVBORw0KGgo=";
  const claude = "anthropic/claude-sonnet-4-5";
  const gemini = (model: string) => `gemini/${model}`;
  const said = (model: string) =>
    model === claude
      ? claudeMessage("Hi")
      : { candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] };
  const askWith = (model: string, detail: string, members: Members = {}) => {
    vendor.next(answer(200, said(model)));
    const content = [{ type: "image_url", image_url: { url: png, detail } }];
    return ask(gateway.url, key, { model, messages: [{ role: "user", content }], ...members });
  };

  test.each([
    claude,
    gemini("gemini-2.5-flash"),
  ])("is reported as dropped where it cannot be sent: %s", async (model) => {
    const response = await askWith(model, "low");
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("messages.image_url.detail");
    expect((await askWith(model, "auto")).headers.get("x-switchyard-dropped-params")).toBeNull();
    const refused = await readError(await askWith(model, "high", { strict_parameters: true }));
    expect(refused).toMatchObject({ status: 422, param: "messages.image_url.detail" });
  });

  /** https://ai.google.dev/gemini-api/docs/generate-content/media-resolution */
  test("is the resolution of Gemini from generation 3 on", async () => {
    const response = await askWith(gemini("gemini-3.8-flash"), "low");
    expect(response.headers.get("x-switchyard-dropped-params")).toBeNull();
    expect(sentBody()["contents"]).toEqual([
      {
        role: "user",
        parts: [
          {
            inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" },
            mediaResolution: { level: "MEDIA_RESOLUTION_LOW" },
          },
        ],
      },
    ]);
  });
});

/** https://ai.google.dev/api/tokens */
describe("tokens are counted by Gemini itself", () => {
  const asked = { model: "gemini/gemini-3.8-flash", system: "Brief.", messages: [hello] };
  const path = "/v3/v1/messages/count_tokens";

  test("with the conversation and its instructions", async () => {
    vendor.next(answer(200, { totalTokens: 4_711 }));
    const response = await ask(gateway.url, key, asked, { path });
    expect(await response.json()).toEqual({ input_tokens: 4_711 });
    expect(vendor.last().path).toBe("/models/gemini-3.8-flash:countTokens");
    expect(sentBody()).toEqual({
      generateContentRequest: {
        model: "models/gemini-3.8-flash",
        systemInstruction: { parts: [{ text: "Brief." }] },
        contents: [{ role: "user", parts: [{ text: "hi" }] }],
      },
    });
  });

  test("and an answer without a count is not taken for one", async () => {
    vendor.next(answer(200, {}));
    const response = await ask(gateway.url, key, asked, { path });
    expect(response.status).toBe(502);
  });
});
