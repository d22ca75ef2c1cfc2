// Chat completions for engines that perform a task with a chat model: planned, retried and priced like every other chat completion.

import type { ChatCompletion } from "../../contract/chat-format.ts";
import type { Complete } from "../../engines/llm/index.ts";
import type { CandidateLoop } from "../candidate-loop.ts";
import { type ChatCompletions, toChatInput } from "../chat-completions.ts";
import type { RoutePlanner } from "../route-planner.ts";
import { openModelCall } from "./model-call.ts";

export interface CompleterOptions {
  readonly router: RoutePlanner;
  readonly candidateLoop: CandidateLoop;
  readonly chatCompletions: ChatCompletions;
}

export function createCompleter({ router, candidateLoop, chatCompletions }: CompleterOptions): Complete {
  return async (request, { provider, model }, { signal, deadline, requestId, onAttempt, ticket }) => {
    const { caller, trace, work } = openModelCall(ticket);
    const connection = { signal };
    const candidates = router.plan({ model: `${provider}/${model}` }, caller, trace);
    const context = { caller, connection, requestId, trace, wantsMetadata: false, work };
    const input = toChatInput(context, request, { checksStructure: false });
    const options = { candidates, trace, connection, deadline, repeatsExecuted: false } as const;
    const answer = await candidateLoop.run(options, (candidate, note) => {
      onAttempt?.(note);
      return chatCompletions.attempt(input, candidate);
    });
    if (answer.kind === "stream") throw new TypeError("no stream was requested");
    return { completion: answer.value as ChatCompletion, charge: answer.charge };
  };
}
