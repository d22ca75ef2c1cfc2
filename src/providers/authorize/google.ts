// Credentials of Google Cloud: the key of a service account is exchanged for a token that is valid for about an hour. The token is cached,
// renewed in the background before it expires, and requested only once however many callers wait.
// https://developers.google.com/identity/protocols/oauth2/service-account#httprest

import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { GatewayError } from "../../errors.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { asObject, asText } from "../lenient.ts";

export interface GoogleAuthorizer {
  /** Headers to add. A promise only while a token is being requested. */
  authorize(): Headers | Promise<Headers>;
  /** The project of the credentials, if they contain it. */
  readonly project: string | null;
  /** Values that must not appear in logs or answers. */
  readonly secrets: readonly string[];
}

export interface GoogleAuthorizerOptions {
  /**
   * An access token; an API key; the JSON of a service account's key or of `gcloud auth application-default login`; the path of a file
   * with such JSON; or `metadata` for the metadata server of the machine.
   */
  readonly credentials: string;
  readonly metadataUrl?: string;
  readonly timeoutMs?: number;
  /** Called when a token could not be renewed and the previous one is still valid. */
  readonly onRenewalFailure?: (error: unknown) => void;
}

type Headers = Readonly<Record<string, string>>;

interface Token {
  readonly headers: Headers;
  /** From this time on, it is renewed in the background. */
  readonly renewAt: number;
  /** From this time on, it is no longer used. */
  readonly staleAt: number;
}

/** Where and how a token is requested. */
interface TokenSource {
  readonly url: string;
  readonly project: string | null;
  readonly secrets: readonly string[];
  readonly extraHeaders: Headers;
  toRequest(): RequestInit;
}

const scope = "https://www.googleapis.com/auth/cloud-platform";
const defaultTokenUrl = "https://oauth2.googleapis.com/token";
const defaultMetadataUrl = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token";
const renewBeforeMs = 5 * 60_000;
const staleBeforeMs = 60_000;
// After a failure, callers get the same error for a while instead of a new request each.
const pauseAfterFailureMs = 1_000;

/** Throws a message for the operator when the credentials are invalid. */
export function createGoogleAuthorizer(options: GoogleAuthorizerOptions): GoogleAuthorizer {
  const credentials = options.credentials.trim();
  if (credentials === "metadata") return new TokenCache(metadataSource(options.metadataUrl), options);
  if (credentials.startsWith("{")) return new TokenCache(readSource(credentials, "the given JSON"), options);
  if (/[/\\]/.test(credentials) || credentials.endsWith(".json"))
    return new TokenCache(readSource(readFile(credentials), `the file ${credentials}`), options);
  if (credentials === "") throw new Error("Google credentials: the value is empty");
  const isApiKey = /^(?:AIza|AQ\.)/.test(credentials);
  const headers = isApiKey ? { "x-goog-api-key": credentials } : { authorization: `Bearer ${credentials}` };
  return { authorize: () => headers, project: null, secrets: [credentials] };
}

class TokenCache implements GoogleAuthorizer {
  readonly project: string | null;
  readonly secrets: readonly string[];
  readonly #source: TokenSource;
  readonly #timeoutMs: number;
  readonly #onRenewalFailure: (error: unknown) => void;
  #token: Token | null = null;
  #exchange: Promise<Headers> | null = null;
  #failure: { readonly error: unknown; readonly until: number } | null = null;

  constructor(source: TokenSource, options: GoogleAuthorizerOptions) {
    this.project = source.project;
    this.secrets = source.secrets;
    this.#source = source;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#onRenewalFailure = options.onRenewalFailure ?? (() => {});
  }

  authorize(): Headers | Promise<Headers> {
    const token = this.#token;
    const now = Date.now();
    if (token !== null && now < token.renewAt) return token.headers;
    if (token === null || now >= token.staleAt) return this.#exchangeOnce(now);
    // The previous token is used meanwhile. A failure surfaces when that token is stale.
    if (this.#exchange === null && !this.#isPausing(now)) this.#exchangeOnce(now).catch(this.#onRenewalFailure);
    return token.headers;
  }

  #exchangeOnce(now: number): Promise<Headers> {
    if (this.#exchange !== null) return this.#exchange;
    if (this.#isPausing(now)) return Promise.reject(this.#failure?.error);
    this.#exchange = this.#renew().finally(() => {
      this.#exchange = null;
    });
    return this.#exchange;
  }

