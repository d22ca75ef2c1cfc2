// Tasks done by chat models, over HTTP: what is hidden from a text, and what a client is told when paid answers cannot be used.

import { beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/lib/lenient-json.ts";
import { answer, completion, usualUsage } from "../support/answers.ts";
import { askTask, readError } from "../support/chat.ts";
import { answerByExample } from "../support/llm-tasks.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  config: { providers: { openai: { base_url: vendor.url, api_key: "k-openai" } } },
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

describe("anonymization hides entities that overlap", () => {
  const entity = { category: "PersonalInformation", original_label: "NAME", confidence_score: 1 };

  async function anonymize(text: string, contents: readonly string[]) {
    const entities = contents.map((content) => ({ ...entity, subcategory: "Name", content }));
    vendor.next(answer(200, completion(JSON.stringify({ entities }))));
    const response = await askTask(gateway.url, key, { model: "text/anonymization/openai/gpt-5", input: { text } });
    expect(response.status).toBe(200);
    const { output } = (await response.json()) as { output: { result: string; entities: readonly JsonObject[] } };
    return {
      result: output.result,
      entities: output.entities.map(({ offset, length, content }) => [offset, length, content]),
    };
  }

  test("completely, and lists what the longer one leaves of the shorter one", async () => {
    expect(await anonymize("Write to John Smith Street 5 today", ["John Smith", "Smith Street 5"])).toEqual({
      result: "Write to ******************* today",
      entities: [
        [9, 5, "John "],
        [14, 14, "Smith Street 5"],
      ],
    });
  });

  test("on both sides of the longer one, with offsets that count characters", async () => {
    const contents = ["😀 Ann", "Ann of 12 Long Lane", "Ann of 12 Long Lane, Leeds", "Ann", "Lane, Leeds, 😀 UK"];
    expect(await anonymize("To 😀 Ann of 12 Long Lane, Leeds, 😀 UK.", contents)).toEqual({
      result: `To ${"*".repeat(34)}.`,
      entities: [
        [3, 2, "😀 "],
        [5, 26, "Ann of 12 Long Lane, Leeds"],
        [31, 6, ", 😀 UK"],
      ],
    });
  });
});

describe("a model whose answer has members of other types", () => {
  const summary = { model: "text/summarize/openai/gpt-5", input: { text: "A long story." } };
  const answerOf = (content: unknown, more: JsonObject = {}) =>
    answer(200, completion("", { choices: [{ index: 0, message: { content }, finish_reason: "stop" }], ...more }));

  test("is read if the content is a list of parts", async () => {
    const text = JSON.stringify({ result: "Short." });
    vendor.next(answerOf([{ type: "text", text }]));
    const response = await askTask(gateway.url, key, summary);
    expect(await response.json()).toMatchObject({ status: "success", output: { result: "Short." } });
    expect(vendor.requests).toHaveLength(1);
  });

  test("fails as the provider if the content is a number", async () => {
    vendor.next(answerOf(5));
    vendor.next(answerOf(5));
    expect(await readError(await askTask(gateway.url, key, summary))).toMatchObject({
      status: 502,
      code: "provider_bad_response",
    });
  });
});

describe("answers that were paid for and cannot be used", () => {
  const summary = { model: "text/summarize/openai/gpt-5", input: { text: "A long story." } };
  const cutChoice = { index: 0, message: { role: "assistant", content: '{"res' }, finish_reason: "length" };
  const unusable = answer(200, completion("no JSON"));
  const cases = {
    "that do not have the form of the task": [unusable, unusable],
    "that were cut off at the token limit": [answer(200, completion("", { choices: [cutChoice], usage: usualUsage }))],
  };

  for (const [title, answers] of Object.entries(cases)) {
    test(`${title} are an error that clients do not retry`, async () => {
      for (const one of answers) vendor.next(one);
      const error = await readError(await askTask(gateway.url, key, summary));
      expect([error.status, error.code]).toEqual([502, "provider_bad_response"]);
      expect(error.headers.get("x-should-retry")).toBe("false");
      expect(vendor.requests).toHaveLength(answers.length);
    });

    test(`${title} do not keep a fallback from being tried`, async () => {
      for (const one of answers) vendor.next(one);
      vendor.next(answerByExample);
      const body = { ...summary, fallbacks: ["text/summarize/openai/gpt-4o-mini"] };
      const response = await askTask(gateway.url, key, body);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ status: "success", model: "gpt-4o-mini" });
    });
  }
});
