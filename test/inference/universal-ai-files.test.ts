// POST /v3/universal-ai over HTTP: files that tasks read, and files that they produce.

import { beforeEach, describe, expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
import { readError } from "../support/chat.ts";
import { openTaskGateway, png } from "../support/task-gateway.ts";

const { vendor, gateway, host, key, run, problemsOf, upload } = await openTaskGateway();

describe("a file", () => {
  const ocr = (file: string, provider = "inhouse") => ({ model: `ocr/ocr/${provider}`, input: { file } });
  const loc = ["body", "input", "file"];

  beforeEach(() => vendor.on("ocr/ocr/inhouse", answer(200, { output: { text: "read" } })));

  test("may be an upload, also with the prefix that some clients write", async () => {
    const id = await upload(key, png);
    expect((await run(ocr(id))).output).toEqual({ text: "read" });
    expect((await run(ocr(`file_${id}`))).output).toEqual({ text: "read" });
    expect((await run(ocr(id, "sandbox"))).output["text"]).toBeString();
  });

  test("of another key, and one that never was, are not found alike", async () => {
    const foreign = await upload(await gateway.createKey(), png);
    const expected = [{ loc, type: "file_not_found" }];
    expect(await problemsOf(ocr(foreign))).toEqual(expected);
    expect(await problemsOf(ocr(crypto.randomUUID()))).toEqual(expected);
    expect(vendor.requests).toHaveLength(0);
  });

  test("of any kind of picture will do where the task takes pictures of any kind", async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
    expect((await run(ocr(await upload(key, svg)))).output).toEqual({ text: "read" });
  });

  test("may be an address, and is what its bytes say, not its name or header", async () => {
    expect((await run(ocr(`${host.url}/picture-served-as-text`))).output).toEqual({ text: "read" });
    const problems = await problemsOf(ocr(`${host.url}/program-served-as-picture.png`));
    expect(problems).toEqual([{ loc, type: "file_type_not_allowed" }]);
    const script = await upload(key, Buffer.from("#!/bin/sh\necho hello\n"));
    expect(await problemsOf(ocr(script))).toEqual([{ loc, type: "file_type_not_allowed" }]);
  });

  test.each([
    ["/declared-too-large", "file_too_large"],
    ["/endless", "file_too_large"],
    ["/missing", "url_fetch_failed"],
    ["/failing", "url_fetch_failed"],
    ["/empty", "file_empty"],
    ["/bomb", "file_too_large"],
    ["/broken-packing", "url_fetch_failed"],
    ["/redirect-inside", "url_not_allowed"],
    ["/redirect-for-ever", "url_fetch_failed"],
  ])("at %s is refused as %s", async (where, type) => {
    expect(await problemsOf(ocr(`${host.url}${where}`))).toEqual([{ loc, type }]);
    expect(vendor.requests).toHaveLength(0);
  });

  test.each(["/redirect", "/packed.png"])("at %s is fetched", async (where) => {
    expect((await run(ocr(`${host.url}${where}`))).output).toEqual({ text: "read" });
  });

  test.each([
    ["http://127.0.0.2/a.png", "url_not_allowed"],
    ["http://[::1]/a.png", "url_not_allowed"],
    ["http://2130706434/a.png", "url_not_allowed"],
    ["http://169.254.169.254/latest/meta-data/", "url_not_allowed"],
    ["http://10.0.0.1/a.png", "url_not_allowed"],
    ["ftp://127.0.0.1/a.png", "url_scheme"],
    ["data:image/png;base64,iVBORw0KGgo=", "url_scheme"],
    ["a.png", "url_parsing"],
  ])("%s is refused as %s", async (file, type) => {
    expect(await problemsOf(ocr(file))).toEqual([{ loc, type }]);
  });

  test("deep inside an input is named by its place", async () => {
    const reference_images = [`${host.url}/scan.png`, { file: `${host.url}/missing` }];
    const body = { model: "image/generation/inhouse", input: { text: "a cat", reference_images } };
    expect(await problemsOf(body)).toEqual([
      { loc: ["body", "input", "reference_images", 1, "file"], type: "url_fetch_failed" },
    ]);
  });

  test("several that cannot be had are all named", async () => {
    const input = { text: "a cat", reference_images: [`${host.url}/missing`, `${host.url}/empty`] };
    expect(await problemsOf({ model: "image/generation/inhouse", input })).toEqual([
      { loc: ["body", "input", "reference_images", 0], type: "url_fetch_failed" },
      { loc: ["body", "input", "reference_images", 1], type: "file_empty" },
    ]);
  });
});

describe("a result of bytes", () => {
  test("is base64 where the schema says so, and the same bytes at an address that needs no key", async () => {
    const { output } = await run({ model: "image/generation/sandbox", input: { text: "a cat", num_images: 2 } });
    const items = output["items"] as { image: string; image_resource_url: string }[];
    expect(items).toHaveLength(2);
    for (const { image, image_resource_url: url } of items) {
      expect(url).toStartWith(`${gateway.url}/v3/resources/`);
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("image/png");
      expect(Buffer.from(await response.bytes()).toString("base64")).toBe(image);
    }
  });

  test("has an address alone where the schema has nothing else", async () => {
    const { output } = await run({ model: "audio/tts/sandbox", input: { text: "hi" } });
    expect(Object.keys(output)).toEqual(["audio_resource_url"]);
    const response = await fetch(String(output["audio_resource_url"]));
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.bytes()).toString("latin1", 0, 4)).toBe("RIFF");
  });

  test("is not found at an address that was changed", async () => {
    const { output } = await run({ model: "audio/tts/sandbox", input: { text: "hi" } });
    const url = new URL(String(output["audio_resource_url"]));
    for (const name of ["expires", "signature"]) {
      const changed = new URL(url);
      const value = changed.searchParams.get(name) ?? "";
      changed.searchParams.set(name, `${value.slice(0, -1)}${value.endsWith("1") ? "2" : "1"}`);
      expect(await readError(await fetch(changed))).toMatchObject({ status: 404, code: "file_not_found" });
      changed.searchParams.delete(name);
      expect(await readError(await fetch(changed))).toMatchObject({ status: 404, code: "file_not_found" });
    }
  });
});
