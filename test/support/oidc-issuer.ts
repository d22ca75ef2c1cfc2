// An issuer of OpenID Connect on this machine. It signs real tokens, and checks the client, the redirect address, the code and PKCE. Every
// person who opens its page is signed in at once as `person`.

import { createHash } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

export interface IssuerOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** `localhost` is another site than 127.0.0.1, for the cookies of a browser. */
  readonly host?: "127.0.0.1" | "localhost";
}

/** What a test may change between sign-ins. */
export interface IssuerState {
  person: Readonly<Record<string, unknown>> & { readonly sub: string };
  /** Claims that the userinfo endpoint states, and the identity token does not. */
  userInfo: Readonly<Record<string, unknown>>;
  /** Replaces claims of the identity token. */
  claims: Readonly<Record<string, unknown>>;
  /** Signs with a key that is not published. */
  signsWithOtherKey: boolean;
  /** Answers the first request with an error instead of a code. */
  refuses: string | null;
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

export async function startIssuer({
  clientId = "switchyard",
  clientSecret = "issuer-secret-1f7c",
  host = "127.0.0.1",
}: IssuerOptions = {}) {
  const [own, other] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
  const published = { ...(await exportJWK(own.publicKey)), kid: "own", alg: "ES256", use: "sig" };
  const grants = new Map<string, { nonce: string; challenge: string; redirectUri: string }>();
  const state: IssuerState = {
    person: { sub: "ada", email: "ada@example.com", groups: ["gateway-admins"] },
    userInfo: {},
    claims: {},
    signsWithOtherKey: false,
    refuses: null,
  };

  function authorize({ searchParams }: URL): Response {
    const value = (name: string) => searchParams.get(name) ?? "";
    const redirectUri = value("redirect_uri");
    if (value("client_id") !== clientId || !redirectUri.endsWith("/v3/manage/session/oidc/callback"))
      return new Response("unknown client or redirect address", { status: 400 });
    const target = new URL(redirectUri);
    target.searchParams.set("state", value("state"));
    if (state.refuses !== null) target.searchParams.set("error", state.refuses);
    else {
      if (value("code_challenge_method") !== "S256") return new Response("PKCE is required", { status: 400 });
      const code = crypto.randomUUID();
      grants.set(code, { nonce: value("nonce"), challenge: value("code_challenge"), redirectUri });
      target.searchParams.set("code", code);
    }
    return Response.redirect(target.href, 302);
  }

  async function exchange(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const grant = grants.get(form.get("code") ?? "");
    grants.delete(form.get("code") ?? "");
    const [, credentials = ""] = (request.headers.get("authorization") ?? "").split(" ");
    if (decodeURIComponent(atob(credentials)) !== `${clientId}:${clientSecret}`) return refuse("invalid_client", 401);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === undefined || grant.challenge !== challenge || form.get("redirect_uri") !== grant.redirectUri)
      return refuse("invalid_grant", 400);
    const now = Math.floor(Date.now() / 1_000);
    const times = { iat: now, exp: now + 300, nonce: grant.nonce, iss: issuer, aud: clientId };
    const token = await new SignJWT({ ...times, ...state.person, ...state.claims })
      .setProtectedHeader({ alg: "ES256", kid: "own" })
      .sign(state.signsWithOtherKey ? other.privateKey : own.privateKey);
    return Response.json({ access_token: "an-access-token", token_type: "Bearer", expires_in: 300, id_token: token });
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request): Promise<Response> {
      const url = new URL(request.url);
      switch (url.pathname) {
        case "/.well-known/openid-configuration":
          return Response.json({
            issuer,
            authorization_endpoint: `${issuer}/authorize`,
            token_endpoint: `${issuer}/token`,
            jwks_uri: `${issuer}/keys`,
            userinfo_endpoint: `${issuer}/userinfo`,
            response_types_supported: ["code"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: ["ES256"],
            code_challenge_methods_supported: ["S256"],
          });
        case "/authorize":
          return authorize(url);
        case "/token":
          return await exchange(request);
        case "/keys":
          return Response.json({ keys: [published] });
        case "/userinfo":
          return Response.json({ sub: state.person.sub, ...state.userInfo });
        default:
          return new Response("not found", { status: 404 });
      }
    },
  });
  const issuer: string = `http://${host}:${server.port}`;

  return { url: issuer, clientId, clientSecret, state, stop: () => server.stop(true) };
}

function refuse(error: string, status: number): Response {
  return Response.json({ error }, { status });
}
