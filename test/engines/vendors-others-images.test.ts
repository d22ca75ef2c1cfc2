// Image and web tasks of the smaller vendors: what is sent, and how answers are read.

import { describe, expect, test } from "bun:test";
import { api4ai } from "../../src/providers/api4ai/index.ts";
import { base64 } from "../../src/providers/base64/index.ts";
import { clipdrop } from "../../src/providers/clipdrop/index.ts";
import { firecrawl } from "../../src/providers/firecrawl/index.ts";
import { linkup } from "../../src/providers/linkup/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { photoroom } from "../../src/providers/photoroom/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { sentisight } from "../../src/providers/sentisight/index.ts";
import { stabilityai } from "../../src/providers/stabilityai/index.ts";
import { tavily } from "../../src/providers/tavily/index.ts";
import { failureOf, pngBase64, refusalOf } from "../support/task-failures.ts";
import { type Answer, ask, document, image, key, png } from "./vendors-others/ask.ts";

describe("images that are made", () => {
  const made: Answer[] = [
    { json: { output_format: "webp", data: [{ b64_json: pngBase64 }, { b64_json: pngBase64 }] } },
  ];

  test("each image has its base64 and its address", async () => {
    const input = { text: "a cat", resolution: "1024x1024", num_images: 2 };
    const { output, answer, seen } = await ask({ row: openai, task: "image/generation", answers: made, input });
    const item = { image: pngBase64, image_resource_url: "https://gateway.example/result" };
    expect(output).toEqual({ items: [item, item] });
    expect(answer.units).toMatchObject({ image: 2 });
    expect(answer.binaries?.[0]?.mediaType).toBe("image/webp");
    expect(seen[0]?.url.pathname).toBe("/images/generations");
    expect(seen[0]?.json).toEqual({ prompt: "a cat", model: "gpt-image-1.5", n: 2, size: "1024x1024" });
  });

  test("reference images and a mask make it an edit", async () => {
    const files = { "reference_images.0": image, mask: image };
    const input = { text: "a cat", reference_images: ["x"], mask: "y" };
    const asked = { row: openai, task: "image/generation", answers: made, input, files };
    const { seen } = await ask({ ...asked, providerParams: { quality: "high", mask: "another" } });
    expect(seen[0]?.url.pathname).toBe("/images/edits");
    expect(seen[0]?.form).toEqual({
      prompt: "a cat",
      model: "gpt-image-1.5",
      n: "1",
      quality: "high",
      "image[]": "photo.png (image/png, 24 bytes)",
      mask: "photo.png (image/png, 24 bytes)",
    });
  });

  test("an answer without an image is no answer", async () => {
    const asked = {
      row: openai,
      task: "image/generation",
      answers: [{ json: { data: [] } }],
      input: { text: "a cat" },
    };
    expect((await failureOf(ask(asked))).code).toBe("provider_bad_response");
  });

  test("Stability's models make one image of a ratio", async () => {
    const answers = [{ json: { image: pngBase64, finish_reason: "SUCCESS" } }];
    const asked = { row: stabilityai, task: "image/generation", answers, model: "sd3.5-large" };
    const { seen } = await ask({ ...asked, input: { text: "a cat", resolution: "1344x768" } });
    expect(seen[0]?.url.pathname).toBe("/v2beta/stable-image/generate/sd3");
    expect(seen[0]?.form).toEqual({
      prompt: "a cat",
      output_format: "png",
      model: "sd3.5-large",
      aspect_ratio: "16:9",
    });
    const { model: _, ...unnamed } = asked;
    const { seen: plain } = await ask({ ...unnamed, input: { text: "a cat" } });
    expect(plain[0]?.url.pathname).toBe("/v2beta/stable-image/generate/core");
    expect((await refusalOf(ask({ ...asked, input: { text: "a", num_images: 3 } }))).problems[0].loc[2]).toBe(
      "num_images",
    );
    expect((await refusalOf(ask({ ...asked, input: { text: "a", resolution: "7x1" } }))).problems[0].loc[2]).toBe(
      "resolution",
    );
  });

  test("an image that the vendor's filter holds back is a refusal of the request", async () => {
    const answers = [{ json: { image: pngBase64, finish_reason: "CONTENT_FILTERED" } }];
    const asked = { row: stabilityai, task: "image/generation", answers, model: "core", input: { text: "a cat" } };
    expect((await failureOf(ask(asked))).code).toBe("provider_rejected_request");
  });
});

