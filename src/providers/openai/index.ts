import { defineProvider } from "../provider.ts";
import { chat } from "./chat.ts";
import { generateImages, varyImage } from "./images.ts";
import { moderateText } from "./moderation.ts";
import { speak } from "./speech.ts";
import { transcribe } from "./transcribe.ts";

export const openai = defineProvider("openai", "OpenAI", {
  docs: "https://developers.openai.com/api/docs/models/compare",
  baseUrl: "https://api.openai.com/v1",
  keyPrefix: "sk-",
  chat,
  // https://developers.openai.com/api/docs/guides/embeddings
  embeddings: {
    models: [
      { id: "text-embedding-3-small", dimensions: 1_536, maxInputTokens: 8_192 },
      { id: "text-embedding-3-large", dimensions: 3_072, maxInputTokens: 8_192 },
      { id: "text-embedding-ada-002", dimensions: 1_536, maxInputTokens: 8_192 },
    ],
  },
  responses: {
    kind: "native",
    // https://developers.openai.com/api/reference/resources/responses
    paths: ["input_tokens", "compact"],
  },
  billedParams: ["model", "input", "n"],
  tasks: [moderateText, generateImages, varyImage, speak, transcribe],
});
