// Sign-in with OpenID Connect: the authorization code flow with PKCE, state and nonce. What the flow has to remember between its two
// requests is sealed in a cookie, so any process can finish what another one began.

import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { z } from "zod";
import { GatewayError, messageOf, shorten } from "../errors.ts";
import type { Sealer } from "../lib/seal.ts";
import type { Log } from "../log.ts";
import type { Identity } from "./sessions.ts";

export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  /** The claim with the groups: its name, or a path with dots into nested claims. */
  readonly groupsClaim: string;
  /** The claims to take the name of a person from; the first one that is there counts. */
  readonly nameClaims: readonly string[];
  readonly sealer: Sealer;
  readonly log: Log;
  readonly now?: () => number;
}

export interface StartedSignIn {
  /** The address of the issuer to open in the browser. */
  readonly url: string;
  /** For the cookie. */
  readonly transaction: string;
}

export interface FinishedSignIn {
  readonly identity: Identity;
  readonly returnTo: string;
}

export type Oidc = ReturnType<typeof createOidc>;

export const transactionLifetimeMs = 600_000;
const timeoutSeconds = 10;
// The metadata of an issuer change rarely, and its keys are read again when an unknown one was used.
const metadataLifetimeMs = 3_600_000;
// While the issuer does not answer, it is asked again this often, however many people try.
const askAgainMs = 2_000;
const sealContext = ["oidc", "sign-in"];
// The cookie holds two addresses and three random values.
const maxTransactionBytes = 65_536;

const transactionSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  returnTo: z.string(),
  until: z.number(),
});

type Transaction = z.output<typeof transactionSchema>;

export function createOidc(options: OidcOptions) {
  const { issuer, clientId, clientSecret, scopes, groupsClaim, nameClaims, sealer, log, now = Date.now } = options;
  let known: { readonly configuration: Promise<Configuration>; until: number } | null = null;

  function configure(): Promise<Configuration> {
    if (known !== null && now() < known.until) return known.configuration;
    // A signature is checked although the token comes from the issuer itself, over TLS: a proxy may stand in between.
    const execute = [enableNonRepudiationChecks];
    if (issuer.startsWith("http:")) execute.push(allowInsecureRequests);
    const found = discovery(new URL(issuer), clientId, undefined, toClientAuth(clientSecret), {
      execute,
      timeout: timeoutSeconds,
    });
    const asked = { configuration: found, until: now() + metadataLifetimeMs };
    known = asked;
    found.catch(() => {
      asked.until = now() + askAgainMs;
    });
    return found;
  }

  async function requireConfiguration(): Promise<Configuration> {
    try {
      return await configure();
    } catch (error) {
      throw unavailable(error);
    }
  }

  async function readTransaction(sealed: string | null): Promise<Transaction> {
    const retry = "The sign-in took too long, or began in another browser. Try again.";
    if (sealed === null) throw failed(retry);
    let opened: unknown;
    try {
      const content = await sealer.open(Buffer.from(sealed, "base64url"), sealContext, maxTransactionBytes);
      opened = JSON.parse(content.toString());
    } catch (error) {
      throw failed(retry, error);
    }
    const transaction = transactionSchema.parse(opened);
    if (now() >= transaction.until) throw failed(retry);
    return transaction;
  }

  /** Of the identity token; claims that it does not have are read from the userinfo endpoint. */
  async function readClaims(configuration: Configuration, currentUrl: URL, checks: Transaction): Promise<Claims> {
    const tokens = await authorizationCodeGrant(configuration, currentUrl, {
      pkceCodeVerifier: checks.verifier,
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error("The issuer returned no identity token");
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    if (findClaim(claims, groupsClaim) !== undefined || !hasUserInfo) return claims;
    return { ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  }

  return {
    async start(redirectUri: string, returnTo: string): Promise<StartedSignIn> {
      const configuration = await requireConfiguration();
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopes.join(" "),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      const until = now() + transactionLifetimeMs;
      const transaction: Transaction = { state, nonce, verifier, redirectUri, returnTo, until };
      const sealed = await sealer.seal(Buffer.from(JSON.stringify(transaction)), sealContext);
      return { url: url.href, transaction: sealed.toString("base64url") };
    },

    /** `search`: the query with which the issuer sent the browser back. */
    async finish(search: string, sealed: string | null): Promise<FinishedSignIn> {
      const transaction = await readTransaction(sealed);
      const configuration = await requireConfiguration();
      // The issuer compares the address with that of the first request.
      const currentUrl = new URL(transaction.redirectUri);
      currentUrl.search = search;
      let claims: Claims;
      try {
        claims = await readClaims(configuration, currentUrl, transaction);
      } catch (error) {
        // Not the error itself: it may hold tokens.
        log.warn("a sign-in with OpenID Connect failed", { reason: messageOf(error), cause: messageOf(rootOf(error)) });
        throw isOutage(error) ? unavailable(error) : failed(describe(error), error);
      }
      const subject = claims.sub;
      const name = nameClaims.map((claim) => findClaim(claims, claim)).find((value) => typeof value === "string");
      const identity = {
        issuer,
        subject,
        name: toPlainText(name ?? subject),
        groups: toGroups(findClaim(claims, groupsClaim)),
      };
      return { identity, returnTo: transaction.returnTo };
    },
  };
}

interface Claims {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** Names of claims may contain dots, such as `https://example.com/groups`, so the whole name comes first. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

function toGroups(claim: unknown): string[] {
  const list = Array.isArray(claim) ? claim : [claim];
  return list.filter((group) => typeof group === "string");
}

/** PostgreSQL cannot store NUL, and no control character belongs in a name. */
function toPlainText(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/**
 * `client_secret_basic` is what an issuer supports that does not say what it supports. Others get the secret in the form, because some read
 * characters such as `-` in the header differently.
 */
function toClientAuth(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const authenticate = supported.includes("client_secret_post") ? post : basic;
    authenticate(server, client, body, headers);
  };
}

/** The issuer did not answer, or answered with a failure of its own. The library gives failures of other kinds a code of its own. */
function isOutage(error: unknown): boolean {
  const { code = "" } = error as { readonly code?: string };
  if (!(error instanceof ClientError)) return error instanceof TypeError && !code.startsWith("ERR_");
  if (error.cause instanceof Response) return error.cause.status >= 500;
  return error.code === undefined || error.code === "OAUTH_TIMEOUT";
}

function describe(error: unknown): string {
  if (error instanceof AuthorizationResponseError) {
    const why = error.error_description === undefined ? error.error : `${error.error}: ${error.error_description}`;
    return `The issuer refused the sign-in: ${shorten(why, 200)}`;
  }
  return "The answer of the issuer is not valid. The log of the gateway says why.";
}

function failed(message: string, cause?: unknown): GatewayError {
  return new GatewayError("sign_in_failed", message, { cause });
}

function unavailable(cause: unknown): GatewayError {
  const message = `The issuer of identities cannot be used: ${shorten(messageOf(rootOf(cause)), 200)}`;
  return new GatewayError("issuer_unavailable", message, { cause });
}

/** The library wraps errors of the network. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error;
}
