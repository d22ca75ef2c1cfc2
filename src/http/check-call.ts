// Checks a request against the declaration of its route, in the order path, query, body, headers, scope. The first part with problems
// is answered with all of them.

import type { z } from "zod";
import type { AuditNote } from "../access/audit.ts";
import type { Caller } from "../access/caller.ts";
import { toActor } from "../access/roles.ts";
import type { KeyScope } from "../contract/keys.ts";
import { parse } from "../contract/problems.ts";
import { GatewayError } from "../errors.ts";
import type { Trace } from "../inference/trace.ts";
import { lookUp } from "../lib/look-up.ts";
import type { Actor } from "../storage/audit.ts";
import type { JsonBody } from "./read-body.ts";
import { queryOf, wantsMetadata } from "./request-head.ts";
import type { Call, ServedRoute } from "./route.ts";

export interface IncomingCall {
  readonly request: Request;
  readonly requestId: string;
  readonly trace: Trace;
  /** Null only on routes without a key. */
  readonly caller: Caller | null;
  /** Percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly json: JsonBody | null;
  readonly findBaseUrl: (request: Request) => string;
  /** The client's. */
  readonly address: string;
}

export function checkCall(route: ServedRoute, incoming: IncomingCall): Call {
  const { caller, request } = incoming;
  const params = route.params === undefined ? incoming.params : parse(route.params, incoming.params, "path");
  const query = route.query === undefined ? null : parse(route.query, readQuery(route.query, request.url), "query");
  const body = checkBody(route, incoming.json);
  const headers =
    route.headers === undefined ? null : parse(route.headers, readHeaders(route.headers, request.headers), "header");
  if (route.scope !== undefined && caller !== null) checkScope(caller, route.scope);
  return new CheckedCall(incoming, { params, query, headers, body });
}

function checkBody({ body }: ServedRoute, json: JsonBody | null): unknown {
  if (body === undefined || json === null || !("schema" in body) || body.kind === "form") return null;
  return body.isCertainlyValid?.(json.value) === true ? json.value : parse(body.schema, json.value);
}

function readQuery({ shape }: z.ZodObject, url: string): Record<string, unknown> {
  const parameters = queryOf(url);
  // Of a repeated parameter the last value counts, unless its schema accepts a list.
  const query: Record<string, unknown> = Object.fromEntries(parameters);
  for (const name of Object.keys(query))
    if (lookUp(shape, name)?.safeParse([]).success === true) query[name] = parameters.getAll(name);
  return query;
}

function readHeaders({ shape }: z.ZodObject, headers: Headers): Record<string, unknown> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, headers.get(name) ?? undefined]));
}

export function checkScope(caller: Caller, scope: KeyScope | readonly KeyScope[]): void {
  if (typeof scope === "string") {
    if (caller.scopes.has(scope)) return;
    throw new GatewayError("insufficient_scope", `This key does not have the scope '${scope}'.`);
  }
  if (scope.some((one) => caller.scopes.has(one))) return;
  const names = scope.map((one) => `'${one}'`).join(", ");
  throw new GatewayError("insufficient_scope", `This key has none of the scopes ${names}.`);
}

/** Its getters compute what few routes read. */
class CheckedCall implements Call {
  readonly request: Request;
  readonly requestId: string;
  readonly trace: Trace;
  readonly caller: Caller;
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
  readonly json: JsonBody | null;
  readonly #findBaseUrl: (request: Request) => string;
  readonly address: string;
  #note: AuditNote | null = null;

  constructor(incoming: IncomingCall, checked: Pick<Call, "params" | "query" | "headers" | "body">) {
    this.request = incoming.request;
    this.requestId = incoming.requestId;
    this.trace = incoming.trace;
    // Routes without a key see the type `null`, and all others have a caller here.
    this.caller = incoming.caller as Caller;
    this.params = checked.params;
    this.query = checked.query;
    this.headers = checked.headers;
    this.body = checked.body;
    this.json = incoming.json;
    this.#findBaseUrl = incoming.findBaseUrl;
    this.address = incoming.address;
  }

  get actor(): Actor {
    return toActor(this.caller, { address: this.address, requestId: this.requestId });
  }

  get note(): AuditNote {
    this.#note ??= { before: null, after: null };
    return this.#note;
  }

  get searchParams(): URLSearchParams {
    return queryOf(this.request.url);
  }

  get baseUrl(): string {
    return this.#findBaseUrl(this.request);
  }

  get wantsMetadata(): boolean {
    return wantsMetadata(this.request.headers);
  }
}
