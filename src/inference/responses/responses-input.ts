// The requests of the Responses API, their answers, and the dependencies of their code.

import type { ResponseRequest } from "../../contract/responses.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import type { OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { ChatCompletions, ChatDependencies } from "../chat-completions.ts";
import type { FrameStream } from "../relay-stream.ts";
import type { JsonRequest, RequestContext } from "../request-context.ts";
import type { Candidate } from "../route-planner.ts";
import type { ConversationStore } from "./conversation-store.ts";
import type { StreamFailure } from "./response-events.ts";

export interface ResponsesInput extends JsonRequest<ResponseRequest> {
  /** The parsed body with members that the schema does not know. */
  readonly value: JsonObject;
  /** The last response of a WebSocket connection. */
  readonly local?: LocalTurns;
  /** False: nothing is generated; the input is only remembered for the next response. */
  readonly generates?: boolean;
}

/** The conversation of the last response of a connection, including that response. */
export interface LocalTurns {
  /** Throws when the conversation was too long to be remembered. */
  find(id: string): readonly JsonObject[] | null;
  /** Null: the response is stored, so its conversation need not be remembered. */
  remember(id: string, items: readonly JsonObject[] | null): void;
}

/** A request about a response that exists. */
export interface ResponseLookup extends RequestContext {
  readonly id: string;
  readonly query: URLSearchParams;
}

export type ResponsesAnswer =
  | { readonly kind: "whole"; readonly text: string }
  | {
      readonly kind: "stream";
      readonly stream: FrameStream;
      /** The last events of a stream that fails. */
      readonly fail: (error: StreamFailure) => Uint8Array;
    };

export interface ResponsesDependencies extends ChatDependencies {
  readonly chatCompletions: ChatCompletions;
  readonly conversations: ConversationStore;
  readonly owned: OwnedIds;
}

export function notFound(): GatewayError {
  return new GatewayError("response_not_found", "There is no such response.", { param: "response_id" });
}

export function cannotContinue(message: string): GatewayError {
  return new GatewayError("previous_response_not_found", message, { param: "previous_response_id" });
}

export function invalidQuery(name: string, msg: string): ValidationError {
  return new ValidationError([{ loc: ["query", name], msg, type: "value_error" }]);
}

/** Only a response that the provider itself stores can run in the background. */
export function refuseBackground({ background, store }: ResponseRequest, { provider }: Candidate): void {
  if (background !== true) return;
  const canStore = provider.row.responses?.kind === "native";
  if (canStore && store !== false) return;
  const message = canStore
    ? "A response in the background has to be stored: leave out `store: false`."
    : `The provider '${provider.name}' cannot run a response in the background.`;
  throw new GatewayError("stateful_not_supported", message, { param: "background" });
}

export function toItems(input: ResponseRequest["input"]): readonly JsonObject[] {
  if (input === undefined) return [];
  if (typeof input === "string")
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  return input as readonly JsonObject[];
}
