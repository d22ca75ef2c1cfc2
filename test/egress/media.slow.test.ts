// Images and files that a request names by their address, for providers that want bytes: fetched through the egress guard,
// or refused at the place where they are named.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { answer, completion, headOf, httpChunk, lastHttpChunk, write } from "../support/answers.ts";
import { ask, chatPath, hello } from "../support/chat.ts";
import { findFreePort } from "../support/free-port.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { type Behaviour, startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const tlsFolder = join(import.meta.dir, "../support/tls");
const certificate = join(tlsFolder, "certificate.pem");
// The smallest that counts as one: a signature, and something behind it.
const picture = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("a small picture")]);
const pdf = Buffer.from("%PDF-1.7\n% a small file\n");
const megabyte = 1_048_576;

let vendor: Vendor;
let gateway: GatewayProcess;
let hasty: GatewayProcess;
let key: string;
let files: ReturnType<typeof serveFiles>;
let models = 0;

beforeAll(async () => {
  vendor = await startVendor();
  files = serveFiles();
  const options = (env: Record<string, string>) => ({
    vendor,
    env: {
      NODE_EXTRA_CA_CERTS: certificate,
      SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
      ...env,
    },
    config: {
      providers: { local: { dialect: "ollama", base_url: `http://127.0.0.1:${vendor.port}/local` } },
    },
  });
  [gateway, hasty] = await Promise.all([
    startGatewayProcess(options({})),
    startGatewayProcess(options({ SWITCHYARD_TOTAL_TIMEOUT_MS: "1000" })),
  ]);
  key = await gateway.createKey();
});

afterAll(async () => {
  await Promise.all([gateway?.stop(), hasty?.stop()]);
  await files?.server.stop(true);
  await vendor?.stop();
});

/** The test's certificate is for the name localhost. */
function serveFiles() {
  const asked: string[] = [];
  let left = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: Bun.file(certificate), key: Bun.file(join(tlsFolder, "key.pem")) },
    idleTimeout: 60,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      request.signal.addEventListener("abort", () => {
        left += 1;
      });
      switch (pathname) {
        case "/huge.png":
          return new Response(Buffer.concat([picture, Buffer.alloc(21 * megabyte)]));
        case "/page.html":
          return new Response("<html>not a picture</html>", { headers: { "content-type": "image/png" } });
        case "/file.pdf":
          return new Response(pdf);
        case "/elsewhere":
          return new Response(null, { status: 302, headers: { location: "https://10.0.0.1/picture.png" } });
        case "/slow.png":
          await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
          return new Response(null);
        default:
          return pathname.startsWith("/picture") ? new Response(picture) : new Response("no", { status: 404 });
      }
    },
  });
  return {
    server,
    url: (path: string) => `https://localhost:${server.port}${path}`,
    countOf: (path: string) => asked.filter((one) => one === path).length,
    left: () => left,
  };
}

const ollamaAnswer = {
  model: "llava",
  created_at: "2026-01-01T00:00:00Z",
  message: { role: "assistant", content: "a picture" },
  done: true,
  done_reason: "stop",
  prompt_eval_count: 9,
  eval_count: 3,
};

function newModel(behaviour: Behaviour = answer(200, ollamaAnswer)): string {
  models += 1;
  vendor.on(`m${models}`, behaviour);
  return `m${models}`;
}

function withImages(model: string, ...urls: readonly string[]): Record<string, unknown> {
  const images = urls.map((url) => ({ type: "image_url", image_url: { url } }));
  return { model, messages: [{ role: "user", content: [{ type: "text", text: "what is this?" }, ...images] }] };
}

async function call(body: unknown, of: GatewayProcess = gateway): Promise<Response> {
  const ownKey = of === gateway ? key : await of.createKey();
  return ask(of.url, ownKey, body, { signal: AbortSignal.timeout(100_000) });
}

interface Refusal {
  readonly status: number;
  readonly loc: readonly unknown[];
  readonly type: string;
}

async function refusalOf(body: unknown, of: GatewayProcess = gateway): Promise<Refusal> {
  const response = await call(body, of);
  const { detail } = (await response.json()) as { detail: { loc: unknown[]; type: string }[] };
  const { loc = [], type = "" } = detail[0] ?? {};
  return { status: response.status, loc, type };
}

function callsOf(model: string) {
  return vendor.requests.filter((request) => request.model === model);
}

function sentImages(model: string): unknown {
  const body = JSON.parse(callsOf(model).at(-1)?.body.toString() ?? "") as { messages: { images?: string[] }[] };
  return body.messages[0]?.images;
}

test("an image arrives as its bytes, and one that is named twice is fetched once", async () => {
  const model = newModel();
  const url = files.url("/picture-twice.png");
  const response = await call(withImages(`local/${model}`, url, url));
  expect(response.status).toBe(200);
  expect(sentImages(model)).toEqual([picture.toString("base64"), picture.toString("base64")]);
  expect(files.countOf("/picture-twice.png")).toBe(1);
});

test("a stream gets them too, and so does a caller of the Messages format", async () => {
  const line = `${JSON.stringify(ollamaAnswer)}\n`;
  const head = headOf(200, { "content-type": "application/x-ndjson", "transfer-encoding": "chunked" });
  const model = newModel([write(head), httpChunk(line), lastHttpChunk]);
  const streamed = await call({ ...withImages(`local/${model}`, files.url("/picture.png")), stream: true });
  expect(await streamed.text()).toEndWith("data: [DONE]\n\n");
  expect(sentImages(model)).toEqual([picture.toString("base64")]);

  const other = newModel();
  const source = { type: "url", url: files.url("/picture.png") };
  const body = {
    model: `local/${other}`,
    max_tokens: 10,
    messages: [{ role: "user", content: [{ type: "image", source }] }],
  };
  const response = await ask(gateway.url, key, body, { path: "/v3/v1/messages" });
  expect(response.status).toBe(200);
  expect(sentImages(other)).toEqual([picture.toString("base64")]);
});

