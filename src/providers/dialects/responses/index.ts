// The Responses API as a way to answer chat requests, for vendors whose chat endpoint refuses some of them. The gateway's caller
// speaks another format; callers of the Responses format itself are passed on without this translation.
// https://platform.openai.com/docs/api-reference/responses

import type { ChatDialect } from "../../dialect.ts";
import { fromResponsesAnswer } from "./answer.ts";
import { parameters } from "./parameters.ts";
import { toResponsesRequest } from "./request.ts";
import { ResponsesStreamReader } from "./stream.ts";

/** `reasons`: whether the model does. Others refuse to be asked for encrypted reasoning. */
export function createResponsesChat({ reasons }: { readonly reasons: boolean }): ChatDialect {
  return {
    parameters,
    fetchesMedia: false,
    knowsFile: () => true,
    framing: "event-stream",
    toRequest: (request, target) => toResponsesRequest(request, target, reasons),
    fromAnswer: fromResponsesAnswer,
    createStreamReader: (reading) => new ResponsesStreamReader(reading),
  };
}
