// The route table.

import type { Keyring } from "../access/keys.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { MayNameHost } from "../contract/media-urls.ts";
import type { ProviderState } from "../contract/providers.ts";
import type { FileStore } from "../files/file-store.ts";
import type { ResourceUrls } from "../files/resource-urls.ts";
import type { Uploads } from "../files/uploads.ts";
import type { ChatCompletions } from "../inference/chat-completions.ts";
import type { Embeddings } from "../inference/embeddings.ts";
import type { Messages } from "../inference/messages/messages.ts";
import type { Responses } from "../inference/responses/responses.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { WebhookKeys } from "../jobs/webhook-keys.ts";
import type { Log } from "../log.ts";
import { asyncJobRoutes } from "./endpoints/async-jobs.ts";
import { audioRoutes } from "./endpoints/audio.ts";
import { chatCompletionRoutes } from "./endpoints/chat-completions.ts";
import { embeddingsRoutes } from "./endpoints/embeddings.ts";
import { fileRoutes } from "./endpoints/files.ts";
import { healthRoutes, type Readiness } from "./endpoints/health.ts";
import { imagesRoutes } from "./endpoints/images.ts";
import { infoRoutes } from "./endpoints/info.ts";
import { keyRoutes } from "./endpoints/keys.ts";
import { messagesRoutes } from "./endpoints/messages.ts";
import { modelsRoutes } from "./endpoints/models.ts";
import { moderationsRoutes } from "./endpoints/moderations.ts";
import { openApiRoutes } from "./endpoints/openapi.ts";
import { providerRoutes } from "./endpoints/providers.ts";
import { resourceRoutes } from "./endpoints/resources.ts";
import { responseRoutes } from "./endpoints/responses.ts";
import { universalAiRoutes } from "./endpoints/universal-ai.ts";
import { webhookRoutes } from "./endpoints/webhooks.ts";
import type { Heartbeat } from "./event-stream.ts";
import type { Route } from "./route.ts";

interface Dependencies extends Readiness {
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  readonly chatCompletions: ChatCompletions;
  readonly messages: Messages;
  readonly embeddings: Embeddings;
  readonly responses: Responses;
  readonly universalAi: UniversalAi;
  readonly jobs: Jobs;
  readonly webhookKeys: WebhookKeys;
  readonly files: FileStore;
  readonly uploads: Uploads;
  readonly resources: ResourceUrls;
  readonly describeProviders: () => ProviderState[];
  /** Model names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  readonly mayNameHost: MayNameHost;
  readonly heartbeat: Heartbeat;
  readonly log: Log;
}

export function createRoutes(dependencies: Dependencies): Route[] {
  const routes: Route[] = [
    ...chatCompletionRoutes(dependencies),
    ...messagesRoutes(dependencies),
    ...embeddingsRoutes(dependencies),
    ...responseRoutes(dependencies),
    ...universalAiRoutes(dependencies),
    ...asyncJobRoutes(dependencies),
    ...webhookRoutes(dependencies.webhookKeys),
    ...audioRoutes(dependencies),
    ...imagesRoutes(dependencies),
    ...moderationsRoutes(dependencies),
    ...fileRoutes(dependencies),
    ...resourceRoutes(dependencies.resources),
    ...modelsRoutes(dependencies.catalogue),
    ...infoRoutes(dependencies.catalogue),
    ...openApiRoutes(() => routes),
    ...keyRoutes(dependencies.keyring),
    ...providerRoutes(dependencies.describeProviders),
    ...healthRoutes(dependencies),
  ];
  return routes;
}
