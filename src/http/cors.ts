// Cross-origin resource sharing: which web pages may call the gateway from a browser. Without SWITCHYARD_CORS_ORIGINS, none may.
//
// `Access-Control-Allow-Credentials` is never sent: callers send keys in a header, so no page needs cookies of the gateway, and none can use
// the session of an operator.

export interface Cors {
  /** Adds the headers of an answer. `isManagement`: only origins that are listed by name may call the route. */
  addHeaders(headers: Headers, origin: string | null, isManagement: boolean): void;
  /** Adds the headers of the answer to a preflight request as well, if it is one. */
  addPreflightHeaders(headers: Headers, request: Request, allow: string): void;
}

const exposedHeaders = [
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
  "x-switchyard-attempts",
  "x-switchyard-dropped-params",
  "server-timing",
  "www-authenticate",
].join(", ");
// Browsers keep the result for at most two hours.
const maxAgeSeconds = "7200";
const headerList = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;
const maxHeaderList = 4_096;

/** Null: no page may call the gateway. */
export function createCors(origins: readonly string[]): Cors | null {
  if (origins.length === 0) return null;
  const listed = new Set(origins);
  const isOpen = listed.delete("*");
  // The answer to one origin must not be cached for another.
  const vary = listed.size > 0;

  function isAllowed(origin: string | null, isManagement: boolean): origin is string {
    return origin !== null && (listed.has(origin) || (isOpen && !isManagement));
  }

  return {
    addHeaders(headers, origin, isManagement) {
      if (vary) headers.append("vary", "origin");
      if (!isAllowed(origin, isManagement)) return;
      headers.set("access-control-allow-origin", listed.has(origin) ? origin : "*");
      headers.set("access-control-expose-headers", exposedHeaders);
    },
    addPreflightHeaders(headers, { headers: asked }, allow) {
      if (!headers.has("access-control-allow-origin") || !asked.has("access-control-request-method")) return;
      headers.set("access-control-allow-methods", allow);
      headers.set("access-control-max-age", maxAgeSeconds);
      const names = asked.get("access-control-request-headers");
      if (names === null || names.length > maxHeaderList || !headerList.test(names)) return;
      headers.set("access-control-allow-headers", names);
      headers.append("vary", "access-control-request-headers");
    },
  };
}
