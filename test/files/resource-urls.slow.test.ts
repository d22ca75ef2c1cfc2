// `/v3/resources/{id}`: signed, expiring addresses of what tasks produced.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createEngines, createFolders } from "../contracts/engines.ts";
import { s3Settings } from "../contracts/file-store.ts";
import { type FileServer, openFileServer } from "../support/file-server.ts";
import { openConnection } from "../support/raw-http.ts";
import { startS3 } from "../support/s3.ts";

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(1_000, "0123456789")]);

for (const engine of createEngines()) {
  describe.skipIf(engine.whyNot !== null)(`addresses of results on ${engine.name}`, () => {
    let door: FileServer;
    const publish = (content: Uint8Array, mediaType: string, lifetimeMs?: number) =>
      door.resources.publish(content, mediaType, "tenant-a", {
        base: door.url,
        ...(lifetimeMs !== undefined && { lifetimeMs }),
      });
    beforeAll(async () => {
      await engine.start();
      door = await openFileServer(await engine.createStore());
    });
    afterAll(async () => {
      await door.stop();
      await engine.stop();
    });

    test("return the bytes without a key, safe to embed, and cached by the client only", async () => {
      const url = await publish(png, "image/png");
      expect(url).toStartWith(`${door.url}/v3/resources/`);
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.bytes()).equals(png)).toBe(true);
      const headers = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        "content-type": "image/png",
        "content-length": String(png.length),
        "content-disposition": 'inline; filename="result.png"',
        "x-content-type-options": "nosniff",
        "accept-ranges": "bytes",
        "content-security-policy": "sandbox; default-src 'none'",
      });
      const [, seconds] = /^private, max-age=(\d+), immutable$/.exec(headers["cache-control"] ?? "") ?? [];
      expect(Number(seconds)).toBeWithin(50, 61);
    });

    test("that were changed, made up or have expired are all answered alike", async () => {
      const url = new URL(await publish(png, "image/png"));
      const other = new URL(await publish(png, "image/png"));
      const short = await publish(png, "image/png", 3_000);
      expect((await fetch(short)).status).toBe(200);
      const upload = await door.files.put(png, {
        owner: "tenant-a",
        kind: "upload",
        name: "x",
        mediaType: null,
        purpose: "x",
        metadata: {},
        lifetimeMs: 60_000,
      });
      const changed = (change: (copy: URL) => void) => {
        const copy = new URL(url);
        change(copy);
        return copy.href;
      };
      const signature = url.searchParams.get("signature") ?? "";
      const expires = url.searchParams.get("expires") ?? "";
      const forged = [
        changed((copy) => copy.searchParams.set("expires", String(Number(expires) + 1))),
        changed((copy) => copy.searchParams.set("expires", `${expires}.0`)),
        changed((copy) => copy.searchParams.set("expires", "Infinity")),
        changed((copy) => copy.searchParams.set("signature", `${signature}A`)),
        changed((copy) => copy.searchParams.set("signature", signature.slice(0, -1))),
        changed((copy) => copy.searchParams.set("signature", signature.toUpperCase())),
        changed((copy) => copy.searchParams.set("signature", "ü".repeat(43))),
        changed((copy) => copy.searchParams.set("signature", "")),
        changed((copy) => copy.searchParams.delete("signature")),
        changed((copy) => copy.searchParams.delete("expires")),
        changed((copy) => {
          copy.search = "";
        }),
        changed((copy) => {
          copy.pathname = other.pathname;
        }),
        changed((copy) => {
          copy.pathname = `/v3/resources/${upload.id}`;
        }),
        changed((copy) => {
          copy.pathname = "/v3/resources/..%2f..%2fswitchyard.sqlite";
        }),
        changed((copy) => {
          copy.pathname = copy.pathname.toUpperCase().replace("/V3/RESOURCES", "/v3/resources");
        }),
      ];
      const answers = new Set<string>();
      for (const address of forged) {
        const response = await fetch(address);
        answers.add(`${response.status} ${await response.text()}`);
      }
      await Bun.sleep(Math.max(0, Number(new URL(short).searchParams.get("expires")) * 1_000 - Date.now()));
      const expired = await fetch(short);
      answers.add(`${expired.status} ${await expired.text()}`);
      expect([...answers]).toHaveLength(1);
      expect([...answers][0]).toStartWith("404 ");
      expect((await fetch(url.href)).status).toBe(200);
    });

    test("answer parts, as players ask for them", async () => {
      const url = await publish(Buffer.from("0123456789"), "audio/mpeg");
      const ranges: [range: string, status: number, text: string, contentRange: string | null][] = [
        ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
        ["bytes=4-", 206, "456789", "bytes 4-9/10"],
        ["bytes=-3", 206, "789", "bytes 7-9/10"],
        ["bytes=-30", 206, "0123456789", "bytes 0-9/10"],
        ["bytes=8-100", 206, "89", "bytes 8-9/10"],
        ["bytes=0-0", 206, "0", "bytes 0-0/10"],
        ["bytes=10-", 416, "", "bytes */10"],
        ["bytes=-0", 416, "", "bytes */10"],
        ["bytes=5-2", 200, "0123456789", null],
        ["bytes=0-1,4-5", 200, "0123456789", null],
        ["lines=0-1", 200, "0123456789", null],
        ["bytes=x-", 200, "0123456789", null],
      ];
      for (const [range, status, text, contentRange] of ranges) {
        const response = await fetch(url, { headers: { range } });
        const found = [range, response.status, await response.text(), response.headers.get("content-range")];
        expect(found).toEqual([range, status, text, contentRange]);
        expect(response.headers.get("content-length") ?? "0").toBe(String(text.length));
      }
    });

    test("answer HEAD, and 304 to a client that has the bytes; parts of different bytes are never mixed", async () => {
      const url = await publish(Buffer.from("0123456789"), "audio/mpeg");
      const client = await openConnection(door.url);
      client.send(`HEAD ${url.slice(door.url.length)} HTTP/1.1\r\nhost: x\r\n\r\n`);
      const head = await client.receive({ withoutBody: true });
      expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, "10", 0]);
      client.leave();
      const tag = head.headers["etag"] ?? "";
      expect(tag).toMatch(/^"[0-9a-f-]{36}"$/);
      expect((await fetch(url, { headers: { "if-none-match": tag } })).status).toBe(304);
      expect((await fetch(url, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
      const range = "bytes=0-1";
      expect((await fetch(url, { headers: { range, "if-range": tag } })).status).toBe(206);
      expect((await fetch(url, { headers: { range, "if-range": '"other"' } })).status).toBe(200);
      expect((await fetch(url, { method: "POST" })).status).toBe(405);
    });

    test("save what could run, and show what cannot", async () => {
      const kinds: [mediaType: string, disposition: string, kept: string][] = [
        ["image/webp", 'inline; filename="result.webp"', "image/webp"],
        ["audio/wav", 'inline; filename="result.wav"', "audio/wav"],
        ["text/plain", 'inline; filename="result.txt"', "text/plain"],
        ["text/html", 'attachment; filename="result.html"', "text/html"],
        ["image/svg+xml", 'attachment; filename="result.svg"', "image/svg+xml"],
        ["application/pdf", 'attachment; filename="result.pdf"', "application/pdf"],
        ["application/x-unheard-of", 'attachment; filename="result"', "application/x-unheard-of"],
        ["text/html\r\nset-cookie: a=b", 'attachment; filename="result"', "application/octet-stream"],
      ];
      for (const [mediaType, disposition, kept] of kinds) {
        const response = await fetch(await publish(Buffer.from("x"), mediaType));
        expect(response.headers.get("content-disposition")).toBe(disposition);
        expect(response.headers.get("content-type")?.split(";")[0]).toBe(kept);
      }
    });

    test("whose bytes are gone are a failure of ours, without a word about the disk, and the gateway goes on", async () => {
      const url = await publish(png, "image/png");
      const id = new URL(url).pathname.split("/").at(-1) ?? "";
      rmSync(join(door.folder, id.slice(0, 2), id));
      const failed = await fetch(url);
      const text = await failed.text();
      expect([failed.status, JSON.parse(text).error.code]).toEqual([500, "internal_error"]);
      expect(text).not.toContain(door.folder);
      expect(door.lines.join("\n")).toContain("ENOENT");
      expect((await fetch(await publish(png, "image/png"))).status).toBe(200);
    });
  });
}