describe("backgrounds that are removed", () => {
  const cutters: [ProviderRow, string, string][] = [
    [clipdrop, "/remove-background/v1", "image_file"],
    [photoroom, "/v1/segment", "image_file"],
    [stabilityai, "/v2beta/stable-image/edit/remove-background", "image"],
  ];
  for (const [row, path, field] of cutters)
    test(`${row.title} answers with the image itself`, async () => {
      const answers = [{ bytes: png, mediaType: "image/png" }];
      const asked = { row, task: "image/background_removal", answers, input: { file: "x" }, files: { file: image } };
      const { output, seen } = await ask(asked);
      expect(output).toEqual({ image_b64: pngBase64, image_resource_url: "https://gateway.example/result" });
      expect(seen[0]?.url.pathname).toBe(path);
      expect(seen[0]?.form[field]).toBe("photo.png (image/png, 24 bytes)");
    });

  test("another answers with base64", async () => {
    const entity = { kind: "image", name: "image-without-background", image: pngBase64, format: "PNG" };
    const json = { results: [{ status: { code: "ok" }, entities: [entity] }] };
    const asked = { row: api4ai, task: "image/background_removal", input: { file: "x" }, files: { file: image } };
    const { output, seen } = await ask({ ...asked, answers: [{ json }] });
    expect(output["image_b64"]).toBe(pngBase64);
    expect(seen[0]?.headers.get("x-api-key")).toBe(key);
  });

  test("a file that the vendor does not take is refused before it is sent", async () => {
    const asked = { row: clipdrop, task: "image/background_removal", input: { file: "x" }, files: { file: document } };
    expect((await refusalOf(ask({ ...asked, answers: [] }))).problems[0].loc).toEqual(["body", "input", "file"]);
  });
});

