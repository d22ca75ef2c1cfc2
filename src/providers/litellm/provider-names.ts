// How LiteLLM names providers, in the first part of a model's name, and how this gateway does.
// https://docs.litellm.ai/docs/providers lists the names.

import { lookUp } from "../../lib/look-up.ts";

/** Where both names are the same, the table has no entry. */
const otherNames: Readonly<Record<string, string>> = {
  azure_text: "azure",
  bedrock_converse: "bedrock",
  vertex_ai: "vertexai",
  vertex_ai_beta: "vertexai",
  cohere_chat: "cohere",
  together_ai: "together",
  fireworks_ai: "fireworks",
  ollama_chat: "ollama",
  nvidia_nim: "nvidia",
  jina_ai: "jina",
  hosted_vllm: "vllm",
  lm_studio: "lmstudio",
  litellm_proxy: "litellm",
  dashscope: "qwen",
  friendliai: "friendli",
  vercel_ai_gateway: "vercel",
};

/** Servers that use the chat format at an address of their own. */
const compatibleServers: ReadonlySet<string> = new Set([
  "openai_like",
  "custom_openai",
  "text-completion-openai",
  "xinference",
  "llamafile",
  "infinity",
]);

/** The variable in which LiteLLM expects the key, where this gateway does not read it. */
const keyVariables: Readonly<Record<string, string>> = {
  together: "TOGETHERAI_API_KEY",
  fireworks: "FIREWORKS_AI_API_KEY",
  nvidia: "NVIDIA_NIM_API_KEY",
  jina: "JINA_AI_API_KEY",
  vllm: "HOSTED_VLLM_API_KEY",
};

/** LiteLLM recognizes the provider of these models without a prefix. */
const bareModels: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^(?:gpt-|o\d|chatgpt-|text-embedding-|omni-moderation|dall-e|whisper|tts-)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^(?:gemini-|text-embedding-00)/, "vertexai"],
  [/^(?:command|embed-)/, "cohere"],
  [/^(?:mistral-|codestral|ministral|pixtral)/, "mistral"],
];

export interface SplitModel {
  /** The name of this gateway; null: the provider is not known. */
  readonly provider: string | null;
  /** The name of LiteLLM, for messages. */
  readonly written: string;
  readonly model: string;
  /** A server at an address of the operator's that uses the chat format. */
  readonly isCompatibleServer: boolean;
}

/** `known`: the names of this gateway's providers with models. */
export function splitLitellmModel(name: string, given: string | null, known: ReadonlySet<string>): SplitModel {
  const [prefix = "", ...rest] = name.split("/");
  const written = given ?? (rest.length > 0 ? prefix : "");
  const isPrefixed = rest.length > 0 && (given === null || given === prefix);
  // LiteLLM's name of an API of this vendor is followed by one more part.
  const model = (isPrefixed ? rest.join("/") : name).replace(/^converse\//, "");
  if (written === "") {
    const provider = bareModels.find(([pattern]) => pattern.test(name))?.[1] ?? null;
    return { provider, written: provider ?? "", model, isCompatibleServer: false };
  }
  const translated = lookUp(otherNames, written) ?? written;
  const provider = known.has(translated) ? translated : null;
  return { provider, written, model, isCompatibleServer: compatibleServers.has(written) };
}

export function findKeyVariable(provider: string): string | null {
  return lookUp(keyVariables, provider) ?? null;
}
