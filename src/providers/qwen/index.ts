import { textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

export const qwen = defineProvider("qwen", "Qwen (Alibaba Cloud Model Studio)", {
  docs: "https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope",
  // Singapore. Operators set the addresses of other regions and of workspaces (`<id>.<region>.maas.aliyuncs.com`).
  baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  keyNames: ["DASHSCOPE_API_KEY"],
  chat: {
    defaultModel: "qwen-flash",
    defaultVisionModel: "qwen3.8-max",
    models: [
      { id: "qwen3.8-max", contextTokens: 1_000_000, maxOutputTokens: 65_536, input: textAndImage, reasoning: true },
      { id: "qwen3.8-max-0902", contextTokens: 991_000, maxOutputTokens: 128_000 },
      { id: "qwen3.5-plus" },
      { id: "qwen3-max" },
      { id: "qwen-plus" },
      { id: "qwen-flash" },
    ],
  },
});
