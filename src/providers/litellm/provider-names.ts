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

const converse = "the gateway uses the Converse API; check that the model supports it";

/**
 * LiteLLM's names of APIs and formats, which stand between a provider and its model. They are removed, because this gateway chooses the
 * API itself. A text is a note: the same model may answer differently.
 * https://docs.litellm.ai/docs/providers/bedrock, …/bedrock_imported and …/azure list them.
 */
const routes: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  openai: { responses: null },
  azure: { responses: null, o_series: null, gpt5_series: null },
  bedrock: {
    converse: null,
    invoke: null,
    chat_completions: null,
    converse_like: "the gateway adds the path of the Converse API to the address",
    llama: converse,
    deepseek_r1: converse,
    qwen2: converse,
    qwen3: converse,
    openai: converse,
    moonshot: converse,
    nova: converse,
    "nova-2": converse,
  },
};

/** APIs that this gateway does not use: what follows them is not the name of a model. */
const otherApis: Readonly<Record<string, ReadonlySet<string>>> = {
  bedrock: new Set(["agent", "agentcore", "async_invoke", "mantle", "claude_platform"]),
};

/** A region before the model, and the setting that has it here. */
const regions: Readonly<Record<string, { readonly form: RegExp; readonly setting: string }>> = {
  bedrock: { form: /^[a-z]{2}(?:-[a-z]+)+-\d$/, setting: "AWS_REGION" },
};

export interface SplitModel {
  /** The name of this gateway; null: the provider is not known. */
  readonly provider: string | null;
  /** The name of LiteLLM, for messages. */
  readonly written: string;
  readonly model: string;
  /** A server at an address of the operator's that uses the chat format. */
  readonly isCompatibleServer: boolean;
  /** What the operator should know about the removed parts of the name. */
  readonly notes: readonly string[];
  /** An API that this gateway does not use; null: the name is that of a model. */
  readonly otherApi: string | null;
}

/** `known`: the names of this gateway's providers with models. */
export function splitLitellmModel(name: string, given: string | null, known: ReadonlySet<string>): SplitModel {
  const [prefix = "", ...rest] = name.split("/");
  const written = given ?? (rest.length > 0 ? prefix : "");
  const isPrefixed = rest.length > 0 && (given === null || given === prefix);
  const unprefixed = isPrefixed ? rest.join("/") : name;
  if (written === "") {
    const provider = bareModels.find(([pattern]) => pattern.test(name))?.[1] ?? null;
    const split = { model: name, notes: [], otherApi: null };
    return { provider, written: provider ?? "", isCompatibleServer: false, ...split };
  }
  const translated = lookUp(otherNames, written) ?? written;
  const provider = known.has(translated) ? translated : null;
  return {
    provider,
    written,
    isCompatibleServer: compatibleServers.has(written),
    ...splitRoutes(unprefixed, translated),
  };
}

function splitRoutes(name: string, provider: string): Pick<SplitModel, "model" | "notes" | "otherApi"> {
  const known = lookUp(routes, provider) ?? {};
  const region = lookUp(regions, provider);
  const notes: string[] = [];
  let model = name;
  for (let slash = model.indexOf("/"); slash > 0; slash = model.indexOf("/")) {
    const part = model.slice(0, slash);
    if (lookUp(otherApis, provider)?.has(part)) return { model, notes, otherApi: part };
    const note = lookUp(known, part);
    const isRegion = region?.form.test(part) === true;
    if (note === undefined && !isRegion) break;
    if (isRegion) notes.push(`set ${region?.setting} in the environment to ${part}`);
    else if (note) notes.push(`'${part}/' was removed: ${note}`);
    model = model.slice(slash + 1);
  }
  return { model, notes, otherApi: null };
}

export function findKeyVariable(provider: string): string | null {
  return lookUp(keyVariables, provider) ?? null;
}
