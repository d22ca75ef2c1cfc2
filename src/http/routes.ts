// The route table.

import { asyncJobRoutes } from "./endpoints/async-jobs.ts";
import { audioRoutes } from "./endpoints/audio.ts";
import { auditRoutes } from "./endpoints/audit.ts";
import { budgetRoutes } from "./endpoints/budgets.ts";
import { chatCompletionRoutes } from "./endpoints/chat-completions.ts";
import { collectionRoutes } from "./endpoints/collections.ts";
import { docsRoutes } from "./endpoints/docs.ts";
import { embeddingsRoutes } from "./endpoints/embeddings.ts";
import { fileRoutes } from "./endpoints/files.ts";
import { healthRoutes } from "./endpoints/health.ts";
import { imagesRoutes } from "./endpoints/images.ts";
import { infoRoutes } from "./endpoints/info.ts";
import { keyRoutes } from "./endpoints/keys.ts";
import { liveRoutes } from "./endpoints/live.ts";
import { managedFileRoutes } from "./endpoints/managed-files.ts";
import { managedJobRoutes } from "./endpoints/managed-jobs.ts";
import { meRoutes } from "./endpoints/me.ts";
import { messagesRoutes } from "./endpoints/messages.ts";
import { metricsRoutes } from "./endpoints/metrics.ts";
import { modelsRoutes } from "./endpoints/models.ts";
import { moderationsRoutes } from "./endpoints/moderations.ts";
import { openApiRoutes } from "./endpoints/openapi.ts";
import { providerRoutes } from "./endpoints/providers.ts";
import { resourceRoutes } from "./endpoints/resources.ts";
import { responseRoutes } from "./endpoints/responses.ts";
import { routingRoutes } from "./endpoints/routing.ts";
import { sessionRoutes } from "./endpoints/sessions.ts";
import { settingsRoutes } from "./endpoints/settings.ts";
import { teamRoutes } from "./endpoints/teams.ts";
import { universalAiRoutes } from "./endpoints/universal-ai.ts";
import { usageRoutes } from "./endpoints/usage.ts";
import { webhookRoutes } from "./endpoints/webhooks.ts";
import type { Route } from "./route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";
import { withAudit } from "./with-audit.ts";

export function createRoutes(dependencies: RouteDependencies): Route[] {
  const routes: Route[] = [
    ...chatCompletionRoutes(dependencies),
    ...messagesRoutes(dependencies),
    ...embeddingsRoutes(dependencies),
    ...responseRoutes(dependencies),
    ...universalAiRoutes(dependencies),
    ...asyncJobRoutes(dependencies),
    ...managedJobRoutes(dependencies.managedJobs),
    ...collectionRoutes(dependencies),
    ...webhookRoutes(dependencies.webhookKeys),
    ...audioRoutes(dependencies),
    ...imagesRoutes(dependencies),
    ...moderationsRoutes(dependencies),
    ...fileRoutes(dependencies),
    ...managedFileRoutes(dependencies),
    ...resourceRoutes(dependencies.resources),
    ...modelsRoutes(dependencies.catalogue),
    ...infoRoutes(dependencies.catalogue),
    ...openApiRoutes(() => routes),
    ...docsRoutes(() => routes),
    ...keyRoutes(dependencies.keyring),
    ...teamRoutes(dependencies.teams),
    ...sessionRoutes(dependencies),
    ...auditRoutes(dependencies.audit),
    ...usageRoutes(dependencies),
    ...budgetRoutes(dependencies),
    ...liveRoutes(dependencies.readMetrics),
    ...meRoutes(dependencies),
    ...providerRoutes(dependencies),
    ...routingRoutes(dependencies),
    ...settingsRoutes(dependencies),
    ...healthRoutes(dependencies),
    ...metricsRoutes(dependencies.readMetrics, "management"),
  ];
  return routes.map((route) => withAudit(route, dependencies.audit));
}
