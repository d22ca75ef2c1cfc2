// POST /v3/chat/completions: what every failure of a vendor looks like, and when a fallback answers.

import { describe, expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  completion,
  errorBody,
  event,
  fin,
  hang,
  rst,
  type Script,
  stream,
  streamHead,
  wait,
  write,
} from "../support/answers.ts";
import { ask, hello, readCompletion, readError } from "../support/chat.ts";
import { formlessSecret, openChatGateway, streamed } from "../support/chat-gateway.ts";
import { providerSecret } from "../support/gateway-settings.ts";

const { vendor, gateway, key, askStream } = await openChatGateway();

interface Failure {
  readonly says: Script;
  readonly status: number;
  readonly code: string | readonly string[];
  readonly retryAfter?: string;
}

// To the reader of a stream an answer without an end is a cut one.
const nonsense = ["provider_bad_response", "provider_disconnected"];

const page = "<html><body>Bad gateway</body></html>";

const html = { "content-type": "text/html" };

const failures: Readonly<Record<string, Failure>> = {
  "400": { says: answer(400, errorBody("bad")), status: 400, code: "provider_rejected_request" },
  "401": { says: answer(401, errorBody("who")), status: 502, code: "provider_auth_failed" },
  "403": { says: answer(403, errorBody("no")), status: 502, code: "provider_auth_failed" },
  "404": { says: answer(404, errorBody("no such model")), status: 404, code: "model_not_found" },
  "408": { says: answer(408, errorBody("slow")), status: 504, code: "provider_timeout" },
  "409": { says: answer(409, errorBody("conflict")), status: 502, code: "provider_error" },
  "413": { says: answer(413, errorBody("big")), status: 400, code: "provider_rejected_request" },
  "422": { says: answer(422, errorBody("odd")), status: 400, code: "provider_rejected_request" },
  "429 with a time": {
    says: answer(429, errorBody("later"), { "retry-after": "17" }),
    status: 429,
    code: "provider_rate_limited",
    retryAfter: "17",
  },
  "429 without a time": { says: answer(429, errorBody("later")), status: 429, code: "provider_rate_limited" },
  "500": { says: answer(500, errorBody("oops")), status: 502, code: "provider_error" },
  "503": { says: answer(503, errorBody("busy")), status: 502, code: "provider_error" },
  "529 without a body": { says: answer(529, ""), status: 502, code: "provider_error" },
  "502 as a page": { says: answer(502, page, html), status: 502, code: "provider_error" },
  "a page that claims success": { says: answer(200, page, html), status: 502, code: "provider_bad_response" },
  "an empty success": { says: answer(200, ""), status: 502, code: nonsense },
  "JSON that is no object": { says: answer(200, []), status: 502, code: "provider_bad_response" },
  "broken JSON": { says: answer(200, '{"id":'), status: 502, code: nonsense },
  "an answer without choices": { says: answer(200, { id: "x" }), status: 502, code: "provider_bad_response" },
  "no HTTP at all": { says: [write("SSH-2.0-OpenSSH_9.7\r\n\r\n"), fin], status: 502, code: "provider_bad_response" },
  "a reset before the headers": { says: [rst], status: 502, code: ["provider_unreachable", "provider_disconnected"] },
  "a close before the headers": { says: [fin], status: 502, code: ["provider_unreachable", "provider_disconnected"] },
  "a body that is cut": {
    says: [write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id":'), fin],
    status: 502,
    code: ["provider_disconnected", "provider_bad_response"],
  },
  "a redirect": {
    says: answer(307, "", { location: "/elsewhere" }),
    status: 502,
    code: ["provider_bad_response", "provider_error"],
  },
  silence: { says: [hang], status: 504, code: "provider_timeout" },
};

describe("when the vendor fails", () => {
  for (const kind of ["a call", "a stream"] as const) {
    for (const [name, { says, status, code, retryAfter }] of Object.entries(failures)) {
      test(`${kind} that meets ${name} gets ${status}`, async () => {
        vendor.on("echo", says);
        const response = await ask(gateway.url, key, kind === "a stream" ? streamed : hello);
        const error = await readError(response);
        expect(error.status).toBe(status);
        expect([code].flat()).toContain(error.code);
        if (status === 429) expect(error.headers.get("retry-after")).toMatch(retryAfter ?? /^\d+$/);
        if (error.code === "provider_auth_failed") expect(error.headers.get("x-should-retry")).toBe("false");
        expect(vendor.requests.map((request) => request.path)).not.toContain("/elsewhere");
      });
    }

    test(`${kind} to a vendor that refuses connections gets 502`, async () => {
      const error = await vendor.whileRefusing(async () =>
        readError(await ask(gateway.url, key, kind === "a stream" ? streamed : hello)),
      );
      expect(error).toMatchObject({ status: 502, type: "upstream_error", code: "provider_unreachable" });
    });
  }

  test("an answer that began and cannot be read may have been executed, and the error says so", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    vendor.on("echo", [write(`${head}no length\r\n`), fin]);
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error).toMatchObject({ status: 502, code: "provider_bad_response" });
    expect(error.message).toContain("It may have executed the request.");
  });

  test("the vendor's reason is passed on, without any secret in it", async () => {
    const says = `max_tokens is too large. Key ${providerSecret} (Bearer ${providerSecret})`;
    vendor.on("echo", answer(400, errorBody(says)));
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error.message).toContain("max_tokens is too large");
    expect(error.message).not.toContain(providerSecret);
    expect(gateway.log()).not.toContain(providerSecret);
  });

  test("a vendor's key is known by its value, whatever its form", async () => {
    vendor.on("echo", answer(400, errorBody(`no quota for ${formlessSecret} today`)));
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "plain/echo" }));
    expect(error.message).toContain("no quota for");
    expect(error.message).not.toContain(formlessSecret);
    expect(gateway.log()).not.toContain(formlessSecret);
  });

  test("a refusal of our credentials says nothing of them", async () => {
    vendor.on("echo", answer(401, errorBody(`Incorrect API key provided: ${providerSecret.slice(0, 17)}***`)));
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error).toMatchObject({ status: 502, code: "provider_auth_failed" });
    expect(error.message).not.toContain("sk-PROVIDERSECRET");
  });

  test("a provider without a key is not configured, and the answer says which setting is missing", async () => {
    const known = await readError(await ask(gateway.url, key, { ...hello, model: "openai/gpt-4o" }));
    expect(known).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(known.message).toContain("OPENAI_API_KEY");
    expect(known.headers.get("x-should-retry")).toBe("false");
    const declared = await readError(await ask(gateway.url, key, { ...hello, model: "keyless/echo" }));
    expect(declared).toMatchObject({ status: 503, code: "provider_not_configured" });
    expect(declared.message).toContain("A_VARIABLE_THAT_NOBODY_SET (providers.keyless.api_key)");
    expect(vendor.requests).toHaveLength(0);
  });

  test("a stream where none was asked for is not passed on as an answer", async () => {
    vendor.on("echo", stream(["hi"]));
    const error = await readError(await ask(gateway.url, key, hello));
    expect(error).toMatchObject({ status: 502, code: "provider_bad_response" });
  });

  test("compressed bytes that were not requested are read or refused, never passed on as text", async () => {
    const packed = Bun.gzipSync(Buffer.from(JSON.stringify(completion("hi"))));
    vendor.on("echo", answer(200, packed, { "content-encoding": "gzip", "content-type": "application/json" }));
    const response = await ask(gateway.url, key, hello);
    if (response.status === 200) expect(await readCompletion(response)).toMatchObject(completion("hi"));
    else expect(await readError(response)).toMatchObject({ status: 502, code: "provider_bad_response" });
  });

  test("an unknown provider is not found", async () => {
    const error = await readError(await ask(gateway.url, key, { ...hello, model: "unknown-provider/echo" }));
    expect(error).toMatchObject({ status: 404, code: "provider_not_found", param: "model" });
  });

  test("a connection that was kept and is closed by the vendor costs no request", async () => {
    for (let round = 0; round < 20; round += 1) {
      vendor.next([...answer(200, completion("hi")), fin]);
      expect((await ask(gateway.url, key, hello)).status).toBe(200);
    }
  });
});

