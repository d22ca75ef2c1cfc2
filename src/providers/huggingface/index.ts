import { defineProvider } from "../provider.ts";

export const huggingface = defineProvider("huggingface", "Hugging Face Inference Providers", {
  docs: "https://huggingface.co/docs/inference-providers/tasks/chat-completion",
  baseUrl: "https://router.huggingface.co/v1",
  keyPrefix: "hf_",
  keyNames: ["HF_TOKEN"],
  chat: {
    defaultModel: "meta-llama/Llama-3.1-8B-Instruct",
    models: [
      { id: "zai-org/GLM-5" },
      { id: "Qwen/Qwen3.5-397B-A17B" },
      { id: "deepseek-ai/DeepSeek-V3.2-Exp" },
      { id: "meta-llama/Llama-3.3-70B-Instruct" },
      { id: "meta-llama/Llama-3.1-8B-Instruct" },
    ],
  },
});
