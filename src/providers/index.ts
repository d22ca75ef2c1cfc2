// Every vendor, one line each. A vendor's row is its own file.

import type { ProviderRow } from "./provider.ts";
import { anthropic } from "./rows/anthropic.ts";
import { azure } from "./rows/azure.ts";
import { baseten } from "./rows/baseten.ts";
import { bedrock } from "./rows/bedrock.ts";
import { cerebras } from "./rows/cerebras.ts";
import { cloudflare } from "./rows/cloudflare.ts";
import { cohere } from "./rows/cohere.ts";
import { deepinfra } from "./rows/deepinfra.ts";
import { deepseek } from "./rows/deepseek.ts";
import { fireworks } from "./rows/fireworks.ts";
import { friendli } from "./rows/friendli.ts";
import { gemini } from "./rows/gemini.ts";
import { groq } from "./rows/groq.ts";
import { huggingface } from "./rows/huggingface.ts";
import { hyperbolic } from "./rows/hyperbolic.ts";
import { inception } from "./rows/inception.ts";
import { jina } from "./rows/jina.ts";
import { litellm } from "./rows/litellm.ts";
import { llamacpp } from "./rows/llamacpp.ts";
import { lmstudio } from "./rows/lmstudio.ts";
import { minimax } from "./rows/minimax.ts";
import { mistral } from "./rows/mistral.ts";
import { moonshot } from "./rows/moonshot.ts";
import { nebius } from "./rows/nebius.ts";
import { novita } from "./rows/novita.ts";
import { nvidia } from "./rows/nvidia.ts";
import { ollama } from "./rows/ollama.ts";
import { openai } from "./rows/openai.ts";
import { openrouter } from "./rows/openrouter.ts";
import { ovhcloud } from "./rows/ovhcloud.ts";
import { perplexity } from "./rows/perplexity.ts";
import { qwen } from "./rows/qwen.ts";
import { sambanova } from "./rows/sambanova.ts";
import { scaleway } from "./rows/scaleway.ts";
import { siliconflow } from "./rows/siliconflow.ts";
import { stepfun } from "./rows/stepfun.ts";
import { together } from "./rows/together.ts";
import { upstage } from "./rows/upstage.ts";
import { venice } from "./rows/venice.ts";
import { vercel } from "./rows/vercel.ts";
import { vertexai } from "./rows/vertexai.ts";
import { vllm } from "./rows/vllm.ts";
import { voyage } from "./rows/voyage.ts";
import { wandb } from "./rows/wandb.ts";
import { writer } from "./rows/writer.ts";
import { xai } from "./rows/xai.ts";
import { zai } from "./rows/zai.ts";
import { sandbox } from "./sandbox/index.ts";

export const rows: readonly ProviderRow[] = [
  anthropic,
  azure,
  baseten,
  bedrock,
  cerebras,
  cloudflare,
  cohere,
  deepinfra,
  deepseek,
  fireworks,
  friendli,
  gemini,
  groq,
  huggingface,
  hyperbolic,
  inception,
  jina,
  litellm,
  llamacpp,
  lmstudio,
  minimax,
  mistral,
  moonshot,
  nebius,
  novita,
  nvidia,
  ollama,
  openai,
  openrouter,
  ovhcloud,
  perplexity,
  qwen,
  sambanova,
  scaleway,
  siliconflow,
  stepfun,
  together,
  upstage,
  venice,
  vercel,
  vertexai,
  vllm,
  voyage,
  wandb,
  writer,
  xai,
  zai,
  sandbox,
];
