// POST /v3/v1/messages and /v3/v1/messages/count_tokens: Anthropic's Messages format in front of every model.

import type { MayNameHost } from "../../contract/media-urls.ts";
import { createCountTokensRequest, createMessagesRequest } from "../../contract/messages.ts";
import { parse } from "../../contract/problems.ts";
import type { Messages, MessagesInput } from "../../inference/messages/messages.ts";
import { toThreadRefusal } from "../../inference/messages/messages-error.ts";
import type { Ticker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import { CallerLeft } from "../../providers/call.ts";
import { toMessagesErrorFrame } from "../error-reply.ts";
import { streamReply } from "../event-stream.ts";
import { type Reply, replyJson } from "../reply.ts";
import { requireCaller } from "../require-caller.ts";
import type { Call, Route } from "../route.ts";
import { wantsMetadata } from "../wants-metadata.ts";

interface Dependencies {
  readonly messages: Messages;
  readonly aliases: ReadonlySet<string>;
  readonly mayNameHost: MayNameHost;
  readonly heartbeatMs: number;
  readonly ticker: Ticker;
  readonly log: Log;
}

const betaNames = /^[\w.,:; -]{1,1024}$/;

export function messagesRoutes(dependencies: Dependencies): Route[] {
  const { messages, aliases, mayNameHost, heartbeatMs, ticker, log } = dependencies;
  const createSchema = createMessagesRequest(aliases, mayNameHost);
  const countSchema = createCountTokensRequest(aliases, mayNameHost);

  async function create(call: Call): Promise<Reply | string> {
    const input = readInput(call, parse(createSchema, call.body?.value));
    if (input.request["thread"]) return replyJson(toThreadRefusal(call.requestId), { status: 400 });
    const answer = await messages.create(input);
    if (answer.kind === "whole") return answer.text;
    return streamReply(answer.stream, {
      heartbeatMs,
      ticker,
      headers: { "x-accel-buffering": "no" },
      describeFailure: (error) =>
        error instanceof CallerLeft ? null : toMessagesErrorFrame(error, call.requestId, log),
    });
  }

  async function count(call: Call): Promise<string> {
    return messages.count(readInput(call, parse(countSchema, call.body?.value)));
  }

  const route = { method: "POST", key: "inference", body: "json", errors: "messages" } as const;
  return [
    { ...route, path: "/v3/v1/messages", run: create },
    { ...route, path: "/v3/v1/messages/count_tokens", run: count },
  ];
}

function readInput<Request>(call: Call, parsed: Request): MessagesInput<Request> {
  const caller = requireCaller(call.caller, "chat");
  if (call.body === null) throw new TypeError("the route reads a body");
  const { request, requestId, trace } = call;
  const beta = request.headers.get("anthropic-beta");
  return {
    request: parsed,
    text: call.body.text,
    scan: call.body.scan,
    caller,
    connection: request,
    requestId,
    trace,
    wantsMetadata: wantsMetadata(request.headers),
    beta: beta !== null && betaNames.test(beta) ? beta : null,
  };
}
