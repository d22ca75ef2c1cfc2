// Every dialect, one line each. Null: it is our callers' own, and passes untouched.

import type { Dialect } from "../dialect.ts";
import type { DialectName } from "../provider.ts";
import { anthropic } from "./anthropic/index.ts";
import { bedrock } from "./bedrock/index.ts";
import { cohere } from "./cohere/index.ts";
import { gemini, vertexai } from "./gemini/index.ts";
import { jina } from "./jina/index.ts";
import { mistral } from "./mistral/index.ts";
import { ollama } from "./ollama/index.ts";
import { voyage } from "./voyage/index.ts";

export const dialects: Readonly<Record<DialectName, Dialect | null>> = {
  openai: null,
  anthropic,
  gemini,
  vertexai,
  bedrock,
  cohere,
  ollama,
  mistral,
  voyage,
  jina,
};
