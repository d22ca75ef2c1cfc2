// What the ways of making a response share: what they are asked, what they answer, and the errors that they have in common.

import type { Caller } from "../../access/caller.ts";
import type { ResponseRequest } from "../../contract/responses.ts";
import { GatewayError } from "../../errors.ts";
import type { JsonScan } from "../../lib/json-scan.ts";
import type { OwnedIds } from "../../lib/owned-id.ts";
import type { Connection } from "../../providers/call.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { Attempts } from "../attempts.ts";
import type { CallDependencies } from "../call-dependencies.ts";
import type { ChatCompletions, FrameStream } from "../chat-completions.ts";
import type { FetchMedia } from "../media.ts";
import type { Pricing } from "../pricing.ts";
import type { Candidate, RoutePlanner } from "../route-planner.ts";
import type { Trace } from "../trace.ts";
import type { ResponseKeeper } from "./response-keeper.ts";

export { ownerOf } from "../../access/caller.ts";

export interface ResponsesInput {
  readonly request: ResponseRequest;
  readonly value: JsonObject;
  readonly text: string;
  readonly scan: JsonScan;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  readonly wantsMetadata: boolean;
  /** What a connection remembers, where there is one that does. */
  readonly local?: LocalTurns;
  /** False: nothing is to be generated, only remembered. */
  readonly generates?: boolean;
}

/** The conversation that led to the last response of a connection, with that response. */
export interface LocalTurns {
  find(id: string): readonly JsonObject[] | null;
  remember(id: string, items: readonly JsonObject[]): void;
}

/** A question about a response that exists. */
export interface ResponseQuestion {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly trace: Trace;
}

export type ResponsesAnswer =
  | { readonly kind: "whole"; readonly text: string }
  | {
      readonly kind: "stream";
      readonly stream: FrameStream;
      /** The last events when it breaks off. */
      readonly fail: (error: { readonly code: string; readonly message: string }) => Uint8Array;
    };

export interface ResponsesDependencies extends CallDependencies {
  readonly router: RoutePlanner;
  readonly attempts: Attempts;
  readonly pricing: Pricing;
  readonly chatCompletions: ChatCompletions;
  readonly fetchMedia: FetchMedia;
  readonly keeper: ResponseKeeper;
  readonly owned: OwnedIds;
}

export function notFound(): GatewayError {
  return new GatewayError("response_not_found", "There is no such response.", { param: "response_id" });
}

export function stateless(candidate: Candidate | undefined, param: string): GatewayError {
  const name = candidate?.provider.name ?? "";
  return new GatewayError("stateful_not_supported", `The provider '${name}' keeps no responses.`, { param });
}

export function toItems(input: ResponseRequest["input"]): readonly JsonObject[] {
  if (input === undefined) return [];
  if (typeof input === "string")
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  return input as readonly JsonObject[];
}
