// The Responses API as a way to answer chat requests, for vendors whose chat endpoint refuses some of them. The gateway's caller
// speaks another format; callers of the Responses format itself are passed on without this translation.
// https://platform.openai.com/docs/api-reference/responses

import type { ChatDialect } from "../../dialect.ts";
import { fromResponsesAnswer } from "./answer.ts";
import { parameters } from "./parameters.ts";
import { toResponsesRequest } from "./request.ts";
import { ResponsesStreamReader } from "./stream.ts";

export const responsesChat: ChatDialect = {
  parameters,
  fetchesMedia: false,
  framing: "event-stream",
  toRequest: toResponsesRequest,
  fromAnswer: fromResponsesAnswer,
  createStreamReader: (reading) => new ResponsesStreamReader(reading),
};
