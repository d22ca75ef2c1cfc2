// One request to a vendor and its whole answer: clocks, abort in every window, limits, credentials, and the vendor's failures
// turned into the errors that a chat provider's are.

import { createHash } from "node:crypto";
import type { Egress } from "../../egress/egress.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../../errors.ts";
import type { Ticker, Watched } from "../../lib/ticker.ts";
import {
  CallerLeft,
  type Clocks,
  describeCut,
  describeSendFailure,
  describeUnanswered,
  readErrorMessage,
  readRetryAfter,
  toRefusalOf,
} from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { Address, Deployment } from "../../providers/deployment.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { readErrorRules, spentCredits } from "../../providers/error-rules.ts";
import type { Exchange, HttpClient } from "../../providers/http-client.ts";
import type { ProviderRow } from "../../providers/provider.ts";
import type {
  EngineCall,
  FormPart,
  VendorAnswer,
  VendorBody,
  VendorRequest,
  VendorTask,
} from "../../providers/task.ts";
import { fetchResult } from "../fetch-result.ts";

export interface VendorCallOptions {
  readonly provider: Provider;
  readonly deployment: Deployment;
  readonly task: VendorTask;
  readonly http: HttpClient;
  readonly egress?: Egress;
  readonly ticker: Ticker;
  readonly clocks: Clocks;
  readonly shutdownSignal: AbortSignal;
}

const maxAnswerBytes = 64 * 1_048_576;
const maxErrorBytes = 65_536;
// Most tasks must not be sent twice. A connection that was idle for longer may be closed by the vendor while the request is on its way.
const longestIdleMs = 1_000;
const never = Number.POSITIVE_INFINITY;
const decoder = new TextDecoder();

/** Resolves with an answer of status 2xx, or of one that the request calls good; any other is thrown as our error. */
export async function callVendor(
  request: VendorRequest,
  call: EngineCall,
  options: VendorCallOptions,
): Promise<VendorAnswer> {
  const { provider, deployment, task } = options;
  const service = request.service ?? task.service;
  const address = service === undefined ? deployment : deployment.services.get(service);
  if (address === undefined) throw new Error(`${provider.name} has no service '${service}'`);
  if (request.url !== undefined) return download(request.url, call, { ...options, isTls: address.origin.isTls });
  const { head, body } = await write(request, address, provider.row);
  const sent = options.http.send(address.origin, head, body, false, longestIdleMs);
  const exchange = new VendorExchange(sent, call, options);
  try {
    const status = await exchange.open();
    if (status >= 200 && status <= 299) return await exchange.readAnswer();
    if (request.alsoGood?.includes(status)) return await exchange.readAnswer();
    const { retryAfter, body: said } = await exchange.readRefusal();
    throw toRefusalBy(provider, { status, retryAfter, body: said, namesModel: call.model !== null });
  } finally {
    exchange.close();
  }
}

/** A result that the vendor keeps elsewhere. */
async function download(
  url: string,
  call: EngineCall,
  { egress, provider, clocks, isTls, shutdownSignal }: VendorCallOptions & { readonly isTls: boolean },
): Promise<VendorAnswer> {
  if (egress === undefined) throw new Error("there is no way to fetch what lies elsewhere");
  const from = { egress, clocks, shutdownSignal, provider: provider.name, isTls, maxBytes: maxAnswerBytes };
  const { status, header, body } = await fetchResult(url, call, from);
  return new ReadAnswer(provider.name, status, header, body);
}

interface Refused {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
  readonly namesModel?: boolean;
}

/** A vendor's refusal as ours, in the words and codes of a chat provider's. */
export function toRefusalBy(provider: Provider, refused: Refused): GatewayError {
  const { status: plainStatus, retryAfter, body, namesModel = false } = refused;
  const { errors, readRefusal } = provider.row;
  const declared = readErrorRules(errors, plainStatus, body);
  const read = declared ?? readRefusal?.(plainStatus, parseObject(body));
  const meant = read ?? readErrorRules([spentCredits], plainStatus, body) ?? plainStatus;
  // Without a model there is none to be unknown: it was something in the request, or the address.
  const isOtherUnknown = meant === 404 && !namesModel;
  const status = isOtherUnknown ? (readErrorMessage(withLowerCase(body)) === "" ? 502 : 400) : meant;
  return toRefusalOf(provider, { status, retryAfter: readRetryAfter(retryAfter) }, withLowerCase(body));
}

/** Some vendors write `Message` where all others write `message`. */
function withLowerCase(body: string): string {
  if (readErrorMessage(body) !== "") return body;
  const members = Object.entries(parseObject(body)).map(([name, value]) => [name.toLowerCase(), value]);
  return JSON.stringify(Object.fromEntries(members));
}

