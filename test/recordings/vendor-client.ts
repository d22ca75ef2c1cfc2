// Which client reads a recording: the one that the vendor publishes, or that of the chat format where the vendor speaks it.

import { inTheMiddle, type Outcome, toGatewayFailure } from "./outcome.ts";
import { readWithAnthropic } from "./readers/anthropic.ts";
import { readWithBedrock } from "./readers/bedrock.ts";
import { readWithCohere } from "./readers/cohere.ts";
import { readWithGemini } from "./readers/gemini.ts";
import { readWithMistral } from "./readers/mistral.ts";
import { readWithOllama } from "./readers/ollama.ts";
import { readWithOpenAI } from "./readers/openai.ts";
import type { Recording } from "./recording.ts";
import { toPrompt } from "./replay.ts";

export async function readWithVendorClient(recording: Recording, url: string): Promise<Outcome> {
  const { kind, provider, stream } = recording;
  // The clients warn of models that are about to end.
  const model = "recorded";
  const messages = [{ role: "user", content: toPrompt(recording, "event") }];
  const target = { baseURL: url, apiKey: "a-key", toFailure: toGatewayFailure };
  if (kind === "generateContent") return readWithGemini(recording, url);
  if (kind === "converse") return readWithBedrock(recording, url);
  if (kind === "messages") {
    const toFailure = (status: number | null, _type: string, message: string) =>
      // An empty account comes as a bad request, and is told apart only by its words.
      toGatewayFailure(status === 400 && message.includes("credit balance is too low") ? 402 : status);
    const reading = readWithAnthropic({ model, max_tokens: 4_096, messages, stream }, { ...target, toFailure });
    return (await reading).outcome;
  }
  if (provider === "cohere") return readWithCohere(recording, url);
  if (provider === "mistral") return readWithMistral(recording, url);
  if (provider === "ollama" && /\/api\/\w+$/.test(recording.url)) return readWithOllama(recording, url);
  const toFailure = (status: number | null, _code: string, stated: number | null) =>
    status === null ? inTheMiddle(stated) : toGatewayFailure(status);
  return readWithOpenAI({ model, messages, stream }, { ...target, toFailure });
}
