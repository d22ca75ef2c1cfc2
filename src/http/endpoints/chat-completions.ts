// POST /v3/chat/completions, also under the name /v3/llm/chat/completions.

import { chatCompletion, chatCompletionChunk, createChatCompletionRequest } from "../../contract/chat-completions.ts";
import type { ChatRequest } from "../../contract/chat-format.ts";
import { createModelNameTest } from "../../contract/model-names.ts";
import { createPlainCheck } from "../../contract/plain-chat-request.ts";
import { toErrorFrame } from "../error-reply.ts";
import { streamReply } from "../event-stream.ts";
import { uploadsInliner } from "../inline-uploads.ts";
import { contextOf, modelCallErrors } from "../model-call.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

export function chatCompletionRoutes(dependencies: RouteDependencies): Route[] {
  const { chatCompletions, aliases, mayNameHost, files, heartbeat, log } = dependencies;
  const schema = createChatCompletionRequest(aliases, mayNameHost);
  const route = defineRoute("createChatCompletion", "Create a chat completion", {
    tag: "Chat",
    description:
      "Sends a conversation to a model and returns its reply. Members that are not listed here are forwarded to the provider " +
      "unchanged.",
    method: "POST",
    path: "/v3/chat/completions",
    key: "inference",
    scope: "chat",
    body: {
      kind: "json",
      schema,
      isCertainlyValid: createPlainCheck(new Set(Object.keys(schema.shape)), createModelNameTest(aliases)),
      prepare: uploadsInliner(files, "chat"),
    },
    answers: [
      { status: 200, description: "The completion.", schema: chatCompletion },
      {
        status: 200,
        description:
          "With `stream: true`, server-sent events: each `data:` line holds one chunk, and `data: [DONE]` ends a complete " +
          "stream. A stream that ends without it was cut off.",
        schema: chatCompletionChunk,
        contentType: "text/event-stream",
      },
    ],
    errors: modelCallErrors,
    example: { body: { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] } },
    async run(call) {
      const { requestId, trace, json, wantsMetadata } = call;
      const answer = await chatCompletions.complete({
        ...contextOf(call),
        request: call.body,
        value: json.value as ChatRequest,
        text: json.text,
        scan: json.scan,
      });
      if (answer.kind === "whole") return answer.text;
      return streamReply(answer.stream, heartbeat, (error) =>
        toErrorFrame(error, { requestId, log, metadata: wantsMetadata ? trace.toMetadata(requestId) : null }),
      );
    },
  });
  return [
    route,
    {
      ...route,
      id: "createLlmChatCompletion",
      path: "/v3/llm/chat/completions",
      summary: "Create a chat completion (alias)",
      description: "Another path to the same operation as `/v3/chat/completions`.",
    },
  ];
}
