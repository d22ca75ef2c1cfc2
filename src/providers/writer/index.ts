import { defineProvider } from "../provider.ts";

export const writer = defineProvider("writer", "Writer", {
  docs: "https://dev.writer.com",
  baseUrl: "https://api.writer.com/v1",
  chat: {
    path: "/chat",
    // The usage chunk is its last event; no `[DONE]` follows.
    streamEnd: "finish",
    defaultModel: "palmyra-x5",
    models: [
      { id: "palmyra-x5", contextTokens: 1_000_000, tools: true },
      { id: "palmyra-x4", contextTokens: 128_000, tools: true },
    ],
  },
});
