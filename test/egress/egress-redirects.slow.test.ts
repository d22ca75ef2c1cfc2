// Requests to addresses that callers choose: redirects, TLS and kinds of files.

import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fetchMedia, toDataUrl } from "../../src/egress/media.ts";
import { codeOf, failureOf, fetchWith, guard, ok } from "../support/egress.ts";
import { runEgressChild } from "../support/egress-child.ts";
import { createListeners } from "../support/listeners.ts";
import { within } from "../support/wait.ts";

const { closers, listen, answerWith, closeAll } = createListeners();

afterEach(closeAll);

describe("a redirect", () => {
  const to = (location: string, status = 302) =>
    answerWith(`HTTP/1.1 ${status} Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);

  test("is refused unless it was wished for, and always for a request with a body", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const listener = await to("/elsewhere", status);
      for (const more of [
        {},
        { redirects: "refuse" },
        { redirects: 0 },
        { method: "POST", body: "x", redirects: 5 },
      ] as const) {
        const failure = await failureOf(fetchWith(guard().egress, listener.url, more));
        expect([failure.code, failure.status]).toEqual(["redirect_refused", status]);
      }
      expect(listener.count()).toBe(4);
    }
  });

  test("is followed as often as was said, the name of each hop looked up and checked", async () => {
    const end = await answerWith(ok);
    const second = await to(`http://third.example:${end.port}/end?x=1`);
    const first = await to(`http://second.example:${second.port}/`);
    const names = {
      "first.example": [["127.0.0.1"]],
      "second.example": [["127.0.0.1"]],
      "third.example": [["127.0.0.1"]],
    };
    const { egress, lookups } = guard(names);
    const answer = await fetchWith(egress, `http://first.example:${first.port}/`, { redirects: 2 });
    expect([answer.body.toString(), answer.finalUrl]).toEqual(["ok", `http://third.example:${end.port}/end?x=1`]);
    expect(lookups).toEqual(["first.example", "second.example", "third.example"]);
    expect(await codeOf(fetchWith(egress, `http://first.example:${first.port}/`, { redirects: 1 }))).toBe(
      "too_many_redirects",
    );
  });

  test("in a circle ends", async () => {
    const listener = await to("/again");
    expect(await codeOf(fetchWith(guard().egress, listener.url, { redirects: 5 }))).toBe("too_many_redirects");
    expect(listener.count()).toBe(6);
  });

  test("to somewhere inside, to another scheme, or to nowhere is refused like a URL of that kind", async () => {
    const canary = await listen(() => {}, "127.0.0.2");
    const { egress } = guard({ "inside.example": [["127.0.0.2"]] }, ["127.0.0.1/32"]);
    for (const location of [
      `http://127.0.0.2:${canary.port}/`,
      `http://2130706434:${canary.port}/`,
      `http://inside.example:${canary.port}/`,
      "http://169.254.169.254/latest/meta-data/",
      "http://[::ffff:127.0.0.2]/",
      "//10.0.0.1/",
      "file:///etc/passwd",
      "gopher://127.0.0.1/",
      "http://user@127.0.0.1/",
      "/\\127.0.0.2/",
      "http://",
    ]) {
      const listener = await to(location);
      expect({ location, code: await codeOf(fetchWith(egress, listener.url, { redirects: 3 })) }).toEqual({
        location,
        code: "url_not_allowed",
      });
    }
    expect(canary.count()).toBe(0);
  });

  test("takes the caller's headers along within one origin only", async () => {
    const heads: string[] = [];
    const end = await listen((socket) =>
      socket.once("data", (bytes) => {
        heads.push(bytes.toString());
        socket.end(ok);
      }),
    );
    const start = await listen((socket) =>
      socket.once("data", (bytes) => {
        heads.push(bytes.toString());
        const location = heads.length === 1 ? "/again" : `${end.url}/`;
        socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      }),
    );
    const headers = { Authorization: "Bearer secret", Accept: "image/png", "X-Own": "1" };
    await fetchWith(guard().egress, start.url, { redirects: 2, headers });
    expect(
      heads.map((head) => [
        /^authorization: Bearer secret/m.test(head),
        /^x-own/m.test(head),
        /^accept: image\/png/m.test(head),
      ]),
    ).toEqual([
      [true, true, true],
      [true, true, true],
      [false, false, true],
    ]);
  });
});

