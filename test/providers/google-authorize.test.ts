// Google's service-account tokens, against a token server on loopback that checks what it is sent.

import { afterEach, expect, test } from "bun:test";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayError } from "../../src/errors.ts";
import { createGoogleAuthorizer, type GoogleAuthorizerOptions } from "../../src/providers/authorize/google.ts";
import { rejectionOf } from "../support/thrown.ts";
import { waitFor, within } from "../support/wait.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface TokenServer {
  readonly url: string;
  readonly bodies: URLSearchParams[];
  readonly heads: Headers[];
}

function serveTokens(answer: (count: number) => Response | Promise<Response>): TokenServer {
  const bodies: URLSearchParams[] = [];
  const heads: Headers[] = [];
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      heads.push(request.headers);
      bodies.push(new URLSearchParams(await request.text()));
      return await answer(bodies.length);
    },
  });
  closers.push(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/token`, bodies, heads };
}

function tokens(lifeSeconds = 3_600): (count: number) => Response {
  return (count) =>
    Response.json({ access_token: `ya29.token-${count}`, expires_in: lifeSeconds, token_type: "Bearer" });
}

function serviceAccount(tokenUrl: string, other: object = {}): string {
  return JSON.stringify({
    type: "service_account",
    project_id: "yard",
    private_key_id: "key-1",
    private_key: privateKey,
    client_email: "gateway@yard.iam.gserviceaccount.com",
    token_uri: tokenUrl,
    ...other,
  });
}

function authorizerFor(server: TokenServer, options: Partial<GoogleAuthorizerOptions> = {}) {
  return createGoogleAuthorizer({ credentials: serviceAccount(server.url), ...options });
}

/** Whatever happens, it is known soon. */
async function authorized(authorizer: ReturnType<typeof createGoogleAuthorizer>) {
  return await within(60_000, "a token", Promise.resolve(authorizer.authorize()));
}

function failureOf(authorizer: ReturnType<typeof createGoogleAuthorizer>): Promise<GatewayError> {
  return rejectionOf(authorized(authorizer), GatewayError);
}

test("a service account's key becomes a token by a request that the account signed", async () => {
  const server = serveTokens(tokens());
  const startedAt = Math.floor(Date.now() / 1_000);

  expect(await authorized(authorizerFor(server))).toEqual({ authorization: "Bearer ya29.token-1" });

  const body = server.bodies[0] as URLSearchParams;
  expect(body.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
  const [head = "", claims = "", signature = ""] = (body.get("assertion") ?? "").split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  expect(read(head)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
  expect(read(claims)).toMatchObject({
    iss: "gateway@yard.iam.gserviceaccount.com",
    scope: "https://www.googleapis.com/auth/cloud-platform",
    aud: server.url,
  });
  expect(read(claims).iat).toBeWithin(startedAt, startedAt + 60);
  expect(read(claims).exp - read(claims).iat).toBe(3_600);
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    createPublicKey(publicKey),
    Buffer.from(signature, "base64url"),
  );
  expect(isSigned).toBe(true);
});

test("a token that is there is given without waiting, and asked for once", async () => {
  const server = serveTokens(tokens());
  const authorizer = authorizerFor(server);
  await authorized(authorizer);

  for (let count = 0; count < 100; count += 1)
    expect(authorizer.authorize()).toEqual({ authorization: "Bearer ya29.token-1" });
  // Whatever had been asked before this would have been counted before it.
  await fetch(server.url);
  expect(server.bodies.length).toBe(2);
});

test("callers that come while a token is made share one exchange", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = serveTokens(async (count) => {
    await held;
    return tokens()(count);
  });
  const authorizer = authorizerFor(server);

  const all = Array.from({ length: 50 }, () => authorized(authorizer));
  await waitFor("the exchange", () => server.bodies.length > 0);
  release();

  for (const headers of await Promise.all(all)) expect(headers).toEqual({ authorization: "Bearer ya29.token-1" });
  expect(server.bodies.length).toBe(1);
});

test("a token is renewed in the background before it runs out, and serves meanwhile", async () => {
  // Renewed after 0.8 of its life, used until 0.9 of it.
  const server = serveTokens((count) => tokens(count === 1 ? 2 : 3_600)(count));
  const authorizer = authorizerFor(server);
  await authorized(authorizer);

  const given: unknown[] = [];
  const second = await waitFor(
    "the second token",
    () => {
      const headers = authorizer.authorize();
      given.push(headers);
      return !(headers instanceof Promise) && headers["authorization"] === "Bearer ya29.token-2";
    },
    { everyMs: 1 },
  );

  expect(second).toBe(true);
  expect(given.filter((headers) => headers instanceof Promise)).toEqual([]);
  expect(server.bodies.length).toBe(2);
});

test("a token that has run out is not used: the next caller waits for a new one", async () => {
  const server = serveTokens((count) => tokens(count === 1 ? 0.05 : 3_600)(count));
  const authorizer = authorizerFor(server);
  await authorized(authorizer);
  const endsAt = Date.now() + 50;
  await waitFor("the end of its life", () => Date.now() > endsAt);

  expect(await authorized(authorizer)).toEqual({ authorization: "Bearer ya29.token-2" });
});

test("a failed renewal is logged, and the old token is still used", async () => {
  const failures: unknown[] = [];
  const server = serveTokens((count) => (count === 1 ? tokens(3)(count) : new Response("no", { status: 500 })));
  const authorizer = authorizerFor(server, { onRenewalFailure: (error) => failures.push(error) });
  await authorized(authorizer);

  await waitFor(
    "a failed renewal",
    () => {
      const headers = authorizer.authorize();
      if (failures.length === 0) expect(headers).toEqual({ authorization: "Bearer ya29.token-1" });
      return failures.length > 0;
    },
    { everyMs: 1 },
  );
  expect(failures[0]).toBeInstanceOf(GatewayError);
});

test("a key that Google refuses is the gateway's failure, and appears nowhere", async () => {
  const server = serveTokens(() =>
    Response.json({ error: "invalid_grant", error_description: "Invalid JWT Signature." }, { status: 400 }),
  );
  const failure = await failureOf(authorizerFor(server));

  expect(failure.code).toBe("provider_auth_failed");
  expect(failure.message).toBe("Google's token service refused the gateway's credentials (status 400, invalid_grant).");
  expect(failure.message).not.toContain("PRIVATE KEY");
});

test("what a token server writes beside the code of its refusal is not told to callers", async () => {
  const server = serveTokens(() => Response.json({ error: "secret eyJhbGciOi" }, { status: 401 }));

  expect((await failureOf(authorizerFor(server))).message).not.toContain("eyJ");
});

test("a token server that fails, talks nonsense or is not there leaves the provider unreachable or bad, not refused", async () => {
  const cases: [(count: number) => Response, string][] = [
    [() => new Response("oops", { status: 503 }), "provider_unreachable"],
    [() => new Response("slow down", { status: 429 }), "provider_unreachable"],
    [() => new Response("<html>"), "provider_bad_response"],
    [() => Response.json({ access_token: "two\r\nlines" }), "provider_bad_response"],
    [(count) => (count === 1 ? Response.redirect("/elsewhere", 302) : tokens()(count)), "provider_unreachable"],
  ];
  for (const [answer, code] of cases)
    expect((await failureOf(authorizerFor(serveTokens(answer)))).code as string).toBe(code);
  const gone = createGoogleAuthorizer({ credentials: serviceAccount("http://127.0.0.1:1/token") });
  expect((await failureOf(gone)).code).toBe("provider_unreachable");
});

test("a token server that does not answer is given up", async () => {
  const server = serveTokens(() => new Promise<Response>(() => {}));

  expect((await failureOf(authorizerFor(server, { timeoutMs: 50 }))).code).toBe("provider_timeout");
});

test("a token server that fails is not called by every caller, and is called again after a pause", async () => {
  let isUp = false;
  const server = serveTokens((count) => (isUp ? tokens()(count) : new Response("", { status: 500 })));
  const authorizer = authorizerFor(server);

  for (let count = 0; count < 20; count += 1) await failureOf(authorizer);
  expect(server.bodies.length).toBe(1);
  isUp = true;
  await waitFor("a token", async () => (await Promise.resolve(authorizer.authorize()).catch(() => null)) !== null);
  expect(server.bodies.length).toBe(2);
});

test("credentials may be JSON, JSON with written-out line breaks, or a file that holds it", async () => {
  const server = serveTokens(tokens());
  const folder = mkdtempSync(join(tmpdir(), "google-"));
  closers.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "key.json");
  writeFileSync(path, serviceAccount(server.url));
  const escaped = serviceAccount(server.url, { private_key: privateKey.replaceAll("\n", "\\n") });

  for (const credentials of [path, ` ${serviceAccount(server.url)}\n`, escaped]) {
    const authorizer = createGoogleAuthorizer({ credentials });
    expect((await authorized(authorizer))["authorization"]).toStartWith("Bearer ya29.token-");
    expect(authorizer.project).toBe("yard");
    expect(authorizer.secrets.some((secret) => secret.includes("PRIVATE KEY"))).toBe(true);
  }
});

test("a user's own credentials are refreshed, and name the project that pays", async () => {
  const server = serveTokens(tokens());
  const credentials = JSON.stringify({
    type: "authorized_user",
    client_id: "client",
    client_secret: "hush",
    refresh_token: "1//refresh",
    quota_project_id: "payer",
    token_uri: server.url,
  });

  expect(await authorized(createGoogleAuthorizer({ credentials }))).toEqual({
    authorization: "Bearer ya29.token-1",
    "x-goog-user-project": "payer",
  });
  expect(Object.fromEntries(server.bodies[0] ?? [])).toEqual({
    grant_type: "refresh_token",
    client_id: "client",
    client_secret: "hush",
    refresh_token: "1//refresh",
  });
});

test("the metadata server is called only if the operator allows it", async () => {
  const server = serveTokens(tokens());

  const authorizer = createGoogleAuthorizer({ credentials: "metadata", metadataUrl: server.url });

  expect(await authorized(authorizer)).toEqual({ authorization: "Bearer ya29.token-1" });
  expect(server.heads[0]?.get("metadata-flavor")).toBe("Google");
});

test("an access token and an API key are sent as they are", () => {
  const header = (credentials: string) => createGoogleAuthorizer({ credentials }).authorize();

  expect(header("ya29.given")).toEqual({ authorization: "Bearer ya29.given" });
  expect(header("AIzaGiven")).toEqual({ "x-goog-api-key": "AIzaGiven" });
  expect(header("AQ.given")).toEqual({ "x-goog-api-key": "AQ.given" });
});

test("credentials that cannot be used are refused at start, in words that do not quote them", () => {
  const elliptic = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  }).privateKey;
  const cases: [string, string][] = [
    ["", "the value is empty"],
    ["/nowhere/key.json", "cannot be read"],
    ["{not json", "should be the key of a service account"],
    [JSON.stringify({ type: "external_account" }), "should be the key of a service account"],
    [serviceAccount("https://oauth2.googleapis.com/token", { private_key: "" }), "private_key is missing"],
    [
      serviceAccount("https://oauth2.googleapis.com/token", { private_key: "hush-hush" }),
      "is not a private key in PEM form",
    ],
    [serviceAccount("https://oauth2.googleapis.com/token", { private_key: elliptic }), "should be an RSA key"],
    [serviceAccount("http://tokens.example/token"), "should be an https address"],
    [serviceAccount("nowhere"), "should be an https address"],
  ];
  for (const [credentials, reason] of cases) {
    let message = "";
    try {
      createGoogleAuthorizer({ credentials });
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(reason);
    expect(message).not.toContain("hush-hush");
    expect(message).not.toContain("PRIVATE KEY");
  }
});
