// The route table, and nothing else.

import type { Keyring } from "../access/keys.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ChatCompletions } from "../inference/chat-completions.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import { chatCompletionRoutes } from "./endpoints/chat-completions.ts";
import { docsRoutes } from "./endpoints/docs.ts";
import { healthRoutes } from "./endpoints/health.ts";
import { infoRoutes } from "./endpoints/info.ts";
import { keyRoutes } from "./endpoints/keys.ts";
import { modelsRoutes } from "./endpoints/models.ts";
import { openApiRoutes } from "./endpoints/openapi.ts";
import { responseRoutes } from "./endpoints/responses.ts";
import { universalAiRoutes } from "./endpoints/universal-ai.ts";
import type { Route } from "./route.ts";

interface Dependencies {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  readonly chatCompletions: ChatCompletions;
  readonly aliases: ReadonlySet<string>;
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
  readonly log: Log;
  readonly whyNotReady: () => "draining" | "dependency_unavailable" | null;
}

export function createRoutes(dependencies: Dependencies): Route[] {
  const { catalogue, keyring, aliases, whyNotReady } = dependencies;
  return [
    ...chatCompletionRoutes(dependencies),
    ...responseRoutes(aliases),
    ...universalAiRoutes(),
    ...modelsRoutes(catalogue),
    ...infoRoutes(catalogue),
    ...openApiRoutes(),
    ...docsRoutes(),
    ...keyRoutes(keyring),
    ...healthRoutes({ whyNotReady }),
  ];
}
