// Credentials of Google's cloud: a service account's key is exchanged for a token that lives about an hour. The token is
// kept, renewed in the background before it runs out, and asked for once however many callers wait.
// https://developers.google.com/identity/protocols/oauth2/service-account#httprest

import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { GatewayError } from "../../errors.ts";

export interface GoogleAuthorizer {
  /** Headers to add. A promise only when a token has to be waited for. */
  authorize(): Headers | Promise<Headers>;
  /** The project that the credentials belong to, where they say so. */
  readonly project: string | null;
  /** Values that must appear in no log and no answer. */
  readonly secrets: readonly string[];
}

export interface GoogleAuthorizerOptions {
  /**
   * An access token; an API key; the JSON of a service account's key or of `gcloud auth application-default login`; the
   * path of a file that holds such JSON; or the word `metadata`, which asks the metadata server of the machine.
   */
  readonly credentials: string;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly metadataUrl?: string;
  /** How long an exchange may take. */
  readonly timeoutMs?: number;
  /** Told when a token could not be renewed while the old one still serves. */
  readonly onRenewalFailure?: (error: unknown) => void;
}

type Headers = Readonly<Record<string, string>>;

interface Token {
  readonly headers: Headers;
  /** From here on it is renewed while it is still used. */
  readonly renewAt: number;
  /** From here on it is not used any more. */
  readonly staleAt: number;
}

/** How a token is asked for. */
interface Source {
  readonly url: string;
  readonly project: string | null;
  readonly secrets: readonly string[];
  readonly extraHeaders: Headers;
  toRequest(): RequestInit;
}

const scope = "https://www.googleapis.com/auth/cloud-platform";
const usualTokenUrl = "https://oauth2.googleapis.com/token";
const usualMetadataUrl = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token";
const renewBeforeMs = 5 * 60_000;
const staleBeforeMs = 60_000;
// A service that fails at once is not asked again by every caller.
const pauseAfterFailureMs = 1_000;

/** Throws, in words for the operator, when the credentials cannot be used. */
export function createGoogleAuthorizer(options: GoogleAuthorizerOptions): GoogleAuthorizer {
  const credentials = options.credentials.trim();
  if (credentials === "metadata") return new TokenKeeper(metadataSource(options.metadataUrl), options);
  if (credentials.startsWith("{")) return new TokenKeeper(readSource(credentials, "the given JSON"), options);
  if (/[/\\]/.test(credentials) || credentials.endsWith(".json"))
    return new TokenKeeper(readSource(readFile(credentials), `the file ${credentials}`), options);
  if (credentials === "") throw new Error("Google credentials: there are none");
  const isApiKey = /^(?:AIza|AQ\.)/.test(credentials);
  const headers = isApiKey ? { "x-goog-api-key": credentials } : { authorization: `Bearer ${credentials}` };
  return { authorize: () => headers, project: null, secrets: [credentials] };
}

class TokenKeeper implements GoogleAuthorizer {
  readonly project: string | null;
  readonly secrets: readonly string[];
  readonly #source: Source;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #timeoutMs: number;
  readonly #onRenewalFailure: (error: unknown) => void;
  #token: Token | null = null;
  #exchange: Promise<Headers> | null = null;
  #failure: { readonly error: unknown; readonly until: number } | null = null;

  constructor(source: Source, options: GoogleAuthorizerOptions) {
    this.project = source.project;
    this.secrets = source.secrets;
    this.#source = source;
    this.#fetch = options.fetch ?? fetch;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#onRenewalFailure = options.onRenewalFailure ?? (() => {});
  }

  authorize(): Headers | Promise<Headers> {
    const token = this.#token;
    const now = Date.now();
    if (token !== null && now < token.renewAt) return token.headers;
    if (token === null || now >= token.staleAt) return this.#exchangeOnce(now);
    // The old token serves until the new one is there. A failure is met again, and told, when it is stale.
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
      const { access_token, expires_in } = await this.#ask();
      const headers = { authorization: `Bearer ${access_token}`, ...this.#source.extraHeaders };
      const lifeMs = expires_in * 1_000;
      const now = Date.now();
      this.#token = {
        headers,
        // Of a short life, most is used: the usual margins would leave nothing of it.
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

  async #ask(): Promise<{ access_token: string; expires_in: number }> {
    const { status, text } = await this.#send();
    const answer = parse(text);
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) throw refused(status, answer);
    if (status !== 200)
      throw new GatewayError("provider_unreachable", `Google's token service failed with status ${status}.`);
    const token = answer["access_token"];
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
      throw new GatewayError("provider_bad_response", "Google's token service answered without a token.");
    const life = Number(answer["expires_in"] ?? 3_600);
    return { access_token: token, expires_in: Number.isFinite(life) && life > 0 ? life : 3_600 };
  }

