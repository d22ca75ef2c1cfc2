// The cookies of signed-in people, and the checks that pages of other sites cannot use them.

import { timingSafeEqual } from "node:crypto";
import { toCsrfToken } from "../access/sessions.ts";
import { GatewayError } from "../errors.ts";

const sessionCookie = "switchyard_session";
const signInCookie = "switchyard_sign_in";
const signInPath = "/v3/manage/session/oidc";
const csrfHeader = "x-switchyard-csrf";
const backgroundHeader = "x-switchyard-background";
const maxCookieLength = 4_096;

export function readSessionCookie(headers: Headers): string | null {
  return readCookie(headers, sessionCookie);
}

export function readSignInCookie(headers: Headers): string | null {
  return readCookie(headers, signInCookie);
}

/** `Strict`: the browser sends it with requests of our own pages only. */
export function toSessionCookie(token: string, { lifetimeMs, isSecure }: CookieOptions): string {
  return toCookie(sessionCookie, token, { path: "/", sameSite: "Strict", lifetimeMs, isSecure });
}

export const endedSessionCookie = `${sessionCookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;

/** `Lax`: the issuer sends the browser back, which is a navigation from another site. */
export function toSignInCookie(sealed: string, options: CookieOptions): string {
  return toCookie(signInCookie, sealed, { path: signInPath, sameSite: "Lax", ...options });
}

export interface CookieOptions {
  readonly lifetimeMs: number;
  readonly isSecure: boolean;
}

function toCookie(
  name: string,
  value: string,
  { path, sameSite, lifetimeMs, isSecure }: CookieOptions & { path: string; sameSite: string },
): string {
  const seconds = Math.max(0, Math.floor(lifetimeMs / 1_000));
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`;
}

function readCookie(headers: Headers, name: string): string | null {
  const header = headers.get("cookie");
  if (header === null) return null;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return value === "" || value.length > maxCookieLength ? null : value;
  }
  return null;
}

/** A page that refreshes itself must not keep an abandoned session alive. */
export function isUseOfSession(headers: Headers): boolean {
  return headers.get(backgroundHeader) !== "true";
}

/** A change by cookie needs the token, which only our own pages know, and a browser that says that one of them asked. */
export function checkForgery({ method, headers }: Request, token: string, ownOrigin: () => string): void {
  if (method === "GET" || method === "HEAD") return;
  refuseOtherSites(headers, ownOrigin);
  const given = Buffer.from(headers.get(csrfHeader) ?? "");
  const expected = Buffer.from(toCsrfToken(token));
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new GatewayError(
    "csrf_token_invalid",
    `Send the csrf_token of GET /v3/manage/session in the header ${csrfHeader}.`,
  );
}

/** Clients other than browsers send neither header. */
export function refuseOtherSites(headers: Headers, ownOrigin: () => string): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isForeign =
    (site !== null && site !== "same-origin" && site !== "none") ||
    (origin !== null && !isOwnOrigin(origin, headers, ownOrigin));
  if (isForeign)
    throw new GatewayError(
      "cross_origin_refused",
      "Changes with a session are accepted from the gateway's own pages only.",
    );
}

/** The scheme is not compared with the Host header: behind a proxy that ends TLS, the gateway may not know it. */
function isOwnOrigin(origin: string, headers: Headers, ownOrigin: () => string): boolean {
  const given = URL.parse(origin);
  if (given === null) return false;
  const host = headers.get("host");
  const isHost = host !== null && URL.parse(`${given.protocol}//${host}`)?.host === given.host;
  return isHost || URL.parse(ownOrigin())?.origin === given.origin;
}
