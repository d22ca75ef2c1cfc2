// Anthropic's official client in front of every provider: unchanged, only its base address and key are ours.

import { beforeEach, describe, expect, test } from "bun:test";
import { z } from "zod";
import {
  chatModels,
  chatVendors,
  noSignature,
  sharedTranslatingGateway,
  startDialectVendors,
  thinkingMarks,
} from "../support/dialect-vendors/index.ts";
import { rejectionOf } from "../support/thrown.ts";
import { betaZodTool } from "../tools/node_modules/@anthropic-ai/sdk/helpers/beta/zod.mjs";
import { zodOutputFormat } from "../tools/node_modules/@anthropic-ai/sdk/helpers/zod.mjs";
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "../tools/node_modules/@anthropic-ai/sdk/index.mjs";

type Message = Anthropic.MessageParam;

const vendor = await startDialectVendors();
const gateway = await sharedTranslatingGateway(vendor, { env: { SWITCHYARD_RETRIES: "0" } });
const key = await gateway.createKey();
const client = clientWith({ apiKey: key });

beforeEach(() => vendor.clear());

function clientWith(credentials: { apiKey?: string | null; authToken?: string | null }): Anthropic {
  const settings = { baseURL: `${gateway.url}/v3`, maxRetries: 0, timeout: 15_000 };
  return new Anthropic({ ...settings, apiKey: null, authToken: null, ...credentials });
}

