// Reads public routes of a running gateway.

import { get as getHttp, type IncomingMessage } from "node:http";
import { get as getHttps } from "node:https";
import { messageOf } from "../errors.ts";
import { untilAborted, withDeadline } from "../lib/deadline.ts";
import { type Output, UsageError } from "./command-line.ts";

/** For commands about a gateway that runs, on this machine or elsewhere. */
export interface GatewayContext extends Output {
  /** The address of the gateway on this machine, by its settings. */
  readAddress(): string;
}

const responseTimeoutMs = 10_000;
const maxResponseCharacters = 20_000_000;

/** The address of a route of the gateway. */
export function toGatewayUrl(gateway: string, path: string): URL {
  const url = URL.parse(`${gateway.replace(/\/+$/, "")}${path}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new UsageError(`--from takes an address such as http://127.0.0.1:8080, not "${gateway}".`);
  return url;
}

export async function askGateway(url: URL): Promise<string> {
  const reason = () => new Error("no response in time");
  return await withDeadline({ timeoutMs: responseTimeoutMs, reason }, (signal) =>
    untilAborted(readBody(url, signal), signal),
  );
}

export async function askGatewayForJson<T>(gateway: string, path: string): Promise<T> {
  const url = toGatewayUrl(gateway, path);
  try {
    // The routes are those of this version's contract.
    return JSON.parse(await askGateway(url)) as T;
  } catch (cause) {
    if (cause instanceof RefusedByGateway) throw cause;
    throw new Error(
      `The gateway at ${url.origin} does not answer: ${messageOf(cause)}. Start it with \`npx switchyard-gateway serve\`, or name the address of another one with --from.`,
      { cause },
    );
  }
}

/** The gateway answered with an error, and the message is the gateway's. */
class RefusedByGateway extends Error {}

async function readBody(url: URL, signal: AbortSignal): Promise<string> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    (url.protocol === "https:" ? getHttps : getHttp)(url, { signal }, resolve).on("error", reject);
  });
  let body = "";
  for await (const part of answer.setEncoding("utf8")) {
    body += part;
    if (body.length > maxResponseCharacters) throw new Error("the response is too long");
  }
  if (answer.statusCode !== 200) throw new RefusedByGateway(readMessage(body) ?? `it answered ${answer.statusCode}`);
  return body;
}

function readMessage(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly message?: unknown } };
    return typeof error?.message === "string" ? error.message : null;
  } catch {
    return null;
  }
}
