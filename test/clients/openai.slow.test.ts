// The official client of the chat format in front of providers that speak other formats: unchanged, only its base address
// and key are ours.

import { beforeEach, describe, expect, test } from "bun:test";
import { z } from "zod";
import {
  chatModels,
  chatVendors,
  noSignature,
  reportedName,
  sharedTranslatingGateway,
  startDialectVendors,
  thinkingMarks,
} from "../support/dialect-vendors/index.ts";
import { rejectionOf } from "../support/thrown.ts";
import { zodResponseFormat } from "../tools/node_modules/openai/helpers/zod.mjs";
import OpenAI, {
  APIError,
  APIUserAbortError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "../tools/node_modules/openai/index.mjs";

type Message = OpenAI.Chat.ChatCompletionMessageParam;

const vendor = await startDialectVendors();
const gateway = await sharedTranslatingGateway(vendor, { env: { SWITCHYARD_RETRIES: "0" } });
const client = clientWith(await gateway.createKey());

beforeEach(() => vendor.clear());

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v3`, apiKey, maxRetries: 0, timeout: 15_000 });
}

const models = { ...chatModels, sandbox: "sandbox/echo" };
const question: Message = { role: "user", content: "What is a switchyard?" };
const weatherQuestion: Message = { role: "user", content: "How is the weather in Paris and in Oslo?" };
const weatherTool: OpenAI.Chat.ChatCompletionFunctionTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};
const plan = z.object({ title: z.string(), steps: z.array(z.string()), rating: z.number() });

for (const [provider, model] of Object.entries(models)) {
  describe(provider, () => {
    test("answers a call, and says who answered and what was used", async () => {
      const messages: Message[] = [{ role: "system", content: "Be brief." }, question];
      const completion = await client.chat.completions.create({ model, messages });
      const { choices, usage } = completion;
      expect(choices[0]?.message.content).toContain("switchyard");
      expect(choices[0]?.finish_reason).toBe("stop");
      expect(usage?.prompt_tokens).toBeGreaterThan(0);
      expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
      expect(completion).toMatchObject({ object: "chat.completion", provider: reportedName(provider) });
      expect(completion).toHaveProperty("cost");
    });

    test("streams an answer: the role first, one id, one finish reason", async () => {
      const stream = await client.chat.completions.create({ model, messages: [question], stream: true });
      const ids = new Set<string>();
      const reasons: string[] = [];
      let text = "";
      let firstRole: string | undefined;
      for await (const chunk of stream) {
        const choice = chunk.choices[0];
        ids.add(chunk.id);
        if (choice?.delta.role) firstRole ??= text === "" ? choice.delta.role : "too late";
        text += choice?.delta.content ?? "";
        if (choice?.finish_reason) reasons.push(choice.finish_reason);
      }
      expect(text).toContain("switchyard");
      expect({ firstRole, ids: ids.size, reasons }).toEqual({ firstRole: "assistant", ids: 1, reasons: ["stop"] });
    });

    test("streams to the client's own collector, with usage for those who ask", async () => {
      const asked = { model, messages: [question], stream_options: { include_usage: true } };
      const completion = await client.chat.completions.stream(asked).finalChatCompletion();
      expect(completion.choices[0]?.message.content).toContain("switchyard");
      expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
    });

    test("gives an answer in a schema, whole and streamed", async () => {
      const asked = { model, messages: [question], response_format: zodResponseFormat(plan, "plan") };
      const completion = await client.chat.completions.parse(asked);
      expect(plan.safeParse(completion.choices[0]?.message.parsed).error).toBeUndefined();
      const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
      expect(plan.safeParse(streamed.choices[0]?.message.parsed).error).toBeUndefined();
      expect(streamed.choices[0]?.finish_reason).toBe("stop");
    });

    test("gives an answer in a schema beside tools", async () => {
      const completion = await client.chat.completions.parse({
        model,
        messages: [question],
        tools: [{ ...weatherTool, function: { ...weatherTool.function, strict: true } }],
        response_format: zodResponseFormat(plan, "plan"),
      });
      const [choice] = completion.choices;
      // A model may call a tool first; what it says as an answer has the form.
      if (choice?.finish_reason === "stop") expect(plan.safeParse(choice.message.parsed).error).toBeUndefined();
      else expect(choice?.finish_reason).toBe("tool_calls");
    });

    for (const stream of [false, true] as const) {
      test(`runs tools until there is an answer${stream ? ", streamed" : ""}`, async () => {
        const called: string[] = [];
        const tools = [
          {
            type: "function" as const,
            function: {
              name: "get_weather",
              description: "The weather of a city",
              parameters: weatherTool.function.parameters ?? {},
              parse: (text: string) => JSON.parse(text) as { city: string },
              function: ({ city }: { city: string }) => {
                called.push(city);
                return `sunny in ${city}`;
              },
            },
          },
        ];
        const messages = [weatherQuestion];
        const runner = stream
          ? client.chat.completions.runTools({ model, messages, tools, stream: true })
          : client.chat.completions.runTools({ model, messages, tools });
        const text = await runner.finalContent();
        if (provider === "sandbox") {
          expect(called).not.toBeEmpty();
          return;
        }
        expect(called.toSorted()).toEqual(["Oslo", "Paris"]);
        expect(text).toBe("get_weather says sunny in Paris, get_weather says sunny in Oslo.");
      });
    }

    test("gives two choices, whole and streamed", async () => {
      const { choices, usage } = await client.chat.completions.create({ model, messages: [question], n: 2 });
      expect(choices.map(({ index }) => index)).toEqual([0, 1]);
      for (const { message } of choices) expect(message.content).toContain("switchyard");
      expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
      const stream = client.chat.completions.stream({ model, messages: [question], n: 2 });
      const completion = await stream.finalChatCompletion();
      expect(completion.choices.map(({ message }) => message.content)).toEqual(
        choices.map(({ message }) => message.content),
      );
    });
  });
}

describe("a conversation with thinking and tools", () => {
  type AssistantMessage = OpenAI.Chat.ChatCompletionMessage;

  function resultsOf(message: AssistantMessage): Message[] {
    return (message.tool_calls ?? []).flatMap((call): Message[] => {
      if (call.type !== "function") return [];
      const { city } = JSON.parse(call.function.arguments) as { city: string };
      return [{ role: "tool", tool_call_id: call.id, content: `sunny in ${city}` }];
    });
  }

  type Delta = OpenAI.Chat.ChatCompletionChunk.Choice.Delta & { readonly reasoning_details?: readonly unknown[] };

  /** As a client does it that keeps members which it does not know. */
  async function gather(stream: AsyncIterable<OpenAI.Chat.ChatCompletionChunk>): Promise<AssistantMessage> {
    let content = "";
    const calls: Record<string, unknown>[] = [];
    const details: unknown[] = [];
    for await (const { choices } of stream) {
      const delta: Delta = choices[0]?.delta ?? {};
      content += delta.content ?? "";
      details.push(...(delta.reasoning_details ?? []));
      for (const { index, function: piece, ...members } of delta.tool_calls ?? []) {
        const before = (calls[index]?.["function"] ?? { arguments: "" }) as { arguments: string };
        const called = { ...before, ...piece, arguments: before.arguments + (piece?.arguments ?? "") };
        calls[index] = { ...calls[index], ...members, function: called };
      }
    }
    const message = { role: "assistant", content, tool_calls: calls, reasoning_details: details };
    if (calls.length === 0) return { role: "assistant", content, refusal: null };
    return message as unknown as AssistantMessage;
  }

  const expected = "get_weather says sunny in Paris, get_weather says sunny in Oslo.";

  for (const provider of chatVendors) {
    const model = chatModels[provider];
    const asked = { model, tools: [weatherTool], reasoning_effort: "low" as const, max_completion_tokens: 4_000 };

    test(`${provider}: a message that is sent back as it came is taken, signatures and all`, async () => {
      const messages: Message[] = [weatherQuestion];
      const first = await client.chat.completions.create({ ...asked, messages });
      const message = first.choices[0]?.message as AssistantMessage;
      expect(message.tool_calls).toHaveLength(2);
      expect(message).toHaveProperty("reasoning_content");
      messages.push(message, ...resultsOf(message));
      const second = await client.chat.completions.create({ ...asked, messages });
      expect(second.choices[0]?.message.content).toBe(expected);
      // The thinking went back to the vendor, and the vendor has checked it.
      const sent = vendor.last().body.toString();
      expect(sent).toContain(thinkingMarks[provider]);
      expect(sent).not.toContain(noSignature);
      // And the conversation goes on after that.
      messages.push(second.choices[0]?.message as AssistantMessage, question);
      const third = await client.chat.completions.create({ ...asked, messages });
      expect(third.choices[0]?.message.content).toContain("switchyard");
    });

    test(`${provider}: a streamed message that is put together and sent back is taken`, async () => {
      const messages: Message[] = [weatherQuestion];
      const first = await client.chat.completions.stream({ ...asked, messages }).finalChatCompletion();
      const message = first.choices[0]?.message as AssistantMessage;
      expect(message.tool_calls).toHaveLength(2);
      messages.push(message, ...resultsOf(message));
      const second = await client.chat.completions.stream({ ...asked, messages }).finalChatCompletion();
      expect(second.choices[0]?.message.content).toBe(expected);
    });

    test(`${provider}: a message that is gathered from the deltas of a stream is taken, signatures and all`, async () => {
      const messages: Message[] = [weatherQuestion];
      const message = await gather(await client.chat.completions.create({ ...asked, messages, stream: true }));
      expect(message.tool_calls).toHaveLength(2);
      messages.push(message, ...resultsOf(message));
      const second = await gather(await client.chat.completions.create({ ...asked, messages, stream: true }));
      expect(second.content).toBe(expected);
      const sent = vendor.last().body.toString();
      expect(sent).toContain(thinkingMarks[provider]);
      expect(sent).not.toContain(noSignature);
    });

    test(`${provider}: a client that keeps only what the format names is answered too`, async () => {
      const first = await client.chat.completions.create({ ...asked, messages: [weatherQuestion] });
      const message = first.choices[0]?.message as AssistantMessage;
      const calls = (message.tool_calls ?? []).flatMap((call) =>
        call.type === "function" ? [{ id: call.id, type: call.type, function: call.function }] : [],
      );
      const kept: Message = { role: "assistant", content: message.content, tool_calls: calls };
      const messages = [weatherQuestion, kept, ...resultsOf(message)];
      const second = await client.chat.completions.create({ ...asked, messages });
      expect(second.choices[0]?.message.content).toBe(expected);
    });

    test(`${provider}: a conversation that began at another provider is taken over`, async () => {
      for (const other of chatVendors) {
        if (other === provider) continue;
        const first = await client.chat.completions.create({
          ...asked,
          model: chatModels[other],
          messages: [weatherQuestion],
        });
        const message = first.choices[0]?.message as AssistantMessage;
        const messages = [weatherQuestion, message, ...resultsOf(message)];
        const second = await client.chat.completions.create({ ...asked, messages });
        expect(second.choices[0]?.message.content).toBe(expected);
      }
    });
  }
});

describe("models whose vendors have other rules for them", () => {
  /** Thinking that adapts, or is bound to what stood before it, or cannot be switched off; no schema beside tools; plans … */
  const others: readonly string[] = [
    "anthropic/claude-3-5-haiku-20241022",
    "anthropic/claude-sonnet-4-6",
    "anthropic/claude-opus-4-7",
    "anthropic/claude-sonnet-5-5",
    "anthropic/claude-opus-5-5",
    "gemini/gemini-2.5-flash",
    "gemini/gemini-3.1-pro-preview",
    "gemini/gemini-4-argon",
    "bedrock/us.amazon.nova-pro-v1:0",
    "bedrock/global.anthropic.claude-opus-4-7",
    "bedrock/mistral.mistral-large-3-675b-instruct",
    "bedrock/us.meta.llama4-maverick-17b-instruct-v1:0",
    "cohere/command-a-03-2025",
    "cohere/command-r7b-12-2024",
    "ollama/gpt-oss:20b",
    "mistral/mistral-small-latest",
    "mistral/mistral-large-2512",
  ];
  for (const model of others) {
    test(`${model} thinks as it can, runs tools, and gives the answer in a schema`, async () => {
      const asked = {
        model,
        tools: [{ ...weatherTool, function: { ...weatherTool.function, strict: true } }],
        reasoning_effort: "medium" as const,
        temperature: 0.3,
        max_completion_tokens: 4_000,
        response_format: zodResponseFormat(plan, "plan"),
      };
      for (const isStreamed of [false, true]) {
        const ask = (messages: Message[]) =>
          isStreamed
            ? client.chat.completions.stream({ ...asked, messages }).finalChatCompletion()
            : client.chat.completions.parse({ ...asked, messages });
        const messages: Message[] = [{ role: "system", content: "Be brief." }, weatherQuestion];
        const first = await ask(messages);
        const message = first.choices[0]?.message;
        if (message === undefined) throw new Error("there is no choice");
        expect(first.choices[0]?.finish_reason).toBe("tool_calls");
        messages.push(message);
        for (const call of message.tool_calls ?? [])
          messages.push({ role: "tool", tool_call_id: call.id, content: "sunny" });
        const second = await ask(messages);
        expect(second.choices[0]?.finish_reason).toBe("stop");
        expect(plan.safeParse(second.choices[0]?.message.parsed).error).toBeUndefined();
      }
    });

    test(`${model} can be made to call a tool, or not to, and is told so where it cannot`, async () => {
      const asked = { model, messages: [weatherQuestion], tools: [weatherTool] };
      const named = { type: "function", function: { name: "get_weather" } } as const;
      for (const tool_choice of ["required", named] as const) {
        const { choices } = await client.chat.completions.create({ ...asked, tool_choice, parallel_tool_calls: false });
        expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: "get_weather" } });
      }
      const { data, response } = await client.chat.completions.create({ ...asked, tool_choice: "none" }).withResponse();
      const isDropped = response.headers.get("x-switchyard-dropped-params")?.includes("tool_choice") === true;
      if (!isDropped) expect(data.choices[0]?.message.tool_calls).toBeUndefined();
    });
  }
});

describe("leaving", () => {
  for (const provider of chatVendors) {
    test(`${provider}: a stream that is left in the middle ends at the vendor`, async () => {
      const model = `${chatModels[provider]}-hang`;
      const stream = await client.chat.completions.create({ model, messages: [question], stream: true });
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
      await vendor.waitFor("the call's end", (requests) => requests[0]?.leftAt !== null);
    });

    test(`${provider}: an aborted stream is told as aborted, and ends at the vendor`, async () => {
      const model = `${chatModels[provider]}-hang`;
      const stream = client.chat.completions.stream({ model, messages: [question], n: 2 });
      stream.on("content", () => stream.abort());
      const outcome = await stream.done().then(
        () => null,
        (error: unknown) => error,
      );
      expect(outcome).toBeInstanceOf(APIUserAbortError);
      await vendor.waitFor("every call's end", (requests) => requests.every(({ leftAt }) => leftAt !== null));
      // One vendor gives both choices in one answer.
      expect(vendor.requests).toHaveLength(provider === "mistral" ? 1 : 2);
    });
  }
});

describe("errors", () => {
  const failureOf = (call: PromiseLike<unknown>) => rejectionOf<APIError>(call, APIError);

  type ErrorClass = abstract new (...parameters: never[]) => Error;
  const statuses: readonly (readonly [status: number, error: ErrorClass, code: string])[] = [
    [400, BadRequestError, "provider_rejected_request"],
    [401, InternalServerError, "provider_auth_failed"],
    [404, NotFoundError, "model_not_found"],
    [429, RateLimitError, "provider_rate_limited"],
    [500, InternalServerError, "provider_error"],
  ];
  for (const provider of chatVendors) {
    for (const [status, errorClass, code] of statuses) {
      test(`${provider}: a ${status} is a ${errorClass.name}, whole and streamed`, async () => {
        const model = `${chatModels[provider]}-fail-${status}`;
        for (const stream of [false, true]) {
          const failure = await failureOf(client.chat.completions.create({ model, messages: [question], stream }));
          expect(failure).toBeInstanceOf(errorClass);
          expect(failure.code).toBe(code);
        }
      });
    }

    for (const [ending, code] of [
      ["cut", "provider_disconnected"],
      ["midway", null],
    ] as const) {
      test(`${provider}: a stream that ${ending === "cut" ? "is cut" : "fails midway"} is an error, not an answer`, async () => {
        let text = "";
        const failure = await failureOf(
          (async () => {
            const model = `${chatModels[provider]}-${ending}`;
            const stream = await client.chat.completions.create({ model, messages: [question], stream: true });
            for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
          })(),
        );
        expect(text).not.toBe("");
        expect(failure.code).toBeString();
        if (code !== null) expect(failure.code).toBe(code);
      });
    }
  }
});