function parseObject(body: string): JsonObject {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}

// A name that a caller chose may stand in a path: it must not become another path, or another request.
const unsafePath = /[^\x21-\x7e]|#|\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

interface Written {
  readonly head: string;
  readonly body: string | Uint8Array;
}

async function write(request: VendorRequest, address: Address, row: ProviderRow): Promise<Written> {
  const { method = "POST" } = request;
  if (unsafePath.test(request.path))
    throw new ValidationError([
      { loc: ["body"], msg: "A name in it can be no part of an address", type: "value_error" },
    ]);
  const { content, mediaType } = encodeBody(withMembers(request.body, address.members));
  const path = `${address.basePath}${request.path}${toQuery(request, address)}`;
  const headers: Record<string, string> = {
    host: address.host,
    accept: "application/json",
    // Compressed bytes would have to be taken apart before they can be limited.
    "accept-encoding": "identity",
    "user-agent": "Switchyard/1",
    ...(mediaType === null ? {} : { "content-type": mediaType }),
    ...lowerCase(request.headers),
    ...lowerCase(address.headers),
  };
  if (address.authorizer !== null) {
    // Bytes are signed by their digest, which storage wants to be told even of nothing.
    if (row.auth.kind === "aws-sigv4" && (typeof content !== "string" || content === ""))
      headers["x-amz-content-sha256"] = createHash("sha256").update(content).digest("hex");
    const signed = typeof content === "string" ? content : "";
    const made = await address.authorizer.authorize({ method, host: address.host, path, body: signed, headers });
    Object.assign(headers, made);
  }
  // `Headers` refuses names and values that would not stay on their line.
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (const [name, value] of new Headers(headers)) head += `${name}: ${value}\r\n`;
  return { head, body: content };
}

function lowerCase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function toQuery({ path, query = {} }: VendorRequest, address: Address): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...address.query }))
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  if (parameters.size === 0) return "";
  // A signature is made over spaces that are written as %20; everybody understands that.
  return `${path.includes("?") ? "&" : "?"}${parameters.toString().replaceAll("+", "%20")}`;
}

/** Some vendors want the key inside the body. It is put there last, so that nothing takes its place. */
function withMembers(body: VendorBody | undefined, members: Address["members"]): VendorBody | undefined {
  if (Object.keys(members).length === 0) return body;
  switch (body?.kind) {
    case "json":
      return { ...body, value: { ...(body.value as JsonObject), ...members } };
    case "form": {
      const others = body.parts.filter((part) => !Object.hasOwn(members, part.name));
      return { ...body, parts: [...others, ...Object.entries(members).map(([name, value]) => ({ name, value }))] };
    }
    case "fields":
      return { ...body, fields: { ...body.fields, ...members } };
    default:
      throw new Error("a credential that is a member needs a body that has members");
  }
}

function encodeBody(body: VendorBody | undefined): { content: string | Uint8Array; mediaType: string | null } {
  switch (body?.kind) {
    case undefined:
      return { content: "", mediaType: null };
    case "json":
      return { content: JSON.stringify(body.value), mediaType: body.mediaType ?? "application/json" };
    case "form": {
      const boundary = `switchyard-${crypto.randomUUID()}`;
      return { content: encodeForm(body.parts, boundary), mediaType: `multipart/form-data; boundary=${boundary}` };
    }
    case "fields":
      return { content: new URLSearchParams(body.fields).toString(), mediaType: "application/x-www-form-urlencoded" };
    case "bytes":
      return { content: body.bytes, mediaType: body.mediaType };
    case "text":
      return { content: body.text, mediaType: body.mediaType };
  }
}

function encodeForm(parts: readonly FormPart[], boundary: string): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    const isFile = "bytes" in part;
    const file = isFile ? `; filename="${quote(part.fileName)}"\r\ncontent-type: ${part.mediaType}` : "";
    pieces.push(
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quote(part.name)}"${file}\r\n\r\n`),
      isFile ? part.bytes : Buffer.from(part.value),
      Buffer.from("\r\n"),
    );
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return Buffer.concat(pieces);
}