describe("fallbacks", () => {
  const asked = { ...hello, model: "mock/broken", fallbacks: ["mockchat/broken", "mock2/echo"] };

  function paths(): string[] {
    return vendor.requests.map((request) => request.path.replace("/chat/completions", ""));
  }

  for (const name of [
    "429 with a time",
    "500",
    "401",
    "404",
    "a page that claims success",
    "a reset before the headers",
  ]) {
    test(`after ${name} the next model is asked, in order`, async () => {
      vendor.on("broken", failures[name]?.says ?? []);
      const body = await readCompletion(await ask(gateway.url, key, asked));
      expect(body.provider).toBe("mock2");
      expect(paths()).toEqual(["/v1", "/mockchat/v1", "/mock2/v1"]);
    });
  }

  test("a request that was rejected as such is not sent elsewhere", async () => {
    vendor.on("broken", answer(400, errorBody("bad")));
    expect(await readError(await ask(gateway.url, key, asked))).toMatchObject({ status: 400 });
    expect(paths()).toEqual(["/v1"]);
  });

  test("when every model fails, the caller is told of the last failure", async () => {
    vendor.on("broken", answer(500, errorBody("oops")));
    const error = await readError(await ask(gateway.url, key, { ...asked, fallbacks: ["mock2/broken"] }));
    expect(error).toMatchObject({ status: 502, code: "provider_error" });
    expect(error.message).toContain("mock2");
  });

  test("a provider that is not set up is passed over", async () => {
    const body = await readCompletion(
      await ask(gateway.url, key, { ...asked, model: "openai/gpt-4o", fallbacks: ["mock/echo"] }),
    );
    expect(body.provider).toBe("mock");
  });

  test("a stream moves on before its first event", async () => {
    vendor.on("broken", [streamHead(), fin]);
    expect(await askStream({ ...asked, stream: true })).toMatchObject({ content: "hi", done: true, errors: [] });
    expect(paths()).toEqual(["/v1", "/mockchat/v1", "/mock2/v1"]);
  });

  test("a stream that has begun is not begun again elsewhere", async () => {
    vendor.on("broken", [streamHead(), event(chatChunk({ content: "half" })), wait(200), fin]);
    const { content, done, errors } = await askStream({ ...asked, stream: true });
    expect({ content, done }).toEqual({ content: "half", done: false });
    expect(errors).toHaveLength(1);
    expect(paths()).toEqual(["/v1"]);
  });

  test("a caller may forbid it, and may name the providers", async () => {
    vendor.on("broken", answer(500, errorBody("oops")));
    const alone = await ask(gateway.url, key, { ...asked, routing: { allow_fallbacks: false } });
    expect(await readError(alone)).toMatchObject({ status: 502 });
    expect(paths()).toEqual(["/v1", "/v1", "/v1"]);
    const named = await ask(gateway.url, key, { ...asked, routing: { allowed_providers: ["mock2"] } });
    expect(await readCompletion(named)).toMatchObject({ provider: "mock2" });
    expect(paths()).toEqual(["/v1", "/v1", "/v1", "/mock2/v1"]);
  });

  test("an alias of several models tries them in order", async () => {
    vendor.on("broken", answer(500, errorBody("oops")));
    const body = await readCompletion(await ask(gateway.url, key, { ...hello, model: "several" }));
    expect(body.provider).toBe("mock2");
    expect(paths()).toEqual(["/v1", "/mock2/v1"]);
  });

  test("a fallback opens nothing that the key does not", async () => {
    const limited = await gateway.createKey({ allowed_models: ["mock/*"] });
    const error = await readError(await ask(gateway.url, limited, asked));
    expect(error).toMatchObject({ status: 403, code: "model_not_allowed" });
    expect(vendor.requests).toHaveLength(0);
  });

  test("there may be three of them", async () => {
    const four = Array.from({ length: 4 }, () => "mock/echo");
    const error = await readError(await ask(gateway.url, key, { ...hello, fallbacks: four }));
    expect(error).toMatchObject({ status: 422, code: "too_long", param: "fallbacks" });
  });

  test("a caller who leaves during the first try is not served by the second", async () => {
    vendor.on("broken", [hang]);
    const abort = new AbortController();
    const call = ask(gateway.url, key, asked, { signal: abort.signal }).catch(() => null);
    await vendor.waitFor("the first try", (requests) => requests.length === 1);
    abort.abort();
    await call;
    await vendor.waitFor("the first try's end", (requests) => requests[0]?.leftAt !== null);
    expect((await ask(gateway.url, key, hello)).status).toBe(200);
    expect(paths()).toEqual(["/v1", "/v1"]);
  });
});