  async #send(): Promise<{ status: number; text: string }> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      // On a kept connection that fails, `fetch` sends the request again by itself.
      const own = { redirect: "error", keepalive: false, signal } as const;
      const response = await this.#fetch(this.#source.url, { ...own, ...this.#source.toRequest() });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      if (signal.aborted)
        throw new GatewayError("provider_timeout", `Google's token service took more than ${this.#timeoutMs} ms.`);
      throw new GatewayError("provider_unreachable", "Google's token service could not be reached.", { cause });
    }
  }
}

/** What the service says in words goes to the log with the cause: it is not for callers. */
function refused(status: number, answer: Readonly<Record<string, unknown>>): GatewayError {
  const code = String(answer["error"] ?? "");
  const shown = /^[a-z_]{1,40}$/.test(code) ? `${status}, ${code}` : String(status);
  const words = typeof answer["error_description"] === "string" ? answer["error_description"].slice(0, 200) : code;
  return new GatewayError(
    "provider_auth_failed",
    `Google's token service refused the gateway's credentials (status ${shown}).`,
    { cause: new Error(words) },
  );
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`Google credentials: the file ${path} cannot be read`, { cause });
  }
}

function readSource(json: string, where: string): Source {
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

function serviceAccountSource(members: Readonly<Record<string, unknown>>, where: string): Source {
  const email = readText(members, "client_email", where);
  // Some ways to keep a key in a variable leave its line breaks written out.
  const pem = readText(members, "private_key", where).replaceAll("\\n", "\n");
  const key = readKey(pem, where);
  const keyId = members["private_key_id"];
  const url = readTokenUrl(members, where);
  return {
    url,
    project: optionalText(members, "project_id"),
    secrets: [pem, pem.replaceAll("\n", "\\n")],
    extraHeaders: {},
    toRequest: () =>
      form({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: toAssertion({ email, key, keyId, audience: url }),
      }),
  };
}

interface Assertion {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: unknown;
  readonly audience: string;
}

function toAssertion({ email, key, keyId, audience }: Assertion): string {
  const now = Math.floor(Date.now() / 1_000);
  const head = { alg: "RS256", typ: "JWT", ...(typeof keyId === "string" ? { kid: keyId } : {}) };
  const claims = { iss: email, scope, aud: audience, iat: now, exp: now + 3_600 };
  const signed = `${encode(JSON.stringify(head))}.${encode(JSON.stringify(claims))}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`;
}

function userSource(members: Readonly<Record<string, unknown>>, where: string): Source {
  const client_id = readText(members, "client_id", where);
  const client_secret = readText(members, "client_secret", where);
  const refresh_token = readText(members, "refresh_token", where);
  const project = optionalText(members, "quota_project_id");
  return {
    url: readTokenUrl(members, where),
    project,
    secrets: [client_secret, refresh_token],
    // A user belongs to no project: the vendor wants to know which one pays.
    extraHeaders: project === null ? {} : { "x-goog-user-project": project },
    toRequest: () => form({ grant_type: "refresh_token", client_id, client_secret, refresh_token }),
  };
}

function metadataSource(url = usualMetadataUrl): Source {
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
    // The reason is left out: it could quote the key.
    throw new Error(`Google credentials: private_key in ${where} is no private key in PEM form`);
  }
  if (key.asymmetricKeyType !== "rsa")
    throw new Error(`Google credentials: private_key in ${where} should be an RSA key`);
  return key;
}

/** A signed request for a token is worth a token: it leaves the machine encrypted or not at all. */
function readTokenUrl(members: Readonly<Record<string, unknown>>, where: string): string {
  const written = optionalText(members, "token_uri") ?? usualTokenUrl;
  const url = URL.parse(written);
  const isLocal = url !== null && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)))
    throw new Error(`Google credentials: token_uri in ${where} should be an https address`);
  return written;
}

function readText(members: Readonly<Record<string, unknown>>, name: string, where: string): string {
  return optionalText(members, name) ?? missing(name, where);
}

function missing(name: string, where: string): never {
  throw new Error(`Google credentials: ${name} is missing in ${where}`);
}

function optionalText(members: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = members[name];
  return typeof value === "string" && value !== "" ? value : null;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}