describe("an address", () => {
  const folders = createFolders();
  afterAll(() => folders.remove());

  test("begins with the public address where one is configured", async () => {
    const door = await openFileServer({
      databaseUrl: null,
      dataDir: folders.create(),
      baseUrl: "https://gateway.example/ai/",
    });
    const url = await door.resources.publish(png, "image/png", "tenant-a", { base: door.url });
    expect(url).toStartWith("https://gateway.example/ai/v3/resources/");
    const local = url.replace("https://gateway.example/ai", door.url);
    expect((await fetch(local)).status).toBe(200);
    await door.stop();
  });

  test("of a result in a bucket is served by the gateway itself, whole and in part", async () => {
    const s3 = startS3();
    const door = await openFileServer({ databaseUrl: null, dataDir: folders.create(), s3: s3Settings(s3, "results/") });
    const large = Buffer.alloc(3_000_000, "0123456789");
    const url = await door.resources.publish(large, "video/mp4", "tenant-a", { base: door.url });
    const whole = await fetch(url, { redirect: "manual" });
    expect([whole.status, Buffer.from(await whole.bytes()).equals(large)]).toEqual([200, true]);
    const part = await fetch(url, { headers: { range: "bytes=10-19" }, redirect: "manual" });
    expect([part.status, await part.text()]).toEqual([206, "0123456789"]);
    s3.failWith(500);
    const refused = await fetch(url);
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining("dependency_unavailable")]);
    await door.stop();
    s3.stop();
  });
});
