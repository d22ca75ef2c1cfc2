// `/v3/upload` over real HTTP: which forms are accepted, and how files are named and typed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MultipartParser, type PartHead } from "../../src/files/multipart.ts";
import { createFolders } from "../contracts/engines.ts";
import { leastCpuMs } from "../support/cpu-time.ts";
import { type FileServer, openFileServer } from "../support/file-server.ts";
import { boundary, callsOf, filePart, filesBelow, formOf, formType, megabyte, type Part } from "../support/uploads.ts";

describe("what is uploaded", () => {
  const folders = createFolders();
  let door: FileServer;
  let key: string;
  const { call, send, upload } = callsOf(() => door);
  beforeAll(async () => {
    door = await openFileServer({ databaseUrl: null, dataDir: folders.create() });
    key = await door.createKey();
  });
  afterAll(async () => {
    await door.stop();
    folders.remove();
  });

  test("is named by the last part of its name, and no name reaches the disk", async () => {
    const names: [sent: string, kept: string][] = [
      ["plain.pdf", "plain.pdf"],
      ["../../../etc/passwd", "passwd"],
      ["..\\..\\windows\\system.ini", "system.ini"],
      ["/etc/shadow", "shadow"],
      ["C:\\Users\\me\\my file.docx", "my file.docx"],
      ["..", "file"],
      ["/", "file"],
      ["Grüße 文書 \u{1f5bc}.pdf", "Grüße 文書 \u{1f5bc}.pdf"],
      ["a\u0000b\u0007.txt", "ab.txt"],
      ["invoice\u202efdp.exe", "invoicefdp.exe"],
      ["quote%22inside.txt", 'quote"inside.txt'],
      ['quote\\"inside.txt', 'quote"inside.txt'],
      [`${"long".repeat(100)}.jpeg`, `${"long".repeat(100).slice(0, 250)}.jpeg`],
      ["%2e%2e%2fescaped", "%2e%2e%2fescaped"],
    ];
    for (const [sent, kept] of names) {
      const { status, body } = await upload(key, "x", sent);
      expect([status, body.file_name]).toEqual([200, kept]);
    }
    const star = `Content-Disposition: form-data; name="file"; filename="plain"; filename*=UTF-8''na%C3%AFve.txt`;
    expect((await send(key, formOf([{ head: star, content: "x" }]))).body.file_name).toBe("naïve.txt");
    const bare = 'Content-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream';
    expect((await send(key, formOf([{ head: bare, content: "x" }]))).body.file_name).toBe("file");
    for (const name of filesBelow(door.folder)) expect(name).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("is what its bytes are, not what its sender says", async () => {
    const zip = (...names: string[]) =>
      Buffer.concat(
        names.map((name) => {
          const head = Buffer.alloc(30);
          head.write("PK\x03\x04", "latin1");
          head.writeUInt16LE(name.length, 26);
          return Buffer.concat([head, Buffer.from(name)]);
        }),
      );
    const office = "application/vnd.openxmlformats-officedocument";
    const kinds: [content: string | Buffer, mediaType: string][] = [
      [Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "image/png"],
      ["%PDF-1.7\n...", "application/pdf"],
      ["just words", "text/plain"],
      ['{"a": [1]}', "application/json"],
      ['{"a": [1', "text/plain"],
      ["<!DOCTYPE html><script>alert(1)</script>", "text/html"],
      ['<?xml version="1.0"?><svg xmlns="x"/>', "image/svg+xml"],
      ['<?xml version="1.0"?><note/>', "application/xml"],
      ["{\\rtf1 hello}", "application/rtf"],
      [zip("a.txt"), "application/zip"],
      [zip("[Content_Types].xml", "word/document.xml"), `${office}.wordprocessingml.document`],
      [zip("[Content_Types].xml", "xl/workbook.xml"), `${office}.spreadsheetml.sheet`],
      [zip("[Content_Types].xml", "ppt/presentation.xml"), `${office}.presentationml.presentation`],
      [zip("mimetypeapplication/vnd.oasis.opendocument.text", "x"), "application/vnd.oasis.opendocument.text"],
      [Buffer.from(Bun.gzipSync(Buffer.alloc(5 * megabyte))), "application/gzip"],
      [Buffer.from([0xde, 0xad, 0xbe, 0xef, 0x00]), "application/octet-stream"],
      // Longer than what is looked at, with a character across the cut.
      [`${"x".repeat(65_535)}ü and more`, "text/plain"],
      [Buffer.concat([Buffer.alloc(65_536, "text "), Buffer.from([0])]), "text/plain"],
    ];
    for (const [content, mediaType] of kinds) {
      const head = 'Content-Disposition: form-data; name="file"; filename="a.gif"\r\nContent-Type: image/gif';
      const { body } = await send(key, formOf([{ head, content }]));
      expect([body.file_mimetype, body.file_size]).toEqual([mediaType, Buffer.from(content as string).length]);
    }
  });

  test("may hold anything that looks like the form around it", async () => {
    const contents = [
      `\r\n--${boundary.slice(0, -1)}`,
      `--${boundary}--`,
      `\n--${boundary}\n`,
      "\r\n\r\n",
      "\r",
      `\r\r\n-\r\n--\r\n--${boundary.slice(0, 5)}\r\n`,
      `${"\r\n".repeat(40_000)}x`,
    ];
    for (const content of contents) {
      const { status, body } = await upload(key, content);
      expect([status, body.file_size]).toEqual([200, content.length]);
      expect(await Bun.file(join(door.folder, body.file_id.slice(0, 2), body.file_id)).text()).toBe(content);
    }
  });

  test("is refused with all that is wrong with the fields, and then not kept", async () => {
    const mine = await door.createKey();
    const file = { loc: ["body", "file"] };
    const days = { loc: ["body", "expires_in_days"] };
    const field = (name: string, content: string): Part => ({ name, content });
    const cases: [parts: Part[], problems: object[]][] = [
      [[], [{ ...file, type: "missing" }]],
      [[field("purpose", "x")], [{ ...file, type: "missing" }]],
      [[filePart("", "empty.txt")], [{ ...file, type: "too_short" }]],
      [[filePart("", "")], [{ ...file, type: "missing" }]],
      [[field("file", "text")], [{ ...file, type: "value_error" }]],
      [[filePart("1"), filePart("2")], [{ ...file, type: "too_long" }]],
      [[filePart("1"), field("expires_in_days", "0")], [{ ...days, type: "greater_than_equal" }]],
      [[filePart("1"), field("expires_in_days", "31")], [{ ...days, type: "less_than_equal" }]],
      [[filePart("1"), field("expires_in_days", "soon")], [{ ...days, type: "int_parsing" }]],
      [[filePart("1"), field("expires_in_days", "1.5")], [{ ...days, type: "int_parsing" }]],
      [[filePart("1"), field("purpose", "")], [{ loc: ["body", "purpose"], type: "string_too_short" }]],
      [[filePart("1"), field("purpose", "x".repeat(65))], [{ loc: ["body", "purpose"], type: "string_too_long" }]],
      [[filePart("1"), field("purpose", "x".repeat(20_000))], [{ loc: ["body", "purpose"], type: "string_too_long" }]],
      [[filePart("1"), field("purpose", "a\u0000b")], [{ loc: ["body", "purpose"], type: "value_error" }]],
      [[filePart("1"), field("metadata", "{")], [{ loc: ["body", "metadata"], type: "json_invalid" }]],
      [[filePart("1"), field("metadata", "[1]")], [{ loc: ["body", "metadata"], type: "dict_type" }]],
      [
        [filePart("1"), field("metadata", JSON.stringify({ a: Array(3_000).fill(1) }))],
        [{ loc: ["body", "metadata", "a"], type: "too_long" }],
      ],
      [
        [field("expires_in_days", "-1"), field("metadata", "x")],
        [
          { ...file, type: "missing" },
          { ...days, type: "greater_than_equal" },
          { loc: ["body", "metadata"], type: "json_invalid" },
        ],
      ],
    ];
    for (const [parts, problems] of cases) {
      const refused = await send(mine, formOf(parts));
      expect([refused.status, refused.body.detail]).toMatchObject([422, problems]);
      expect(refused.body.error.code).toBe(refused.body.detail[0].type);
    }
    expect((await call(mine, "GET", "/v3/upload")).body.total).toBe(0);
    expect(readdirSync(join(door.folder, "incoming"))).toEqual([]);
  });

  test("has to come in a form that is one, else 400, and nothing is kept", async () => {
    const mine = await door.createKey();
    const whole = formOf([filePart("content")]);
    const text = whole.toString("latin1");
    const bodies: [what: string, body: string | Buffer<ArrayBuffer>][] = [
      ["nothing", ""],
      ["no boundary in it", "hello"],
      ["a long preamble", `${"x".repeat(5_000)}\r\n${text}`],
      ["cut in the head", text.slice(0, 60)],
      ["cut in the content", text.slice(0, -boundary.length - 12)],
      ["cut before the last hyphens", text.slice(0, -4)],
      ["no last boundary", formOf([filePart("content")], "")],
      ["bare line feeds", text.replaceAll("\r\n", "\n")],
      ["a boundary with a tail", text.replace(`${boundary}\r\n`, `${boundary}xx\r\n`)],
      ["no disposition", formOf([{ head: "Content-Type: text/plain", content: "x" }])],
      ["a disposition without a name", formOf([{ head: "Content-Disposition: form-data", content: "x" }])],
      ["another disposition", formOf([{ head: 'Content-Disposition: attachment; name="file"', content: "x" }])],
      ["a malformed part header", formOf([{ head: "nonsense", content: "x" }])],
      ["no headers at all", `--${boundary}\r\n\r\ncontent\r\n--${boundary}--\r\n`],
      ["huge headers", formOf([{ head: `X-Large: ${"x".repeat(20_000)}\r\n${filePart("").head}`, content: "x" }])],
      ["endless headers", `--${boundary}\r\nX-Large: ${"x".repeat(200_000)}`],
      [
        "a transfer encoding",
        formOf([{ head: `${filePart("").head}\r\nContent-Transfer-Encoding: base64`, content: "eA==" }]),
      ],
      ["too many parts", formOf([filePart("x"), ...Array(64).fill({ name: "other", content: "x" })])],
    ];
    for (const [what, body] of bodies) {
      const refused = await send(mine, body);
      expect([what, refused.status, refused.body.error?.code]).toEqual([what, 400, "malformed_request"]);
    }
    const notText = formOf([filePart("x"), { name: "purpose", content: Buffer.from([0xff, 0xfe]) }]);
    expect((await send(mine, notText)).body.error.code).toBe("invalid_utf8");
    expect((await call(mine, "GET", "/v3/upload")).body.total).toBe(0);
    expect(readdirSync(join(door.folder, "incoming"))).toEqual([]);
  });

  test("cannot keep the gateway busy with a name that is hard to read", async () => {
    for (const name of [
      "\\".repeat(15_000),
      '\\"'.repeat(7_000),
      "; x=".repeat(4_000),
      " ".repeat(15_000),
      "=".repeat(15_000),
    ]) {
      for (const head of [`filename="${name}"`, `filename="${name}`, `filename=${name}`]) {
        const form = formOf([{ head: `Content-Disposition: form-data; name="file"; ${head}`, content: "x" }]);
        expect(await leastCpuMs(() => send(key, form), 1_000)).toBeLessThan(1_000);
      }
    }
  });

  test("may have a preamble, spaces after boundaries, an epilogue and a quoted boundary", async () => {
    const text = formOf([filePart("content")])
      .toString("latin1")
      .replace(`${boundary}\r\n`, `${boundary} \t\r\n`);
    const sent = await send(key, `a preamble\r\n${text}an epilogue`, {
      "content-type": `Multipart/Form-Data; charset=utf-8; boundary="${boundary}"`,
    });
    expect([sent.status, sent.body.file_size]).toEqual([200, 7]);
  });

  test("has to be sent as a form: 415 for anything else", async () => {
    const whole = formOf([filePart("x")]);
    const types: [headers: Record<string, string>, code: string, status: number][] = [
      [{ "content-type": "application/json" }, "unsupported_media_type", 415],
      [{ "content-type": "application/octet-stream" }, "unsupported_media_type", 415],
      [{ "content-type": "multipart/mixed; boundary=x" }, "unsupported_media_type", 415],
      [{ "content-type": "" }, "unsupported_media_type", 415],
      [{ "content-type": formType, "content-encoding": "gzip" }, "unsupported_content_encoding", 415],
      [{ "content-type": "multipart/form-data" }, "malformed_request", 400],
      [{ "content-type": `multipart/form-data; boundary=${"x".repeat(71)}` }, "malformed_request", 400],
    ];
    for (const [headers, code, status] of types) {
      const refused = await send(key, whole, headers);
      expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    }
  });

  test("needs a key, and one whose scopes have a use for files", async () => {
    const whole = formOf([filePart("x")]);
    const none = await fetch(`${door.url}/v3/upload`, {
      method: "POST",
      headers: { "content-type": formType },
      body: whole,
    });
    expect(none.status).toBe(401);
    const embeddings = await door.createKey({ scopes: ["embeddings"] });
    const refused = await send(embeddings, whole);
    expect([refused.status, refused.body.error.code]).toEqual([403, "insufficient_scope"]);
    expect((await call(embeddings, "GET", "/v3/upload")).status).toBe(403);
    expect((await call(embeddings, "DELETE", "/v3/upload")).status).toBe(403);
    for (const scope of ["chat", "responses", "universal"] as const) {
      expect((await send(await door.createKey({ scopes: [scope] }), whole)).status).toBe(200);
    }
  });
});

describe("a form that is read in pieces", () => {
  const content = `first\r\n--${boundary.slice(0, 9)}\r\nlast\r`;
  const form = formOf([{ name: "a", content: "1" }, filePart(content, "b.bin"), { name: "c", content: "" }]);

  async function read(bytes: Buffer, sizes: () => number) {
    const parts: { head: PartHead; content: string }[] = [];
    const parser = new MultipartParser(boundary, (head) => {
      const part = { head, content: "" };
      parts.push(part);
      return {
        write: (piece) => {
          part.content += piece.toString("latin1");
        },
        end: () => {},
      };
    });
    for (let at = 0; at < bytes.length; ) {
      const size = sizes();
      await parser.push(bytes.subarray(at, at + size));
      at += size;
    }
    parser.finish();
    return parts.map(({ head, content }) => [head.name, head.fileName, content]);
  }

  test("has the same parts, whatever the size of the pieces", async () => {
    const expected = [
      ["a", null, "1"],
      ["file", "b.bin", content],
      ["c", null, ""],
    ];
    for (let size = 1; size <= form.length; size += 1) expect(await read(form, () => size)).toEqual(expected);
    for (let round = 0; round < 200; round += 1) {
      expect(await read(form, () => 1 + Math.floor(Math.random() * 40))).toEqual(expected);
    }
  });
});
