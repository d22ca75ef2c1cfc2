// Every provider, one line each. A provider is a folder: its row, its models and its tasks.

import { affinda } from "./affinda/index.ts";
import { amazon } from "./amazon/index.ts";
import { anthropic } from "./anthropic/index.ts";
import { api4ai } from "./api4ai/index.ts";
import { assembly } from "./assembly/index.ts";
import { base64 } from "./base64/index.ts";
import { baseten } from "./baseten/index.ts";
import { cerebras } from "./cerebras/index.ts";
import { clipdrop } from "./clipdrop/index.ts";
import { cloudflare } from "./cloudflare/index.ts";
import { cohere } from "./cohere/index.ts";
import { deepgram } from "./deepgram/index.ts";
import { deepinfra } from "./deepinfra/index.ts";
import { deepl } from "./deepl/index.ts";
import { deepseek } from "./deepseek/index.ts";
import { eagledoc } from "./eagledoc/index.ts";
import { elevenlabs } from "./elevenlabs/index.ts";
import { firecrawl } from "./firecrawl/index.ts";
import { fireworks } from "./fireworks/index.ts";
import { friendli } from "./friendli/index.ts";
import { gladia } from "./gladia/index.ts";
import { google } from "./google/index.ts";
import { vertexai } from "./google/vertexai.ts";
import { groq } from "./groq/index.ts";
import { huggingface } from "./huggingface/index.ts";
import { hyperbolic } from "./hyperbolic/index.ts";
import { inception } from "./inception/index.ts";
import { jina } from "./jina/index.ts";
import { klippa } from "./klippa/index.ts";
import { linkup } from "./linkup/index.ts";
import { litellm } from "./litellm/index.ts";
import { llamacpp } from "./llamacpp/index.ts";
import { lmstudio } from "./lmstudio/index.ts";
import { microsoft } from "./microsoft/index.ts";
import { mindee } from "./mindee/index.ts";
import { minimax } from "./minimax/index.ts";
import { mistral } from "./mistral/index.ts";
import { modernmt } from "./modernmt/index.ts";
import { moonshot } from "./moonshot/index.ts";
import { nebius } from "./nebius/index.ts";
import { novita } from "./novita/index.ts";
import { nvidia } from "./nvidia/index.ts";
import { ollama } from "./ollama/index.ts";
import { openai } from "./openai/index.ts";
import { openrouter } from "./openrouter/index.ts";
import { originalityai } from "./originalityai/index.ts";
import { ovhcloud } from "./ovhcloud/index.ts";
import { perplexity } from "./perplexity/index.ts";
import { photoroom } from "./photoroom/index.ts";
import { privateai } from "./privateai/index.ts";
import type { ProviderRow } from "./provider.ts";
import { qwen } from "./qwen/index.ts";
import { replicate } from "./replicate/index.ts";
import { sambanova } from "./sambanova/index.ts";
import { sandbox } from "./sandbox/index.ts";
import { sapling } from "./sapling/index.ts";
import { scaleway } from "./scaleway/index.ts";
import { sentisight } from "./sentisight/index.ts";
import { sightengine } from "./sightengine/index.ts";
import { siliconflow } from "./siliconflow/index.ts";
import { stabilityai } from "./stabilityai/index.ts";
import { stepfun } from "./stepfun/index.ts";
import { tabscanner } from "./tabscanner/index.ts";
import { tavily } from "./tavily/index.ts";
import { together } from "./together/index.ts";
import { upstage } from "./upstage/index.ts";
import { venice } from "./venice/index.ts";
import { vercel } from "./vercel/index.ts";
import { veryfi } from "./veryfi/index.ts";
import { vllm } from "./vllm/index.ts";
import { voyage } from "./voyage/index.ts";
import { wandb } from "./wandb/index.ts";
import { winstonai } from "./winstonai/index.ts";
import { writer } from "./writer/index.ts";
import { xai } from "./xai/index.ts";
import { zai } from "./zai/index.ts";

export const rows: readonly ProviderRow[] = [
  affinda,
  amazon,
  anthropic,
  api4ai,
  assembly,
  base64,
  baseten,
  cerebras,
  clipdrop,
  cloudflare,
  cohere,
  deepgram,
  deepinfra,
  deepl,
  deepseek,
  eagledoc,
  elevenlabs,
  firecrawl,
  fireworks,
  friendli,
  gladia,
  google,
  groq,
  huggingface,
  hyperbolic,
  inception,
  jina,
  klippa,
  linkup,
  litellm,
  llamacpp,
  lmstudio,
  microsoft,
  mindee,
  minimax,
  mistral,
  modernmt,
  moonshot,
  nebius,
  novita,
  nvidia,
  ollama,
  openai,
  openrouter,
  originalityai,
  ovhcloud,
  perplexity,
  photoroom,
  privateai,
  qwen,
  replicate,
  sambanova,
  sapling,
  scaleway,
  sentisight,
  sightengine,
  siliconflow,
  stabilityai,
  stepfun,
  tabscanner,
  tavily,
  together,
  upstage,
  venice,
  vercel,
  vertexai,
  veryfi,
  vllm,
  voyage,
  wandb,
  winstonai,
  writer,
  xai,
  zai,
  sandbox,
];
