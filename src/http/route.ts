// A route is one operation of the public interface, declared once. The server reads it to find the route, to check a request and to answer
// it; the OpenAPI document and the API reference are built from the same declaration.

import type { z } from "zod";
import type { AuditNote } from "../access/audit.ts";
import type { Caller } from "../access/caller.ts";
import type { KeyScope } from "../contract/keys.ts";
import type { Role } from "../contract/roles.ts";
import type { ErrorCode } from "../errors.ts";
import type { Trace } from "../inference/trace.ts";
import type { Actor } from "../storage/audit.ts";
import type { JsonBody } from "./read-body.ts";
import type { Reply } from "./reply.ts";

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** The kind of key that a route needs. Sandbox keys may call the routes of inference keys. */
export type RouteKey = "none" | "inference" | "management";

/** Everything that the server needs to know. The parts of a request are checked in the order in which they are listed here. */
export interface ServedRoute {
  readonly method: Method;
  /** Segments in braces are parameters: `{key_id}` is one segment, `{id...}` the rest of the path. */
  readonly path: string;
  /** Paths that lead here as well, and that no document lists. */
  readonly otherPaths?: readonly string[];
  readonly key: RouteKey;
  readonly params?: z.ZodType;
  /** A parameter whose schema accepts a list may be repeated; of other repeated parameters the last value counts. */
  readonly query?: z.ZodObject;
  readonly body?: RouteBody;
  /** Names in lower case. Only headers that callers set for this route. */
  readonly headers?: z.ZodObject;
  /** The key needs one of these. */
  readonly scope?: KeyScope | readonly KeyScope[];
  /** On management routes: the least role that may call it. */
  readonly role?: Role;
  /**
   * On management routes. `team`: a role that is limited to a team may call it, and `run` shows and changes nothing of other teams
   * (`call.caller.team`, `call.actor`). `gateway`: such a role is refused.
   */
  readonly reach?: "team" | "gateway";
  /**
   * On management routes that change something: how the change becomes a record of the audit log. `stored`: `run` hands `call.actor` to the
   * store, which writes the record in the transaction of the change. Otherwise the server writes a record before and after the call, and
   * `run` may state the change in `call.note`.
   */
  readonly audit?: "stored" | RouteAudit;
  /** `messages`: the format of Anthropic's clients; otherwise both usual forms. */
  readonly errorFormat?: "messages";
  /** Load balancers call it every few seconds: its requests are logged at the level `debug`. */
  readonly isProbe?: true;
  /** A text is the JSON of a successful answer. Throws a GatewayError or ValidationError when the call cannot be answered. */
  run(call: Call): Reply | string | Promise<Reply | string>;
}

export interface RouteAudit {
  /** `<kind of object>.<verb>`. The first parameter of the path is the id of the object. */
  readonly action: `${string}.${string}`;
}

/** An operation of the public interface: a route with its documentation. */
export interface Route extends ServedRoute {
  /** Generated clients name their function after it. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly answers: readonly Answer[];
  /** In addition to the codes that follow from `key`, `params`, `query` and `body`. */
  readonly errors?: readonly ErrorCode[];
  /** Required when the route has parameters in its path or a body. */
  readonly example?: Example;
}

/**
 * - `json`: required, checked by the schema.
 * - `optional-json`: the same when a body is sent; otherwise the call's body is null.
 * - `ignored-json`: clients that always send a body may send any JSON.
 * - `form`: `run` reads the form itself, with limits of its own. The schema documents it.
 *
 * Without a body the server reads none.
 */
export type RouteBody =
  | JsonRouteBody<"json" | "optional-json", z.ZodType>
  | { readonly kind: "ignored-json" }
  | { readonly kind: "form"; readonly schema: z.ZodType };

interface JsonRouteBody<Kind, Schema extends z.ZodType> {
  readonly kind: Kind;
  readonly schema: Schema;
  /** A cheap test on the hot path: a value that passes is valid and is not checked by the schema. */
  readonly isCertainlyValid?: (value: unknown) => value is z.output<Schema>;
  /** Replaces the body before it is checked. */
  readonly prepare?: PrepareBody;
}

