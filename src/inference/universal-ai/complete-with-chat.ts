// Chat completions for engines that perform a task with a chat model: planned, retried and priced like every other chat completion.

import type { ChatCompletion } from "../../contract/chat-format.ts";
import type { Complete } from "../../engines/llm/index.ts";
import { type ChatCompletions, toChatInput } from "../chat-completions.ts";
import { type ModelCaller, planModelCall } from "./model-call.ts";

export function createCompleter(models: ModelCaller, chatCompletions: ChatCompletions): Complete {
  return async (request, target, call) => {
    const { context, options } = planModelCall(models, target, call);
    const input = toChatInput(context, request, { checksStructure: false });
    const answer = await models.candidateLoop.run(options, (candidate, note) => {
      call.onAttempt?.(note);
      return chatCompletions.attempt(input, candidate);
    });
    if (answer.kind === "stream") throw new TypeError("no stream was requested");
    return { completion: answer.value as ChatCompletion, charge: answer.charge };
  };
}
