// /v3/responses: create, retrieve, delete and cancel a response, list its input; count the tokens of an input, compact a conversation.

import * as contract from "../../contract/responses.ts";
import type { ResponseLookup, ResponsesAnswer, ResponsesInput } from "../../inference/responses/responses-input.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { toErrorObject } from "../error-reply.ts";
import { streamReply } from "../event-stream.ts";
import { uploadsInliner } from "../inline-uploads.ts";
import { contextOf, type KeyedCall, modelCallErrors, storedResponseErrors } from "../model-call.ts";
import type { JsonBody } from "../read-body.ts";
import type { Reply } from "../reply.ts";
import { type Call, defineRoute, type Route } from "../route.ts";
import type { RouteDependencies } from "../route-dependencies.ts";

const common = { tag: "Responses", key: "inference", scope: "responses" } as const;
const createErrors = [
  ...modelCallErrors,
  "previous_response_not_found",
  "previous_response_provider_mismatch",
  "stateful_not_supported",
] as const;
const one = {
  path: "/v3/responses/{response_id}",
  params: contract.responseParams,
  errors: storedResponseErrors,
} as const;
const exampleBody = { model: "sandbox/echo", input: "Hello" };
const examplePath = { response_id: "$RESPONSE_ID" };

export function responseRoutes({ responses, aliases, mayNameHost, files, heartbeat, log }: RouteDependencies): Route[] {
  const schema = contract.createResponseRequest(aliases, mayNameHost);
  const body = { kind: "json", schema, prepare: uploadsInliner(files, "responses") } as const;

  function respond(answer: ResponsesAnswer, call: Pick<Call, "requestId" | "trace" | "wantsMetadata">): Reply | string {
    if (answer.kind === "whole") return answer.text;
    const { requestId, trace, wantsMetadata } = call;
    return streamReply(answer.stream, heartbeat, (error) =>
      answer.fail({
        ...toErrorObject(error, requestId, log),
        ...(wantsMetadata && { switchyard: trace.toMetadata(requestId) }),
      }),
    );
  }

  return [
    defineRoute("createResponse", "Create a response", {
      ...common,
      description:
        "The stateful alternative to chat. A provider that has this API itself receives the request unchanged, except that the " +
        "gateway's ids are replaced by its own. For other providers the request is translated to a chat completion, and nothing " +
        "is stored unless the operator lets the gateway store conversations. The same path accepts WebSockets: send " +
        "`response.create` messages, receive the events.",
      method: "POST",
      path: "/v3/responses",
      body,
      answers: [
        { status: 200, description: "The response.", schema: contract.responseObject },
        {
          status: 200,
          description:
            "With `stream: true`, server-sent events; `data: [DONE]` ends a complete stream. A stream that is cut off ends with " +
            "`error` and `response.failed` instead.",
          schema: contract.responseEvent,
          contentType: "text/event-stream",
        },
      ],
      errors: createErrors,
      example: { body: exampleBody },
      run: async (call) => respond(await responses.create(toInput(call)), call),
    }),
    defineRoute("countResponseInputTokens", "Count the tokens of an input", {
      ...common,
      description: "The provider counts the tokens if it can; otherwise the number is an estimate, marked `estimated`.",
      method: "POST",
      path: "/v3/responses/input_tokens",
      body,
      answers: [{ status: 200, description: "The count.", schema: contract.inputTokenCount }],
      errors: createErrors,
      example: { body: exampleBody },
      run: (call) => responses.countInput(toInput(call)),
    }),
    defineRoute("compactResponse", "Compact a conversation", {
      ...common,
      description:
        "Replaces a long conversation by a shorter one, whose items are sent as `input` of the next response. Only for providers " +
        "that support it themselves.",
      method: "POST",
      path: "/v3/responses/compact",
      body,
      answers: [{ status: 200, description: "The compacted conversation.", schema: contract.compactedResponse }],
      errors: [...createErrors, "compaction_not_supported"],
      example: { body: { model: "openai/gpt-6-luna", input: "Hello" } },
      run: (call) => responses.compact(toInput(call)),
    }),
    defineRoute("retrieveResponse", "Retrieve a response", {
      ...common,
      ...one,
      method: "GET",
      query: contract.retrieveResponseQuery,
      answers: [{ status: 200, description: "The response.", schema: contract.responseObject }],
      example: { path: examplePath },
      run: async (call) => respond(await responses.retrieve(toLookup(call)), call),
    }),
    defineRoute("deleteResponse", "Delete a response", {
      ...common,
      ...one,
      method: "DELETE",
      answers: [
        {
          status: 200,
          description: "The response was deleted, also at the provider.",
          schema: contract.deletedResponse,
        },
      ],
      example: { path: examplePath },
      run: (call) => responses.remove(toLookup(call)),
    }),
    defineRoute("cancelResponse", "Cancel a response that runs in the background", {
      ...common,
      ...one,
      method: "POST",
      path: `${one.path}/cancel`,
      answers: [{ status: 200, description: "The response as it is now.", schema: contract.responseObject }],
      errors: [...storedResponseErrors, "stateful_not_supported"],
      example: { path: examplePath },
      run: (call) => responses.cancel(toLookup(call)),
    }),
    defineRoute("listResponseInputItems", "List the input of a response", {
      ...common,
      ...one,
      method: "GET",
      path: `${one.path}/input_items`,
      query: contract.listInputItemsQuery,
      answers: [{ status: 200, description: "A page of items.", schema: contract.inputItemList }],
      example: { path: examplePath },
      run: (call) => responses.listInputItems(toLookup(call)),
    }),
  ];
}

function toInput(
  call: KeyedCall & { readonly body: contract.ResponseRequest; readonly json: JsonBody },
): ResponsesInput {
  const { text, scan, value } = call.json;
  return { ...contextOf(call), request: call.body, value: value as JsonObject, text, scan };
}

function toLookup(call: KeyedCall & { readonly params: { readonly response_id: string } }): ResponseLookup {
  return { ...contextOf(call), id: call.params.response_id, query: call.searchParams, wantsMetadata: false };
}