/** As browsers write names in forms. */
function quote(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** An answer that was read whole. */
export class ReadAnswer implements VendorAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly #header: (name: string) => string | null;
  readonly #vendor: string;
  #json: unknown;

  constructor(vendor: string, status: number, header: (name: string) => string | null, bytes: Uint8Array) {
    this.#vendor = vendor;
    this.status = status;
    this.#header = header;
    this.bytes = bytes;
  }

  header(name: string): string | null {
    return this.#header(name);
  }

  get mediaType(): string {
    return (this.#header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  }

  get text(): string {
    return decoder.decode(this.bytes);
  }

  get json(): unknown {
    if (this.#json === undefined) this.#json = this.#parse();
    return this.#json;
  }

  #parse(): unknown {
    try {
      return JSON.parse(this.text);
    } catch (cause) {
      const what = `The provider '${this.#vendor}' answered with something that is not JSON.`;
      throw new GatewayError("provider_bad_response", what, { cause });
    }
  }
}

/** The clocks of one exchange, and its bytes. */
class VendorExchange implements Watched {
  index = -1;
  readonly #exchange: Exchange;
  readonly #call: EngineCall;
  readonly #options: VendorCallOptions;
  #connectAt: number;
  #waitAt: number;
  #waitMs: number;
  #failure: Error | null = null;
  #isWhole = false;

  constructor(exchange: Exchange, call: EngineCall, options: VendorCallOptions) {
    this.#exchange = exchange;
    this.#call = call;
    this.#options = options;
    const now = performance.now();
    this.#connectAt = now + options.clocks.connectTimeoutMs;
    this.#waitMs = options.clocks.firstByteTimeoutMs;
    this.#waitAt = now + this.#waitMs;
    options.ticker.watch(this);
  }

  /** The status, when the head is there. */
  async open(): Promise<number> {
    try {
      await this.#exchange.open();
    } catch (error) {
      throw this.#failure ?? describeSendFailure(this.#options.provider.name, this.#exchange.wasSent, error);
    }
    this.#waitMs = this.#options.clocks.idleTimeoutMs;
    return this.#exchange.status;
  }

  async readAnswer(): Promise<VendorAnswer> {
    const bytes = await this.#read(maxAnswerBytes);
    if (bytes === null) throw this.#error("provider_bad_response", `answered with more than ${maxAnswerBytes} bytes`);
    const { provider } = this.#options;
    return new ReadAnswer(provider.name, this.#exchange.status, (name) => this.#exchange.header(name), bytes);
  }

  async readRefusal(): Promise<Pick<Refused, "retryAfter" | "body">> {
    const retryAfter = this.#exchange.header("retry-after");
    try {
      return { retryAfter, body: decoder.decode((await this.#read(maxErrorBytes)) ?? new Uint8Array()) };
    } catch (error) {
      if (error instanceof CallerLeft) throw error;
      // The status alone says enough.
      return { retryAfter, body: "" };
    }
  }

  check(now: number): void {
    const { shutdownSignal, clocks } = this.#options;
    const { signal, deadline } = this.#call;
    if (shutdownSignal.aborted)
      this.#fail(new GatewayError("draining", "The gateway went down before the answer was complete."));
    else if (now >= deadline) this.#fail(this.#timeout("did not finish within the time of the request"));
    else if (signal.aborted) this.#fail(new CallerLeft());
    else if (now >= this.#waitAt) this.#fail(this.#timeout(`sent nothing within ${this.#waitMs} ms`));
    else if (now >= this.#connectAt) {
      this.#connectAt = never;
      if (!this.#exchange.isConnected)
        this.#fail(this.#error("provider_timeout", `did not accept a connection within ${clocks.connectTimeoutMs} ms`));
    }
  }

  close(): void {
    this.#options.ticker.forget(this);
    if (this.#isWhole) this.#exchange.release();
    else this.#exchange.abort();
  }

  /** Null: there is more than that. */
  async #read(maxBytes: number): Promise<Uint8Array | null> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const piece = await this.#take();
      if (piece === null) break;
      length += piece.length;
      if (length > maxBytes) return null;
      pieces.push(piece);
    }
    this.#isWhole = true;
    return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  }

  async #take(): Promise<Uint8Array | null> {
    try {
      for (;;) {
        if (this.#failure !== null) throw this.#failure;
        const piece = this.#exchange.take();
        if (piece !== undefined) return piece;
        this.#waitAt = this.#options.ticker.now + this.#waitMs;
        await this.#exchange.wait();
      }
    } catch (error) {
      throw this.#failure ?? describeCut(this.#options.provider.name, error);
    }
  }

  #fail(failure: Error): void {
    this.#failure ??= failure;
    this.#options.ticker.forget(this);
    this.#exchange.abort();
  }

  #timeout(what: string): GatewayError {
    return describeUnanswered(this.#options.provider.name, this.#exchange.wasSent, { code: "provider_timeout", what });
  }

  #error(code: ErrorCode, what: string): GatewayError {
    return new GatewayError(code, `The provider '${this.#options.provider.name}' ${what}.`);
  }
}
