// The server over plain sockets: bodies, connections, the order of checks, and keys.

import { beforeEach, describe, expect, test } from "bun:test";
import { ask, chatPath, hello, readError } from "../support/chat.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { openConnection, type RawConnection, type RawResponse, requestBytes } from "../support/raw-http.ts";
import { readFolder } from "../support/read-folder.ts";
import { sharedGateway, testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const maxBodyBytes = 100_000;
const bodyTimeoutMs = 700;

const gateway = await sharedGateway({
  env: {
    SWITCHYARD_MAX_BODY_BYTES: String(maxBodyBytes),
    SWITCHYARD_BODY_TIMEOUT_MS: String(bodyTimeoutMs),
    SWITCHYARD_LOG_LEVEL: "debug",
  },
});
const { vendor } = gateway;
const key = await gateway.createKey();
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

beforeEach(() => vendor.clear());

const helloText = JSON.stringify(hello);

async function withConnection<Result>(work: (connection: RawConnection) => Promise<Result>): Promise<Result> {
  const connection = await openConnection(gateway.url);
  try {
    return await work(connection);
  } finally {
    connection.leave();
  }
}

function codeOf(response: RawResponse): unknown {
  return (JSON.parse(response.body.toString()) as { error?: { code?: unknown } }).error?.code;
}

function helloOfSize(bytes: number): string {
  const empty = JSON.stringify({ ...hello, messages: [{ role: "user", content: "" }] });
  return JSON.stringify({ ...hello, messages: [{ role: "user", content: "x".repeat(bytes - empty.length) }] });
}

function inChunks(text: string, size: number): string {
  const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return `${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("")}0\r\n\r\n`;
}

describe("bodies", () => {
  test("a body that stops arriving is answered with a timeout", async () => {
    await withConnection(async (connection) => {
      const whole = requestBytes({ path: chatPath, headers, body: helloText });
      connection.send(whole.subarray(0, whole.length - 10));
      const response = await connection.receive();
      expect(response.status).toBe(408);
      expect(codeOf(response)).toBe("request_timeout");
      await connection.waitForClose();
    });
    expect(vendor.requests).toHaveLength(0);
  });

  test("a body that arrives byte by byte times out too: the deadline is for the whole body", async () => {
    await withConnection(async (connection) => {
      const whole = requestBytes({ path: chatPath, headers, body: helloText });
      const bodyStart = whole.length - helloText.length;
      connection.send(whole.subarray(0, bodyStart));
      for (let at = bodyStart; at < whole.length - 1 && !connection.isClosed(); at += 1) {
        connection.send(whole.subarray(at, at + 1));
        await Bun.sleep(100);
        if (connection.text() !== "") break;
      }
      expect((await connection.receive()).status).toBe(408);
    });
  });

  test("a body may have the maximum size and not one byte more", async () => {
    expect((await ask(gateway.url, key, helloOfSize(maxBodyBytes))).status).toBe(200);
    const error = await readError(await ask(gateway.url, key, helloOfSize(maxBodyBytes + 1)));
    expect(error).toMatchObject({ status: 413, code: "payload_too_large" });
  });

  test("a chunked body is read like any other", async () => {
    await withConnection(async (connection) => {
      const chunked = { ...headers, "transfer-encoding": "chunked" };
      connection.send(requestBytes({ path: chatPath, headers: chunked, body: inChunks(helloText, 7) }));
      expect((await connection.receive()).status).toBe(200);
    });
    expect(JSON.parse(vendor.last().body.toString())).toEqual({ ...hello, model: "echo" });
  });

  test("a chunked body that grows over the limit is refused", async () => {
    await withConnection(async (connection) => {
      const chunked = { ...headers, "transfer-encoding": "chunked" };
      const body = inChunks(helloOfSize(maxBodyBytes * 3), 8_192);
      connection.send(requestBytes({ path: chatPath, headers: chunked, body }));
      expect((await connection.receive()).status).toBe(413);
    });
    expect(vendor.requests).toHaveLength(0);
  });

  test("a client that waits for 100-continue gets it, and then its answer", async () => {
    await withConnection(async (connection) => {
      const expecting = { ...headers, expect: "100-continue", "content-length": String(helloText.length) };
      connection.send(requestBytes({ path: chatPath, headers: expecting }));
      await waitFor("the interim answer", () => connection.text().startsWith("HTTP/1.1 100"));
      connection.send(helloText);
      const response = await connection.receive();
      expect(response.interim).toEqual([100]);
      expect(response.status).toBe(200);
    });
  });

  test("a client that waits for 100-continue with a wrong key is refused", async () => {
    await withConnection(async (connection) => {
      const wrong = { ...headers, authorization: "Bearer sk-nobody-has-this-key" };
      const expecting = { ...wrong, expect: "100-continue", "content-length": String(helloText.length) };
      connection.send(requestBytes({ path: chatPath, headers: expecting }));
      expect((await connection.receive()).status).toBe(401);
    });
  });
});

describe("connections", () => {
  test("requests sent at once are answered in order, and none gets the answer of another", async () => {
    await withConnection(async (connection) => {
      const health = requestBytes({ method: "GET", path: "/healthz" });
      const missing = requestBytes({ method: "GET", path: "/v3/nothing-here" });
      connection.send(
        Buffer.concat([health, missing, requestBytes({ path: chatPath, headers, body: helloText }), health]),
      );
      const statuses: number[] = [];
      while (statuses.length < 4 && statuses.at(-1) !== 0) statuses.push((await connection.receive()).status);
      // Bun's server closes a connection on which a request comes while another is being worked on.
      const answered = statuses.filter((status) => status !== 0);
      expect(answered).toEqual([200, 404, 200, 200].slice(0, answered.length));
      expect(answered).not.toBeEmpty();
    });
  });

  test("a connection stays usable after errors", async () => {
    await withConnection(async (connection) => {
      const bad = [
        requestBytes({ method: "GET", path: "/v3/nothing-here" }),
        requestBytes({ method: "GET", path: chatPath, headers }),
        requestBytes({ path: chatPath, headers, body: "{" }),
        requestBytes({ path: chatPath, headers, body: "{}" }),
        requestBytes({ path: chatPath, headers, body: JSON.stringify({ ...hello, model: "nobody/x" }) }),
      ];
      for (const [index, status] of [404, 405, 422, 422, 404].entries()) {
        connection.send(bad[index] ?? "");
        expect((await connection.receive()).status).toBe(status);
      }
      connection.send(requestBytes({ path: chatPath, headers, body: helloText }));
      expect((await connection.receive()).status).toBe(200);
    });
  });

  const unread = {
    "a path that is not there": { path: "/v3/nothing-here", status: 404 },
    "a method that is not allowed": { path: "/v3/info", status: 405 },
    "a wrong key": { path: chatPath, status: 401, authorization: "Bearer sk-nobody-has-this-key" },
    "a wrong content type": { path: chatPath, status: 415, type: "text/plain" },
  } as const;
  for (const [name, refused] of Object.entries(unread)) {
    test(`a body that was not read because of ${name} is never taken for a request`, async () => {
      await withConnection(async (connection) => {
        const smuggled = requestBytes({ path: chatPath, headers, body: helloText });
        const sent = {
          authorization: "authorization" in refused ? refused.authorization : `Bearer ${key}`,
          "content-type": "type" in refused ? refused.type : "application/json",
        };
        connection.send(requestBytes({ path: refused.path, headers: sent, body: smuggled }));
        expect((await connection.receive()).status).toBe(refused.status);
        connection.send(requestBytes({ method: "GET", path: "/healthz" }));
        // Closing is as good as reading on: a client opens another connection.
        const next = await connection.receive();
        expect([0, 200]).toContain(next.status);
        if (next.status === 200) expect(next.body.toString()).not.toContain("choices");
      });
      expect(vendor.requests).toHaveLength(0);
    });
  }

  test("HEAD has the headers of GET and no body", async () => {
    for (const path of ["/v3/info", "/v3/models", "/healthz", "/readyz"]) {
      await withConnection(async (connection) => {
        connection.send(requestBytes({ method: "GET", path }));
        const get = await connection.receive();
        connection.send(requestBytes({ method: "HEAD", path }));
        const head = await connection.receive({ withoutBody: true });
        expect(head.status).toBe(200);
        expect(head.headers["content-type"]).toBe(get.headers["content-type"] ?? "none");
        if (head.headers["content-length"] !== undefined) {
          expect(head.headers["content-length"]).toBe(String(get.body.length));
        }
        connection.send(requestBytes({ method: "GET", path: "/healthz" }));
        expect((await connection.receive()).status).toBe(200);
      });
    }
  });

  test("a method that the Messages route does not allow is refused in the format of its clients", async () => {
    for (const path of ["/v1/messages", "/v3/v1/messages", "/v3/messages/count_tokens"]) {
      const response = await fetch(`${gateway.url}${path}`);
      expect(response.status).toBe(405);
      const body = (await response.json()) as Record<string, unknown>;
      expect(body).toMatchObject({ type: "error", request_id: response.headers.get("request-id") });
      expect(body["request_id"]).toBeString();
    }
  });

  test("HEAD of a route that allows only POST is 405 without a body", async () => {
    await withConnection(async (connection) => {
      connection.send(requestBytes({ method: "HEAD", path: chatPath, headers }));
      const response = await connection.receive({ withoutBody: true });
      expect(response.status).toBe(405);
      expect(response.headers["allow"]).toContain("POST");
      connection.send(requestBytes({ method: "GET", path: "/healthz" }));
      expect((await connection.receive()).status).toBe(200);
    });
  });

  test("HEAD of an unknown path is 404 without a body", async () => {
    await withConnection(async (connection) => {
      connection.send(requestBytes({ method: "HEAD", path: "/v3/nothing-here" }));
      expect((await connection.receive({ withoutBody: true })).status).toBe(404);
      connection.send(requestBytes({ method: "GET", path: "/healthz" }));
      expect((await connection.receive()).status).toBe(200);
    });
  });
});

describe("the order of checks", () => {
  const wrongKey = { authorization: "Bearer sk-nobody-has-this-key" };
  const xml = { "content-type": "application/xml" };
  const steps: readonly { what: string; send: Parameters<typeof requestBytes>[0]; status: number }[] = [
    { what: "a path is looked for before a key", send: { path: "/v3/nothing-here", body: "{" }, status: 404 },
    { what: "a method is checked before a key", send: { method: "PUT", path: chatPath, body: "{" }, status: 405 },
    {
      what: "a key is checked before the type",
      send: { path: chatPath, headers: { ...wrongKey, ...xml }, body: "{" },
      status: 401,
    },
    {
      what: "a key is checked before the size",
      send: {
        path: chatPath,
        headers: { ...wrongKey, "content-type": "application/json", "content-length": "99999999" },
        body: "{",
      },
      status: 401,
    },
  ];
  for (const { what, send, status } of steps) {
    test(what, async () => {
      await withConnection(async (connection) => {
        connection.send(requestBytes(send));
        expect((await connection.receive()).status).toBe(status);
      });
    });
  }

  test("the type is checked before the JSON, the JSON before the schema, the schema before the provider", async () => {
    const url = gateway.url;
    expect((await ask(url, key, "{", { headers: xml })).status).toBe(415);
    expect(await readError(await ask(url, key, "{"))).toMatchObject({ status: 422, code: "json_invalid" });
    const both = { model: "nobody/x", messages: [], temperature: 9 };
    expect(await readError(await ask(url, key, both))).toMatchObject({ status: 422 });
    const limited = await gateway.createKey({ scopes: ["responses"] });
    expect(await readError(await ask(url, limited, { ...hello, model: "nobody/x" }))).toMatchObject({ status: 403 });
  });
});

describe("keys", () => {
  const managed = ["/v3/manage/keys", "/v3/manage/whoami"] as const;

  test("an inference key may not call a management route", async () => {
    for (const path of managed) {
      const response = await fetch(gateway.url + path, { headers });
      expect(await readError(response)).toMatchObject({ status: 403, code: "insufficient_scope" });
    }
    const create = await fetch(`${gateway.url}/v3/manage/keys`, { method: "POST", headers, body: '{"name":"mine"}' });
    expect(create.status).toBe(403);
  });

  test("a management route needs a key", async () => {
    for (const path of managed) {
      const error = await readError(await fetch(gateway.url + path));
      expect(error).toMatchObject({ status: 401, code: "missing_api_key" });
      expect(error.headers.get("www-authenticate")).toStartWith("Bearer");
    }
  });

  test("a revoked key is refused from then on", async () => {
    const created = (await gateway.manage("POST", "/keys", { name: "short-lived" })) as { id: string; key: string };
    expect((await ask(gateway.url, created.key, hello)).status).toBe(200);
    await gateway.manage("DELETE", `/keys/${created.id}`);
    const error = await readError(await ask(gateway.url, created.key, hello));
    expect(error.status).toBe(401);
    expect(["api_key_revoked", "invalid_api_key"]).toContain(error.code);
  });

  test("health, readiness, models and features need no key", async () => {
    for (const path of ["/healthz", "/readyz", "/v3/info", "/v3/models"]) {
      expect((await fetch(gateway.url + path)).status).toBe(200);
    }
  });
});

test("guessing keys is stopped, and callers with a valid key at the same address are still served", async () => {
  const own = await testGateway({ vendor });
  try {
    const honest = await own.createKey();
    let stopped: Response | null = null;
    for (let guess = 0; guess < 2_000 && stopped === null; guess += 1) {
      const response = await ask(own.url, `sk-sy-guess-${guess}`, hello);
      if (response.status === 429) stopped = response;
      else await response.arrayBuffer();
    }
    if (stopped === null) throw new Error("two thousand guesses went unnoticed");
    const error = await readError(stopped);
    expect(error).toMatchObject({ type: "rate_limit_error", code: "too_many_auth_failures" });
    expect(error.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await ask(own.url, honest, hello)).status).toBe(200);
  } finally {
    await own.stop();
  }
});

test("the log and the data folder hold no secret", async () => {
  const sandbox = await gateway.createKey({ kind: "sandbox" });
  await ask(gateway.url, sandbox, hello);
  await ask(gateway.url, key, { ...hello, model: "nobody/x" });
  await fetch(`${gateway.url}/v3/nothing-here?key=${key}`, { headers });
  const log = gateway.log();
  expect(log).not.toBe("");
  const kept = await readFolder(gateway.dataFolder);
  for (const secret of [key, sandbox, gateway.adminKey, providerSecret]) {
    expect(log).not.toContain(secret);
    expect(kept).not.toContain(secret);
  }
});
