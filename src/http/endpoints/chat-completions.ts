// POST /v3/chat/completions, also under the name /v3/llm/chat/completions.

import { createChatCompletionRequest } from "../../contract/chat-completions.ts";
import type { ChatRequest } from "../../contract/chat-format.ts";
import type { MayNameHost } from "../../contract/media-urls.ts";
import { createModelNameTest } from "../../contract/model-names.ts";
import { createPlainCheck } from "../../contract/plain-chat-request.ts";
import { parse } from "../../contract/problems.ts";
import type { ChatCompletions } from "../../inference/chat-completions.ts";
import type { Ticker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import { CallerLeft } from "../../providers/call.ts";
import { toErrorFrame } from "../error-reply.ts";
import { streamReply } from "../event-stream.ts";
import type { Reply } from "../reply.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { wantsMetadata } from "../wants-metadata.ts";

interface Dependencies {
  readonly chatCompletions: ChatCompletions;
  readonly aliases: ReadonlySet<string>;
  readonly mayNameHost: MayNameHost;
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
  readonly log: Log;
}

export function chatCompletionRoutes(dependencies: Dependencies): Route[] {
  const { chatCompletions, heartbeatMs, ticker, log } = dependencies;
  const requestSchema = createChatCompletionRequest(dependencies.aliases, dependencies.mayNameHost);
  const isPlain = createPlainCheck(
    new Set(Object.keys(requestSchema.shape)),
    createModelNameTest(dependencies.aliases),
  );

  async function run({ request, requestId, caller, body, trace }: Call): Promise<Reply | string> {
    const value = body?.value;
    const parsed = isPlain(value) ? value : parse(requestSchema, value);
    const allowed = requireCaller(caller, "chat");
    if (body === null) throw new TypeError("the route reads a body");
    const { text, scan } = body;
    const isTold = wantsMetadata(request.headers);
    const answer = await chatCompletions.complete({
      request: parsed,
      value: body.value as ChatRequest,
      text,
      scan,
      caller: allowed,
      connection: request,
      requestId,
      trace,
      wantsMetadata: isTold,
    });
    if (answer.kind === "whole") return answer.text;
    const describeFailure = (error: unknown) => {
      if (error instanceof CallerLeft) return null;
      return toErrorFrame(error, { requestId, log, metadata: isTold ? trace.toMetadata(requestId) : null });
    };
    return streamReply(answer.stream, {
      heartbeatMs,
      ticker,
      headers: { "x-accel-buffering": "no" },
      describeFailure,
    });
  }

  const paths = ["/v3/chat/completions", "/v3/llm/chat/completions"];
  return paths.map((path) => ({ method: "POST", path, key: "inference", body: "json", run }));
}
