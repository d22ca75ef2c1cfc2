// The AI SDK in front of providers of other formats, through both of the formats that it may speak to us: unchanged, only the
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
import { createAnthropic } from "../tools/node_modules/@ai-sdk/anthropic";
import { createOpenAICompatible } from "../tools/node_modules/@ai-sdk/openai-compatible";
import {
  APICallError,
  embed,
  embedMany,
  generateText,
  isStepCount,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from "../tools/node_modules/ai";

const vendor = await startDialectVendors();
const gateway = await sharedTranslatingGateway(vendor, { env: { SWITCHYARD_RETRIES: "0" } });
const apiKey = await gateway.createKey();
const chat = createOpenAICompatible({
  name: "switchyard",
  baseURL: `${gateway.url}/v3`,
  apiKey,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const messages = createAnthropic({ baseURL: `${gateway.url}/v3/v1`, apiKey });

beforeEach(() => vendor.clear());

const formats = { "chat format": (id: string) => chat(id), "Messages format": (id: string) => messages(id) };
const models = { ...chatModels, sandbox: "sandbox/echo" };
const usual = { maxRetries: 0, maxOutputTokens: 4_000 };
const prompt = "What is a switchyard?";
const weatherPrompt = "How is the weather in Paris and in Oslo?";
const bothResults = "get_weather says sunny in Paris, get_weather says sunny in Oslo.";
const plan = z.object({ title: z.string(), steps: z.array(z.string()), rating: z.number() });

function weatherTool(called: string[] = []) {
  return tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => {
      called.push(city);
      return `sunny in ${city}`;
    },
  });
}

for (const [format, modelOf] of Object.entries(formats)) {
  for (const [provider, id] of Object.entries(models)) {
    describe(`${provider}, in the ${format}`, () => {
      test("generates a text", async () => {
        const result = await generateText({ ...usual, model: modelOf(id), instructions: "Be brief.", prompt });
        expect(result.text).toContain("switchyard");
        expect(result.finishReason).toBe("stop");
        expect(result.usage.inputTokens).toBeGreaterThan(0);
        expect(result.usage.outputTokens).toBeGreaterThan(0);
      });

      test("streams a text", async () => {
        const errors: unknown[] = [];
        const onError = ({ error }: { error: unknown }) => void errors.push(error);
        const result = streamText({ ...usual, model: modelOf(id), prompt, onError });
        let text = "";
        for await (const piece of result.textStream) text += piece;
        expect(errors).toEqual([]);
        expect(text).toContain("switchyard");
        expect(await result.finishReason).toBe("stop");
        expect((await result.usage).outputTokens).toBeGreaterThan(0);
      });

      test("runs tools in a loop until there is an answer, whole and streamed", async () => {
        const called: string[] = [];
        const asked = {
          ...usual,
          model: modelOf(id),
          prompt: weatherPrompt,
          tools: { get_weather: weatherTool(called) },
          stopWhen: isStepCount(4),
        };
        const whole = await generateText(asked);
        expect(whole.steps.length).toBeGreaterThanOrEqual(2);
        const errors: unknown[] = [];
        const streamed = streamText({ ...asked, onError: ({ error }) => void errors.push(error) });
        const text = await streamed.text;
        expect(errors).toEqual([]);
        if (provider === "sandbox") return expect(called).not.toBeEmpty();
        expect(called.slice(0, 2).toSorted()).toEqual(["Oslo", "Paris"]);
        expect([whole.text, text]).toEqual([bothResults, bothResults]);
      });

      test("gives an object by a schema, whole and streamed", async () => {
        const output = Output.object({ schema: plan });
        // The SDK forces a tool where it does not know the model; one of the providers cannot be made to call any.
        const providerOptions = provider === "ollama" ? { anthropic: { structuredOutputMode: "outputFormat" } } : {};
        const asked = { ...usual, model: modelOf(id), prompt, output, providerOptions };
        const whole = await generateText(asked);
        expect(plan.safeParse(whole.output).error).toBeUndefined();
        const streamed = streamText({ ...asked, onError: () => {} });
        expect(plan.safeParse(await streamed.output).error).toBeUndefined();
      });
    });
  }

  for (const [provider, id] of Object.entries(chatModels)) {
    test(`${provider}, in the ${format}: thinking and tools over several turns`, async () => {
      const providerOptions = {
        switchyard: { reasoningEffort: "low" },
        anthropic: { thinking: { type: "enabled" as const, budgetTokens: 1_024 } },
      };
      const tools = { get_weather: weatherTool() };
      const asked = { ...usual, model: modelOf(id), tools, stopWhen: isStepCount(4), providerOptions };
      const conversation: ModelMessage[] = [{ role: "user", content: weatherPrompt }];
      const first = await generateText({ ...asked, messages: conversation });
      expect(first.text).toBe(bothResults);
      // In this format the SDK keeps signatures, and thoughts that have one.
      if (format === "Messages format" && signingVendors.has(provider)) {
        expect(vendor.last().body.toString()).toContain(thinkingMarks[provider as ChatVendor]);
        expect(vendor.last().body.toString()).not.toContain(noSignature);
      }
      expect(first.steps[0]?.reasoningText).toContain("Paris");
      conversation.push(...first.responseMessages, { role: "user", content: prompt });
      const second = streamText({ ...asked, messages: conversation, onError: () => {} });
      expect(await second.text).toContain("switchyard");
    });

    test(`${provider}, in the ${format}: errors are told with their status`, async () => {
      const statuses: Record<string, number> = { "400": 400, "401": 502, "429": 429, "500": 502 };
      for (const [status, told] of Object.entries(statuses)) {
        const failing = generateText({ ...usual, model: modelOf(`${id}-fail-${status}`), prompt });
        const failure = await failing.then(
          () => null,
          (error: unknown) => error,
        );
        if (!APICallError.isInstance(failure)) throw new Error(`no API error but ${String(failure)}`);
        expect(failure.statusCode).toBe(told);
        expect(failure.message).toContain("provider");
      }
    });

    for (const ending of ["cut", "midway"])
      test(`${provider}, in the ${format}: a stream that ${ending === "cut" ? "is cut" : "fails midway"} is an error`, async () => {
        const errors: unknown[] = [];
        const model = modelOf(`${id}-${ending}`);
        const result = streamText({ ...usual, model, prompt, onError: ({ error }) => void errors.push(error) });
        let text = "";
        for await (const piece of result.textStream) text += piece;
        expect(text).not.toBe("");
        expect(errors).not.toBeEmpty();
      });
  }
}

test("texts are turned into vectors, one and many", async () => {
  const model = chat.embeddingModel("cohere/embed-v4.0");
  const one = await embed({ model, value: "a", maxRetries: 0 });
  expect(one.embedding).toHaveLength(4);
  const many = await embedMany({ model, values: ["b", "a"], maxRetries: 0 });
  expect(many.embeddings[1]).toEqual(one.embedding);
  expect(many.usage.tokens).toBe(6);
});
