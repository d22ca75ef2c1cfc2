// Addresses of images and files inside requests: the form that they must have, the same in every format of ours. What they
// lead to is judged when they are dialled.

import { z } from "zod";
import { mayBePublicHost } from "../lib/addresses.ts";

/** Whether a URL may name this host. An operator may exempt ranges of private addresses. */
export type MayNameHost = (hostname: string) => boolean;

const maxUrlLength = 2_083;

/** The problem of an address that is too long to be one, or null. */
export function findUrlTooLong(text: string): UrlProblem | null {
  if (text.length <= maxUrlLength) return null;
  return { type: "url_too_long", msg: `URL should have at most ${maxUrlLength} characters` };
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** An https address. */
export function createMediaUrl(mayNameHost: MayNameHost = mayBePublicHost) {
  return checkedText((text) => problemOfAddress(text, "'https'", mayNameHost)).meta({
    description: "An https address",
  });
}

/** An https address or a data URL. */
export function createMediaOrDataUrl(mayNameHost: MayNameHost = mayBePublicHost) {
  return checkedText((text) =>
    text.startsWith("data:") ? problemOfDataUrl(text) : problemOfAddress(text, "'https' or 'data'", mayNameHost),
  ).meta({ description: "An https address or a data URL" });
}

interface UrlProblem {
  readonly type: string;
  readonly msg: string;
}

/** A text that `findProblem` has nothing against. */
export function checkedText(findProblem: (text: string) => UrlProblem | null) {
  return z.string().check((ctx) => {
    const problem = findProblem(ctx.value);
    if (problem !== null)
      ctx.issues.push({ code: "custom", input: ctx.value, message: problem.msg, params: { type: problem.type } });
  });
}

function problemOfDataUrl(text: string): UrlProblem | null {
  const comma = text.indexOf(",");
  const isRight = comma >= 0 && text.slice(5, comma).endsWith(";base64") && base64.test(text.slice(comma + 1));
  return isRight ? null : { type: "value_error", msg: "A data URL should hold base64: data:<type>;base64,<data>" };
}

function problemOfAddress(text: string, schemes: string, mayNameHost: MayNameHost): UrlProblem | null {
  const tooLong = findUrlTooLong(text);
  if (tooLong !== null) return tooLong;
  const notAllowed = (msg: string) => ({ type: "url_not_allowed", msg });
  const wrongScheme = { type: "url_scheme", msg: `URL scheme should be ${schemes}` };
  // A backslash is a slash to some parsers and not to others: two readers would see two hosts.
  if (text.includes("\\")) return notAllowed("URL should not hold a backslash");
  const url = URL.parse(text);
  if (url === null) return { type: "url_parsing", msg: "Input should be a valid URL" };
  if (url.protocol !== "https:" && url.protocol !== "http:") return wrongScheme;
  if (url.username !== "" || url.password !== "") return notAllowed("URL should not hold credentials");
  if (!mayNameHost(url.hostname)) return notAllowed("URL should name a public host");
  return url.protocol === "http:" ? wrongScheme : null;
}
