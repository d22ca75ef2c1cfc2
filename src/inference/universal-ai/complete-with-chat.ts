// Chat completions for engines that do a task by asking a model: routed, retried and priced as every other.

import type { Caller } from "../../access/caller.ts";
import type { ChatCompletionRequest } from "../../contract/chat-completions.ts";
import type { ChatCompletion, ChatRequest } from "../../contract/chat-format.ts";
import { scanJson } from "../../lib/json-scan.ts";
import type { Attempts } from "../attempts.ts";
import type { ChatCompletions } from "../chat-completions.ts";
import type { RoutePlanner } from "../route-planner.ts";
import { type AttemptNote, Trace } from "../trace.ts";

export interface CompleterOptions {
  readonly router: RoutePlanner;
  readonly attempts: Attempts;
  /** Which tells nobody of its attempts: the task's own report covers them. */
  readonly chatCompletions: ChatCompletions;
}

interface Context {
  readonly signal: AbortSignal;
  readonly deadline: number;
  readonly requestId: string;
  readonly noteAttempt?: (attempt: AttemptNote) => void;
}

const scanLimits = { maxDepth: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY };

/** The engine acts for a caller who has been admitted already. */
const engineCaller: Caller = {
  keyId: "engine",
  kind: "inference",
  name: "engine",
  owner: null,
  scopes: new Set(["chat"]),
  allowedModels: null,
  rateLimit: null,
  budget: null,
  tags: {},
};

export function createCompleter({ router, attempts, chatCompletions }: CompleterOptions) {
  return async function complete(
    request: ChatRequest,
    offer: { readonly provider: string; readonly model: string },
    { signal, deadline, requestId, noteAttempt }: Context,
  ): Promise<{ completion: ChatCompletion; charge: { cost: number | null; reason: string | null } }> {
    const trace = new Trace(performance.now(), 0);
    const connection = { signal };
    const candidates = router.plan({ model: `${offer.provider}/${offer.model}` }, engineCaller, trace);
    const text = JSON.stringify(request);
    const scan = scanJson(text, scanLimits);
    const options = { candidates, trace, connection, deadline, repeatsExecuted: false } as const;
    const answer = await attempts.run(options, (candidate) => {
      const attempt = trace.attempts.at(-1);
      if (attempt !== undefined) noteAttempt?.(attempt);
      return chatCompletions.attempt(
        {
          request: request as unknown as ChatCompletionRequest,
          value: request,
          text,
          scan,
          caller: engineCaller,
          connection,
          requestId,
          trace,
          wantsMetadata: false,
          checksStructure: false,
        },
        candidate,
      );
    });
    if (answer.kind === "stream") throw new TypeError("no stream was asked for");
    const { cost, reason } = answer.charge;
    return { completion: answer.value as ChatCompletion, charge: { cost, reason } };
  };
}