  #isPausing(now: number): boolean {
    return this.#failure !== null && now < this.#failure.until;
  }

  async #renew(): Promise<Headers> {
    try {
      const { token, lifeSeconds } = await this.#request();
      const headers = { authorization: `Bearer ${token}`, ...this.#source.extraHeaders };
      const lifeMs = lifeSeconds * 1_000;
      const now = Date.now();
      this.#token = {
        headers,
        // The usual margins could exceed the whole life of a short-lived token.
        renewAt: now + Math.max(lifeMs - renewBeforeMs, lifeMs * 0.8),
        staleAt: now + Math.max(lifeMs - staleBeforeMs, lifeMs * 0.9),
      };
      this.#failure = null;
      return headers;
    } catch (error) {
      this.#failure = { error, until: Date.now() + pauseAfterFailureMs };
      throw error;
    }
  }

  async #request(): Promise<{ token: string; lifeSeconds: number }> {
    const { status, text } = await this.#send();
    const answer = parse(text);
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) throw refused(status, answer);
    if (status !== 200)
      throw new GatewayError("provider_unreachable", `Google's token service failed with status ${status}.`);
    const token = answer["access_token"];
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
      throw new GatewayError("provider_bad_response", "Google's token service answered without a token.");
    const life = Number(answer["expires_in"] ?? 3_600);
    return { token, lifeSeconds: Number.isFinite(life) && life > 0 ? life : 3_600 };
  }

  async #send(): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      // `fetch` silently repeats a request that fails on a reused connection.
      const own = { redirect: "error", keepalive: false, signal } as const;
      const response = await fetch(this.#source.url, { ...own, ...this.#source.toRequest() });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      if (signal.aborted)
        throw new GatewayError("provider_timeout", `Google's token service took more than ${this.#timeoutMs} ms.`);
      throw new GatewayError("provider_unreachable", "Google's token service could not be reached.", { cause });
    }
  }
}

/** The service's description is the cause, which is logged and not sent to callers. */
function refused(status: number, answer: JsonObject): GatewayError {
  const code = String(answer["error"] ?? "");
  const shown = /^[a-z_]{1,40}$/.test(code) ? `${status}, ${code}` : String(status);
  const message = `Google's token service refused the gateway's credentials (status ${shown}).`;
  const cause = new Error(asText(answer["error_description"])?.slice(0, 200) ?? code);
  return new GatewayError("provider_auth_failed", message, { cause });
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`Google credentials: the file ${path} cannot be read`, { cause });
  }
}

function readSource(json: string, where: string): TokenSource {
  const members = parse(json);
  switch (members["type"]) {
    case "service_account":
      return serviceAccountSource(members, where);
    case "authorized_user":
      return userSource(members, where);
    default:
      throw new Error(`Google credentials: ${where} should be the key of a service account, or of an authorized user`);
  }
}

function serviceAccountSource(members: JsonObject, where: string): TokenSource {
  const email = readText(members, "client_email", where);
  // In an environment variable, line breaks of the key may be escaped.
  const pem = readText(members, "private_key", where).replaceAll("\\n", "\n");
  const key = readKey(pem, where);
  const keyId = members["private_key_id"];
  const url = readTokenUrl(members, where);
  return {
    url,
    project: asText(members["project_id"]),
    secrets: [pem, pem.replaceAll("\n", "\\n")],
    extraHeaders: {},
    toRequest: () =>
      form({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: signAssertion(key, keyId, { iss: email, aud: url }),
      }),
  };
}

function signAssertion(key: KeyObject, keyId: unknown, identity: { iss: string; aud: string }): string {
  const now = Math.floor(Date.now() / 1_000);
  const head = { alg: "RS256", typ: "JWT", ...(typeof keyId === "string" ? { kid: keyId } : {}) };
  const claims = { ...identity, scope, iat: now, exp: now + 3_600 };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const signed = `${encode(head)}.${encode(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

function userSource(members: JsonObject, where: string): TokenSource {
  const client_id = readText(members, "client_id", where);
  const client_secret = readText(members, "client_secret", where);
  const refresh_token = readText(members, "refresh_token", where);
  const project = asText(members["quota_project_id"]);
  return {
    url: readTokenUrl(members, where),
    project,
    secrets: [client_secret, refresh_token],
    // A user has no project, so the request names the one to be billed.
    extraHeaders: project === null ? {} : { "x-goog-user-project": project },
    toRequest: () => form({ grant_type: "refresh_token", client_id, client_secret, refresh_token }),
  };
}

function metadataSource(url = defaultMetadataUrl): TokenSource {
  const headers = { "metadata-flavor": "Google" };
  return { url, project: null, secrets: [], extraHeaders: {}, toRequest: () => ({ method: "GET", headers }) };
}

function form(members: Readonly<Record<string, string>>): RequestInit {
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  return { method: "POST", headers, body: new URLSearchParams(members).toString() };
}

function readKey(pem: string, where: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Without the cause, which could quote the key.
    throw new Error(`Google credentials: private_key in ${where} is not a private key in PEM form`);
  }
  if (key.asymmetricKeyType !== "rsa")
    throw new Error(`Google credentials: private_key in ${where} should be an RSA key`);
  return key;
}

/** A signed request can be exchanged for a token, so it must not leave the machine unencrypted. */
function readTokenUrl(members: JsonObject, where: string): string {
  const written = asText(members["token_uri"]) ?? defaultTokenUrl;
  const url = URL.parse(written);
  const isLocal = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)))
    throw new Error(`Google credentials: token_uri in ${where} should be an https address`);
  return written;
}

function readText(members: JsonObject, name: string, where: string): string {
  const text = asText(members[name]);
  if (text === null) throw new Error(`Google credentials: ${name} is missing in ${where}`);
  return text;
}

function parse(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}
