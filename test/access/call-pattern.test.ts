// Which calls a pattern includes.

import { expect, test } from "bun:test";
import { includesCall, includesCallOfProvider } from "../../src/access/call-pattern.ts";

test.each([
  ["openai/*", "openai/gpt-5", true, true],
  ["openai/*", "azure/gpt-5", false, false],
  ["openai/gpt-5", "openai/gpt-5", true, true],
  ["openai/gpt-5/*", "openai/gpt-5", false, false],
  ["text/*", "text/summarize/openai/gpt-5", true, true],
  ["text/summarize/openai/*", "text/summarize/openai/gpt-5", true, true],
  ["openai/*", "text/summarize/openai/gpt-5", false, true],
  ["openai/gpt-5", "text/summarize/openai/gpt-5", false, true],
  ["openai/gpt-4*", "text/summarize/openai/gpt-5", false, false],
  // Calls that name no model.
  ["text/anonymization/local", "text/anonymization/local", true, true],
  ["text/anonymization/local/*", "text/anonymization/local", true, true],
  ["local/*", "text/anonymization/local", false, true],
  ["local", "text/anonymization/local", false, true],
  ["loc/*", "text/anonymization/local", false, false],
  ["*/local/*", "text/anonymization/local", true, true],
  // Names that only look like those of tasks.
  ["b/*", "text/none/b", false, false],
  ["google/*", "openrouter/google/gemini", false, false],
])("%s and %s: %p as the name of the call, %p for the calls of a provider", (pattern, call, asName, ofProvider) => {
  expect([includesCall(pattern, call), includesCallOfProvider(pattern, call)]).toEqual([asName, ofProvider]);
});
