// Images by the vendors' newer models, and variations of an image, over real HTTP. The forms of the answers are documented by the vendors; their
// values are invented.

import { describe, expect, test } from "bun:test";
import { google } from "../../src/providers/google/index.ts";
import { minimax } from "../../src/providers/minimax/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { stabilityai } from "../../src/providers/stabilityai/index.ts";
import { failureOf, pngBase64, refusalOf } from "../support/task-failures.ts";
import { type Answer, ask, document, image } from "./vendors-others/ask.ts";

const painted = { task: "image/generation", input: { text: "a fox" } };
const varied = { task: "image/variation", input: { file: "x" }, files: { file: image } };
const uploaded = "photo.png (image/png, 24 bytes)";
const item = { image: pngBase64, image_resource_url: "https://gateway.example/result" };

const fromGemini: Answer = {
  json: {
    candidates: [
      {
        finishReason: "STOP",
        content: { parts: [{ text: "Here." }, { inlineData: { mimeType: "image/jpeg", data: pngBase64 } }] },
      },
    ],
  },
};

describe("google's image models", () => {
  test("create an image with the proportions of the resolution", async () => {
    const input = { text: "a fox", resolution: "1344x768", reference_images: ["x"] };
    const files = { "reference_images.0": image };
    const { output, answer, seen } = await ask({ ...painted, row: google, input, files, answers: [fromGemini] });
    expect(output).toEqual({ items: [item] });
    expect(answer.binaries?.[0]?.mediaType).toBe("image/jpeg");
    expect(answer.units).toMatchObject({ image: 1 });
    expect(seen[0]?.url.pathname).toBe("/v1beta/models/gemini-3.1-flash-image:generateContent");
    expect(seen[0]?.json).toEqual({
      contents: [
        { role: "user", parts: [{ text: "a fox" }, { inlineData: { mimeType: "image/png", data: pngBase64 } }] },
      ],
      generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "16:9" } },
    });
  });

  test("refuse several images, a mask and a ratio that they do not have before a request is sent", async () => {
    for (const more of [{ num_images: 2 }, { mask: "y" }, { resolution: "7x1" }]) {
      const refused = await refusalOf(ask({ row: google, ...painted, input: { text: "a", ...more }, answers: [] }));
      expect(refused.problems[0].loc[2]).toBe(Object.keys(more)[0] as string);
    }
  });

  test("report why there is no image", async () => {
    const blocked = { json: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } } };
    const refused = await failureOf(ask({ row: google, ...painted, answers: [blocked] }));
    expect(refused.code).toBe("provider_rejected_request");
    expect(refused.message).toEndWith("PROHIBITED_CONTENT");
    const stopped = { json: { candidates: [{ finishReason: "IMAGE_SAFETY" }] } };
    expect((await failureOf(ask({ row: google, ...painted, answers: [stopped] }))).message).toEndWith("IMAGE_SAFETY");
    const empty = { json: { candidates: [{ finishReason: "STOP", content: { parts: [] } }] } };
    expect((await failureOf(ask({ row: google, ...painted, answers: [empty] }))).code).toBe("provider_bad_response");
  });
});

describe("minimax", () => {
  const fine = { base_resp: { status_code: 0, status_msg: "success" } };
  const made = { json: { data: { image_base64: [pngBase64, pngBase64] }, metadata: { failed_count: "0" }, ...fine } };

  test("creates several images of a size, or of a ratio", async () => {
    const sized = { text: "a fox", num_images: 2, resolution: "1024x1536" };
    const { output, seen, answer } = await ask({ ...painted, row: minimax, input: sized, answers: [made] });
    expect(output).toEqual({ items: [item, item] });
    expect(answer.units).toMatchObject({ image: 2 });
    expect(seen[0]?.url.pathname).toBe("/image_generation");
    expect(seen[0]?.json).toEqual({
      ...{ model: "image-01", prompt: "a fox", n: 2, response_format: "base64", width: 1024, height: 1536 },
    });
    const wide = await ask({ ...painted, row: minimax, input: { text: "a fox", resolution: "21:9" }, answers: [made] });
    expect(wide.seen[0]?.json).toMatchObject({ aspect_ratio: "21:9" });
  });

  test("reports failures inside of good answers", async () => {
    const poor = { json: { base_resp: { status_code: 1008, status_msg: "insufficient balance" } } };
    expect((await failureOf(ask({ ...painted, row: minimax, answers: [poor] }))).message).toContain("balance");
    const blocked = { json: { data: {}, metadata: { failed_count: "1", success_count: "0" }, ...fine } };
    const refused = await failureOf(ask({ ...painted, row: minimax, answers: [blocked] }));
    expect(refused.code).toBe("provider_rejected_request");
  });
});

describe("variations of an image", () => {
  test("OpenAI edits the image in its smallest square", async () => {
    const made: Answer = { json: { output_format: "png", data: [{ b64_json: pngBase64 }] } };
    const input = { file: "x", prompt: "in winter", num_images: 1, resolution: "512x512" };
    const { output, seen } = await ask({ ...varied, row: openai, input, answers: [made] });
    expect(output).toEqual({ items: [item] });
    expect(seen[0]?.url.pathname).toBe("/images/edits");
    expect(seen[0]?.form).toEqual({
      prompt: "in winter",
      model: "gpt-image-1.5",
      n: "1",
      size: "1024x1024",
      "image[]": uploaded,
    });
  });

  test("Stability starts from the image, and the temperature is how far the result may differ", async () => {
    const made: Answer = { json: { image: pngBase64, finish_reason: "SUCCESS" } };
    const input = { file: "x", temperature: 0.3 };
    const { output, seen } = await ask({ ...varied, row: stabilityai, input, answers: [made] });
    expect(output).toEqual({ items: [item] });
    expect(seen[0]?.url.pathname).toBe("/v2beta/stable-image/generate/sd3");
    expect(seen[0]?.form).toMatchObject({
      ...{ model: "sd3.5-large", mode: "image-to-image", strength: "0.3", image: uploaded },
    });
    expect(seen[0]?.form["prompt"]).toContain("variation");
  });

  test("Gemini receives the image with the prompt", async () => {
    const input = { file: "x", prompt: null, temperature: 0.3 };
    const { seen } = await ask({ ...varied, row: google, input, answers: [fromGemini] });
    expect(seen[0]?.json).toMatchObject({
      contents: [{ parts: [{}, { inlineData: { data: pngBase64 } }] }],
      generationConfig: { temperature: 0.3 },
    });
  });

  test("a file that is no image is refused before it is sent", async () => {
    for (const row of [openai, stabilityai, google]) {
      const refused = await refusalOf(ask({ ...varied, row, files: { file: document }, answers: [] }));
      expect(refused.problems[0].type).toBe("unsupported_media_type");
    }
  });
});
