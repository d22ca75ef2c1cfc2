// The services that the routes use.

import type { Audit } from "../access/audit.ts";
import type { Keyring } from "../access/keys.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { Sessions } from "../access/sessions.ts";
import type { Oidc } from "../access/sessions-oidc.ts";
import type { Teams } from "../access/teams.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Degradation, GatewayStatus } from "../contract/health.ts";
import type { MayNameHost } from "../contract/media-urls.ts";
import type { ProviderState } from "../contract/providers.ts";
import type { SettingsInForce } from "../contract/settings.ts";
import type { GatewayError } from "../errors.ts";
import type { FileStore } from "../files/file-store.ts";
import type { ResourceUrls } from "../files/resource-urls.ts";
import type { Uploads } from "../files/uploads.ts";
import type { ChatCompletions } from "../inference/chat-completions.ts";
import type { Embeddings } from "../inference/embeddings.ts";
import type { Messages } from "../inference/messages/messages.ts";
import type { ProviderCredentials } from "../inference/provider-credentials.ts";
import type { Responses } from "../inference/responses/responses.ts";
import type { RoutingPreviews } from "../inference/routing-preview.ts";
import type { ProviderTester } from "../inference/test-provider.ts";
import type { Collections } from "../inference/universal-ai/collections.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { ManagedJobs } from "../jobs/managed-jobs.ts";
import type { WebhookKeys } from "../jobs/webhook-keys.ts";
import type { Log } from "../log.ts";
import type { ReadAllMetrics } from "../metrics/metrics-link.ts";
import type { BudgetStore } from "../storage/stores.ts";
import type { Captures } from "../usage/captures.ts";
import type { LatencyReports } from "../usage/latency.ts";
import type { UsageReports } from "../usage/reports.ts";
import type { RequestLog } from "../usage/requests.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Heartbeat } from "./event-stream.ts";
import type { SignInLimit } from "./sign-in-limit.ts";

export interface RouteDependencies {
  readonly audit: Audit;
  readonly sessions: Sessions;
  readonly authenticator: Authenticator;
  readonly signInLimit: SignInLimit;
  /** Null: sign-in with OpenID Connect is not configured. */
  readonly oidc: { readonly name: string; readonly client: Oidc } | null;
  readonly catalogue: Catalogue;
  readonly keyring: Keyring;
  readonly teams: Teams;
  readonly usageReports: UsageReports;
  readonly latencyReports: LatencyReports;
  readonly requestLog: RequestLog;
  readonly captures: Captures;
  readonly budgets: BudgetStore;
  readonly rates: RateLimits;
  readonly chatCompletions: ChatCompletions;
  readonly messages: Messages;
  readonly embeddings: Embeddings;
  readonly responses: Responses;
  readonly universalAi: UniversalAi;
  readonly collections: Collections;
  readonly jobs: Jobs;
  readonly managedJobs: ManagedJobs;
  readonly webhookKeys: WebhookKeys;
  readonly files: FileStore;
  readonly uploads: Uploads;
  readonly resources: ResourceUrls;
  readonly describeProviders: () => ProviderState[];
  readonly credentials: ProviderCredentials;
  readonly testProvider: ProviderTester;
  readonly routing: RoutingPreviews;
  /** The settings and facts of this process, without what only the supervisor knows. */
  readonly describeSettings: () => Omit<SettingsInForce, "configuration">;
  readonly readMetrics: ReadAllMetrics;
  /** Model names that the operator declared. */
  readonly aliases: ReadonlySet<string>;
  readonly mayNameHost: MayNameHost;
  readonly heartbeat: Heartbeat;
  readonly log: Log;
  /** Null while requests are served, otherwise the answer to a probe. */
  readonly whyNotReady: () => GatewayError | null;
  /** What this process knows to be impaired. */
  readonly listDegradations: () => readonly Degradation[];
  /** Whether the header holds a management key. Throws for a wrong key. */
  readonly isOperator: (authorization: string | null) => Promise<boolean>;
  /** Null when there is no supervisor, or when it does not answer. */
  readonly readStatus: () => Promise<GatewayStatus | null>;
}