describe("TLS", () => {
  const folder = join(import.meta.dir, "../support/tls");
  const certificate = join(folder, "certificate.pem");
  // The certificate is for the name "localhost". The server is where the system does not look for it.
  const address = "127.0.0.2";
  const names = { localhost: [address], "files.example.com": [address] };

  function serve(): { port: number; asked: () => number; hosts: string[] } {
    const hosts: string[] = [];
    const tls = { cert: Bun.file(certificate), key: Bun.file(join(folder, "key.pem")) };
    const server = Bun.serve({
      port: 0,
      hostname: address,
      tls,
      fetch(incoming) {
        hosts.push(incoming.headers.get("host") ?? "");
        if (new URL(incoming.url).pathname === "/down")
          return new Response(null, { status: 302, headers: { location: "http://127.0.0.2/" } });
        return new Response("over TLS");
      },
    });
    closers.push(() => void server.stop(true));
    return { port: server.port ?? 0, asked: () => hosts.length, hosts };
  }

  test("a certificate without a trusted issuer is refused before anything is sent", async () => {
    const server = serve();
    const { egress } = guard({ localhost: [[address]] });
    const failure = await failureOf(fetchWith(egress, `https://localhost:${server.port}/secret`));
    expect([failure.code, failure.message]).toEqual(["unreachable", "The server could not be reached"]);
    expect((failure.cause as { code?: string }).code).toMatch(/CERT|VERIFY/);
    expect(server.asked()).toBe(0);
  });

  test("a trusted one is good at the pinned address for its own name, with or without a dot, and for no other", async () => {
    const server = serve();
    const ask = (host: string) =>
      runEgressChild(
        {
          url: `https://${host}:${server.port}/`,
          allow: ["127.0.0.0/8"],
          names: { ...names, "localhost.": [address] },
        },
        {
          NODE_EXTRA_CA_CERTS: certificate,
        },
      );
    expect(await ask("localhost")).toEqual({ body: "over TLS" });
    expect(await ask("localhost.")).toEqual({ body: "over TLS" });
    expect(server.hosts[0]).toBe(`localhost:${server.port}`);
    expect(await ask("files.example.com")).toEqual({ code: "unreachable", cause: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(await ask(address)).toEqual({ code: "unreachable", cause: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(server.asked()).toBe(2);
  });

  test("the name is told to the server without its dot, and an address is not told at all", async () => {
    const hellos: string[] = [];
    const listener = await listen((socket) =>
      socket.once("data", (bytes) => {
        hellos.push(bytes.toString("latin1"));
        socket.end();
      }),
    );
    const { egress } = guard({ "files.example.": [["127.0.0.1"]] });
    for (const host of ["files.example.", "127.0.0.1"])
      expect(await codeOf(fetchWith(egress, `https://${host}:${listener.port}/`))).toBe("unreachable");
    expect(hellos.map((hello) => /files\.example\.?|127\.0\.0\.1/.exec(hello)?.[0])).toEqual([
      "files.example",
      undefined,
    ]);
  });

  test("a redirect from https to http is refused, also where http would do", async () => {
    const server = serve();
    const task = { url: `https://localhost:${server.port}/down`, allow: ["127.0.0.0/8"], names };
    expect(await runEgressChild(task, { NODE_EXTRA_CA_CERTS: certificate })).toEqual({
      code: "url_not_allowed",
      cause: "",
    });
    expect(server.asked()).toBe(1);
  });

  test("a server without TLS is unreachable by https", async () => {
    const listener = await listen((socket) => socket.end(ok));
    expect(await codeOf(fetchWith(guard().egress, listener.url.replace("http:", "https:")))).toBe("unreachable");
  });
});

describe("a file", () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
  const box = (...brands: string[]) =>
    bytes([0, 0, 0, 12 + 4 * brands.length], `ftyp${brands[0]}`, [0, 0, 0, 0], ...brands.slice(1));
  // The beginnings of files as their formats describe them; invented behind that.
  const files: Record<string, Buffer> = {
    "image/png": bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR"),
    "image/jpeg": bytes([0xff, 0xd8, 0xff, 0xe0], "\0\x10JFIF"),
    "image/gif": bytes("GIF89a", [1, 0, 1, 0]),
    "image/webp": bytes("RIFF", [4, 0, 0, 0], "WEBPVP8 "),
    "image/avif": box("avif", "mif1", "miaf"),
    "image/heic": box("mif1", "heic"),
    "image/heif": box("mif1", "miaf"),
    "image/tiff": bytes("II*\0", [8, 0, 0, 0]),
    "image/bmp": bytes("BM", [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0]),
    "application/pdf": bytes("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
    "audio/wav": bytes("RIFF", [36, 0, 0, 0], "WAVEfmt "),
    "audio/mpeg": bytes([0xff, 0xfb, 0x90, 0x64, 0, 0]),
    "audio/aac": bytes([0xff, 0xf1, 0x50, 0x80, 0, 0]),
    "audio/ogg": bytes("OggS\0\x02", [0, 0, 0, 0], "OpusHead"),
    "audio/flac": bytes("fLaC", [0, 0, 0, 34]),
    "audio/mp4": box("M4A ", "mp42", "isom"),
    "video/mp4": box("isom", "iso2", "avc1", "mp41"),
    "video/quicktime": box("qt  "),
    "video/webm": bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], "webm"),
    "text/plain": Buffer.from("Grüße,\r\n\tBMW"),
  };
  const all = ["image", "audio", "video", "document", "text"] as const;

  async function serveFile(file: Buffer, type = "application/x-lie"): Promise<string> {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${file.length}\r\n\r\n`;
    return (await answerWith(Buffer.concat([Buffer.from(head), file]))).url;
  }
  const wish = { maxBytes: 10_000, protocols: ["http:"] } as const;

  test.each(Object.entries(files))("is known as %s by its bytes, whatever the server says", async (mediaType, file) => {
    const media = await within(
      5_000,
      "the file",
      fetchMedia(guard().egress, await serveFile(file), { ...wish, kinds: all }),
    );
    expect(media.mediaType).toBe(mediaType);
    expect(media.bytes.equals(file)).toBe(true);
    expect(toDataUrl(media)).toBe(`data:${mediaType};base64,${file.toString("base64")}`);
  });

  test("of another kind, of no known kind, or empty is refused, also when the server says otherwise", async () => {
    for (const file of [
      files["application/pdf"],
      Buffer.from("<html>"),
      bytes([0, 1, 2, 3]),
      Buffer.alloc(0),
      bytes("\xff\xfe"),
    ]) {
      const url = await serveFile(file ?? Buffer.alloc(0), "image/png");
      expect(await codeOf(fetchMedia(guard().egress, url, { ...wish, kinds: ["image"] }))).toBe("bad_response");
    }
  });

  test("that holds a film may be wished for as sound", async () => {
    const url = await serveFile(files["video/mp4"] ?? Buffer.alloc(0));
    expect((await fetchMedia(guard().egress, url, { ...wish, kinds: ["audio"] })).mediaType).toBe("video/mp4");
  });

  test("that is not there is an error with its status", async () => {
    const listener = await answerWith("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    const failure = await failureOf(fetchMedia(guard().egress, listener.url, { ...wish, kinds: all }));
    expect([failure.code, failure.status]).toEqual(["bad_response", 404]);
  });

  test("that is too large is refused, and http unless it was wished for", async () => {
    const url = await serveFile(Buffer.alloc(10_001, "x"));
    expect(await codeOf(fetchMedia(guard().egress, url, { ...wish, kinds: all }))).toBe("too_large");
    expect(await codeOf(fetchMedia(guard().egress, url, { maxBytes: 10, kinds: all }))).toBe("url_not_allowed");
  });
});
