// LangChain in front of providers of other formats, through both of the formats that it may speak to us: unchanged, only the
// base addresses and the key are ours.

import { beforeEach, describe, expect, test } from "bun:test";
import { z } from "zod";
import {
  type ChatVendor,
  chatModels,
  noSignature,
  sharedTranslatingGateway,
  signingVendors,
  startDialectVendors,
  thinkingMarks,
} from "../support/dialect-vendors/index.ts";
import { ChatAnthropic } from "../tools/node_modules/@langchain/anthropic/dist/index.js";
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  type ToolMessage,
} from "../tools/node_modules/@langchain/core/dist/messages/index.js";
import { tool } from "../tools/node_modules/@langchain/core/dist/tools/index.js";
import { ChatOpenAI, OpenAIEmbeddings } from "../tools/node_modules/@langchain/openai/dist/index.js";

const vendor = await startDialectVendors();
const gateway = await sharedTranslatingGateway(vendor, { env: { SWITCHYARD_RETRIES: "0" } });
const apiKey = await gateway.createKey();

beforeEach(() => vendor.clear());

interface Wish {
  readonly thinks?: boolean;
}

function chatOpenAI(model: string, { thinks = false }: Wish = {}): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey,
    configuration: { baseURL: `${gateway.url}/v3` },
    maxRetries: 0,
    maxTokens: 4_000,
    ...(thinks ? { modelKwargs: { reasoning_effort: "low" } } : {}),
  });
}

function chatAnthropic(model: string, { thinks = false }: Wish = {}): ChatAnthropic {
  return new ChatAnthropic({
    model,
    apiKey,
    anthropicApiUrl: `${gateway.url}/v3`,
    maxRetries: 0,
    maxTokens: 4_000,
    ...(thinks ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {}),
  });
}

const formats = { ChatOpenAI: chatOpenAI, ChatAnthropic: chatAnthropic };
const models = { ...chatModels, sandbox: "sandbox/echo" };
const question = new HumanMessage("What is a switchyard?");
const weatherQuestion = new HumanMessage("How is the weather in Paris and in Oslo?");
const bothResults = "get_weather says sunny in Paris, get_weather says sunny in Oslo.";
const plan = z.object({ title: z.string(), steps: z.array(z.string()), rating: z.number() });

const weatherTool = tool(({ city }: { city: string }) => `sunny in ${city}`, {
  name: "get_weather",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
});

async function resultsOf({ tool_calls: calls = [] }: AIMessage | AIMessageChunk): Promise<ToolMessage[]> {
  return Promise.all(
    calls.map(async (call) => (await weatherTool.invoke({ ...call, type: "tool_call" })) as ToolMessage),
  );
}

/** The library's types know nothing of it here. */
function usageOf(message: object): { input_tokens: number; output_tokens: number } {
  const { usage_metadata: usage } = message as { usage_metadata?: { input_tokens: number; output_tokens: number } };
  return usage ?? { input_tokens: 0, output_tokens: 0 };
}

/** The pieces of a stream as one message. */
async function collect(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) whole = whole === undefined ? chunk : whole.concat(chunk);
  if (whole === undefined) throw new Error("the stream was empty");
  return whole;
}

for (const [client, create] of Object.entries(formats)) {
  for (const [provider, model] of Object.entries(models)) {
    describe(`${client}, ${provider}`, () => {
      test("answers", async () => {
        const message = await create(model).invoke([new SystemMessage("Be brief."), question]);
        expect(message.text).toContain("switchyard");
        expect(usageOf(message).input_tokens).toBeGreaterThan(0);
        expect(usageOf(message).output_tokens).toBeGreaterThan(0);
      });

      test("streams", async () => {
        const message = await collect(await create(model).stream([question]));
        expect(message.text).toContain("switchyard");
        expect(usageOf(message).output_tokens).toBeGreaterThan(0);
      });

      test("calls tools and answers their results, whole and streamed", async () => {
        const bound = create(model).bindTools([weatherTool]);
        for (const isStreamed of [false, true]) {
          const ask = async (messages: BaseMessage[]) =>
            isStreamed ? collect(await bound.stream(messages)) : bound.invoke(messages);
          const first = await ask([weatherQuestion]);
          expect(first.tool_calls).not.toBeEmpty();
          const second = await ask([weatherQuestion, first, ...(await resultsOf(first))]);
          if (provider !== "sandbox") expect(second.text).toBe(bothResults);
        }
      });

      test("gives an object by a schema", async () => {
        const structured = create(model).withStructuredOutput(plan, { name: "plan", method: "jsonSchema" });
        expect(plan.safeParse(await structured.invoke([question])).error).toBeUndefined();
        // One of the providers cannot be made to call a tool.
        if (provider === "ollama") return;
        const called = create(model).withStructuredOutput(plan, { name: "plan", method: "functionCalling" });
        expect(plan.safeParse(await called.invoke([question])).error).toBeUndefined();
      });
    });
  }

  for (const [provider, model] of Object.entries(chatModels)) {
    test(`${client}, ${provider}: thinking and tools over several turns, whole and streamed`, async () => {
      const bound = create(model, { thinks: true }).bindTools([weatherTool]);
      for (const isStreamed of [false, true]) {
        const ask = async (messages: BaseMessage[]) =>
          isStreamed ? collect(await bound.stream(messages)) : bound.invoke(messages);
        const messages: BaseMessage[] = [weatherQuestion];
        const first = await ask(messages);
        expect(first.tool_calls).toHaveLength(2);
        messages.push(first, ...(await resultsOf(first)));
        const second = await ask(messages);
        expect(second.text).toBe(bothResults);
        // The one keeps the blocks of an answer as they came, the other only what its format names.
        if (client === "ChatAnthropic" && signingVendors.has(provider)) {
          expect(vendor.last().body.toString()).toContain(thinkingMarks[provider as ChatVendor]);
          expect(vendor.last().body.toString()).not.toContain(noSignature);
        }
        messages.push(second, question);
        expect((await ask(messages)).text).toContain("switchyard");
      }
    });

    test(`${client}, ${provider}: failures are errors with a status, and a stream that breaks is one too`, async () => {
      for (const [status, told] of [
        [400, 400],
        [401, 502],
        [429, 429],
        [500, 502],
      ] as const)
        await expect(create(`${model}-fail-${status}`).invoke([question])).rejects.toMatchObject({ status: told });
      for (const ending of ["cut", "midway"]) {
        let text = "";
        const read = async () => {
          for await (const chunk of await create(`${model}-${ending}`).stream([question])) text += chunk.text;
        };
        await expect(read()).rejects.toThrow();
        expect(text).not.toBe("");
      }
    });
  }
}

test("texts are turned into vectors, one and many", async () => {
  const embeddings = new OpenAIEmbeddings({
    model: "gemini/gemini-embedding-001",
    apiKey,
    configuration: { baseURL: `${gateway.url}/v3` },
    maxRetries: 0,
  });
  const one = await embeddings.embedQuery("a");
  expect(one).toHaveLength(4);
  expect(await embeddings.embedDocuments(["b", "a"])).toEqual([await embeddings.embedQuery("b"), one]);
});
