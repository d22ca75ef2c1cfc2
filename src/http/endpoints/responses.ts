// /v3/responses: create, retrieve, delete, cancel, list the input; count the tokens of an input, compact a conversation.

import { z } from "zod";
import type { MayNameHost } from "../../contract/media-urls.ts";
import { parse } from "../../contract/problems.ts";
import { createResponseRequest, responseId, responseQuery } from "../../contract/responses.ts";
import type { Responses } from "../../inference/responses/responses.ts";
import type { ResponseLookup, ResponsesAnswer, ResponsesInput } from "../../inference/responses/responses-input.ts";
import type { Ticker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import { CallerLeft } from "../../providers/call.ts";
import { toErrorObject } from "../error-reply.ts";
import { streamReply } from "../event-stream.ts";
import { type Reply, reply } from "../reply.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { wantsMetadata } from "../wants-metadata.ts";

interface Dependencies {
  readonly responses: Responses;
  readonly aliases: ReadonlySet<string>;
  readonly mayNameHost: MayNameHost;
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
  readonly log: Log;
}

const path = z.object({ response_id: responseId });
const key = "inference" as const;

export function responseRoutes({ responses, aliases, mayNameHost, heartbeatMs, ticker, log }: Dependencies): Route[] {
  const requestSchema = createResponseRequest(aliases, mayNameHost);

  function readInput({ request, requestId, caller, body, trace }: Call): ResponsesInput {
    const parsed = parse(requestSchema, body?.value);
    const allowed = requireCaller(caller, "responses");
    if (body === null) throw new TypeError("the route reads a body");
    return {
      request: parsed,
      value: body.value as Readonly<Record<string, unknown>>,
      text: body.text,
      scan: body.scan,
      caller: allowed,
      connection: request,
      requestId,
      trace,
      wantsMetadata: wantsMetadata(request.headers),
    };
  }

  function respond(answer: ResponsesAnswer, { requestId }: Call): Reply {
    if (answer.kind === "whole") return sendJson(answer.text);
    return streamReply(answer.stream, {
      heartbeatMs,
      ticker,
      headers: { "x-accel-buffering": "no" },
      describeFailure: (error) =>
        error instanceof CallerLeft ? null : answer.fail(toErrorObject(error, requestId, log)),
    });
  }

  function ask(call: Call): ResponseLookup {
    const { response_id } = parse(path, call.params, "path");
    const { query } = call;
    parse(responseQuery, Object.fromEntries(query), "query");
    const caller = requireCaller(call.caller, "responses");
    const { request: connection, requestId, trace } = call;
    return { id: response_id, query, caller, connection, requestId, trace, wantsMetadata: false };
  }

  return [
    {
      method: "POST",
      path: "/v3/responses",
      key,
      body: "json",
      run: async (call) => respond(await responses.create(readInput(call)), call),
    },
    {
      method: "POST",
      path: "/v3/responses/input_tokens",
      key,
      body: "json",
      run: async (call) => sendJson(await responses.countInput(readInput(call))),
    },
    {
      method: "POST",
      path: "/v3/responses/compact",
      key,
      body: "json",
      run: async (call) => sendJson(await responses.compact(readInput(call))),
    },
    {
      method: "GET",
      path: "/v3/responses/{response_id}",
      key,
      run: async (call) => respond(await responses.retrieve(ask(call)), call),
    },
    {
      method: "DELETE",
      path: "/v3/responses/{response_id}",
      key,
      run: async (call) => sendJson(await responses.remove(ask(call))),
    },
    {
      method: "POST",
      path: "/v3/responses/{response_id}/cancel",
      key,
      run: async (call) => sendJson(await responses.cancel(ask(call))),
    },
    {
      method: "GET",
      path: "/v3/responses/{response_id}/input_items",
      key,
      run: async (call) => {
        const question = ask(call);
        return sendJson(await responses.listInputItems(question));
      },
    },
  ];
}

function sendJson(text: string): Reply {
  return reply(text, { headers: { "content-type": "application/json" } });
}
