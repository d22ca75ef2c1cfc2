// Finds the caller of a request by its key or session, and checks that its kind and role may call the route.

import type { Caller } from "../access/caller.ts";
import type { Sessions } from "../access/sessions.ts";
import { includesRole } from "../contract/roles.ts";
import { GatewayError } from "../errors.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Exchange } from "./exchange.ts";
import type { ServedRoute } from "./route.ts";
import { checkForgery, endedSessionCookie, isUseOfSession, readSessionCookie } from "./session-cookie.ts";

interface CallerCheckOptions {
  readonly authenticator: Authenticator;
  readonly sessions: Pick<Sessions, "authenticate"> | undefined;
  readonly findBaseUrl: (request: Request, peer: string) => string;
}

export type AdmitCaller = ReturnType<typeof createCallerCheck>;

export function createCallerCheck({ authenticator, sessions, findBaseUrl }: CallerCheckOptions) {
  async function admitSession({ request, peer }: Exchange, token: string): Promise<Caller> {
    if (sessions === undefined) throw new GatewayError("session_ended", "Sessions are not accepted here.");
    checkForgery(request, token, () => findBaseUrl(request, peer));
    try {
      return await sessions.authenticate(token, isUseOfSession(request.headers));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "session_ended") throw error;
      // The browser need not send it again.
      throw new GatewayError(error.code, error.message, { headers: { "set-cookie": endedSessionCookie } });
    }
  }

  /** Without a promise for a known key. */
  return function admitCaller(exchange: Exchange, route: ServedRoute): Caller | Promise<Caller> {
    const { headers } = exchange.request;
    const authorization =
      headers.get("authorization") ?? (route.errorFormat === "messages" ? keyHeader(headers) : null);
    if (authorization === null && route.key === "management") {
      const token = readSessionCookie(headers);
      if (token !== null) return admitSession(exchange, token).then((caller) => checkRole(caller, route));
    }
    const found = authenticator.authenticate(authorization, () => exchange.client);
    return found instanceof Promise
      ? found.then((caller) => checkRole(checkKind(caller, route.key), route))
      : checkRole(checkKind(found, route.key), route);
  };
}

export function checkKind(caller: Caller, key: ServedRoute["key"]): Caller {
  if ((caller.kind === "management") !== (key === "management"))
    throw new GatewayError("insufficient_scope", `This route needs a key of kind ${key}.`);
  return caller;
}

function checkRole(caller: Caller, { key, role = "administrator", reach = "gateway" }: ServedRoute): Caller {
  if (key !== "management") return caller;
  if (!includesRole(caller.role, role))
    throw new GatewayError("insufficient_role", `This needs the role ${role}, and you have the role ${caller.role}.`);
  if (caller.team !== null && reach === "gateway")
    throw new GatewayError("insufficient_role", "This needs a role that is not limited to a team.");
  return caller;
}

/** Clients of Anthropic's format send their key in this header. */
function keyHeader(headers: Headers): string | null {
  const key = headers.get("x-api-key");
  return key === null ? null : `Bearer ${key}`;
}