test("a provider that reads addresses itself gets the address, and the gateway does not fetch it", async () => {
  const model = newModel(answer(200, completion("a picture")));
  const body = withImages(`mock/${model}`, files.url("/picture-untouched.png"));
  expect((await call(body)).status).toBe(200);
  const sent = JSON.parse(callsOf(model)[0]?.body.toString() ?? "") as typeof body;
  expect(sent["messages"]).toEqual(body["messages"]);
  expect(files.countOf("/picture-untouched.png")).toBe(0);
});

const place = ["body", "messages", 0, "content", 1, "image_url", "url"];

test("what cannot be had is a 422 at its place, and the provider is not called", async () => {
  const model = newModel();
  const nobody = `https://localhost:${await findFreePort()}/picture.png`;
  for (const [url, type] of [
    ["https://10.0.0.1/picture.png", "url_not_allowed"],
    ["https://[fd00::1]/picture.png", "url_not_allowed"],
    ["https://169.254.169.254/latest/meta-data", "url_not_allowed"],
    ["https://localhost:22/picture.png", "url_not_allowed"],
    [files.url("/elsewhere"), "url_not_allowed"],
    [files.url("/huge.png"), "url_too_large"],
    [files.url("/page.html"), "url_bad_response"],
    [files.url("/file.pdf"), "url_bad_response"],
    [files.url("/missing.png"), "url_bad_response"],
    [nobody, "url_unreachable"],
  ] as const)
    expect(await refusalOf(withImages(`local/${model}`, url))).toEqual({ status: 422, loc: place, type });
  expect(callsOf(model)).toHaveLength(0);
});

test("a private address is refused for every provider, also if the provider would fetch it", async () => {
  const body = withImages("mock/echo", "https://10.0.0.1/picture.png");
  expect(await refusalOf(body)).toEqual({ status: 422, loc: place, type: "url_not_allowed" });
});

test("without an exemption a local name is refused before it is looked up", async () => {
  const own = await startGatewayProcess({
    vendor,
    config: { providers: { local: { dialect: "ollama", base_url: `http://127.0.0.1:${vendor.port}/local` } } },
  });
  try {
    const url = files.url("/picture-guarded.png");
    for (const provider of ["local", "mock"]) {
      const refusal = await refusalOf(withImages(`${provider}/${newModel()}`, url), own);
      expect(refusal).toEqual({ status: 422, loc: place, type: "url_not_allowed" });
    }
    expect(files.countOf("/picture-guarded.png")).toBe(0);
  } finally {
    await own.stop();
  }
});

test("an address that does not answer is waited for no longer than the request may take", async () => {
  const refusal = await refusalOf(withImages(`local/${newModel()}`, files.url("/slow.png")), hasty);
  expect(refusal).toEqual({ status: 422, loc: place, type: "url_timeout" });
});

test("when one cannot be had, the others are not waited for", async () => {
  const before = files.left();
  const body = withImages(`local/${newModel()}`, files.url("/slow.png"), files.url("/page.html"));
  expect(await refusalOf(body)).toMatchObject({ loc: place.with(4, 2), type: "url_bad_response" });
  await waitFor("the slow one to be given up", () => files.left() > before);
});

test("another offer that reads the address itself may answer instead", async () => {
  const model = newModel(answer(200, completion("a picture")));
  const body = { ...withImages(`local/${newModel()}`, files.url("/huge.png")), fallbacks: [`mock/${model}`] };
  const response = await call(body);
  expect(response.status).toBe(200);
  // Nothing was sent to the first offer.
  expect(response.headers.get("x-switchyard-attempts")).toBe("1");
});

test("what was fetched for the first try is there for the second", async () => {
  const url = files.url("/picture-again.png");
  const model = newModel(() => answer(callsOf(model).length === 1 ? 500 : 200, ollamaAnswer));
  const response = await call(withImages(`local/${model}`, url));
  expect(response.status).toBe(200);
  expect(response.headers.get("x-switchyard-attempts")).toBe("2");
  expect(sentImages(model)).toEqual([picture.toString("base64")]);
  expect(files.countOf("/picture-again.png")).toBe(1);
});

test("what failed for the first offer is not waited for again", async () => {
  const body = {
    ...withImages(`local/${newModel()}`, files.url("/missing-once.png")),
    fallbacks: [`local/${newModel()}`],
  };
  expect(await refusalOf(body)).toEqual({ status: 422, loc: place, type: "url_bad_response" });
  expect(files.countOf("/missing-once.png")).toBe(1);
});

test("a caller who leaves while an image is fetched is noticed: nothing goes on", async () => {
  const model = newModel();
  const before = { asked: files.countOf("/slow.png"), left: files.left() };
  const connection = await openConnection(gateway.url);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify(withImages(`local/${model}`, files.url("/slow.png")));
  connection.send(requestBytes({ path: chatPath, headers, body }));
  await waitFor("the image to be asked for", () => files.countOf("/slow.png") > before.asked);
  connection.leave();
  await waitFor("the image to be given up", () => files.left() > before.left);
  // Served after that one was over.
  expect((await ask(gateway.url, key, hello)).status).toBe(200);
  expect(callsOf(model)).toHaveLength(0);
  expect(gateway.log()).not.toContain("unexpected error");
});