describe("what is in an image", () => {
  const asked = { row: api4ai, input: { file: "x" }, files: { file: image } };
  const found = (objects: unknown[], ...more: unknown[]) => ({
    json: { results: [{ status: { code: "ok" }, entities: [{ kind: "objects", objects }, ...more] }] },
  });
  const cat = { box: [0.1, 0.2, 0.3, 0.4], entities: [{ kind: "classes", classes: { cat: 0.9 } }] };

  test("boxes are told by their edges, relative to the image", async () => {
    const { output, answer } = await ask({ ...asked, task: "image/object_detection", answers: [found([cat])] });
    expect(output["items"]).toEqual([
      { label: "cat", confidence: 0.9, x_min: 0.1, x_max: 0.4, y_min: 0.2, y_max: 0.6 },
    ]);
    expect(answer.units).toMatchObject({ file: 1 });
  });

  test("logos have corners, and those of the second version a name alone", async () => {
    const { output } = await ask({ ...asked, task: "image/logo_detection", answers: [found([cat])] });
    expect(output["items"]).toMatchObject([
      { description: "cat", score: 0.9, bounding_poly: { vertices: [{ x: 0.1, y: 0.2 }, {}, {}, {}] } },
    ]);
    const brands = { kind: "array", array: [{ name: "Acme", size_category: "large" }, "Other"] };
    const second = { ...asked, model: "v2", task: "image/logo_detection", answers: [found([], brands)] };
    const { output: named, seen } = await ask(second);
    expect(named["items"]).toMatchObject([{ description: "Acme", score: null }, { description: "Other" }]);
    expect(seen[0]?.url.pathname).toBe("/brand-det/v2/results");
  });

  test("an anonymized image comes with what was hidden", async () => {
    const picture = { kind: "image", image: pngBase64, format: "JPEG" };
    const { output, answer } = await ask({ ...asked, task: "image/anonymization", answers: [found([cat], picture)] });
    expect(output["items"]).toEqual([
      { kind: "cat", confidence: 0.9, bounding_boxes: { x_min: 0.1, x_max: 0.4, y_min: 0.2, y_max: 0.6 } },
    ]);
    expect(answer.binaries?.[0]?.mediaType).toBe("image/jpeg");
  });

  test("a face has the points that are known, and null for all that is not", async () => {
    const points = { kind: "namedpoints", namedpoints: { "left-eye": [0.2, 0.3] } };
    const face = { box: [0, 0, 0.5, 0.5], entities: [{ kind: "classes", classes: { face: 0.99 } }, points] };
    const { output } = await ask({ ...asked, task: "image/face_detection", answers: [found([face])] });
    expect(output["items"]).toMatchObject([
      { confidence: 0.99, landmarks: { left_eye: [0.2, 0.3], chin_gnathion: [] }, age: null, emotions: { joy: null } },
    ]);
  });

  test("what is safe does not count as explicit", async () => {
    const json = {
      results: [{ status: { code: "ok" }, entities: [{ kind: "classes", classes: { nsfw: 0.05, sfw: 0.95 } }] }],
    };
    const { output } = await ask({ ...asked, task: "image/explicit_content", answers: [{ json }] });
    expect(output).toMatchObject({ nsfw_likelihood: 1, nsfw_likelihood_score: 0.05 });
  });

  test("text is read with its boxes", async () => {
    const line = { box: [0.1, 0.2, 0.5, 0.05], entities: [{ kind: "text", text: "Hello" }] };
    const { output } = await ask({ ...asked, task: "ocr/ocr", answers: [found([line])] });
    expect(output).toEqual({
      text: "Hello",
      bounding_boxes: [{ text: "Hello", left: 0.1, top: 0.2, width: 0.5, height: 0.05 }],
    });
  });

  test("pixels become parts of the image, and percentages scores", async () => {
    const own = { row: sentisight, input: { file: "x", language: "en" }, files: { file: image } };
    const objects = [{ label: "Couch", score: 80, x0: 200, y0: 100, x1: 400, y1: 300 }];
    const { output } = await ask({ ...own, task: "image/object_detection", answers: [{ json: objects }] });
    expect(output["items"]).toEqual([
      { label: "Couch", confidence: 0.8, x_min: 0.25, x_max: 0.5, y_min: 0.25, y_max: 0.75 },
    ]);
    const points = [
      { x: 80, y: 40 },
      { x: 160, y: 40 },
      { x: 160, y: 80 },
      { x: 80, y: 80 },
    ];
    const { output: read, seen } = await ask({
      ...own,
      task: "ocr/ocr",
      answers: [{ json: [{ label: "Hi", points }] }],
    });
    expect(read).toEqual({
      text: "Hi",
      bounding_boxes: [{ text: "Hi", left: 0.1, top: 0.1, width: 0.1, height: 0.1 }],
    });
    expect(seen[0]?.url.search).toBe("?lang=en");
    const classes = [
      { label: "unsafe", score: 20 },
      { label: "safe", score: 80 },
    ];
    const { output: judged } = await ask({ ...own, task: "image/explicit_content", answers: [{ json: classes }] });
    expect(judged).toMatchObject({ nsfw_likelihood: 2, nsfw_likelihood_score: 0.2 });
  });

  test("a failure that comes with status 200 is a failure", async () => {
    const json = { results: [{ status: { code: "failure", message: "Can not load image." }, entities: [] }] };
    const failure = await failureOf(ask({ ...asked, task: "image/object_detection", answers: [{ json }] }));
    expect(failure.code).toBe("provider_rejected_request");
    expect(failure.message).toContain("Can not load image.");
  });

  test("another file in the place of the checked one is refused", async () => {
    const other = {
      ...asked,
      task: "image/object_detection",
      answers: [],
      providerParams: { url: "https://a.example" },
    };
    expect((await refusalOf(ask(other))).problems[0].loc).toEqual(["body", "provider_params", "url"]);
  });

  test("faces that match are found in the second image, and their boxes are relative to it", async () => {
    const json = { matches: [{ confidence: 0.7, left: 200, top: 100, width: 400, height: 200, label: "face" }] };
    const files = { file1: image, file2: image };
    const compared = { row: base64, task: "image/face_compare", input: { file1: "x", file2: "y" }, files };
    const { output, seen } = await ask({ ...compared, answers: [{ json }] });
    expect(output["items"]).toEqual([
      { confidence: 0.7, bounding_box: { top: 0.25, left: 0.25, height: 0.5, width: 0.5 } },
    ]);
    expect(seen[0]?.json["queryImage"]).toBe(`data:image/png;base64,${pngBase64}`);
  });
});

