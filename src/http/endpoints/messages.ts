// POST /v3/v1/messages and /v3/v1/messages/count_tokens: Anthropic's Messages format in front of every model.

import * as contract from "../../contract/messages.ts";
import { toThreadRefusal } from "../../inference/messages/messages-error.ts";
import { toMessagesErrorFrame } from "../error-reply.ts";
import { streamReply } from "../event-stream.ts";
import { uploadsInliner } from "../inline-uploads.ts";
import { contextOf, modelCallErrors } from "../model-call.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const betaNames = /^[\w.,:; -]{1,1024}$/;
const common = {
  tag: "Chat",
  method: "POST",
  key: "inference",
  scope: "chat",
  errors: modelCallErrors,
  errorFormat: "messages",
} as const;
const messages = [{ role: "user", content: "Hello" }];

export function messagesRoutes(dependencies: RouteDependencies): Route[] {
  const { aliases, mayNameHost, files, heartbeat, log } = dependencies;
  const prepare = uploadsInliner(files, "messages");
  return [
    defineRoute("createMessage", "Create a message", {
      ...common,
      path: "/v3/v1/messages",
      description:
        "Anthropic's Messages format in front of every model. A provider of that format receives the request unchanged; for other " +
        "providers it is translated. An image that a model generates is a `text` block of its own, a Markdown image with a data URL, because " +
        "answers of this format have no images; send the block back unchanged. The key may also be sent in the header `x-api-key`. Errors have the format `MessagesError`.",
      body: { kind: "json", schema: contract.createMessagesRequest(aliases, mayNameHost), prepare },
      answers: [
        { status: 200, description: "The message.", schema: contract.messagesAnswer },
        {
          status: 200,
          description:
            "With `stream: true`, server-sent events from `message_start` to `message_stop`. A stream that ends without " +
            "`message_stop` was cut off, and its last event is `error`.",
          schema: contract.messagesEvent,
          contentType: "text/event-stream",
        },
      ],
      example: { body: { model: "sandbox/echo", max_tokens: 100, messages } },
      async run(call) {
        const { body, json, request, requestId, trace, wantsMetadata } = call;
        if (body["thread"]) return replyJson(toThreadRefusal(requestId), { status: 400 });
        const { text, scan } = json;
        const input = { ...contextOf(call), request: body, text, scan, beta: readBeta(request.headers) };
        const answer = await dependencies.messages.create(input);
        if (answer.kind === "whole") return answer.text;
        return streamReply(answer.stream, heartbeat, (error) =>
          toMessagesErrorFrame(error, { requestId, log, metadata: wantsMetadata ? trace.toMetadata(requestId) : null }),
        );
      },
    }),
    defineRoute("countMessageTokens", "Count the tokens of a message", {
      ...common,
      path: "/v3/v1/messages/count_tokens",
      description: "The provider counts the tokens if it can; otherwise the number is an estimate, marked `estimated`.",
      body: { kind: "json", schema: contract.createCountTokensRequest(aliases, mayNameHost), prepare },
      answers: [{ status: 200, description: "The count.", schema: contract.tokenCount }],
      example: { body: { model: "sandbox/echo", messages } },
      run(call) {
        const { text, scan } = call.json;
        const beta = readBeta(call.request.headers);
        return dependencies.messages.count({ ...contextOf(call), request: call.body, text, scan, beta });
      },
    }),
  ];
}

function readBeta(headers: Headers): string | null {
  const beta = headers.get("anthropic-beta");
  return beta !== null && betaNames.test(beta) ? beta : null;
}
