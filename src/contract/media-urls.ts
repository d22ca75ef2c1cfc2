// URLs of images and files in requests: their form, the same in every format. The address behind the host is checked when the gateway
// connects to it.

import { z } from "zod";
import { mayBePublicHost } from "../lib/addresses.ts";
import { addProblem } from "./problems.ts";

/** Whether a URL may name this host. An operator may exempt ranges of private addresses. */
export type MayNameHost = (hostname: string) => boolean;

const maxUrlLength = 2_083;

export function findUrlTooLong(text: string): UrlProblem | null {
  if (text.length <= maxUrlLength) return null;
  return { type: "url_too_long", msg: `URL should have at most ${maxUrlLength} characters` };
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

export function createMediaUrl(mayNameHost: MayNameHost = mayBePublicHost) {
  return checkedText((text) => findAddressProblem(text, "'https'", mayNameHost)).describe("An https URL.");
}

export function createMediaOrDataUrl(mayNameHost: MayNameHost = mayBePublicHost) {
  return checkedText((text) =>
    text.startsWith("data:") ? findDataUrlProblem(text) : findAddressProblem(text, "'https' or 'data'", mayNameHost),
  ).describe("An https URL or a data URL.");
}

interface UrlProblem {
  readonly type: string;
  readonly msg: string;
}

export function checkedText(findProblem: (text: string) => UrlProblem | null) {
  return z.string().check((ctx) => {
    const problem = findProblem(ctx.value);
    if (problem !== null) addProblem(ctx, problem.type, problem.msg);
  });
}

function findDataUrlProblem(text: string): UrlProblem | null {
  const comma = text.indexOf(",");
  const isRight = comma >= 0 && text.slice(5, comma).endsWith(";base64") && base64.test(text.slice(comma + 1));
  return isRight ? null : { type: "value_error", msg: "A data URL should hold base64: data:<type>;base64,<data>" };
}

function findAddressProblem(text: string, schemes: string, mayNameHost: MayNameHost): UrlProblem | null {
  const tooLong = findUrlTooLong(text);
  if (tooLong !== null) return tooLong;
  const notAllowed = (msg: string) => ({ type: "url_not_allowed", msg });
  const wrongScheme = { type: "url_scheme", msg: `URL scheme should be ${schemes}` };
  // Parsers disagree about backslashes: two readers could see two different hosts.
  if (text.includes("\\")) return notAllowed("URL should not hold a backslash");
  const url = URL.parse(text);
  if (url === null) return { type: "url_parsing", msg: "Input should be a valid URL" };
  if (url.protocol !== "https:" && url.protocol !== "http:") return wrongScheme;
  if (url.username !== "" || url.password !== "") return notAllowed("URL should not hold credentials");
  if (!mayNameHost(url.hostname)) return notAllowed("URL should name a public host");
  return url.protocol === "http:" ? wrongScheme : null;
}