/** Undefined leaves the body as it is, without an event-loop turn. The scope is checked before the returned function is called. */
export type PrepareBody = (
  json: JsonBody,
) => ((caller: Caller, reserve: ReserveBytes) => Promise<JsonBody>) | undefined;

/**
 * Counts bytes that a request adds to those that it sent, and waits until the process may work on so many bytes of the key. Undefined: at once.
 * Throws 429 when the wait would be too long.
 */
export type ReserveBytes = (bytes: number) => Promise<void> | undefined;

export interface Call<
  Key extends RouteKey = RouteKey,
  Params = unknown,
  Query = unknown,
  Headers = unknown,
  Body = unknown,
> {
  readonly request: Request;
  readonly requestId: string;
  readonly trace: Trace;
  readonly caller: Key extends "none" ? null : Caller;
  /** Of management routes: on whose behalf `run` changes something. */
  readonly actor: Actor;
  /** What the audit log shows of a change outside of the store. */
  readonly note: AuditNote;
  /** The address of the client. */
  readonly address: string;
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  /** The checked value. */
  readonly body: BodyValue<Body>;
  /** The body as it was sent. */
  readonly json: BodyJson<Body>;
  /** All query parameters, unchecked. */
  readonly searchParams: URLSearchParams;
  /** Scheme, host and port at which callers reach the gateway. Throws 400 when it is not configured and the request has no Host header. */
  readonly baseUrl: string;
  /** Whether the caller asked which decisions were made for the call. */
  readonly wantsMetadata: boolean;
}

type NoBody = { readonly kind: "ignored-json" };

type BodyValue<Body> = unknown extends Body
  ? unknown
  : Body extends { readonly kind: "json"; readonly schema: z.ZodType<infer Value> }
    ? Value
    : Body extends { readonly kind: "optional-json"; readonly schema: z.ZodType<infer Value> }
      ? Value | null
      : null;

type BodyJson<Body> = unknown extends Body
  ? JsonBody | null
  : Body extends { readonly kind: "json" }
    ? JsonBody
    : Body extends { readonly kind: "optional-json" }
      ? JsonBody | null
      : null;

interface Declaration<
  Key extends RouteKey,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends RouteBody,
> extends Omit<Route, "id" | "summary" | "run"> {
  readonly key: Key;
  readonly params?: Params;
  readonly query?: Query & z.ZodObject;
  readonly headers?: Headers & z.ZodObject;
  readonly body?: Body;
  readonly run: (
    call: Call<Key, z.output<Params>, z.output<Query>, z.output<Headers>, Body>,
  ) => Reply | string | Promise<Reply | string>;
}

/** A management route that does not say who may call it does not compile. */
type Access<Key extends RouteKey> = Key extends "management"
  ? { readonly role: Role; readonly reach: "team" | "gateway" }
  : { readonly role?: never; readonly reach?: never };

/** Types the call of `run` by what the route declares. */
export function defineRoute<
  Key extends RouteKey,
  Params extends z.ZodType = z.ZodNull,
  Query extends z.ZodType = z.ZodNull,
  Headers extends z.ZodType = z.ZodNull,
  Body extends RouteBody = NoBody,
>(id: string, summary: string, route: Declaration<Key, Params, Query, Headers, Body> & Access<Key>): Route {
  // The cast forgets the type of the call. `checkCall` builds each call with the schemas of its own route.
  return { id, summary, ...route } as unknown as Route;
}

export type Tag =
  | "Chat"
  | "Responses"
  | "Embeddings"
  | "Files"
  | "Models"
  | "Tasks"
  | "Jobs"
  | "Keys"
  | "Teams"
  | "Access"
  | "Usage"
  | "Providers"
  | "Service";

/** Several answers with one status are one response with several content types. */
export interface Answer {
  readonly status: number;
  readonly description: string;
  /** Absent: no body, unless `contentType` is given. */
  readonly schema?: z.ZodType;
  /** `application/json` when absent. */
  readonly contentType?: string;
  readonly headers?: readonly ("etag" | "cache-control")[];
}

/** The example of the API reference: a call that the sandbox answers. */
export interface Example {
  /** Values of path parameters; they may name shell variables. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
  /** Parts of a form, as curl writes them. */
  readonly form?: readonly string[];
  /** The file for an answer that is not text. */
  readonly output?: string;
}
