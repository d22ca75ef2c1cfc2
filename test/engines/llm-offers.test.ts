// The tasks and models that chat models of each provider offer.

import { describe, expect, test } from "bun:test";
import type { Engine } from "../../src/engines/engine.ts";
import { createLlmEngines } from "../../src/engines/llm/index.ts";
import { configureProviders } from "../../src/providers/configure.ts";
import { rows } from "../../src/providers/index.ts";

const providers = configureProviders(rows, { openai: { api_key: "key" } }, () => null);
const engines = createLlmEngines({
  providers: providers.values(),
  complete: () => Promise.reject(new Error("these tests call no model")),
});
const offers = engines.filter(({ provider }) => provider === "openai");

function engineOf(task: string, provider = "openai"): Engine {
  const found = engines.find((engine) => engine.task === task && engine.provider === provider);
  if (found === undefined) throw new Error(`there is no engine for ${task} at ${provider}`);
  return found;
}

describe("what is on offer", () => {
  test("the page names every task, and no other", async () => {
    const page = await Bun.file(new URL("../../docs/llm-engines.md", import.meta.url)).text();
    const listed = Array.from(page.matchAll(/^\| `(\w+\/\w+)` \| /gm), ([, task]) => task ?? "");
    expect(listed).toEqual(offers.map(({ task }) => task));
  });

  test("a task lists the models that are known to read what it needs, and takes others", () => {
    expect(engineOf("text/summarize").models).toContain("gpt-6.1-sol");
    expect(engineOf("image/question_answer").models).toContain("gpt-4o-mini");
    expect(engineOf("image/question_answer").models).not.toContain("gpt-6.1-sol");
    expect(engineOf("ocr/invoice_splitter_async").models).not.toContain("gpt-5");
    expect(engineOf("text/summarize").acceptsAnyModel).toBe(true);
  });

  test("a task is paid by the tokens of its calls, which the engine announces", () => {
    expect(engineOf("text/summarize")).toMatchObject({ isPaidByToken: true, announcesSend: true });
  });

  test("a task has the other names of its provider, and needs a model where the provider has no default", () => {
    expect(engineOf("text/summarize", "google").aliases).toEqual(["gemini"]);
    expect(engineOf("text/summarize", "ollama")).toMatchObject({ aliases: [], needsModel: true });
    expect(engineOf("text/summarize")).not.toHaveProperty("needsModel");
  });

  test("a provider that is not set up says which setting is missing; the sandbox and those without chat are not there", () => {
    expect(engineOf("text/summarize").unavailableReason).toBeNull();
    expect(engineOf("text/summarize", "anthropic").unavailableReason).toContain("ANTHROPIC_API_KEY");
    expect(engineOf("text/summarize", "ollama").unavailableReason).toContain("OLLAMA_BASE_URL");
    const names = new Set(engines.map(({ provider }) => provider));
    expect(names.has("sandbox") || names.has("voyage") || names.has("jina")).toBe(false);
  });
});