/** Beside the vendors, one that speaks the chat format and the sandbox. */
const models = { ...chatModels, mock: "mock/echo", sandbox: "sandbox/echo" };
const question: Message = { role: "user", content: "What is a switchyard?" };
const weatherQuestion: Message = { role: "user", content: "How is the weather in Paris and in Oslo?" };
const weatherTool: Anthropic.Tool = {
  name: "get_weather",
  description: "The weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const bothResults = "get_weather says sunny in Paris, get_weather says sunny in Oslo.";
const plan = z.object({ title: z.string(), steps: z.array(z.string()), rating: z.number() });

function textOf({ content }: { readonly content: readonly { readonly type: string }[] }): string {
  return content.map((block) => ("text" in block && block.type === "text" ? String(block.text) : "")).join("");
}

function resultsOf({ content }: Anthropic.Message): Message {
  const results = content.flatMap((block): Anthropic.ToolResultBlockParam[] => {
    if (block.type !== "tool_use") return [];
    const { city } = block.input as { city: string };
    return [{ type: "tool_result", tool_use_id: block.id, content: `sunny in ${city}` }];
  });
  return { role: "user", content: results };
}

/** Providers whose answers carry the name of their company. */
const companies: Readonly<Record<string, string>> = { gemini: "google", bedrock: "amazon" };

for (const [provider, model] of Object.entries(models)) {
  describe(provider, () => {
    test("answers a call, and says who answered and what was used", async () => {
      const message = await client.messages.create({
        model,
        max_tokens: 500,
        system: "Be brief.",
        messages: [question],
      });
      expect(message).toMatchObject({ type: "message", role: "assistant", stop_reason: "end_turn" });
      expect(message).toHaveProperty("provider", companies[provider] ?? provider);
      expect(message.id).toStartWith("msg_");
      expect(textOf(message)).toContain("switchyard");
      expect(message.usage.input_tokens).toBeGreaterThan(0);
      expect(message.usage.output_tokens).toBeGreaterThan(0);
      expect(message).toHaveProperty("cost");
      expect(message._request_id).toBeTruthy();
    });

    test("streams an answer, and the final message is the same", async () => {
      const stream = client.messages.stream({ model, max_tokens: 500, messages: [question] });
      let text = "";
      stream.on("text", (piece) => {
        text += piece;
      });
      const message = await stream.finalMessage();
      expect(text).toContain("switchyard");
      expect(textOf(message)).toBe(text);
      expect(message.stop_reason).toBe("end_turn");
      expect(message.usage.output_tokens).toBeGreaterThan(0);
    });

    test("counts the tokens of a prompt", async () => {
      const { input_tokens } = await client.messages.countTokens({ model, messages: [question], tools: [weatherTool] });
      expect(input_tokens).toBeGreaterThan(3);
    });
  });
}

for (const [provider, model] of Object.entries({ ...chatModels, sandbox: "sandbox/echo" })) {
  describe(`${provider}, tools and schemas`, () => {
    test("several tools are called at once and their results answered, whole and streamed", async () => {
      for (const isStreamed of [false, true]) {
        const messages: Message[] = [weatherQuestion];
        const ask = (): Promise<Anthropic.Message> => {
          const asked = { model, max_tokens: 500, messages, tools: [weatherTool] };
          return isStreamed ? client.messages.stream(asked).finalMessage() : client.messages.create(asked);
        };
        const first = await ask();
        expect(first.stop_reason).toBe("tool_use");
        messages.push({ role: "assistant", content: first.content }, resultsOf(first));
        const second = await ask();
        expect(second.stop_reason).toBe("end_turn");
        if (provider !== "sandbox") expect(textOf(second)).toBe(bothResults);
      }
    });

    test("the client's own loop runs tools until there is an answer", async () => {
      const called: string[] = [];
      const tool = betaZodTool({
        name: "get_weather",
        description: "The weather of a city",
        inputSchema: z.object({ city: z.string() }),
        run: ({ city }) => {
          called.push(city);
          return `sunny in ${city}`;
        },
      });
      const message = await client.beta.messages.toolRunner({
        model,
        max_tokens: 500,
        messages: [{ role: "user", content: "How is the weather in Paris and in Oslo?" }],
        tools: [tool],
      });
      expect(called).not.toBeEmpty();
      if (provider !== "sandbox") expect(textOf(message)).toBe(bothResults);
    });

    test("a tool that is chosen is called, and one that is forbidden is not", async () => {
      const asked = { model, max_tokens: 500, messages: [weatherQuestion], tools: [weatherTool] };
      const none = await client.messages.create({ ...asked, tool_choice: { type: "none" } });
      expect(none.content.map(({ type }) => type)).not.toContain("tool_use");
      const chosen = await client.messages.create({ ...asked, tool_choice: { type: "tool", name: "get_weather" } });
      expect(chosen.content.map(({ type }) => type)).toContain("tool_use");
    });

    test("an answer in a schema is parsed by it, whole and streamed", async () => {
      const asked = { model, max_tokens: 500, messages: [question], output_config: { format: zodOutputFormat(plan) } };
      const message = await client.messages.parse(asked);
      expect(plan.safeParse(message.parsed_output).error).toBeUndefined();
      const streamed = await client.messages.stream(asked).finalMessage();
      expect(plan.safeParse(JSON.parse(textOf(streamed))).error).toBeUndefined();
    });
  });
}

describe("a conversation with thinking and tools", () => {
  const thinking = { type: "enabled", budget_tokens: 1_024 } as const;

  for (const provider of chatVendors) {
    const asked = { model: chatModels[provider], max_tokens: 4_000, tools: [weatherTool], thinking };

    for (const isStreamed of [false, true]) {
      test(`${provider}: thinking is told and taken back, signatures and all${isStreamed ? ", streamed" : ""}`, async () => {
        const ask = (messages: Message[]): Promise<Anthropic.Message> =>
          isStreamed
            ? client.messages.stream({ ...asked, messages }).finalMessage()
            : client.messages.create({ ...asked, messages });
        const messages: Message[] = [weatherQuestion];
        const first = await ask(messages);
        const thought = first.content.find((block) => block.type === "thinking");
        expect(thought?.thinking).toContain("Paris");
        expect(first.content.filter(({ type }) => type === "tool_use")).toHaveLength(2);
        messages.push({ role: "assistant", content: first.content }, resultsOf(first));
        const second = await ask(messages);
        expect(textOf(second)).toBe(bothResults);
        expect(vendor.last().body.toString()).toContain(thinkingMarks[provider]);
        expect(vendor.last().body.toString()).not.toContain(noSignature);
        messages.push({ role: "assistant", content: second.content }, question);
        expect(textOf(await ask(messages))).toContain("switchyard");
      });
    }

    test(`${provider}: a conversation that began at another provider is taken over`, async () => {
      for (const other of chatVendors) {
        const first = await client.messages.create({ ...asked, model: chatModels[other], messages: [weatherQuestion] });
        const messages: Message[] = [weatherQuestion, { role: "assistant", content: first.content }, resultsOf(first)];
        const outcome = await client.messages.create({ ...asked, messages });
        expect(textOf(outcome)).toBe(bothResults);
      }
    });
  }
});

describe("credentials", () => {
  test("a key is taken as x-api-key and as a bearer token", async () => {
    for (const credentials of [{ apiKey: key }, { authToken: key }]) {
      const message = await clientWith(credentials).messages.create({
        model: chatModels.cohere,
        max_tokens: 50,
        messages: [question],
      });
      expect(message.type).toBe("message");
    }
  });

  test("a wrong key is an AuthenticationError, either way", async () => {
    for (const credentials of [{ apiKey: "sk-sy-nobody" }, { authToken: "sk-sy-nobody" }]) {
      const failure = await failureOf(create(chatModels.anthropic, clientWith(credentials)));
      expect(failure).toBeInstanceOf(AuthenticationError);
      expect(failure.type).toBe("authentication_error");
    }
  });
});

const failureOf = (call: PromiseLike<unknown>) => rejectionOf<APIError>(call, APIError);

function create(model: string, using: Anthropic = client, stream = false): PromiseLike<unknown> {
  return using.messages.create({ model, max_tokens: 50, messages: [question], stream });
}

describe("errors have the classes that programs catch", () => {
  type ErrorClass = abstract new (...parameters: never[]) => Error;
  const statuses: readonly (readonly [status: number, error: ErrorClass, type: string])[] = [
    [400, BadRequestError, "invalid_request_error"],
    [401, InternalServerError, "api_error"],
    [404, NotFoundError, "not_found_error"],
    [429, RateLimitError, "rate_limit_error"],
    [500, InternalServerError, "api_error"],
  ];
  for (const provider of chatVendors) {
    test(`${provider}: what the vendor refuses, whole and streamed`, async () => {
      for (const [status, errorClass, type] of statuses) {
        for (const stream of [false, true]) {
          const failure = await failureOf(create(`${chatModels[provider]}-fail-${status}`, client, stream));
          expect(failure).toBeInstanceOf(errorClass);
          expect(failure.type).toBe(type as never);
          expect(failure.requestID).toBeTruthy();
        }
      }
    });

    for (const ending of ["cut", "midway"]) {
      test(`${provider}: a stream that ${ending === "cut" ? "is cut" : "fails midway"} is an error, not an answer`, async () => {
        let text = "";
        const model = `${chatModels[provider]}-${ending}`;
        const stream = client.messages.stream({ model, max_tokens: 50, messages: [question] });
        stream.on("text", (piece) => {
          text += piece;
        });
        const failure = await failureOf(stream.finalMessage());
        expect(failure.type).toBeString();
        expect(text).not.toBe("");
      });
    }

    test(`${provider}: a stream that is left in the middle ends at the vendor`, async () => {
      const model = `${chatModels[provider]}-hang`;
      const stream = client.messages.stream({ model, max_tokens: 50, messages: [question] });
      for await (const event of stream) if (event.type === "content_block_delta") break;
      await vendor.waitFor("the call's end", (requests) => requests[0]?.leftAt !== null);
    });
  }

  test("a missing permission is a PermissionDeniedError", async () => {
    const limited = clientWith({ apiKey: await gateway.createKey({ allowed_models: ["mock/*"] }) });
    expect(await failureOf(create(chatModels.gemini, limited))).toBeInstanceOf(PermissionDeniedError);
  });

  test("an unknown provider is a NotFoundError", async () => {
    expect(await failureOf(create("nobody/model"))).toBeInstanceOf(NotFoundError);
  });

  test("a wrong parameter is a BadRequestError that names it", async () => {
    const asked = { model: chatModels.gemini, max_tokens: 0, messages: [question] };
    const failure = await failureOf(client.messages.create(asked));
    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure.message).toContain("max_tokens");
  });
});