describe("the web", () => {
  test("a search has results, sources and what it used", async () => {
    const result = {
      title: "A",
      url: "https://a.example",
      content: "About A",
      score: 0.8,
      published_date: "2026-01-02",
    };
    const json = {
      query: "a?",
      answer: "A it is.",
      images: ["https://a.example/i.png"],
      results: [result],
      usage: { credits: 2 },
    };
    const input = { query: "a?", max_results: 3, depth: "advanced" };
    const { output, answer, seen } = await ask({ row: tavily, task: "web/search", answers: [{ json }], input });
    expect(output).toMatchObject({
      query: "a?",
      answer: "A it is.",
      results: [{ title: "A", url: "https://a.example", content: "About A", score: 0.8, favicon: null }],
      sources: [{ published_date: "2026-01-02", snippet: "About A" }],
      images: [{ url: "https://a.example/i.png" }],
      usage: { credits: 2 },
    });
    expect(answer.units).toEqual({ request: 1, token: 2 });
    expect(seen[0]?.json).toMatchObject({ query: "a?", max_results: 3, search_depth: "advanced" });
  });

  test("the page that was asked for is the first result", async () => {
    // documented: the form; values invented
    const page = {
      url: "https://a.example/",
      title: "A",
      raw_content: "# About A",
      images: ["https://a.example/i.png"],
    };
    const json = { results: [page, { url: "https://b.example", raw_content: "B" }], usage: { credits: 1 } };
    const input = { url: "https://a.example" };
    const { output, seen } = await ask({ row: tavily, task: "web/scraping", answers: [{ json }], input });
    expect(output).toMatchObject({
      url: "https://a.example/",
      title: "A",
      content: "# About A",
      usage: { credits: 1 },
    });
    expect(seen[0]?.json).toMatchObject({ urls: ["https://a.example"], include_images: true });
  });

  test("a page that could not be read is a failure that says why", async () => {
    const json = { results: [], failed_results: [{ url: "https://a.example", error: "Not found" }] };
    const asked = { row: tavily, task: "web/scraping", answers: [{ json }], input: { url: "https://a.example" } };
    expect((await failureOf(ask(asked))).message).toContain("Not found");
  });

  test("the pages of a site are mapped", async () => {
    const json = { base_url: "a.example", results: ["https://a.example/", "https://a.example/b"] };
    const asked = { row: tavily, task: "web/map", answers: [{ json }], input: { url: "https://a.example" } };
    const { output } = await ask(asked);
    expect(output).toMatchObject({
      base_url: "a.example",
      links: [{ url: "https://a.example/" }, { url: "https://a.example/b" }],
    });
  });

  test("a page is read with its metadata, and its credits are what is billed", async () => {
    const metadata = {
      title: "A",
      description: "About",
      sourceURL: "https://a.example",
      statusCode: 200,
      creditsUsed: 5,
    };
    const json = { success: true, data: { markdown: "# A", links: ["https://b.example"], metadata } };
    const asked = { row: firecrawl, task: "web/scraping", answers: [{ json }], input: { url: "https://a.example" } };
    const { output, answer } = await ask(asked);
    expect(output).toMatchObject({
      title: "A",
      content: "# A",
      status_code: 200,
      links: ["https://b.example"],
      raw_html: null,
    });
    expect(answer.units).toEqual({ request: 1, token: 5 });
  });

  test("a search finds pages, news and images", async () => {
    const data = {
      web: [{ url: "https://a.example", title: "A", description: "About A", position: 1 }],
      news: [{ url: "https://n.example", title: "N", snippet: "News" }],
      images: [{ title: "I", imageUrl: "https://a.example/i.png", imageWidth: 10, imageHeight: 20 }],
    };
    const answers = [{ json: { success: true, data, creditsUsed: 2 } }];
    const { output, answer } = await ask({ row: firecrawl, task: "web/search", answers, input: { query: "a" } });
    expect(output).toMatchObject({
      results: [
        { title: "A", content: "About A" },
        { title: "N", content: "News" },
      ],
      images: [{ url: "https://a.example/i.png", width: 10, height: 20 }],
    });
    expect(answer.units).toEqual({ request: 1, token: 2 });
  });

  test("a site's map costs a credit", async () => {
    const json = { success: true, links: [{ url: "https://a.example/b", title: "B" }] };
    const asked = { row: firecrawl, task: "web/map", answers: [{ json }], input: { url: "https://a.example" } };
    const { output, answer } = await ask(asked);
    expect(output["links"]).toEqual([{ url: "https://a.example/b", title: "B", description: null }]);
    expect(answer.units).toEqual({ request: 1, token: 1 });
  });

  test("an answer that says it did not succeed is a failure", async () => {
    const asked = { row: firecrawl, task: "web/map", answers: [{ json: { success: false, error: "Blocked" } }] };
    const failure = await failureOf(ask({ ...asked, input: { url: "https://a.example" } }));
    expect([failure.code, failure.message.includes("Blocked")]).toEqual(["provider_error", true]);
  });

  test("results that are images stand among the images", async () => {
    const results = [
      { type: "text", name: "A", url: "https://a.example", content: "About A", favicon: "https://a.example/f.ico" },
      { type: "image", name: "I", url: "https://a.example/i.png" },
    ];
    const asked = {
      row: linkup,
      task: "web/search",
      answers: [{ json: { results } }],
      input: { query: "a", depth: null },
    };
    const { output, seen } = await ask(asked);
    expect(output).toMatchObject({
      results: [{ title: "A", content: "About A", favicon: "https://a.example/f.ico" }],
      images: [{ url: "https://a.example/i.png", description: "I" }],
    });
    expect(seen[0]?.json).toEqual({ q: "a", depth: "standard", outputType: "searchResults" });
  });

  test("a page is fetched as text", async () => {
    const answers = [{ json: { markdown: "# A" } }];
    const asked = { row: linkup, task: "web/scraping", answers, input: { url: "https://a.example" } };
    expect((await ask(asked)).output).toMatchObject({ url: "https://a.example", content: "# A", links: [] });
  });
});
